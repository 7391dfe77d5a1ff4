package ordinal

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/losses"
)

// jointCounts are how many rows have each level and a score about each z, made of a released
// histogram.
type jointCounts struct {
	rows   [][]float64 // by level and cell
	all    []float64   // by cell, of all levels, none negative
	z      []float64
	spread float64 // standard deviation of a count's noise
}

// Cells are released counts of rows by level, those of each cell of scores in turn.
type Cells struct {
	Counts []float64
	Scores []float64 // of each cell, about
	Spread float64   // standard deviation of a count's noise
}

// newJointCounts reads released counts. No level has fewer rows than the noise of its sum could
// hide: what it lacks is spread as all rows are. Counts may be negative, as sums of them, which the
// likelihood is made of, would else be biased.
func newJointCounts(in Cells) *jointCounts {
	cells, list, spread := len(in.Scores), in.Counts, in.Spread
	k := len(list) / cells
	c := &jointCounts{z: in.Scores, spread: spread, all: make([]float64, cells)}
	for y := range k {
		c.rows = append(c.rows, list[y*cells:(y+1)*cells])
		floats.Add(c.all, c.rows[y])
	}
	c.all = histogram.Nonnegative(c.all, math.Max(floats.Sum(c.all), float64(k)))
	total := floats.Sum(c.all)
	for _, own := range c.rows {
		if missing := math.Max(1, spread*math.Sqrt(float64(cells))) - floats.Sum(own); missing > 0 {
			floats.AddScaled(own, missing/total, c.all)
		}
	}
	return c
}

// thresholds are estimated ones, and the scale of scores that goes with them.
type thresholds struct {
	theta []float64
	scale float64
}

// Doubt is by how much the variances of the logarithm of the scale and of the mean score, less the
// thresholds' mean, grow as thresholds are estimated, and what the covariance of thresholds less the intercept has
// beyond the intercept's variance.
type Doubt struct {
	Scale, Mean float64
	Thresholds  *mat.SymDense
}

// marginal are thresholds at which a score of c.z[0] gives each level its rows.
func (c *jointCounts) marginal() thresholds {
	t := thresholds{theta: make([]float64, len(c.rows)-1), scale: 1}
	above, below := 0.0, 0.0
	for _, own := range c.rows {
		above += floats.Sum(own)
	}
	for k := range t.theta {
		own := floats.Sum(c.rows[k])
		above, below = above-own, below+own
		t.theta[k] = c.z[0] + math.Log(below) - math.Log(above)
	}
	apart(t.theta)
	return t
}

// What scoring needs: distances in scores, and rounds that are enough.
const (
	leastApart    = 1e-4  // how far thresholds lie apart at least
	settled       = 1e-12 // a step that is none
	jitter        = 1e-9  // what keeps a Hessian definite
	halvings      = 40    // of a step that goes too far
	scoringRounds = 60
)

// apart makes thresholds increase.
func apart(theta []float64) {
	for k := 1; k < len(theta); k++ {
		theta[k] = math.Max(theta[k], theta[k-1]+leastApart)
	}
}

// likeliest are the thresholds, and with scaled the scale of scores, of the largest likelihood, by
// Fisher's scoring from thresholds on.
func (c *jointCounts) likeliest(from []float64, scaled bool) thresholds {
	p := append([]float64{1}, from...)
	for range scoringRounds {
		g, h := c.derivatives(p)
		step, ok := newton(g, h, scaled)
		if !ok {
			break
		}
		next, length := append([]float64(nil), p...), 1/math.Max(1, floats.Norm(step, math.Inf(1)))
		floats.AddScaled(next, -length, step)
		for range halvings { // back to where thresholds increase
			if next[0] > 0 && increases(next[1:]) {
				break
			}
			for j := range next {
				next[j] = (next[j] + p[j]) / 2
			}
		}
		if !(next[0] > 0) || !increases(next[1:]) {
			break
		}
		p = next
		if length*floats.Norm(step, math.Inf(1)) < settled {
			break
		}
	}
	return thresholds{p[1:], p[0]}
}

func increases(theta []float64) bool {
	for k := 1; k < len(theta); k++ {
		if !(theta[k]-theta[k-1] >= leastApart) {
			return false
		}
	}
	return true
}

// newton is the step of a gradient, with the scale, first, held where it isn't sought.
func newton(g []float64, h *mat.SymDense, scaled bool) (step []float64, ok bool) {
	n := len(g)
	m, v := mat.NewSymDense(n, nil), append([]float64(nil), g...)
	m.CopySym(h)
	if !scaled {
		v[0] = 0
		for j := range n {
			m.SetSym(0, j, 0)
		}
		m.SetSym(0, 0, 1)
	}
	for j := range n {
		m.SetSym(j, j, float64(m.At(j, j)*(1+jitter))+jitter)
	}
	var factor mat.Cholesky
	var out mat.VecDense
	if !factor.Factorize(m) || factor.SolveVecTo(&out, mat.NewVecDense(n, v)) != nil {
		return nil, false
	}
	return out.RawVector().Data, true
}

// derivatives are the gradient of the negative log-likelihood at a scale and thresholds, and the
// Hessian that it has where labels follow the model.
func (c *jointCounts) derivatives(p []float64) (g []float64, h *mat.SymDense) {
	g, h = make([]float64, len(p)), mat.NewSymDense(len(p), nil)
	c.each(p, func(y, j int, t term) {
		for _, a := range t.first {
			g[a.at] += float64(c.rows[y][j] * a.of)
		}
		expected := c.all[j] * math.Exp(-t.value)
		for _, b := range t.second {
			h.SetSym(b.i, b.j, h.At(b.i, b.j)+float64(expected*b.of))
		}
	})
	return g, h
}

