package mechanisms

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// A discrete Gaussian's mass and the rounded continuous one's, at a distance of up to
// c scales, differ by no more than the ledger's slack says, carried over from its
// scale of 2^40 and its 64 + μ scales (internal/accounting, gaussian.slack) to ones
// at which a float64 shows the difference.
func TestGridSlack(t *testing.T) {
	for _, s := range []float64{50, 200, 1000} {
		var total float64
		for y := -60 * s; y <= 60*s; y++ {
			total += math.Exp(-y * y / (2 * s * s))
		}
		var largest float64
		for y := 0.0; y <= 4*s; y++ {
			discrete := -y*y/(2*s*s) - math.Log(total)
			m := distuv.UnitNormal
			rounded := math.Log(m.Survival((y-0.5)/s) - m.Survival((y+0.5)/s))
			c := y / s
			diff := math.Abs(discrete-rounded) * s * s
			if bound := c*c/24 + 1.0/24 + 1e-9*s*s; diff > bound*(1+1e-2) {
				t.Fatalf("s = %g, y = %g: log-ratio %g/s² exceeds %g/s²", s, y, diff, bound)
			}
			largest = math.Max(largest, diff)
		}
		if largest < 16.0/24*0.9 {
			t.Errorf("s = %g: the bound is far from the largest, %g/s²", s, largest)
		}
	}
}

// What leaves is a multiple of a grid that depends on sensitivity and μ only,
// so the set of reachable values is the same for all data.
func TestReleaseStaysOnTheGrid(t *testing.T) {
	src := NewSeededSource(3)
	for _, sensitivity := range []float64{1e-30, 0.3, 7, 1e20} {
		g := Gaussian{Mu: 0.7}
		step, scale, err := g.grid(sensitivity, 3)
		if err != nil {
			t.Fatal(err)
		}
		if scale < 1<<gridBits {
			t.Errorf("noise spans only %d steps", scale)
		}
		sigma, err := g.Sigma(sensitivity, 3)
		if err != nil {
			t.Fatal(err)
		}
		if min := (sensitivity + step*math.Sqrt(3)) / g.Mu; sigma < min || sigma > min*(1+1e-10) {
			t.Errorf("σ = %g at sensitivity %g, want just above %g", sigma, sensitivity, min)
		}
		out := make([]float64, 3)
		for range 1000 {
			v := []float64{0, sensitivity / 3, -sensitivity * math.Pi}
			if err := g.Release(out, v, sensitivity, src); err != nil {
				t.Fatal(err)
			}
			for _, o := range out {
				if r := o / step; r != math.Trunc(r) {
					t.Fatalf("%g is not a multiple of %g", o, step)
				}
			}
		}
	}
}

// A value of any magnitude leaves as the correctly rounded sum of grid points.
func TestReleaseOfLargeValues(t *testing.T) {
	src := NewSeededSource(4)
	out := make([]float64, 1)
	for range 1000 {
		if err := (Gaussian{Mu: 1}).Release(out, []float64{1e30}, 1, src); err != nil {
			t.Fatal(err)
		}
		if math.Abs(out[0]-1e30) > 1e15 {
			t.Fatalf("1e30 became %g", out[0])
		}
	}
}

func TestReleaseLaw(t *testing.T) {
	const draws, bins = 100_000, 50
	src := NewSeededSource(5)
	g := Gaussian{Mu: 0.5}
	counts, probs := make([]float64, bins), make([]float64, bins)
	out := make([]float64, 1)
	for range draws {
		if err := g.Release(out, []float64{10}, 3, src); err != nil {
			t.Fatal(err)
		}
		u := distuv.Normal{Mu: 10, Sigma: 6}.CDF(out[0])
		counts[min(int(u*bins), bins-1)]++
	}
	for i := range probs {
		probs[i] = 1.0 / bins
	}
	chiSquare(t, "release", counts, probs)
}

// Where ε and δ are so small that rounding shows, a calibrated ledger still keeps
// to them.
func TestCalibrationOfTinyBudgets(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		dim            int
	}{
		{3.769120796784952e-09, 4.008378076517595e-09, 842020663},
		{1e-9, 1e-12, 3}, {1e-6, 1e-9, 10}, {1e-12, 1e-3, 1}, {1e-3, 1e-13, 1000},
	} {
		g, err := CalibrateGaussian(c.epsilon, c.delta, 2, c.dim)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		l, err := g.Ledger("", 2, c.dim)
		if err != nil {
			t.Fatal(err)
		}
		if !l.Within(c.epsilon, c.delta) {
			t.Errorf("%+v: spends %g", c, deltaOf(t, l, c.epsilon))
		}
	}
}

func BenchmarkRelease(b *testing.B) {
	src, v := NewSecureSource(), make([]float64, 1000)
	for b.Loop() {
		if err := (Gaussian{Mu: 1}).Release(v, v, 1, src); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(v)), "ns/coordinate")
}
