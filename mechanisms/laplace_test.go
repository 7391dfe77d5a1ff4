package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/check"
)

// The sampler's law is P(y) = (1−r)/(1+r)·r^|y| with r = exp(−1/scale).
func TestDiscreteLaplaceIsExact(t *testing.T) {
	const draws = 400_000
	for _, scale := range []uint64{1, 2, 5} {
		src := NewSeededSource(100 + scale)
		r := math.Exp(-1 / float64(scale))
		edge := int64(6 * scale) // beyond: one cell a side
		probs := make([]float64, 2*edge+3)
		for y := -edge; y <= edge; y++ {
			probs[y+edge+1] = (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(y)))
		}
		probs[0] = math.Pow(r, float64(edge+1)) / (1 + r)
		probs[len(probs)-1] = probs[0]
		counts := make([]float64, len(probs))
		for range draws {
			y := discreteLaplace(scale, unlimited(src)).Int64()
			counts[min(max(y, -edge-1), edge+1)+edge+1]++
		}
		chiSquare(t, fmt.Sprintf("scale %d", scale), counts, probs)
	}
}

// A release's law is that of the continuous mechanism with the stated scale, and
// its low-order bits are uniform.
func TestLaplaceReleaseLaw(t *testing.T) {
	const draws, bins = 100_000, 50
	src := NewSeededSource(6)
	l := Laplace{Epsilon: 0.5}
	step, _, err := l.grid(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts, low := make([]float64, bins), make([]float64, 64)
	out := make([]float64, 1)
	for range draws {
		if err := l.Release(out, []float64{10}, 3, src); err != nil {
			t.Fatal(err)
		}
		u := distuv.Laplace{Mu: 10, Scale: 6}.CDF(out[0])
		counts[min(int(u*bins), bins-1)]++
		low[uint64(int64(out[0]/step))%64]++
	}
	chiSquare(t, "release", counts, uniformProbs(bins))
	chiSquare(t, "low bits", low, uniformProbs(64))
}

func uniformProbs(n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = 1 / float64(n)
	}
	return p
}

// Pure ε, exactly: two rounded values whose unrounded ones are within the L1
// sensitivity are at most ε·scale steps apart, which bounds the log-ratio of the
// probabilities of every output. The bound is nearly attained.
func TestLaplaceIsPurelyPrivate(t *testing.T) {
	src := NewSeededSource(8)
	unit := func() float64 { return float64(uniform(1<<53, unlimited(src))) / (1 << 53) }
	for _, epsilon := range []float64{1e-3, 0.7, 5, 300} {
		for _, d := range []int{1, 3, 50} {
			const sensitivity = 0.3
			step, scale, err := (Laplace{epsilon}).grid(sensitivity, d)
			if err != nil {
				t.Fatal(err)
			}
			if scale < 1<<gridBits {
				t.Errorf("ε = %g: noise spans only %d steps", epsilon, scale)
			}
			var worst float64
			for range 2000 {
				share, total := make([]float64, d), 0.0
				for i := range share {
					share[i] = unit()
					total += share[i]
				}
				var distance float64
				for i := range share {
					v := 10 * unit()
					w := v + sensitivity*share[i]/total
					distance += math.Abs(math.RoundToEven(v/step) - math.RoundToEven(w/step))
				}
				worst = math.Max(worst, distance/float64(scale))
			}
			if worst > epsilon || worst < epsilon*(1-1e-6) {
				t.Errorf("ε = %g, d = %d: worst log-ratio %g", epsilon, d, worst)
			}
		}
	}
}

// Two neighbours seen through the event "below the lower one": its log-ratio is
// ε, each side of the interval failing with probability 1e-6/2.
func TestLaplaceAudit(t *testing.T) {
	const draws, epsilon = 200_000, 1.0
	src := NewSeededSource(9)
	below := func(v float64) float64 {
		var n float64
		out := make([]float64, 1)
		for range draws {
			if err := (Laplace{epsilon}).Release(out, []float64{v}, 2, src); err != nil {
				t.Fatal(err)
			}
			if out[0] <= 5 {
				n++
			}
		}
		return n / draws
	}
	p, q := below(5), below(7)
	z := distuv.UnitNormal.Quantile(1 - alpha/2)
	slack := z * math.Sqrt((1-p)/(p*draws)+(1-q)/(q*draws))
	if ratio := math.Log(p / q); math.Abs(ratio-epsilon) > slack {
		t.Errorf("log-ratio %g is further than %g from %g", ratio, slack, epsilon)
	}
}

// The ledger's curve is above that of the sampler's law, rounding included, by next to nothing,
// and far below that of any ε-DP release. What a row moves is all that the grid lets it, in
// one coordinate.
func TestLaplaceLedgerIsTheLaws(t *testing.T) {
	for _, c := range []struct {
		epsilon, sensitivity float64
		dim                  int
	}{{0.1, 1, 1}, {1, 0.3, 1}, {1, 7, 4}, {6, 1e20, 100}} {
		l := Laplace{c.epsilon}
		step, scale, err := l.grid(c.sensitivity, c.dim)
		if err != nil {
			t.Fatal(err)
		}
		ledger := built(t)(l.Ledger("", 1))
		s, m := float64(scale), math.Floor(c.sensitivity/step)+float64(c.dim)
		for _, x := range []float64{0, 0.2 * c.epsilon, 0.7 * c.epsilon, 0.999 * c.epsilon} {
			// 1 − (q^{k+1} + e^x·q^{m−k})/(1+q), q = e^{−1/s}, at the best threshold k.
			k := math.Round((m - 1 - x*s) / 2)
			exact := 1 - (math.Exp(-(k+1)/s)+math.Exp(x-(m-k)/s))/(1+math.Exp(-1/s))
			got := deltaOf(t, ledger, x)
			if got < exact-1e-15 || got > exact+1e-10 {
				t.Errorf("ε = %g, %d coordinates: δ(%g) = %.17g, the law has %.17g", c.epsilon, c.dim, x, got, exact)
			}
			if pure := deltaOf(t, built(t)(epsilonLedger(KindPure, "", c.epsilon, 1)), x); got > pure || c.epsilon >= 1 && x < c.epsilon/2 && got > 0.97*pure {
				t.Errorf("ε = %g: δ(%g) = %g, and %g of any ε-DP release", c.epsilon, x, got, pure)
			}
		}
		if !ledger.Within(c.epsilon, 0) || ledger.Within(0.999*c.epsilon, 0) {
			t.Errorf("ε = %g: not exactly pure", c.epsilon)
		}
		if a, b := ledger.Mu(), built(t)(epsilonLedger(KindPure, "", c.epsilon, 1)).Mu(); !(a < b) {
			t.Errorf("ε = %g: μ = %g, and %g of any ε-DP release", c.epsilon, a, b)
		}
	}
}

