package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// The exact laws of the selectors, for exponents x_i = ε·(q_i − q*)/(2Δ). They
// share nothing with the samplers.

func softmin(x []float64) []float64 {
	p, total := make([]float64, len(x)), 0.0
	for i := range x {
		p[i] = math.Exp(-x[i])
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

func exponents(gaps []uint64, unit uint64) []float64 {
	x := make([]float64, len(gaps))
	for i, g := range gaps {
		x[i] = float64(g) / float64(unit)
	}
	return x
}

func logRatio(p, q []float64) float64 {
	var worst float64
	for i := range p {
		worst = math.Max(worst, math.Abs(math.Log(p[i]/q[i])))
	}
	return worst
}

// uniforms returns a stream of numbers in [0, 1).
func uniforms(seed uint64) func() float64 {
	src := NewSeededSource(seed)
	return func() float64 { return float64(src.Uint64()>>11) / (1 << 53) }
}

// searchNeighbours looks for score vectors q and changes |c_i| ≤ sens_i that
// maximise the objective: random restarts, each followed by coordinate ascent on
// the change (its corners included) and on the scores.
func searchNeighbours(sens []float64, width float64, seed uint64, objective func(q, changed []float64) float64) float64 {
	random := uniforms(seed)
	n := len(sens)
	var largest float64
	for _, d := range sens {
		largest = math.Max(largest, d)
	}
	var found float64
	for range 25 {
		q, c := make([]float64, n), make([]float64, n)
		for i := range q {
			q[i] = width * largest * random() * random()
			c[i] = sens[i] * float64(int(3*random())-1)
		}
		value := func() float64 {
			changed := make([]float64, n)
			for i := range q {
				changed[i] = q[i] + c[i]
			}
			return objective(q, changed)
		}
		best := value()
		try := func(at *float64, v float64) {
			old := *at
			*at = v
			if now := value(); now > best {
				best = now
			} else {
				*at = old
			}
		}
		for round := range 25 {
			for i := range q {
				for _, share := range []float64{-1, 0, 1, 2*random() - 1} {
					try(&c[i], share*sens[i])
				}
				if sens[i] == 0 && round > 0 {
					continue // constants are part of the mechanism, not of the data
				}
				try(&q[i], width*largest*random())
				try(&q[i], math.Abs(q[i]+largest*(random()-0.5)))
			}
		}
		found = math.Max(found, best)
	}
	return found
}

// Privacy of the exponential mechanism and of permute-and-flip, as an exact ratio
// on the worst neighbours that a search finds, and bounded range for the first
// only. The exponential mechanism's ε is nearly used up.
func TestEqualSensitivitySelectionIsPrivate(t *testing.T) {
	for _, c := range []struct{ epsilon, sensitivity float64 }{{0.1, 1}, {1, 0.3}, {4, 1e-20}, {2, 1e30}} {
		for _, n := range []int{2, 3, 5} {
			sens := make([]float64, n)
			for i := range sens {
				sens[i] = c.sensitivity
			}
			law := func(of func([]float64) []float64, q []float64) []float64 {
				gaps, unit, err := gapsToBest(q, c.sensitivity, c.epsilon)
				if err != nil {
					t.Fatal(err)
				}
				return of(exponents(gaps, unit))
			}
			spent := func(of func([]float64) []float64) float64 {
				return searchNeighbours(sens, 20/c.epsilon, uint64(n), func(a, b []float64) float64 { return logRatio(law(of, a), law(of, b)) })
			}
			if e := spent(softmin); e > c.epsilon+1e-9 || e < 0.8*c.epsilon {
				t.Errorf("exponential, n = %d, ε = %g: spends %g", n, c.epsilon, e)
			}
			if e := spent(permuteAndFlipLaw); e > c.epsilon+1e-9 || e < 0.8*c.epsilon {
				t.Errorf("permute-and-flip, n = %d, ε = %g: spends %g", n, c.epsilon, e)
			}
			span := func(of func([]float64) []float64) float64 {
				return searchNeighbours(sens, 3/c.epsilon, uint64(n), func(a, b []float64) float64 {
					p, q := law(of, a), law(of, b)
					lo, hi := math.Inf(1), math.Inf(-1)
					for i := range p {
						r := math.Log(p[i] / q[i])
						lo, hi = math.Min(lo, r), math.Max(hi, r)
					}
					return hi - lo
				})
			}
			if r := span(softmin); r > c.epsilon+1e-9 {
				t.Errorf("exponential, n = %d, ε = %g: range %g", n, c.epsilon, r)
			}
			if r := span(permuteAndFlipLaw); r < 1.05*c.epsilon {
				t.Errorf("permute-and-flip, n = %d, ε = %g: range %g found, expected a violation of bounded range", n, c.epsilon, r)
			}
		}
	}
}

// A score that moves by at most the sensitivity moves by at most the stated
// number of steps, and no more than 2^-33 of the sensitivity is lost to the grid.
func TestScoreGrid(t *testing.T) {
	random := uniforms(21)
	for _, sensitivity := range []float64{check.MinScale, 1e-9, 0.3, 1, 7, check.MaxScale} {
		step := scoreStep(sensitivity)
		d := sensitivityInSteps(sensitivity, step)
		if d < 1<<scoreBits || d > 1<<(scoreBits+1)+1 {
			t.Errorf("sensitivity %g spans %d steps", sensitivity, d)
		}
		if loss := float64(d)*step/sensitivity - 1; loss < 0 || loss > 0x1p-33 {
			t.Errorf("sensitivity %g grows by a relative %g", sensitivity, loss)
		}
		for range 2000 {
			q := sensitivity * math.Exp(40*random()-20) * (random() - 0.5)
			changed := q + float64(sensitivity*(1-1e-15))
			if changed-q > sensitivity {
				continue // it was rounded to more
			}
			k, up := toSteps(q, step), toSteps(changed, step)
			if diff := stepsApart(up, k); k != math.Trunc(k) || math.Abs(q) < 1e6*sensitivity && diff > int64(d) {
				t.Fatalf("score %g at sensitivity %g moves by %d steps of %d", q, sensitivity, diff, d)
			}
		}
	}
	// Halves at both ends round away from each other: the added step is needed.
	step, odd := scoreStep(1), 1+scoreStep(1)
	if d := stepsApart(toSteps(odd+step/2, step), toSteps(step/2, step)); d != 1<<scoreBits+2 || sensitivityInSteps(odd, step) != uint64(d) {
		t.Errorf("a move by 2^%d+1 steps became %d of at most %d", scoreBits, d, sensitivityInSteps(odd, step))
	}
	if sensitivityInSteps(0, 1) != 0 {
		t.Error("a constant must stay one")
	}
}

// Differences are exact up to the cap, at any magnitude.
func TestStepsApart(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want int64
	}{
		{3, 5, -2},
		{0x1p60 + 0x1p10, 0x1p60, 1 << 10},
		{0x1p53, 1, maxGap - 1},
		{0x1p53, -1, maxGap},
		{0x1p1000, -0x1p1000, maxGap},
		{-0x1p1000, 0x1p1000, -maxGap},
	} {
		if got := stepsApart(c.a, c.b); got != c.want {
			t.Errorf("%g − %g = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// The exponents are ε(q_i − q*)/(2Δ), also for scores far from zero and for
// those that a float64 quotient can't hold.
func TestGapsToBest(t *testing.T) {
	for _, c := range []struct {
		scores      []float64
		sensitivity float64
		epsilon     float64
		want        []float64
	}{
		{[]float64{1, 2, 1.5}, 0.5, 1, []float64{0, 1, 0.5}},
		{[]float64{-3, -5, 0}, 1, 0.2, []float64{0.2, 0, 0.5}},
		{[]float64{0x1p60, 0x1p60 + 0x1p8, 0x1p60 - 0x1p8}, 64, 1, []float64{2, 4, 0}},
		{[]float64{2e-40, 1e-40}, 1e-40, 8, []float64{4, 0}},
		{[]float64{42}, 3, 1, []float64{0}},
	} {
		gaps, unit, err := gapsToBest(c.scores, c.sensitivity, c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range exponents(gaps, unit) {
			if x > c.want[i]*(1+1e-12) || x < c.want[i]*(1-1e-9) {
				t.Errorf("%v: exponent %d = %g, want %g", c.scores, i, x, c.want[i])
			}
		}
	}
	gaps, unit, err := gapsToBest([]float64{-math.MaxFloat64, math.MaxFloat64}, check.MinScale, 1)
	if err != nil || gaps[0] != 0 || gaps[1] != maxGap || unit < 1 {
		t.Errorf("extreme scores: %v, %d, %v", gaps, unit, err)
	}
}

func TestSelectionUnit(t *testing.T) {
	for _, d := range []uint64{2, 3, 1 << 34, 1<<35 + 1} {
		for _, epsilon := range []float64{minSelectionEpsilon, 0.3, 1, 17, 1e300} {
			unit := selectionUnit(d, epsilon)
			spent := new(big.Rat).SetFrac(new(big.Int).SetUint64(2*d), new(big.Int).SetUint64(unit))
			if spent.Cmp(new(big.Rat).SetFloat64(epsilon)) > 0 {
				t.Errorf("D = %d, ε = %g: unit %d is too small", d, epsilon, unit)
			}
			if most := 2*float64(d)/epsilon*(1+1e-14) + 1; float64(unit) > most {
				t.Errorf("D = %d, ε = %g: unit %d exceeds %g", d, epsilon, unit, most)
			}
		}
	}
}

func TestCoinExpOfGaps(t *testing.T) {
	const draws = 200_000
	src := NewSeededSource(22)
	for _, c := range []struct{ gap, unit uint64 }{{0, 5}, {3, 5}, {5, 5}, {13, 5}, {1 << 40, 1<<39 + 7}} {
		heads := 0.0
		for range draws {
			if coinExp(c.gap, c.unit, unlimited(src)) {
				heads++
			}
		}
		p := math.Exp(-float64(c.gap) / float64(c.unit))
		if c.gap == 0 {
			if heads != draws {
				t.Error("a gap of 0 must be certain")
			}
			continue
		}
		chiSquare(t, fmt.Sprint(c), []float64{heads, draws - heads}, []float64{p, 1 - p})
	}
	if coinExp(maxGap, 1, unlimited(src)) {
		t.Error("exp(−2^53) came up heads")
	}
}

// selector is what the selections at one sensitivity have in common.
type selector interface {
	Select(scores []float64, sensitivity float64, src Source) (int, error)
	Ledger(label string) (*Ledger, error)
}

func selectors(epsilon float64) map[string]selector {
	return map[string]selector{"exponential": Exponential{epsilon}, "permute-and-flip": PermuteAndFlip{epsilon}, "noisy max": NoisyMax{epsilon}}
}

func countSelections(t *testing.T, draws, n int, choose func() (int, error)) []float64 {
	t.Helper()
	counts := make([]float64, n)
	for range draws {
		i, err := choose()
		if err != nil {
			t.Fatal(err)
		}
		counts[i]++
	}
	return counts
}

// Each selector's law, from scores to index, is the one in its definition.
func TestSelectionLaws(t *testing.T) {
	const sensitivity, epsilon = 0.2, 1.5
	laws := map[string]func([]float64) []float64{
		"exponential": softmin, "permute-and-flip": permuteAndFlipLaw, "noisy max": noisyMinContinuousLaw,
	}
	for _, scores := range [][]float64{{0.3, 0.1, 0.55, 0.1}, {-7, -7.2}, {1e6, 1e6 + 0.25, 1e6 - 0.125, 1e6 + 0.0625, 1e6}} {
		best := math.Inf(1)
		for _, q := range scores {
			best = math.Min(best, q)
		}
		x := make([]float64, len(scores))
		for i, q := range scores {
			x[i] = epsilon * (q - best) / (2 * sensitivity)
		}
		for name, s := range selectors(epsilon) {
			src := NewSeededSource(uint64(len(scores)))
			counts := countSelections(t, 100_000, len(scores), func() (int, error) { return s.Select(scores, sensitivity, src) })
			chiSquare(t, name, counts, laws[name](x))
		}
	}
}

// Constants cost nothing: only the smallest are chosen.
func TestSelectionOfConstants(t *testing.T) {
	for name, s := range selectors(0.01) {
		src := NewSeededSource(23)
		counts := countSelections(t, 1000, 4, func() (int, error) { return s.Select([]float64{2, 1, 1 + 1e-15, 1}, 0, src) })
		if counts[0] != 0 || counts[2] != 0 || counts[1] == 0 || counts[3] == 0 {
			t.Errorf("%s: chose %v times", name, counts)
		}
	}
}

func TestSelectionErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name        string
		epsilon     float64
		scores      []float64
		sensitivity float64
		want        error
	}{
		{"no epsilon", 0, []float64{1}, 1, check.ErrBudget},
		{"NaN epsilon", nan, []float64{1}, 1, check.ErrBudget},
		{"tiny epsilon", 1e-7, []float64{1}, 1, check.ErrBudget},
		{"no scores", 1, nil, 1, check.ErrShape},
		{"NaN score", 1, []float64{0, nan}, 1, check.ErrValue},
		{"infinite score", 1, []float64{0, -inf}, 1, check.ErrValue},
		{"negative sensitivity", 1, []float64{0}, -1, check.ErrConfig},
		{"NaN sensitivity", 1, []float64{0}, nan, check.ErrConfig},
		{"infinite sensitivity", 1, []float64{0}, inf, check.ErrConfig},
		{"minute sensitivity", 1, []float64{0}, 1e-61, check.ErrConfig},
	} {
		for name, s := range selectors(c.epsilon) {
			if _, err := s.Select(c.scores, c.sensitivity, NewSeededSource(1)); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: got %v, want %v", name, c.name, err, c.want)
			}
			if _, err := s.Ledger("selection"); errors.Is(c.want, check.ErrBudget) && !errors.Is(err, check.ErrBudget) {
				t.Errorf("%s, %s: ledger gives %v", name, c.name, err)
			}
		}
	}
	_, err := Exponential{1}.Select([]float64{0, 5, nan}, 1, NewSeededSource(1))
	if want := "scores[2]"; err == nil || !errors.Is(err, check.ErrValue) || err.(*check.Error).Param() != want {
		t.Errorf("got %v, want an error about %s", err, want)
	}
}
