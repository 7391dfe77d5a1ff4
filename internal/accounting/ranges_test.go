package accounting

import (
	"fmt"
	"math"
	"testing"
)

// chooser is an adversary who knows the loss so far, and chooses at each release where its range lies, and which release comes next of those
// that are left, on a grid of so many steps of ε: what it gains, some adversary does.
type chooser struct {
	eps   float64
	parts int
	pure  int // steps of ε₀ of one release that is ε₀-DP
	known map[[2]int][]float64
	size  int
}

// gains is what n ranges and q pure releases gain, by steps of loss from −size on.
func (c *chooser) gains(n, q int) []float64 {
	if v := c.known[[2]int{n, q}]; v != nil {
		return v
	}
	h := c.eps / float64(c.parts)
	v := make([]float64, 2*c.size+1)
	for i := range v {
		v[i] = math.Max(0, -math.Expm1(float64(i-c.size)*h))
	}
	if n > 0 {
		of := c.gains(n-1, q)
		for j := range c.parts + 1 {
			p := math.Expm1(float64(j-c.parts)*h) / math.Expm1(-c.eps)
			for i := range v {
				v[i] = math.Max(v[i], p*c.at(of, i-j)+(1-p)*c.at(of, i-j+c.parts))
			}
		}
	}
	if q > 0 {
		of, p := c.gains(n, q-1), 1/(1+math.Exp(-float64(c.pure)*h))
		for i := range v {
			v[i] = math.Max(v[i], p*c.at(of, i-c.pure)+(1-p)*c.at(of, i+c.pure))
		}
	}
	c.known[[2]int{n, q}] = v
	return v
}

func (c *chooser) at(v []float64, i int) float64 {
	switch {
	case i < 0:
		return -math.Expm1(float64(i-c.size) * c.eps / float64(c.parts))
	case i < len(v):
		return v[i]
	}
	return 0
}

// An adversary who chooses ranges, alone and beside releases of other kinds, and the order of all, gains no more than is counted, and hardly
// less.
func TestRangesThatAreChosen(t *testing.T) {
	for _, of := range []struct {
		eps            float64
		ranges, pure   int
		pureSteps      int
		parts          int
		least, closest float64 // δ above which they are compared, and how much more may be counted
	}{
		{0.1879, 20, 0, 0, 100, 1e-9, 0.02},
		{0.0317, 5, 0, 0, 150, 1e-9, 0.02},
		{0.8272, 2, 0, 0, 150, 1e-9, 0.02},
		{0.5, 1, 0, 0, 150, 1e-9, 0.02},
		{3, 6, 0, 0, 80, 1e-9, 0.05},
		{0.3, 4, 2, 40, 60, 1e-9, 0.1},
		{0.5, 2, 3, 35, 60, 1e-9, 0.1},
	} {
		c := &chooser{eps: of.eps, parts: of.parts, pure: of.pureSteps, known: map[[2]int][]float64{}, size: of.ranges*of.parts + of.pure*of.pureSteps}
		h := of.eps / float64(of.parts)
		all := []*Sequence{BoundedRange(of.eps, of.ranges)}
		if of.pure > 0 {
			all = append(all, Pure(float64(of.pureSteps)*h, of.pure))
		}
		s, v := Compose(all...), c.gains(of.ranges, of.pure)
		name := fmt.Sprintf("%d of range %g, %d pure", of.ranges, of.eps, of.pure)
		for i := c.size; i < len(v)-2; i += 1 + len(v)/40 {
			x := float64(i-c.size) * h
			got := s.Delta(x)
			if got < v[i]*(1-1e-9) {
				t.Errorf("%s: δ(%g) = %g, and an adversary gains %g", name, x, got, v[i])
			}
			if v[i] > of.least && got > v[i]*(1+of.closest) {
				t.Errorf("%s: δ(%g) = %g, and this adversary gains %g only", name, x, got, v[i])
			}
		}
	}
}

// Beside Gaussian noise it is the mean of what ranges gain over its loss.
func TestRangesBesideNoise(t *testing.T) {
	const eps, parts, n, mu = 0.4, 100, 6, 0.9
	c := &chooser{eps: eps, parts: parts, known: map[[2]int][]float64{}, size: n * parts}
	v, h := c.gains(n, 0), eps/parts
	s := Compose(BoundedRange(eps, n), Noise(mu, 1))
	for _, x := range []float64{0, 0.5, 1.5, 3, 5} {
		var gains float64
		const step = 0.002
		for z := -9.0; z < 9; z += step { // the loss is N(μ²/2, μ²)
			y := (x - mu*mu/2 - mu*z) / h
			low := math.Floor(y)
			value := math.Min(c.at(v, int(low)+c.size), c.at(v, int(low)+1+c.size)) // it falls
			gains += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * value
		}
		if got := s.Delta(x); got < gains*(1-1e-6) || got > gains*1.05 {
			t.Errorf("δ(%g) = %g, and an adversary gains about %g", x, got, gains)
		}
	}
}

// Lots of releases are composed; one alone, ranges that are apart and wide ones have their own curve.
func TestRangesInLots(t *testing.T) {
	for _, k := range []int{rangeLot - 1, rangeLot, rangeLot + 1, 2*rangeLot + 5} {
		s, apart := BoundedRange(0.05, k), newSequence(gaussian{}, part{boundedRange{eps: 0.05, apart: true}, int64(k)})
		e, more := s.Epsilon(1e-6), apart.Epsilon(1e-6)
		if !(e < more && e > more*0.8) {
			t.Errorf("%d releases: ε = %g, composed %g", k, e, more)
		}
	}
	if e, more := BoundedRange(mostRange*1.01, 3).Epsilon(1e-6), BoundedRange(mostRange, 3).Epsilon(1e-6); e < more {
		t.Errorf("ε = %g of a wider range, %g of a narrower one", e, more)
	}
	for _, x := range []float64{math.Inf(1), 1e300, -1e300, math.Inf(-1)} {
		if d := rangesFor(0.1, 3, 1).delta(x); d != 0 && x > 0 || d != 1 && x < 0 {
			t.Errorf("δ(%g) = %g", x, d)
		}
	}
}