func TestLaplaceStaysOnTheGrid(t *testing.T) {
	src := NewSeededSource(10)
	for _, sensitivity := range []float64{1e-30, 0.3, 7, 1e20} {
		l := Laplace{Epsilon: 0.7}
		step, _, err := l.grid(sensitivity, 3)
		if err != nil {
			t.Fatal(err)
		}
		scale, err := l.Scale(sensitivity, 3)
		if err != nil {
			t.Fatal(err)
		}
		if least := (sensitivity + 3*step) / l.Epsilon; scale < least || scale > least*(1+1e-10) {
			t.Errorf("scale %g at sensitivity %g, want just above %g", scale, sensitivity, least)
		}
		out := make([]float64, 3)
		for range 1000 {
			v := []float64{0, sensitivity / 3, -sensitivity * math.Pi}
			if err := l.Release(out, v, sensitivity, src); err != nil {
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

// The sum is rounded once, whatever the sizes of value and noise.
func TestLaplaceAddsExactly(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 100)
	oddHuge := new(big.Int).Add(huge, big.NewInt(1))
	for _, c := range []struct {
		v    float64
		n    *big.Int
		step float64
		want float64
	}{
		{1.5, big.NewInt(-3), 0.25, 0.75},
		{1e300, big.NewInt(12345), 0x1p-700, 1e300},
		{-0x1p100, oddHuge, 1, 1},
		{1, big.NewInt(1<<47 + 1), 0x1p-100, 1 + 0x1p-52}, // just above the middle
		{-0x1p-600, oddHuge, 0x1p-700, 0x1p-700},
		{0x1p53, big.NewInt(-(1<<53 + 1)), 1, -1},
		{math.MaxFloat64, big.NewInt(1), 1, math.MaxFloat64},
	} {
		if got := addSteps(c.v, c.n, c.step); got != c.want {
			t.Errorf("%g + %v·%g = %g, want %g", c.v, c.n, c.step, got, c.want)
		}
	}
}

func TestLaplaceReleaseOfLargeValues(t *testing.T) {
	src := NewSeededSource(11)
	out := make([]float64, 1)
	for _, v := range []float64{1e30, -math.MaxFloat64} {
		if err := (Laplace{Epsilon: 1}).Release(out, []float64{v}, 1e-50, src); err != nil {
			t.Fatal(err)
		}
		if out[0] != v {
			t.Errorf("%g became %g", v, out[0])
		}
	}
}

func TestLaplaceErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name        string
		epsilon     float64
		sensitivity float64
		dst, value  []float64
		want        error
	}{
		{"no epsilon", 0, 1, []float64{0}, []float64{1}, check.ErrBudget},
		{"infinite epsilon", inf, 1, []float64{0}, []float64{1}, check.ErrBudget},
		{"no sensitivity", 1, 0, []float64{0}, []float64{1}, check.ErrBound},
		{"NaN sensitivity", 1, nan, []float64{0}, []float64{1}, check.ErrBound},
		{"tiny epsilon", 1e-300, 1, []float64{0}, []float64{1}, check.ErrBound},
		{"lengths", 1, 1, []float64{0, 0}, []float64{1}, check.ErrShape},
		{"NaN", 1, 1, []float64{0}, []float64{nan}, check.ErrValue},
		{"infinity", 1, 1, []float64{0, 0}, []float64{1, -inf}, check.ErrValue},
	} {
		if err := (Laplace{c.epsilon}).Release(c.dst, c.value, c.sensitivity, NewSeededSource(1)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		for _, o := range c.dst {
			if o != 0 {
				t.Errorf("%s: wrote %g in spite of the error", c.name, o)
			}
		}
	}
	if _, err := (Laplace{1e-30}).Scale(1, math.MaxInt); !errors.Is(err, check.ErrBudget) {
		t.Errorf("a grid too coarse for its dimension: got %v", err)
	}
	if _, err := (Laplace{1}).Scale(1, 0); !errors.Is(err, check.ErrShape) {
		t.Errorf("no dimension: got %v", err)
	}
	if _, err := (Laplace{-1}).Ledger("", 1); !errors.Is(err, check.ErrBudget) {
		t.Errorf("ledger with negative epsilon: got %v", err)
	}
	if _, err := (Laplace{1}).Ledger("", 0); !errors.Is(err, check.ErrConfig) {
		t.Errorf("ledger of no releases: got %v", err)
	}
}

func BenchmarkLaplaceRelease(b *testing.B) {
	src := NewSecureSource()
	v := make([]float64, 100)
	for b.Loop() {
		if err := (Laplace{1}).Release(v, v, 1, src); err != nil {
			b.Fatal(err)
		}
	}
}
