package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// generalizedExponents returns the mechanism's own exponents ε·s_i/2, infinite
// for the excluded.
func generalizedExponents(t *testing.T, m GeneralizedExponential, scores, sens []float64) []float64 {
	t.Helper()
	if err := m.validate(scores, sens); err != nil {
		t.Fatal(err)
	}
	kept := withoutLosingConstants(scores, sens)
	gaps, unit := m.gaps(scores, sens, kept)
	x := make([]float64, len(scores))
	for i := range x {
		x[i] = math.Inf(1)
	}
	for i, e := range exponents(gaps, unit) {
		x[kept[i]] = e
	}
	return x
}

// worstSoftminRatio returns the largest |log P(i)/P'(i)| of the laws softmin(a)
// and softmin(b), of which the same ones may be excluded.
func worstSoftminRatio(a, b []float64) float64 {
	var worst, totalA, totalB float64
	for i := range a {
		totalA += math.Exp(-a[i])
		totalB += math.Exp(-b[i])
	}
	for i := range a {
		if !math.IsInf(a[i], 1) || !math.IsInf(b[i], 1) {
			worst = math.Max(worst, math.Abs(b[i]-a[i]+math.Log(totalB/totalA)))
		}
	}
	return worst
}

// referenceLaw is the definition, in float64 numbers.
func referenceLaw(m GeneralizedExponential, scores, sens []float64) []float64 {
	t := 2 * math.Log(float64(len(scores))/m.Beta) / m.Epsilon
	x := make([]float64, len(scores))
	for i := range scores {
		for j := range scores {
			diff := scores[i] + t*sens[i] - scores[j] - t*sens[j]
			if total := sens[i] + sens[j]; total > 0 {
				x[i] = math.Max(x[i], m.Epsilon/2*diff/total)
			} else if diff > 0 {
				x[i] = math.Inf(1)
			}
		}
	}
	return softmin(x)
}

var unequalCases = []struct {
	name string
	sens []float64
}{
	{"two", []float64{1, 3}},
	{"spread", []float64{0.01, 1, 10, 0.3}},
	{"nearly equal", []float64{1, 1, 1, 1.0001}},
	{"one constant", []float64{0, 1, 2}},
	{"constants", []float64{0, 0, 1, 0, 1}},
	{"doubling", []float64{1, 4, 16, 64, 256}},
	{"far apart", []float64{1e-6, 1e3, 1}},
}

func TestGeneralizedLaw(t *testing.T) {
	random := uniforms(41)
	for _, c := range unequalCases {
		for _, epsilon := range []float64{0.2, 3} {
			for range 100 {
				scores := make([]float64, len(c.sens))
				for i := range scores {
					scores[i] = 20 * random() * c.sens[len(c.sens)-1-i]
				}
				m := GeneralizedExponential{Epsilon: epsilon, Beta: 0.1}
				got, want := softmin(generalizedExponents(t, m, scores, c.sens)), referenceLaw(m, scores, c.sens)
				for i := range got {
					if math.Abs(got[i]-want[i]) > 1e-3*want[i]+1e-12 { // 1e-6 of 1e3 is few steps
						t.Fatalf("%s, ε = %g: law %v, want %v", c.name, epsilon, got, want)
					}
				}
			}
		}
	}
}

// Privacy as an exact ratio on the worst neighbours that a search finds. The same
// search breaks the mechanism without its factor ½, so it has the power to.
func TestGeneralizedIsPrivate(t *testing.T) {
	var broken float64
	for at, c := range unequalCases {
		for _, epsilon := range []float64{0.5, 2} {
			m := GeneralizedExponential{Epsilon: epsilon, Beta: 0.2}
			spent := func(sharpness float64) float64 {
				return searchNeighbours(c.sens, 8/epsilon, uint64(at), func(a, b []float64) float64 {
					x, y := generalizedExponents(t, m, a, c.sens), generalizedExponents(t, m, b, c.sens)
					for i := range x {
						x[i] *= sharpness
						y[i] *= sharpness
					}
					return worstSoftminRatio(x, y)
				})
			}
			e, sharp := spent(1), spent(2)
			if e > epsilon+1e-9 || e < 0.3*epsilon {
				t.Errorf("%s, ε = %g: spends %g", c.name, epsilon, e)
			}
			broken = math.Max(broken, sharp/epsilon)
		}
	}
	t.Logf("without the factor ½: %.3f·ε", broken)
	if broken < 1.5 {
		t.Errorf("without the factor ½ the search finds %g·ε only", broken)
	}
}

