package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
)

// Law is what is known of the error of an estimate θ: made of released numbers. A
// combination of coordinates, ⟨c, θ⟩, is given by its factors c.
type Law struct {
	Weights    *mat.Dense // of encoded rows, by θ
	Covariance *mat.SymDense
	Drowned    [][]float64 // orthonormal directions of which the data say nothing
	Hidden     float64     // square of what the estimate may miss along each of them
	Seen       float64     // mean curvature along them, as a fraction of the floor
	Curved     float64     // and what it may be

	Inverse          *mat.SymDense // of H̃
	Hessian, Scatter float64       // noise of H̃ and of J̃/n, the latter in shorter coordinates S·x̃
	Short            *mat.SymDense // S⁻²; nil where these are the others
	Quantile         float64       // of the normal law, for the intervals' level
}

// finite reports whether the covariance is one.
func (l *Law) finite() bool {
	sum := mat.Sum(l.Covariance)
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// of are the weights of encoded rows at a point.
func (l *Law) of(theta []float64) []float64 {
	rows, _ := l.Weights.Dims()
	w := mat.NewVecDense(rows, nil)
	w.MulVec(l.Weights, mat.NewVecDense(len(theta), theta))
	return w.RawVector().Data
}

// tells reports whether any weight is determined, or the difference of a level from the next one of
// its group: all levels beside an intercept have no more.
func (l *Law) tells(groups [][]int) bool {
	rows, _ := l.Weights.Dims()
	for j := range rows {
		if l.Determines(l.Weights.RawRowView(j)) {
			return true
		}
	}
	for _, group := range groups {
		for k := 1; k < len(group); k++ {
			c := slices.Clone(l.Weights.RawRowView(group[k]))
			floats.Sub(c, l.Weights.RawRowView(group[k-1]))
			if l.Determines(c) {
				return true
			}
		}
	}
	return false
}

// Determines reports whether the data determine a combination: little of it lies in
// drowned directions, and what that may add to its error, beyond what noise in the
// eigenvectors makes of nothing, is a quarter of its variance at most. Where more than a
// quarter of the directions have drowned, such noise may itself hide a part, whose error
// is as large as that of the rest at most, by the curvature that is seen along them.
func (l *Law) Determines(c []float64) bool {
	inside, noise := l.drownedPart(c)
	var all float64
	for _, x := range c {
		all += x * x
	}
	v := mat.NewVecDense(len(c), c)
	variance := math.Max(0, mat.Inner(v, l.Covariance, v))
	if tuning.ManyDrowned*len(l.Drowned) > len(c) && l.Hidden*noise*l.Seen > variance {
		return false
	}
	return inside <= tuning.Undetermined*tuning.Undetermined*all && tuning.HiddenVariance*l.Hidden*l.beyond(inside, noise) <= variance
}

// drownedPart is the square of a combination's part in drowned directions, and what noise
// in the eigenvectors makes of nothing, on average: in a part the variance ½σ²·‖Λ⁻¹c‖², Λ
// being H̃ without these directions and σ its noise.
func (l *Law) drownedPart(c []float64) (inside, noise float64) {
	v := mat.NewVecDense(len(c), c)
	var a mat.VecDense
	a.MulVec(l.Inverse, v)
	for _, direction := range l.Drowned {
		part := mat.NewVecDense(len(c), direction)
		along := mat.Dot(part, v)
		inside += along * along
		a.AddScaledVec(&a, -mat.Dot(part, &a), part)
	}
	return inside, float64(len(l.Drowned)) * l.Hessian * l.Hessian / 2 * mat.Dot(&a, &a)
}

// beyond is what of a part in drowned directions noise doesn't explain: where these are seen
// to be flat, up to three standard deviations of what it makes of nothing.
func (l *Law) beyond(inside, noise float64) float64 {
	likely := 1 + (1-l.Seen)*math.Sqrt(2*beyondSDs*beyondSDs/math.Max(1, float64(len(l.Drowned))))
	return math.Max(0, inside-noise*likely)
}

// beyondSDs is how many standard deviations of what noise makes of nothing it explains; the variance of
// n squares of a normal number is 2n, hence its square twice.
const beyondSDs = 3

// tiny keeps a divisor from being 0.
const tiny = 1e-300

// StandardError is that of a combination, +Inf where it isn't determined.
func (l *Law) StandardError(c []float64) float64 {
	if !l.Determines(c) {
		return math.Inf(1)
	}
	about := l.Combine(c)
	return math.Sqrt(about.Covariance(about))
}

// Combination is what the law tells of one.
type Combination struct {
	factors, image []float64 // c, and the covariance times it
	hidden         []float64 // what may be missed along each drowned direction
	longer         float64   // factor of its standard error
}

func (l *Law) Combine(c []float64) Combination {
	var image mat.VecDense
	image.MulVec(l.Covariance, mat.NewVecDense(len(c), c))
	a := Combination{factors: c, image: image.RawVector().Data, longer: l.seFactor(c)}
	size := math.Sqrt(l.Hidden * l.real(c))
	for _, direction := range l.Drowned {
		a.hidden = append(a.hidden, float64(size*floats.Dot(c, direction)))
	}
	return a
}

// Covariance is that of two combinations, each made longer by its factor, and of what drowned
// directions may add to them.
func (a Combination) Covariance(b Combination) float64 {
	return (floats.Dot(a.image, b.factors) + floats.Dot(a.hidden, b.hidden)) * a.longer * b.longer
}

// real is the fraction of a combination's part in drowned directions that counts: all but
// what noise makes of a part in directions that are flat.
func (l *Law) real(c []float64) float64 {
	inside, noise := l.drownedPart(c)
	return math.Min(1, (l.beyond(inside, noise)+noise*l.Curved)/math.Max(inside, tiny))
}

// seFactor is the factor ≥ 1 by which a standard error grows for the noise of H̃ and J̃. Where
// the computed one is 1 + m + s·Z times the right one, m and s small, an interval of z of
// them loses 2zφ(z)·(z²s²/2 − m) of its coverage, and 2zφ(z)·κ is what a factor 1 + κ
// brings. With a = H̃⁻¹c and b = Cov·c, the variance changes by −2aᵀNb + … for the noise N
// of H̃ and by aᵀN'a for that of J̃/n, whose means and variances are known. Close to
// drowning higher orders of the noise of H̃ cost as much again: trials on collinear columns
// chose their factor.
func (l *Law) seFactor(c []float64) float64 {
	var a, b, shaken mat.VecDense
	v := mat.NewVecDense(len(c), c)
	a.MulVec(l.Inverse, v)
	b.MulVec(l.Covariance, v)
	variance := mat.Dot(v, &b)
	if variance == 0 {
		return 1
	}
	ab := mat.Dot(&a, &b)
	curve := 2 * l.Hessian * l.Hessian * (mat.Dot(&a, &a)*mat.Dot(&b, &b) + ab*ab)
	stretched := mat.Dot(&a, &a)
	if l.Short != nil {
		stretched = mat.Inner(&a, l.Short, &a)
	}
	spread := math.Pow(l.Scatter*stretched, 2)
	double := 2 * variance
	s2 := (curve + spread) / (double * double)
	shaken.MulVec(linalg.Shaken(l.Inverse, l.Hessian*l.Hessian), &b)
	second := 2*mat.Dot(&a, &shaken) + mat.Inner(&a, linalg.Shaken(l.Covariance, l.Hessian*l.Hessian), &a)
	m := second/double - s2/2
	z2 := l.Quantile * l.Quantile
	higher := math.Pow(z2*curve/(double*double), 2)
	return 1 + math.Min(1, math.Max(0, float64(z2*s2/2)+higher-m))
}
