package mechanisms

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

func probability(t *testing.T, m Vote, v int) float64 {
	t.Helper()
	p, err := m.Probability(v)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// [DF18, Theorem 4.1]: over all margins that differ by at most 2, the probability
// of neither answer changes by more than a factor e^ε, and the range of the two
// log-ratios, which is what the ledger claims, is at most ε and nearly that.
func TestVoteRatios(t *testing.T) {
	for _, epsilon := range []float64{1e-6, 0.01, 0.3, 1, math.Pi, 20} {
		m := Vote{Epsilon: epsilon}
		worst, widest := 0.0, 0.0
		for v := -60; v <= 60; v++ {
			for _, by := range []int{-2, -1, 1, 2} {
				p, q := probability(t, m, v), probability(t, m, v+by)
				// 1 − p loses digits where p is near 1; the law is symmetric.
				pNo, qNo := probability(t, m, -v), probability(t, m, -v-by)
				yes, no := math.Log(p/q), math.Log(pNo/qNo)
				worst = math.Max(worst, math.Max(math.Abs(yes), math.Abs(no)))
				widest = math.Max(widest, math.Abs(yes-no))
			}
		}
		const tolerance = 1e-13 // of exp and log, at exponents up to 600
		if limit := epsilon*(1+tolerance) + tolerance; worst > limit || widest > limit {
			t.Errorf("ε = %g: ratio e^%.17g, range %.17g", epsilon, worst, widest)
		}
		if widest < epsilon*(1-1e-6) && epsilon > 1e-6 {
			t.Errorf("ε = %g: range only %g", epsilon, widest)
		}
	}
}

// The sampler has the law that Probability says, which is DF18's formula.
func TestVoteLaw(t *testing.T) {
	const draws = 100_000
	src := NewSeededSource(1)
	for _, c := range []struct {
		epsilon float64
		margin  int
	}{{0.5, 0}, {0.5, 1}, {0.5, -3}, {2, 1}, {1e-6, 1_000_000}, {1e-6, -4_000_000}, {1e-6, math.MaxInt}, {40, -1}} {
		m := Vote{Epsilon: c.epsilon}
		p := probability(t, m, c.margin)
		exponent := c.epsilon * math.Min(float64(c.margin), 1<<28) / 2
		want := 1 / (1 + math.Exp(-exponent))
		if math.Abs(p-want) > want*(1e-12+0x1p-34*c.epsilon*math.Abs(exponent)) {
			t.Errorf("%+v: probability %.12g, want %.12g", c, p, want)
		}
		count := 0.0
		for range draws {
			yes, err := m.Answer(c.margin, src)
			if err != nil {
				t.Fatal(err)
			}
			if yes {
				count++
			}
		}
		// Bernstein's inequality at α = 1e-6, seed 1.
		log := math.Log(2e6)
		if off := math.Abs(count - draws*p); off > math.Sqrt(2*draws*p*(1-p)*log)+log {
			t.Errorf("%+v: %g of %d answers are yes, want about %g", c, count, draws, draws*p)
		}
	}
}

func TestVoteRefuses(t *testing.T) {
	src := NewSeededSource(1)
	for _, epsilon := range []float64{0, -1, 1e-7, math.NaN(), math.Inf(1)} {
		m := Vote{Epsilon: epsilon}
		_, errAnswer := m.Answer(1, src)
		_, errProbability := m.Probability(1)
		_, errLedger := m.Ledger("", 1)
		for _, err := range []error{errAnswer, errProbability, errLedger} {
			if !errors.Is(err, check.ErrBudget) {
				t.Errorf("ε = %g: %v", epsilon, err)
			}
		}
	}
	if _, err := (Vote{Epsilon: 1}).Ledger("", 0); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no releases: %v", err)
	}
}

// Many answers cost less than their sum.
func TestVoteLedger(t *testing.T) {
	l, err := Vote{Epsilon: 0.01}.Ledger("votes", 1000)
	if err != nil {
		t.Fatal(err)
	}
	// The float64 0.01 is a little above 1/100.
	if !l.Within(10*(1+1e-15), 0) || l.Within(10, 0) {
		t.Error("isn't the sum of ε")
	}
	if e, err := l.Epsilon(1e-6); err != nil || e > 0.8 || e < 0.5 {
		t.Errorf("ε = %g, %v", e, err)
	}
}
