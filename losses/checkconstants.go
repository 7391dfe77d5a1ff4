package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// CheckConstants searches a grid of scores in [−z, z] and of labels within the bound y, both
// ends included, for a point at which l contradicts its constants, its diameter or the curvature
// that it states, isn't convex or non-negative, or isn't the integral of its derivative; and some
// scores far beyond z for one that contradicts what it states of all scores. It reports the
// first. Every learner does the same to a loss that isn't this package's own, at the bounds of its
// scores, before anything is spent; here it can be done for other bounds, in a test of the loss.
// Finding nothing proves nothing: what lies between the points stays the duty of whoever states
// the loss. It evaluates the loss at a few hundred points, always the same ones. It returns nil where it
// finds none, and the error names the constant, its value, the rule, and the point and the value
// that break it.
func CheckConstants(l Loss, z, y float64) error {
	if err := usable(l, z, y); err != nil {
		return err
	}
	return stated(l, z, y)
}

// stated is CheckConstants of a loss whose parameters and bounds are in order.
func stated(l Loss, z, y float64) error {
	s := checker{l: l, c: l.Constants(z, y), z: z, y: y}
	s.atZero, s.all = l.Constants(0, y).Slope, l.Constants(math.MaxFloat64, y).Smoothness
	s.curvature, _ = CurvatureOf(l)
	for _, label := range s.labels() {
		if err := s.walk(label); err != nil {
			return err
		}
		if err := s.beyond(label); err != nil {
			return err
		}
	}
	return s.pairs()
}

// checker is the state of CheckConstants.
type checker struct {
	l Loss
	c Constants

	atZero float64 // the slope within the score bound 0
	all    float64 // the smoothness at all scores, +Inf where none is stated
	z, y   float64
	seen   []point // lo = hi = the slope

	curvature func(z, y float64) float64 // nil where none is stated
}

// constantsTolerance is the relative excess that passes for rounding.
const constantsTolerance = 1e-9

// fail reports the quantity got, which breaks a rule, at a score and label.
func (s *checker) fail(what string, bound float64, rule string, got, score, label float64) error {
	return check.Fail(check.ErrConfig, s.l.Name()+": "+what, bound,
		fmt.Sprintf("must be %s: that is %g at score %g and label %g", rule, got, score, label))
}

func (s *checker) labels() []float64 {
	lo := -s.y
	switch {
	case s.l.Labels() == Binary:
		return []float64{-1, 1}
	case s.l.Labels().FromZero():
		lo = 0
	}
	var ys []float64
	for k := range 5 {
		ys = append(ys, lo+float64((s.y-lo)*float64(k)/4))
	}
	return ys
}

// walk follows φ and φ' over increasing scores.
func (s *checker) walk(label float64) error {
	const half = 32
	scale := s.c.Value + float64(s.c.Slope*s.z)
	var z0, v0, d0 float64
	for k := -half; k <= half; k++ {
		u := float64(k) / half
		z := float64(s.z * u * math.Abs(u))
		v, d := s.l.Value(z, label), s.l.Deriv(z, label)
		if err := s.point(z, v, d, label); err != nil {
			return err
		}
		if k > -half {
			rise, slack, slopeSlack := v-v0, float64(constantsTolerance*scale), float64(constantsTolerance*s.c.Slope)
			switch step := z - z0; {
			case d < d0-slopeSlack:
				return s.fail("convexity, φ' before", d0, "at most φ' at a higher score", d, z, label)
			case d-d0 > float64(s.c.Smoothness*step)+slopeSlack:
				return s.fail("Smoothness", s.c.Smoothness, "at least what φ' rises by for each unit of the score", (d-d0)/step, z, label)
			case rise < float64(d0*step)-slack:
				return s.fail("derivative, the least rise of φ by φ'", d0*step, "at most the rise of φ since the score before", rise, z, label)
			case rise > float64(d*step)+slack:
				return s.fail("derivative, the largest rise of φ by φ'", d*step, "at least the rise of φ since the score before", rise, z, label)
			}
		}
		z0, v0, d0 = z, v, d
	}
	return nil
}