// term is −log P of a level at a score, with its derivatives that aren't 0: by the scale, at 0, and
// by the thresholds, from 1 on.
type term struct {
	value  float64
	first  []partial
	second []partials
}

type partial struct {
	at int
	of float64
}

type partials struct {
	i, j int
	of   float64
}

// each calls f for each cell of each level.
func (c *jointCounts) each(p []float64, f func(y, j int, t term)) {
	loss := losses.Ordinal{Thresholds: p[1:]}
	last := len(p) - 2 // threshold
	for y, own := range c.rows {
		var q, fades float64 // of the gap between the level's thresholds
		if y > 0 && y <= last {
			gap := p[1+y] - p[y]
			fades = 1 / math.Expm1(gap)
			q = fades * (1 + fades)
		}
		for j := range own {
			z, score := c.z[j], float64(p[0]*c.z[j])
			t := term{value: loss.Value(score, float64(y))}
			t.first = append(t.first, partial{0, float64(z * loss.Deriv(score, float64(y)))})
			t.second = append(t.second, partials{0, 0, float64(z * z * loss.Curvature(score, float64(y)))})
			at := func(k int, side float64) {
				s := losses.Logit.Mean(side * (score - p[1+k])) // of the threshold above for 1, below for −1
				bump := float64(s * (1 - s))
				t.first = append(t.first, partial{1 + k, -side * (s + fades)})
				t.second = append(t.second, partials{0, 1 + k, -z * bump}, partials{1 + k, 1 + k, bump + q})
			}
			if y <= last {
				at(y, 1)
			}
			if y > 0 {
				at(y-1, -1)
			}
			if q > 0 {
				t.second = append(t.second, partials{y, 1 + y, -q})
			}
			f(y, j, t)
		}
	}
}

// doubt is what estimating thresholds adds: what the joint information has less than that of the scale
// and an intercept alone, and how the noise of the counts moves these two.
func (c *jointCounts) doubt(t thresholds) Doubt {
	p := append([]float64{t.scale}, t.theta...)
	_, h := c.derivatives(p)
	n := len(p)
	// With a shift of all scores: by its opposite of all thresholds.
	known, by := mat.NewSymDense(2, nil), mat.NewDense(2, n-1, nil)
	known.SetSym(0, 0, h.At(0, 0))
	for k := 1; k < n; k++ {
		known.SetSym(0, 1, known.At(0, 1)-h.At(0, k))
		by.Set(0, k-1, h.At(0, k))
		for l := 1; l < n; l++ {
			known.SetSym(1, 1, known.At(1, 1)+h.At(k, l))
			by.Set(1, k-1, by.At(1, k-1)-h.At(k, l))
		}
	}
	scatter := mat.NewSymDense(n, nil)
	c.each(p, func(_, _ int, t term) {
		for _, a := range t.first {
			for _, b := range t.first {
				if a.at <= b.at {
					scatter.SetSym(a.at, b.at, scatter.At(a.at, b.at)+float64(c.spread*c.spread*a.of*b.of))
				}
			}
		}
	})
	var joint, alone, noise, moved mat.Dense
	if joint.Inverse(h) != nil || alone.Inverse(known) != nil {
		return Doubt{Scale: math.Inf(1), Mean: math.Inf(1)}
	}
	noise.Product(&joint, scatter, &joint)
	moved.Mul(&alone, by) // of the scale and the shift, less than nothing for each threshold's move
	centre := floats.Dot(c.all, c.z) / floats.Sum(c.all)
	along, shift, mean := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	mean.SetVec(0, centre)
	for k := 1; k < n; k++ {
		along.SetVec(k, -moved.At(0, k-1))
		mean.SetVec(k, -1/float64(n-1))
		shift.SetVec(k, -moved.At(1, k-1)-float64(centre*moved.At(0, k-1))-1/float64(n-1))
	}
	both := mat.NewVecDense(2, []float64{centre, 1})
	return Doubt{
		(math.Max(0, joint.At(0, 0)-alone.At(0, 0)) + mat.Inner(along, &noise, along)) / (t.scale * t.scale),
		math.Max(0, mat.Inner(mean, &joint, mean)-mat.Inner(both, &alone, both)) + mat.Inner(shift, &noise, shift),
		beyondMean(&joint, &noise, shift),
	}
}

// beyondMean is the covariance of thresholds less the intercept, less the variance of their mean less the intercept, which the
// intercept's has: of what rows tell, where thresholds hold the intercept, and of noise, which moves it by as much as their mean and, beside
// that, along a shift.
func beyondMean(joint, noise *mat.Dense, shift *mat.VecDense) *mat.SymDense {
	n, _ := joint.Dims()
	k := n - 1
	thresholds := joint.Slice(1, n, 1, n)
	apart := mat.NewDense(k, n, nil) // of each threshold less the intercept, by how all move
	for i := range k {
		apart.Set(i, 0, -shift.AtVec(0))
		for l := range k {
			apart.Set(i, 1+l, -shift.AtVec(1+l)-1/float64(k))
		}
		apart.Set(i, 1+i, apart.At(i, 1+i)+1)
	}
	var moved mat.Dense
	moved.Product(apart, noise, apart.T())
	common := mat.Sum(thresholds)/float64(k*k) + mat.Inner(shift, noise, shift)
	out := mat.NewSymDense(k, nil)
	for i := range k {
		for l := i; l < k; l++ {
			out.SetSym(i, l, thresholds.At(i, l)+moved.At(i, l)-common)
		}
	}
	return out
}
