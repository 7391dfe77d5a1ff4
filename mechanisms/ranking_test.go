package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/check"
)

// rankedLaw are the probabilities that Rank's comment states.
func rankedLaw(scores []int64, unit int64) []float64 {
	best, p, sum := scores[0], make([]float64, len(scores)), 0.0
	for _, s := range scores {
		best = min(best, s)
	}
	for i, s := range scores {
		p[i] = math.Exp(-float64(s-best) / float64(unit))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// fits fails the test where counts of draws differ from their law, which a right sampler's
// do with a probability of 1e-6. What is expected less than ten times counts as one.
func fits(t *testing.T, counts, law []float64, draws int) {
	t.Helper()
	var chi, cells, rareCount, rare float64
	add := func(count, want float64) {
		chi += (count - want) * (count - want) / want
		cells++
	}
	for i, p := range law {
		if want := p * float64(draws); want < 10 {
			rareCount, rare = rareCount+counts[i], rare+want
		} else {
			add(counts[i], want)
		}
	}
	if rare >= 10 {
		add(rareCount, rare)
	} else if rareCount > 60 { // a Poisson law's tail beyond 1e-6
		t.Errorf("what is expected %.3g times was drawn %.0f times", rare, rareCount)
	}
	if cells > 1 && (distuv.ChiSquared{K: cells - 1}).Survival(chi) < 1e-6 {
		t.Errorf("draws don't follow their law: χ² = %.1f in %.0f cells", chi, cells)
	}
}

// Draws follow the law of the exponential mechanism: of scores within one level, over many,
// with gaps, beyond those that are proposed by themselves, and after any changes.
func TestRankingFollowsTheLaw(t *testing.T) {
	const unit = 1000 // of sensitivity 500 at ε = 1
	r := rand.New(rand.NewPCG(1, 1))
	crowd := make([]int64, 1<<21) // at 20.3 levels above one: 1.5 draws in 1000
	for i := range crowd {
		crowd[i] = 20_300
	}
	crowd[77] = 0
	spread := make([]int64, 400)
	for i := range spread {
		spread[i] = r.Int64N(40*unit) - 20*unit
	}
	for name, c := range map[string]struct {
		scores  []int64
		changes int
	}{
		"one":         {[]int64{5}, 0},
		"one level":   {[]int64{0, 999, 500, 3, 0}, 0},
		"few levels":  {[]int64{-1500, 0, 1, 2500, -1499, 700}, 0},
		"far apart":   {[]int64{1 << 62, -1 << 40, -1<<40 + 1500, 0}, 0},
		"a crowd":     {crowd, 0},
		"spread":      {spread, 0},
		"changed":     {append([]int64(nil), spread...), 20_000},
		"changed few": {make([]int64, 12), 500},
	} {
		t.Run(name, func(t *testing.T) {
			ranking, err := Exponential{Epsilon: 1}.Rank(c.scores, unit/2)
			if err != nil {
				t.Fatal(err)
			}
			for k := range c.changes {
				if i := r.IntN(ranking.Len()); k%7 == 0 {
					ranking.Set(i, r.Int64N(60*unit)-80*unit) // a new best one, mostly
				} else {
					ranking.Set(i, r.Int64N(40*unit)-20*unit)
				}
			}
			for i := range ranking.scores {
				if l := ranking.levels[ranking.level(ranking.scores[i])]; int(l[ranking.place[i]]) != i {
					t.Fatalf("candidate %d isn't in its level", i)
				}
			}
			const draws = 200_000
			counts, src := make([]float64, ranking.Len()), NewSeededSource(3)
			for range draws {
				i, err := ranking.Select(src)
				if err != nil {
					t.Fatal(err)
				}
				counts[i]++
			}
			law := rankedLaw(ranking.scores, unit)
			if name == "a crowd" { // as two candidates
				counts = []float64{counts[77], draws - counts[77]}
				law = []float64{law[77], 1 - law[77]}
			}
			fits(t, counts, law, draws)
		})
	}
}

// A selection of a ranking has the law of Exponential.Select on the same scores.
func TestRankingSelectsLikeExponential(t *testing.T) {
	m, scores := Exponential{Epsilon: 0.7}, []float64{3, -1, 0, 2.5, 7, -0.5}
	const draws, steps = 100_000, 1 << 30
	whole := make([]int64, len(scores))
	for i, s := range scores {
		whole[i] = int64(s * steps)
	}
	ranking, err := m.Rank(whole, steps)
	if err != nil {
		t.Fatal(err)
	}
	direct, ranked, law := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	var sum float64
	for i, s := range scores {
		law[i] = math.Exp(-m.Epsilon * s / 2)
		sum += law[i]
	}
	src := NewSeededSource(5)
	for range draws {
		i, err := m.Select(scores, 1, src)
		if err != nil {
			t.Fatal(err)
		}
		k, err := ranking.Select(src)
		if err != nil {
			t.Fatal(err)
		}
		direct[i]++
		ranked[k]++
	}
	for i := range law {
		law[i] /= sum
	}
	fits(t, direct, law, draws)
	fits(t, ranked, law, draws)
}

// Proposals are at least as likely as what they stand for, to the last bit: the proof needs
// 2^32·e^−m ≤ proposed(m).
func TestProposalsDominate(t *testing.T) {
	for m := range rankedLevels + 1 {
		if exact := 0x1p32 * math.Exp(-float64(m)); float64(proposed(m)) < exact*(1+1e-12) && m > 0 || proposed(m) < 1<<32 && m == 0 {
			t.Errorf("proposed(%d) = %d is below %g", m, proposed(m), exact)
		}
	}
}

func TestRankingRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		epsilon     float64
		scores      []int64
		sensitivity uint64
		want        error
	}{
		"ε":                   {0, []int64{1}, 1, check.ErrBudget},
		"ε too small":         {1e-9, []int64{1}, 1, check.ErrBudget},
		"no candidates":       {1, nil, 1, check.ErrShape},
		"no sensitivity":      {1, []int64{1}, 0, check.ErrConfig},
		"a great sensitivity": {1, []int64{1}, 1 << 40, check.ErrConfig},
	} {
		if _, err := (Exponential{c.epsilon}).Rank(c.scores, c.sensitivity); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ranking, err := Exponential{1}.Rank([]int64{0, 1000}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ranking.Select(nil); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no source: %v", err)
	}
	if _, err := ranking.Select(stuck{}); !errors.Is(err, check.ErrConfig) {
		t.Errorf("a source that repeats itself: %v", err)
	}
	if _, err := new(Ranking).Select(NewSeededSource(1)); !errors.Is(err, check.ErrConfig) {
		t.Errorf("a ranking of nothing: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", ranking, ranking, ranking); text != "mechanisms.Ranking of 2 candidates mechanisms.Ranking of 2 candidates mechanisms.Ranking of 2 candidates" {
		t.Errorf("it prints %s", text)
	}
	if _, err := (Exponential{1}).Selections("", 0); err == nil {
		t.Error("no selections have an entry")
	}
	three, err := Exponential{1}.Selections("choices", 3)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Exponential{1}.Ledger("choice")
	if err != nil {
		t.Fatal(err)
	}
	same, err := Sequential("", one, one, one)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := three.Epsilon(1e-6)
	b, _ := same.Epsilon(1e-6)
	if math.Abs(a-b) > 1e-9 {
		t.Errorf("three selections cost ε = %g at once and %g one by one", a, b)
	}
}

// stuck is a source that gives one word, for which a proposal is rejected.
type stuck struct{}

func (stuck) Uint64() uint64 { return math.MaxUint64 }

// After any changes a ranking is what one made of the same scores is: each candidate in the level of its score, held to ±2^61, once, and each
// level with candidates among those that are open, of which best is the least, also one that was empty, was forgotten and isn't empty any more.
func TestRankingsKeepTheirLevels(t *testing.T) {
	const n, most = 6, int64(1) << 61
	r := rand.New(rand.NewPCG(2, 5))
	scores := make([]int64, n)
	x, err := Exponential{Epsilon: 1}.Rank(scores, 500)
	if err != nil {
		t.Fatal(err)
	}
	unit := x.unit
	values := []int64{0, unit - 1, unit, -1, -unit, -unit - 1, 5 * unit, 25 * unit, most - 1, most, most + 1, math.MaxInt64, -most, -most - 1, math.MinInt64}
	want := make([]int64, n)
	for step := range 3000 {
		i, v := r.IntN(n), values[r.IntN(len(values))]
		x.Set(i, v)
		want[i] = min(max(v, -most), most)
		least := int64(math.MaxInt64)
		for k, s := range want {
			level := (s - (s%unit+unit)%unit) / unit
			least = min(least, level)
			if x.scores[k] != s || x.levels[level][x.place[k]] != int32(k) {
				t.Fatalf("step %d: candidate %d has the score %d, want %d, in place %d of level %d", step, k, x.scores[k], s, x.place[k], level)
			}
			if !slices.Contains(x.open, level) || !x.known[level] {
				t.Fatalf("step %d: level %d of candidate %d isn't open", step, level, k)
			}
		}
		members := 0
		for _, level := range x.levels {
			members += len(level)
		}
		if best := least; members != n || step%3 == 0 && x.best() != best {
			t.Fatalf("step %d: %d of %d candidates in levels, the best %d, want %d", step, members, n, x.best(), best)
		}
	}
}