// Equal sensitivities, which are public, get the plain mechanism and all of ε.
func TestGeneralizedWithEqualSensitivities(t *testing.T) {
	scores := []float64{0.3, 0, 1}
	m := GeneralizedExponential{Epsilon: 2, Beta: 0.1}
	src := NewSeededSource(42)
	counts := countSelections(t, 100_000, 3, func() (int, error) { return m.Select(scores, []float64{0.5, 0.5, 0.5}, src) })
	chiSquare(t, "equal", counts, softmin([]float64{0.6, 0, 2}))
	for range 100 {
		if i, err := m.Select(scores, make([]float64, 3), src); err != nil || i != 1 {
			t.Fatalf("constants: chose %d, %v", i, err)
		}
	}
}

// From scores to index, the law is the definition's; constants that lose are
// never chosen, ties of constants are fair.
func TestGeneralizedSelect(t *testing.T) {
	src := NewSeededSource(43)
	m := GeneralizedExponential{Epsilon: 1, Beta: 0.5}
	scores, sens := []float64{2, 2 + 1e-12, 0.5, 2, 0}, []float64{0, 0, 1, 0, 2}
	counts := countSelections(t, 100_000, 5, func() (int, error) { return m.Select(scores, sens, src) })
	law := referenceLaw(m, scores, sens)
	if counts[1] != 0 || law[1] != 0 {
		t.Errorf("the losing constant was chosen %g times", counts[1])
	}
	chiSquare(t, "select", append(counts[:1:1], counts[2:]...), append(law[:1:1], law[2:]...))
}

// Raskhodnikova and Smith's theorem: q_î ≤ min_i (q_i + 4Δ_i·log(N/β)/ε) with
// probability at least 1−β, here by the exact law; for the worst vectors (one
// good candidate, all others just too bad) β is nearly used up where
// sensitivities are nearly equal.
func TestGeneralizedAccuracy(t *testing.T) {
	random := uniforms(44)
	for _, c := range unequalCases {
		m := GeneralizedExponential{Epsilon: 0.7, Beta: 0.05}
		width := 4 * math.Log(float64(len(c.sens))/m.Beta) / m.Epsilon
		var worst float64
		for trial := range 3000 {
			scores := make([]float64, len(c.sens))
			for i := range scores {
				scores[i] = 2 * width * c.sens[i] * random()
				if trial%2 == 0 { // just beyond the first one's bound
					scores[i] = width * c.sens[0] * (1 + 1e-4*random())
				}
			}
			if trial%2 == 0 {
				scores[0] = 0
			}
			allowed := math.Inf(1)
			for i, q := range scores {
				allowed = math.Min(allowed, q+width*c.sens[i])
			}
			var fails float64
			for i, p := range softmin(generalizedExponents(t, m, scores, c.sens)) {
				if scores[i] > allowed+1e-9*width*c.sens[i] {
					fails += p
				}
			}
			worst = math.Max(worst, fails)
		}
		if worst > m.Beta {
			t.Errorf("%s: fails with probability %g, more than %g", c.name, worst, m.Beta)
		}
		if c.name == "nearly equal" && worst < m.Beta/2 {
			t.Errorf("%s: the worst failure found is %g only", c.name, worst)
		}
	}
}

// The same by drawing: at most as many failures as probability β explains, to
// α = 1e-6.
func TestGeneralizedAccuracyByDrawing(t *testing.T) {
	const draws, beta = 50_000, 0.1
	m := GeneralizedExponential{Epsilon: 1, Beta: beta}
	sens := []float64{1, 1, 1, 1, 1.01}
	width := 4 * math.Log(5/beta)
	scores := []float64{0, width + 0.01, width + 0.01, width + 0.01, width + 0.01}
	src := NewSeededSource(45)
	counts := countSelections(t, draws, 5, func() (int, error) { return m.Select(scores, sens, src) })
	fails := draws - counts[0]
	if limit := draws*beta + 4.8*math.Sqrt(draws*beta); fails > limit {
		t.Errorf("%g failures exceed %g", fails, limit)
	}
	if fails < draws*beta/2 {
		t.Errorf("%g failures only: the case is too easy to test the bound", fails)
	}
}

// min_i s_i = 0 in every case, capped differences included, so that the sampler
// always has a candidate that it accepts.
func TestGeneralizedBestGapIsZero(t *testing.T) {
	random := uniforms(48)
	for range 5000 {
		n := 2 + int(5*random())
		scores, sens, kept := make([]float64, n), make([]float64, n), make([]int, n)
		for i := range scores {
			scores[i] = math.Exp(80*random()-30) * (random() - 0.5)
			sens[i] = math.Exp(20*random() - 10)
			kept[i] = i
		}
		m := GeneralizedExponential{Epsilon: math.Exp(20*random() - 13), Beta: 0.1}
		gaps, _ := m.gaps(scores, sens, kept)
		if slices.Min(gaps) != 0 {
			t.Fatalf("ε = %g, scores %v, sensitivities %v: gaps %v", m.Epsilon, scores, sens, gaps)
		}
	}
}