// point checks φ = v and φ' = d at one score, and keeps them for pairs.
func (s *checker) point(z, v, d, label float64) error {
	floor := s.z
	if e, ok := s.l.(Extended); ok {
		floor = e.Limit
	}
	up := 1 + constantsTolerance
	switch {
	case math.IsNaN(v) || math.IsNaN(d):
		return s.fail("value and derivative", 0, "numbers", math.NaN(), z, label)
	case v < -constantsTolerance*s.c.Value && math.Abs(z) <= floor:
		return s.fail("non-negativity", 0, "at most φ", v, z, label)
	case v > s.c.Value*up:
		return s.fail("Value", s.c.Value, "at least φ", v, z, label)
	case z == 0 && v > s.c.AtZero*up:
		return s.fail("AtZero", s.c.AtZero, "at least φ at the score 0", v, z, label)
	case math.Abs(d) > s.c.Slope*up:
		return s.fail("Slope", s.c.Slope, "at least |φ'|", math.Abs(d), z, label)
	case z == 0 && math.Abs(d) > s.atZero*up:
		return s.fail("Slope", s.atZero, "at least |φ'| where scores are 0", math.Abs(d), z, label)
	}
	if s.curvature != nil {
		if h := s.curvature(z, label); !(h >= 0 && h <= s.c.Smoothness*up) {
			return s.fail("Smoothness", s.c.Smoothness, "at least Curvature, and this at least 0", h, z, label)
		}
	}
	if s.z > 0 {
		a := z / s.z
		s.seen = append(s.seen, point{z, a, math.Sqrt((1 - a) * (1 + a)), d, d})
	}
	return nil
}

// beyond checks what is stated of all scores far outside the score bound: that φ' ascends, the
// Lipschitz constant and the smoothness.
func (s *checker) beyond(label float64) error {
	if math.IsInf(s.c.Lipschitz, 1) && math.IsInf(s.all, 1) {
		return nil
	}
	low, high := -s.z, s.z
	under, over := s.l.Deriv(low, label), s.l.Deriv(high, label)
	for z := s.z + 1; z < 1e6*(s.z+1); z *= 10 {
		down, up := s.l.Deriv(-z, label), s.l.Deriv(z, label)
		slack := float64(constantsTolerance * math.Max(math.Abs(down), math.Abs(up)))
		for _, p := range [][3]float64{{-z, down, under - down}, {z, up, up - over}} {
			most := float64(s.all * (z - high))
			switch {
			case !(math.Abs(p[1]) <= s.c.Lipschitz*(1+constantsTolerance)):
				return s.fail("Lipschitz", s.c.Lipschitz, "at least |φ'|", math.Abs(p[1]), p[0], label)
			case p[2] < -slack:
				return s.fail("convexity, rise of φ' since the score before", p[2], "at least 0", p[1], p[0], label)
			case p[2] > most+slack:
				return s.fail("Smoothness", s.all, "at least what φ' rises by for each unit of the score", p[2]/(z-high), p[0], label)
			}
		}
		high, under, over = z, down, up
	}
	return nil
}

// pairs checks the diameter on all pairs of points seen, where it isn't as large as any two
// slopes allow.
func (s *checker) pairs() error {
	d := s.l.Diameter(s.z, s.y)
	if d >= 2*s.c.Slope {
		return nil
	}
	for i, p := range s.seen {
		a := span{p, p}
		for _, q := range s.seen[:i+1] {
			b := span{q, q}
			got := math.Sqrt(squaredDistance(p.lo, q.lo, a.cosSum(b), a.cosDiff(b)))
			if got > d*(1+constantsTolerance) {
				return s.fail("Diameter", d, "at least the distance of two gradients", got, p.t, s.y)
			}
		}
	}
	return nil
}
