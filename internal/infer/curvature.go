package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
)

// noisy is a matrix with noise of the given standard deviation in each packed number.
type noisy struct {
	m     *mat.SymDense
	noise float64
}

// towards is a matrix moved towards a multiple of another by James and Stein's rule, with
// what noise that leaves: of the multiple all, which is little, of the rest as much as its
// factor's root. The other, which is I where it is 0, has the trace of the first.
func (s noisy) towards(other *mat.SymDense) noisy {
	dim := s.m.SymmetricDim()
	aim := mat.NewSymDense(dim, nil)
	if total := mat.Trace(other); total > 0 {
		aim.ScaleSym(mat.Trace(s.m)/total, other)
	} else {
		for j := range dim {
			aim.SetSym(j, j, mat.Trace(s.m)/float64(dim))
		}
	}
	var gap mat.SymDense
	gap.ScaleSym(-1, aim)
	gap.AddSym(s.m, &gap)
	free := float64(dim*(dim+1)/2 - 1)
	k := estimate.JamesStein(free*s.noise*s.noise, math.Pow(mat.Norm(&gap, 2), 2))
	gap.ScaleSym(k, &gap)
	aim.AddSym(aim, &gap)
	return noisy{aim, s.noise * math.Sqrt(k+(1-k)/float64(dim))}
}

// curvature is the Hessian per row that was released, and its inverse.
type curvature struct {
	hessian  noisy
	at       []float64 // its point
	floor    float64
	spectrum *linalg.Spectrum
	inverse  *mat.SymDense // eigenvalues held to the floor
	hidden   [][]float64   // orthonormal directions, among the drowned ones, whose curvature bounds on rows hide
}

// invert inverts the Hessian, its eigenvalues held to the floor.
func (c *curvature) invert() error {
	var ok bool
	if c.spectrum, ok = linalg.Decompose(c.hessian.m); !ok {
		return errEigen
	}
	c.inverse = c.spectrum.Map(c.inverted)
	return nil
}

// hide takes directions to say nothing along which rows are so long that a bound on what each adds hides most of the curvature: they have
// less than half of what coordinates were made for and, of what the bound cut off, were it spread evenly, more than is seen, both by more than
// noise takes from any direction. Steps along them may be too long by any factor.
func (c *curvature) hide(expected curvature, cut float64) error {
	made := expected.held()
	values := slices.Clone(c.spectrum.Values)
	for k, value := range values {
		direction := mat.NewVecDense(len(values), c.spectrum.Vector(k))
		if value+c.floor < math.Min(mat.Inner(direction, made, direction)/2, cut/float64(len(values))) {
			values[k] = math.Min(value, 0)
			c.hidden = append(c.hidden, direction.RawVector().Data)
		}
	}
	if c.hidden == nil {
		return nil
	}
	c.hessian.m = mat.NewSymDense(len(values), nil)
	for k, value := range values {
		c.hessian.m.SymRankOne(c.hessian.m, value, mat.NewVecDense(len(values), c.spectrum.Vector(k)))
	}
	return c.invert()
}

// errEigen is about a matrix whose eigenvectors aren't found.
var errEigen = check.Fail(check.ErrConfig, "second moments", nil, "must have eigenvalues that can be computed")

// inverted is the inverse of an eigenvalue, which is held to the floor.
func (c curvature) inverted(l float64) float64 { return 1 / math.Max(l, c.floor) }

// held is the Hessian, its eigenvalues held to the floor.
func (c curvature) held() *mat.SymDense {
	return c.spectrum.Map(func(l float64) float64 { return math.Max(l, c.floor) })
}

// times is the Hessian multiplied by a number, with its noise.
func (c curvature) times(factor float64) (curvature, error) {
	var m mat.SymDense
	m.ScaleSym(factor, c.hessian.m)
	c.hessian = noisy{&m, c.hessian.noise * factor}
	c.floor *= factor
	return c, c.invert()
}

// apart is the way from one point to another, but along hidden directions.
func (c curvature) apart(to, from []float64) []float64 {
	gap := slices.Clone(to)
	floats.Sub(gap, from)
	for _, direction := range c.hidden {
		floats.AddScaled(gap, -floats.Dot(gap, direction), direction)
	}
	return gap
}

// distance is the square of that of two points in the norm of the Hessian, which is that of
// scores, but along hidden directions.
func (c curvature) distance(to, from []float64) float64 {
	gap := c.apart(to, from)
	g := mat.NewVecDense(len(gap), gap)
	return mat.Inner(g, c.held(), g)
}

// standing is the Hessian in the directions that stand out of its noise.
func (c curvature) standing() *mat.SymDense {
	return c.spectrum.Map(func(l float64) float64 {
		if l < c.floor {
			return 0
		}
		return l
	})
}

// drowned are the directions that don't.
func (c curvature) drowned() (list [][]float64) {
	for k, value := range c.spectrum.Values {
		if value < c.floor {
			list = append(list, c.spectrum.Vector(k))
		}
	}
	return list
}

// flat is the mean curvature that is seen along so many drowned directions, as a fraction of the
// floor, and a bound on it, four standard deviations above: directions in which rows don't
// differ at all, as levels that don't occur, leave noise of mean 0 there.
func (c curvature) flat(drowned int) (seen, most float64) {
	if drowned == 0 {
		return 1, 1
	}
	n, dim := float64(drowned), float64(len(c.spectrum.Values))
	seen = math.Max(0, floats.Sum(c.spectrum.Values[:drowned])/n/c.floor)
	return seen, math.Min(1, seen+tuning.FlatSurely/math.Sqrt(2*n*dim))
}

// unseen are the drowned directions, where nothing stands out of the noise along all of them.
func (c curvature) unseen() [][]float64 {
	list := c.drowned()
	n, dim := float64(len(list)), float64(len(c.spectrum.Values))
	if seen, _ := c.flat(len(list)); seen > tuning.FlatSurely/math.Sqrt(2*n*dim) {
		return nil
	}
	return list
}

// typical is the squared coefficient of a direction that moves scores as much as those do
// that are determined, on average, if its curvature is the floor. A drowned direction's
// estimate is held back, and may miss as much.
func (c curvature) typical(theta []float64) float64 {
	var moved, directions float64
	for k, value := range c.spectrum.Values {
		if value >= c.floor {
			along := floats.Dot(theta, c.spectrum.Vector(k))
			moved += value * along * along
			directions++
		}
	}
	return moved / math.Max(directions, 1) / c.floor
}
