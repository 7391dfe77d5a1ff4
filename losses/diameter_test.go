package losses

import (
	"math"
	"sync"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/sample"
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
		if !sample.One(3, c) {
			continue
		}
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
		{extend(Logistic{}, 3), 2, 0.99}, {extend(Logistic{}, 3), 5, 0.9}, {extend(Logistic{}, 3), 50, 0.99},
		{extend(Squared{}, 3), 2, 0.99}, {extend(Squared{}, 3), 5, 0.9}, {extend(Squared{}, 3), 50, 0.99},
		{extend(Poisson{}, 2), 1, 0.99}, {extend(Poisson{}, 2), 2.5, 0.6}, {extend(Poisson{}, 2), 50, 0.99},
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

// What bounds a pair of spans is no smaller than the distance of any two
// gradients in them, computed from the rows, whether slopes vary over a span or
// not, and for single points equals it.
func TestPairBound(t *testing.T) {
	s := newSearcher(5)
	lo, hi := func(t float64) float64 { return 2*t - 1.5 }, func(t float64) float64 { return 2*t + 1 + t*t*t/8 }
	se := search{lo: lo, hi: hi, z: 2, scale: 1}
	distance := func(t1, f1, t2, f2 float64) float64 {
		q1, q2 := math.Sqrt(1-t1*t1/4), math.Sqrt(1-t2*t2/4)
		p := f1*t1/2 - f2*t2/2
		return p*p + math.Pow(math.Abs(f1)*q1+math.Abs(f2)*q2, 2)
	}
	within := func(a, b float64) float64 { return a + (b-a)*(s.uniform()+1)/2 }
	for range 20000 {
		var u [2]span
		for i := range u {
			mid, half := 2*s.uniform(), 0.3*(s.uniform()+1)
			u[i] = span{se.at(max(-2, mid-half)), se.at(min(mid+half, 2))}
		}
		bound := u[0].bound(u[1])
		for range 5 {
			t1, t2 := within(u[0].left.t, u[0].right.t), within(u[1].left.t, u[1].right.t)
			f1, f2 := within(lo(t1), hi(t1)), within(lo(t2), hi(t2))
			if d := distance(t1, f1, t2, f2); d > bound*(1+1e-12) {
				t.Fatalf("scores %g and %g with slopes %g and %g: %g exceeds the bound %g", t1, t2, f1, f2, d, bound)
			}
			flat := func(t, f float64) point { p := se.at(t); p.lo, p.hi = f, f; return p }
			steady := span{flat(u[0].left.t, f1), flat(u[0].right.t, f1)}.bound(span{flat(u[1].left.t, f2), flat(u[1].right.t, f2)})
			if d := distance(t1, f1, t2, f2); d > steady*(1+1e-12) {
				t.Fatalf("scores %g and %g with slopes %g and %g: %g exceeds the bound %g for these slopes", t1, t2, f1, f2, d, steady)
			}
			p, q := flat(t1, f1), flat(t2, f2)
			if got, want := (span{p, p}).bound(span{q, q}), distance(t1, f1, t2, f2); math.Abs(got-want) > 1e-12*(1+want) {
				t.Fatalf("points %g and %g with slopes %g and %g: %g, want %g", t1, t2, f1, f2, got, want)
			}
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
	all := append([]Loss{extend(Logistic{}, 2), extend(Squared{}, 1), extend(Poisson{}, 1), userPoisson}, builtin...)
	for _, l := range all {
		for _, y := range []float64{0.3, 2, 40} {
			last := 0.0
			points := 200
			if l == (Probit{}) { // each takes milliseconds
				points = 40
			}
			for k := range points {
				z := 12 * math.Pow(float64(k)/float64(points), 3)
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
	if d := (Poisson{}).Diameter(1-poissonLeaf/2, 3); d != want[1] {
		t.Errorf("just below a point of the grid %g, on it %g", d, want[1])
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