func TestScaledQuotient(t *testing.T) {
	src := NewSeededSource(46)
	for range 10_000 {
		num := src.Uint64() >> (8 + uniform(56, unlimited(src)))
		den := src.Uint64()>>(27+uniform(36, unlimited(src))) + 1
		want := new(big.Int).Lsh(new(big.Int).SetUint64(num), scoreBits)
		want.Div(want, new(big.Int).SetUint64(den))
		if !want.IsUint64() || want.Uint64() > maxGap {
			want.SetUint64(maxGap)
		}
		if got := scaledQuotient(num, den); got != want.Uint64() {
			t.Fatalf("%d/%d: got %d, want %v", num, den, got, want)
		}
	}
}

// Extreme public numbers neither overflow nor stop the selection.
func TestGeneralizedExtremes(t *testing.T) {
	src := NewSeededSource(47)
	for _, epsilon := range []float64{minSelectionEpsilon, 1e300} {
		for _, beta := range []float64{5e-324, 1 - 1e-16} {
			m := GeneralizedExponential{Epsilon: epsilon, Beta: beta}
			for _, scores := range [][]float64{{0, 0, 0}, {-math.MaxFloat64, 0, math.MaxFloat64}} {
				i, err := m.Select(scores, []float64{check.MinScale, 0, check.MaxScale}, src)
				if err != nil || i < 0 || i > 2 {
					t.Errorf("ε = %g, β = %g: %d, %v", epsilon, beta, i, err)
				}
			}
		}
	}
	m := GeneralizedExponential{Epsilon: minSelectionEpsilon, Beta: 5e-324}
	gaps, _ := m.gaps([]float64{0, 0}, []float64{1, 1e-9}, []int{0, 1})
	if gaps[0] < maxGap/2 || gaps[1] != 0 {
		t.Errorf("equal scores, the first one far more sensitive: gaps %v", gaps)
	}
}

func TestGeneralizedErrors(t *testing.T) {
	nan := math.NaN()
	for at, c := range []struct {
		m            GeneralizedExponential
		scores, sens []float64
		want         error
	}{
		{GeneralizedExponential{0, 0.1}, []float64{1}, []float64{1}, check.ErrBudget},
		{GeneralizedExponential{1e-9, 0.1}, []float64{1}, []float64{1}, check.ErrBudget},
		{GeneralizedExponential{1, 0}, []float64{1}, []float64{1}, check.ErrConfig},
		{GeneralizedExponential{1, 1}, []float64{1}, []float64{1}, check.ErrConfig},
		{GeneralizedExponential{1, nan}, []float64{1}, []float64{1}, check.ErrConfig},
		{GeneralizedExponential{1, 0.1}, nil, nil, check.ErrShape},
		{GeneralizedExponential{1, 0.1}, []float64{1, 2}, []float64{1}, check.ErrShape},
		{GeneralizedExponential{1, 0.1}, []float64{1, nan}, []float64{1, 2}, check.ErrValue},
		{GeneralizedExponential{1, 0.1}, []float64{1, 2}, []float64{1, -1}, check.ErrConfig},
		{GeneralizedExponential{1, 0.1}, []float64{1, 2}, []float64{nan, 1}, check.ErrConfig},
		{GeneralizedExponential{1, 0.1}, []float64{1, 2}, []float64{1, math.Inf(1)}, check.ErrConfig},
	} {
		if _, err := c.m.Select(c.scores, c.sens, NewSeededSource(1)); !errors.Is(err, c.want) {
			t.Errorf("case %d: got %v, want %v", at, err, c.want)
		}
	}
	if _, err := (GeneralizedExponential{Epsilon: -1, Beta: 0.1}).Ledger(""); !errors.Is(err, check.ErrBudget) {
		t.Errorf("ledger: got %v", err)
	}
}

func BenchmarkGeneralizedSelect(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src := NewSecureSource()
			scores, sens := make([]float64, n), make([]float64, n)
			for i := range scores {
				scores[i], sens[i] = float64(i%7), float64(1+i%3)
			}
			for b.Loop() {
				if _, err := (GeneralizedExponential{Epsilon: 1, Beta: 0.1}).Select(scores, sens, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
