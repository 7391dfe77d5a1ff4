package dpglm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// widen chooses the wide clip at the pilot, by a histogram of the gradients' norms: it
// makes the variance of noise and the square of what the clip cuts off small together.
func (v *inferring) widen() error {
	u, b := v.inRound(v.pilot)
	dim := float64(len(v.pilot))
	edges := cells(4*v.longestSlope()*math.Sqrt(dim), math.Sqrt2, 26)
	share := clipShare * math.Min(math.Max(3000/v.nmu(), 1), 3)
	answer, err := v.framed.GradientNorms(v.ctx, edges, u, b, v.wide(1))
	h, err := v.read(share, edges, answer, err)
	if err != nil {
		return err
	}
	v.cut = v.cutting()
	noise := 2 / (v.mu * math.Sqrt(v.pool.left-scatterShare))
	l, low := h.fromSeen().upper()
	v.clip = l.balanced(low, edges[0], math.Sqrt(dim)*noise, math.Sqrt(v.cut.all(dim)))
	if v.loss.Labels() == losses.Binary { // a few rows of a rare level may go unseen
		v.clip *= 1.15
	}
	if 9*h.noise > v.facts.minority*v.n { // the rarer class may hide in the noise
		if err := v.coverMinority(); err != nil {
			return err
		}
	}
	v.cut.length = l.beyond(v.clip)
	return nil
}

// coverMinority raises the clip to the norm of a row's coordinates, times a slope that
// the rarer class has: 1, or 2 for counts, or that of the probit loss at the start.
func (v *inferring) coverMinority() error {
	edges := cells(4*math.Sqrt(float64(v.d)), math.Pow(2, 0.25), 12)
	h, err := v.lengths(lengthShare, edges, v.framed)
	if err != nil {
		return err
	}
	slope := 1.0
	switch losses.LinkOf(v.loss) {
	case losses.Log:
		slope = 2
	case losses.ProbitLink:
		slope = v.facts.typical
	}
	v.clip = math.Max(v.clip, slope*math.Hypot(h.seen(0.01*v.n, 2), v.constant))
	return nil
}

// cutting is what a clip cuts off: parts of gradients, of the given length all together.
// They cancel but for fractions of its square.
type cutting struct {
	length   float64
	constant float64 // the fraction along the intercept
	along    float64 // along the weights of the other coordinates
	across   float64 // along any direction
}

// all is the fraction that is left in dim directions together.
func (c cutting) all(dim float64) float64 { return c.constant + c.along + dim*c.across }

// cutting is how cut parts add up. Two classes surprise where scores are large, on both
// sides, which adds up along the weights as far as rows are long in their direction.
// Counts and amounts exceed their means by more than they fall short of them, most where
// scores are large, as does the rarer of two classes: that adds up along the intercept
// too. Residuals mostly cancel. On made-up populations 4/(4+d), 1/(4+d) and nothing are
// about what is left, d being the number of columns; a rare level of a group, all of whose
// rows are long in one direction, is what the rest is for.
func (v *inferring) cutting() (c cutting) {
	columns := 4 + float64(v.d)
	switch v.loss.Labels() {
	case losses.Binary:
		rare := 1 - 2*v.facts.minority
		c = cutting{constant: rare / columns, along: (4.6 - 4*rare) / columns, across: 0.08}
	case losses.Real:
		c = cutting{constant: 0.4 / columns, along: 0.3 / columns, across: 0.006}
	default:
		c = cutting{constant: 0.9 / columns, along: 1.1 / columns, across: 0.006}
	}
	if v.constant == 0 {
		c.constant = 0
	}
	return c
}

// missing is the square of what the clip may cut off of a mean gradient, by direction of
// the round frame. Counts and amounts whose gradients vary more than the loss takes them
// to have tails that are longer than a law of the bulk tells.
func (v *inferring) missing() *mat.SymDense {
	dim := len(v.theta)
	m := mat.NewSymDense(dim, nil)
	for j := range dim {
		m.SetSym(j, j, v.cut.across)
	}
	if v.constant > 0 {
		m.SetSym(v.d, v.d, v.cut.across+v.cut.constant)
	}
	u, _ := v.inRound(v.theta)
	along := mat.NewVecDense(dim, nil)
	copy(along.RawVector().Data, u[:v.d])
	if square := floats.Dot(u[:v.d], u[:v.d]); square > 0 {
		m.SymRankOne(m, v.cut.along/square, along)
	}
	length := v.cut.length / v.n
	if kind := v.loss.Labels(); kind != losses.Binary && kind != losses.Real {
		length *= math.Sqrt(math.Min(math.Max(v.dispersion(), 1), 4))
	}
	m.ScaleSym(length*length, m)
	return m
}

// dispersion is the gradients' variance over the Hessian, on average, which is 1 where
// labels have the variance that a likelihood says.
func (v *inferring) dispersion() float64 {
	inner := linalg.Product(linalg.Product(v.round.T(), v.inverse), v.round)
	return mat.Trace(linalg.Product(inner, v.scatter)) / float64(len(v.theta))
}
