package losses

import (
	"math"
	"sync"
	"testing"
)

// gradient distance for two rows at w = (r, 0, 0): u holds for each row its norm
// and cosine with w and a label, and the angle between the parts across w.
func (c testCase) distance(u []float64) float64 {
	norm := [2]float64{(u[0] + 1) / 2, (u[1] + 1) / 2}
	angle := [2]float64{0, math.Pi * u[6]}
	var g [2][3]float64
	for i := range 2 {
		along, across := norm[i]*u[2+i], norm[i]*math.Sqrt(1-u[2+i]*u[2+i])
		slope := c.loss.Deriv(c.z*along, c.label(u[4+i]))
		g[i] = [3]float64{slope * along, slope * across * math.Cos(angle[i]), slope * across * math.Sin(angle[i])}
	}
	return math.Hypot(g[0][0]-g[1][0], math.Hypot(g[0][1]-g[1][1], g[0][2]-g[1][2]))
}

// No two rows are farther apart than the diameter, and some pair nearly attains
// it for the built-in losses.
func TestDiameterIsABoundAndTight(t *testing.T) {
	s := newSearcher(3)
	for _, c := range cases() {
		bound := c.loss.Diameter(c.z, c.y)
		found := 0.0
		for k := range 400 {
			if k >= 8 && (c.slack || found >= 0.99*bound) {
				break
			}
			found = max(found, s.maximise(7, 300, c.distance))
		}
		if !(found <= bound*(1+1e-9)) {
			t.Errorf("%v: diameter %g, found %g", c, bound, found)
		}
		if !c.slack && found < 0.99*bound {
			t.Errorf("%v: diameter %g, found only %g", c, bound, found)
		}
	}
}

// The extension's diameter is close within the limit and far outside it, and
// for losses that grow slowly also in between.
func TestDiameterOfExtensions(t *testing.T) {
	s := newSearcher(4)
	for _, c := range []struct {
		loss     Loss
		z, share float64
	}{
		{Extend(Logistic{}, 3), 2, 0.99}, {Extend(Logistic{}, 3), 5, 0.9}, {Extend(Logistic{}, 3), 50, 0.99},
		{Extend(Squared{}, 3), 2, 0.99}, {Extend(Squared{}, 3), 5, 0.9}, {Extend(Squared{}, 3), 50, 0.99},
		{Extend(Poisson{}, 2), 1, 0.99}, {Extend(Poisson{}, 2), 2.5, 0.6}, {Extend(Poisson{}, 2), 50, 0.99},
	} {
		b := testCase{c.loss, c.z, 3, true}
		bound, found := c.loss.Diameter(c.z, 3), 0.0
		for range 20 {
			found = max(found, s.maximise(7, 300, b.distance))
		}
		if !(found <= bound*(1+1e-9)) || found < c.share*bound {
			t.Errorf("%v: diameter %g, found %g", b, bound, found)
		}
	}
}

// spread agrees with the closed forms, which were derived in another way.
func TestSpreadAgainstClosedForms(t *testing.T) {
	for _, l := range []Loss{Squared{}, Huber{2}, Logistic{}, SquaredHinge{}, SmoothedHinge{0.5},
		envelopeOf(Hinge{}, 2), envelopeOf(Absolute{}, 1), envelopeOf(Quantile{0.9}, 3)} {
		for _, z := range []float64{0.25, 1, 4, 12} {
			for _, y := range []float64{0.5, 1.5, 30} {
				const leaf = 1.0 / 512
				label := y
				if l.Labels() == Binary {
					label = 1
				}
				got := spread(func(t float64) float64 { return l.Deriv(t, label) }, func(t float64) float64 { return l.Deriv(t, -label) }, z, leaf)
				want := l.Diameter(z, y)
				if got < want*(1-1e-12) || got > want*1.01 {
					t.Errorf("%s, z = %g, y = %g: %g, want just above %g", l.Name(), z, y, got, want)
				}
			}
		}
	}
}

// A slope that is zero or overflows everywhere is no special case for callers.
func TestSpreadOfDegenerateSlopes(t *testing.T) {
	zero := func(float64) float64 { return 0 }
	if d := spread(zero, zero, 1, 0.5); d != 0 {
		t.Errorf("no slope: %g", d)
	}
	if d := spread(zero, math.Exp, 1024, 0.5); !math.IsInf(d, 1) {
		t.Errorf("overflowing slope: %g", d)
	}
	huge := func(t float64) float64 { return 1e200 * math.Exp(t) }
	if d := spread(zero, huge, 1, 1.0/64); !(d > 2e200 && d < 4e200) {
		t.Errorf("huge slope: %g", d)
	}
}

// The diameter does not decrease in z and is at most twice the largest slope.
func TestDiameterIsMonotone(t *testing.T) {
	all := append([]Loss{Extend(Logistic{}, 2), Extend(Squared{}, 1), Extend(Poisson{}, 1), userPoisson}, builtin...)
	for _, l := range all {
		for _, y := range []float64{0.3, 2, 40} {
			last := 0.0
			for k := range 500 {
				z := 12 * math.Pow(float64(k)/500, 3)
				d := l.Diameter(z, y)
				if d < last*(1-1e-12) {
					t.Fatalf("%s, y = %g: %g at z = %g after %g", l.Name(), y, d, z, last)
				}
				if slope := l.Constants(z, y).Slope; d > 2*slope*(1+1e-11) {
					t.Fatalf("%s, y = %g: %g at z = %g exceeds twice the slope %g", l.Name(), y, d, z, slope)
				}
				last = d
			}
		}
	}
}

// The inequality p* ≤ ½tanh(z/2) in the proof at Logistic.Diameter.
func TestLogisticCentre(t *testing.T) {
	for e := -6.0; e <= 6; e += 0.001 {
		z := math.Pow(10, e)
		lo, hi := 0.0, 1.0
		for range 80 {
			c := (lo + hi) / 2
			if z*sigmoid(-z*c)*(1-c*c) > c {
				lo = c
			} else {
				hi = c
			}
		}
		if p, limit := sigmoid(z*lo)*lo, math.Tanh(z/2)/2; p > limit*(1+1e-15) {
			t.Fatalf("z = %g: centre %g exceeds %g", z, p, limit)
		}
	}
}

// Poisson's diameter is the same number whether it was remembered, computed anew
// after another one took its slot, or computed by several goroutines at once.
func TestPoissonDiameterIsDeterministic(t *testing.T) {
	zs := []float64{0.5, 1, 1.5, 0.5 + float64(len(poissonDiameters))*poissonLeaf}
	want := make([]float64, len(zs))
	for i, z := range zs {
		want[i] = Poisson{}.Diameter(z, 3)
	}
	if want[0] == want[3] {
		t.Fatal("two scores that share a slot have the same diameter")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range 400 {
				i := k % len(zs)
				if d := (Poisson{}).Diameter(zs[i], 3); d != want[i] {
					t.Errorf("z = %g: %g, want %g", zs[i], d, want[i])
					return
				}
			}
		}()
	}
	wg.Wait()
}

func BenchmarkPoissonDiameter(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		for i := range b.N {
			Poisson{}.Diameter(2.4, 3+float64(i)*1e-9)
		}
	})
	b.Run("remembered", func(b *testing.B) {
		for range b.N {
			Poisson{}.Diameter(2.4, 3)
		}
	})
}
