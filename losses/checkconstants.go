package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// CheckConstants searches a grid of scores in [−z, z] and of labels within the bound y for a
// point at which l contradicts its constants or its diameter, isn't convex or non-negative, or
// isn't the integral of its derivative, and reports the first. It is meant for tests of one's
// own loss: finding nothing proves nothing. It evaluates the loss at a few hundred points. It
// returns nil where it finds none, and the error names the constant, the point and both
// values.
func CheckConstants(l Loss, z, y float64) error {
	if err := Validate(l, z, y); err != nil {
		return err
	}
	s := checker{l: l, c: l.Constants(z, y), z: z, y: y}
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
	l    Loss
	c    Constants
	z, y float64
	seen []point // lo = hi = the slope
}

// constantsTolerance is the relative excess that passes for rounding.
const constantsTolerance = 1e-9

// fail reports the quantity got, which breaks the bound, at a score and label.
func (s *checker) fail(what string, bound, got, score, label float64) error {
	return check.Fail(check.ErrConfig, s.l.Name()+": "+what, bound,
		fmt.Sprintf("is contradicted by %g at score %g and label %g", got, score, label))
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
			rise, slack, bent := v-v0, float64(constantsTolerance*scale), float64(constantsTolerance*s.c.Slope)
			switch step := z - z0; {
			case d < d0-bent:
				return s.fail("convexity, φ' at least", d0, d, z, label)
			case d-d0 > float64(s.c.Smoothness*step)+bent:
				return s.fail("Smoothness", s.c.Smoothness, (d-d0)/step, z, label)
			case rise < float64(d0*step)-slack:
				return s.fail("rise of φ, at least", d0*step, rise, z, label)
			case rise > float64(d*step)+slack:
				return s.fail("rise of φ, at most", d*step, rise, z, label)
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
		return s.fail("value and derivative", 0, math.NaN(), z, label)
	case v < -constantsTolerance*s.c.Value && math.Abs(z) <= floor:
		return s.fail("non-negativity", 0, v, z, label)
	case v > s.c.Value*up:
		return s.fail("Value", s.c.Value, v, z, label)
	case z == 0 && v > s.c.AtZero*up:
		return s.fail("AtZero", s.c.AtZero, v, z, label)
	case math.Abs(d) > s.c.Slope*up:
		return s.fail("Slope", s.c.Slope, d, z, label)
	}
	if s.z > 0 {
		a := z / s.z
		s.seen = append(s.seen, point{z, a, math.Sqrt((1 - a) * (1 + a)), d, d})
	}
	return nil
}

// beyond checks the Lipschitz constant far outside the score bound.
func (s *checker) beyond(label float64) error {
	for z := s.z + 1; z < 1e6*(s.z+1) && !math.IsInf(s.c.Lipschitz, 1); z *= 10 {
		for _, t := range []float64{-z, z} {
			if d := s.l.Deriv(t, label); !(math.Abs(d) <= s.c.Lipschitz*(1+constantsTolerance)) {
				return s.fail("Lipschitz", s.c.Lipschitz, d, t, label)
			}
		}
	}
	return nil
}

// pairs checks the diameter on all pairs of points seen.
func (s *checker) pairs() error {
	d := s.l.Diameter(s.z, s.y)
	for i, p := range s.seen {
		a := span{p, p}
		for _, q := range s.seen[:i+1] {
			b := span{q, q}
			got := math.Sqrt(squaredDistance(p.lo, q.lo, a.cosSum(b), a.cosDiff(b)))
			if got > d*(1+constantsTolerance) {
				return s.fail("Diameter", d, got, p.t, s.y)
			}
		}
	}
	return nil
}
