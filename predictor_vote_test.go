package dpglm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// replacements are rows to put in the place of another: repeats of other rows,
// their mirror images, extremes and zeros, with either label.
func replacements(x *mat.Dense) [][]float64 {
	n, d := x.Dims()
	zero, far := make([]float64, d), make([]float64, d)
	for j := range far {
		far[j] = 1e9
	}
	out := [][]float64{zero, far}
	for i := range n {
		mirrored := make([]float64, d)
		for j := range d {
			mirrored[j] = -x.At(i, j)
		}
		out = append(out, mat.Row(nil, i, x), mirrored)
	}
	return out
}

// worstRatio searches all neighbours of a data set that differ in one row, and all
// given queries, for the largest change of a margin and the largest ratio of the
// probabilities of either answer.
func worstRatio(t *testing.T, x *mat.Dense, y []float64, queries [][]float64, vote mechanisms.Vote, margin func(d *Dataset) func(q []float64) int) (moved int, logRatio float64) {
	t.Helper()
	build := func() []int {
		d, err := NewDataset(mat.DenseCopyOf(x), y, Bounds{Feature: 1})
		if err != nil {
			t.Fatal(err)
		}
		f, v := margin(d), make([]int, len(queries))
		for k, q := range queries {
			v[k] = f(q)
		}
		return v
	}
	no := func(v int) float64 { p, _ := vote.Probability(-v); return p }
	here, rows := build(), replacements(x)
	for i := range y {
		row, label := mat.Row(nil, i, x), y[i]
		for _, r := range rows {
			for _, l := range []float64{0, 1} {
				x.SetRow(i, r)
				y[i] = l
				for k, v := range build() {
					moved = max(moved, max(v-here[k], here[k]-v))
					logRatio = math.Max(logRatio, math.Abs(math.Log(no(v)/no(here[k]))))
					logRatio = math.Max(logRatio, math.Abs(math.Log(no(-v)/no(-here[k]))))
				}
			}
		}
		x.SetRow(i, row)
		y[i] = label
	}
	return moved, logRatio
}

// [DF18, Theorem 4.1]: replacing a row moves the margin by at most 2 and the
// probability of either answer by at most a factor e^ε. Both are attained.
func TestVoteNeighbours(t *testing.T) {
	vote := mechanisms.Vote{Epsilon: 1.5}
	r := rand.New(rand.NewPCG(1, 2))
	largest, worst := 0, 0.0
	for trial := range 4 {
		const n = 9
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range n {
			x.SetRow(i, []float64{r.NormFloat64(), math.Round(r.NormFloat64())})
			if r.Float64() < 0.3 {
				y[i] = 1
			}
		}
		queries := [][]float64{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0.3, -0.8}}
		moved, ratio := worstRatio(t, x, y, queries, vote, func(d *Dataset) func([]float64) int {
			w := newWatch()
			p, err := serve(d, logit, PureDP(1.5), VoteConfig{Queries: len(queries), Parts: 1 + 2*trial, Lambda: 0.1}, &Env{NoiseForTests: w})
			if err != nil {
				t.Fatal(err)
			}
			return func(q []float64) int {
				ask(t, p, q...)
				return int(w.last().Values[0])
			}
		})
		largest, worst = max(largest, moved), math.Max(worst, ratio)
	}
	t.Logf("margins move by %d, ratio e^%.4f", largest, worst)
	if largest != 2 || worst > 1.5*(1+1e-12) || worst < 1.4 {
		t.Errorf("margins move by %d, ratio e^%g of e^1.5", largest, worst)
	}
}

// An answer is 1 as often as the margin says, and a part of one class trains.
func TestVoteAnswers(t *testing.T) {
	const queries = 20_000
	x := mat.NewDense(6, 1, []float64{1, 1, 1, -1, 0.5, 1})
	d, err := NewDataset(x, []float64{1, 1, 1, 1, 1, 1}, Bounds{Feature: 1, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	p, err := serve(d, logit, PureDP(0.4*queries), VoteConfig{Queries: queries, Parts: 3}, env)
	if err != nil {
		t.Fatal(err)
	}
	var ones float64
	for range queries {
		ones += ask(t, p, 0.7)
	}
	want := queries / (1 + math.Exp(-0.4*3/2)) // three votes of three
	// Hoeffding's inequality at α = 1e-6, seed 1.
	if math.Abs(ones-want) > math.Sqrt(queries*math.Log(2e6)/2) {
		t.Errorf("%g of %d answers are 1, want about %g", ones, queries, want)
	}
	if !p.Planned().CallerNoise() {
		t.Error("the ledger hides that the noise is the caller's")
	}
}

// The default number of parts is the theorem's where the rows suffice.
func TestVoteParts(t *testing.T) {
	for _, c := range []struct {
		epsilon, alpha      float64
		rows, classes, want int
	}{{1, 0, 10_000, 0, 27}, {0.1, 0.01, 10_000, 0, 360}, {0.1, 0.01, 1000, 0, 125}, {1, 0, 3, 0, 1}, {1, 0, 10_000, 2, 27}, {1, 0, 10_000, 5, 35}} {
		s, p := Shape{Rows: c.rows, Dim: 2, FeatureBound: 1}, logit
		p.Classes = c.classes
		plan, err := VoteConfig{Queries: 1, Alpha: c.alpha}.Plan(s, p, PureDP(c.epsilon))
		if err != nil || plan.Config.(VoteConfig).Parts != c.want {
			t.Errorf("%+v: %v, %v", c, plan, err)
		}
	}
}

// On data with a clear rule votes follow it.
func TestVoteIsAccurate(t *testing.T) {
	x, y := lineRows(4000)
	d, err := NewDataset(x, y, Bounds{Feature: 1, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := serve(d, logit, PureDP(100), VoteConfig{Queries: 100}, &Env{NoiseForTests: mechanisms.NewSeededSource(2)})
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for k := range 100 {
		v := float64(k) / 100
		if (ask(t, p, v) == 1) == (v > 0.5) {
			right++
		}
	}
	if right < 90 {
		t.Errorf("%d of 100 answers are right", right)
	}
}

// [DF18, Lemma 4.6]: one row moves a mean by at most the sensitivity, which rows
// at the ends of the range attain, for each kind of label.
func TestAverageNeighbours(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.SmoothedHinge{Width: 0.5}, losses.Squared{}, losses.Poisson{}} {
		const n, bound = 6, 3.0
		x, y := mat.NewDense(n, 1, nil), make([]float64, n)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			x.Set(i, 0, r.Float64())
			y[i] = label(loss, r.NormFloat64())
		}
		claimed := 0.0
		predict := func() float64 {
			d, err := NewDataset(mat.DenseCopyOf(x), y, Bounds{Feature: 1, Label: bound})
			if err != nil {
				t.Fatal(err)
			}
			problem := Problem{Loss: loss, Radius: 50}
			if loss.Labels() == losses.Count { // whose slopes grow like e^z
				problem.Radius = 3
			}
			w := newWatch()
			p, err := serve(d, problem, PureDP(1), AverageConfig{Queries: 1, Parts: n, Lambda: 1e-6}, &Env{NoiseForTests: w})
			if err != nil {
				t.Fatal(err)
			}
			ask(t, p, 1)
			claimed = w.last().L2
			return w.last().Values[0]
		}
		worst := 0.0
		for _, from := range []float64{-9, 0, 9} {
			for _, to := range []float64{-9, 0, 9} {
				x.Set(2, 0, 1)
				y[2] = label(loss, from)
				here := predict()
				y[2] = label(loss, to)
				worst = math.Max(worst, math.Abs(predict()-here))
			}
		}
		t.Logf("%s: %g of %g", loss.Name(), worst, claimed)
		if worst > claimed || worst < 0.9*claimed {
			t.Errorf("%s: the mean moves by %g, claimed %g", loss.Name(), worst, claimed)
		}
	}
}

// [DF18, Lemma 5.1]: replacing a row moves the walk by at most 2 and the
// probability of either answer by at most a factor e^ε, with ties among the
// features, for walks within any limit. Both are attained.
func TestThresholdNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	vote := mechanisms.Vote{Epsilon: 0.8}
	r := rand.New(rand.NewPCG(3, 4))
	queries := [][]float64{{-1}, {-0.5}, {-0.25}, {0}, {0.3}, {0.5}, {0.75}, {1}, {1e9}}
	largest, worst := 0, 0.0
	for trial := range 30 {
		const n = 10
		levels := []float64{0, 1, 4}[trial%3] // many ties, whose order matters, to few
		x, y := mat.NewDense(n, 1, nil), make([]float64, n)
		for i := range n {
			x.Set(i, 0, math.Round(levels*(2*r.Float64()-1))/4)
			if r.Float64() < float64(i)/n {
				y[i] = 1
			}
		}
		limit := 1 + r.IntN(n)
		moved, ratio := worstRatio(t, x, y, queries, vote, func(d *Dataset) func([]float64) int {
			w, err := d.data.Walk(t.Context(), limit)
			if err != nil {
				t.Fatal(err)
			}
			return func(q []float64) int {
				margin, err := w.Margin(q)
				if err != nil {
					t.Fatal(err)
				}
				e := watched(t, d.data, margin, 1)
				v := int(e.Values[0])
				if e.L2 != 2 {
					t.Fatalf("claimed sensitivity %g", e.L2)
				}
				if v > limit || v < -limit {
					t.Fatalf("the walk is at %d beyond %d", v, limit)
				}
				return v
			}
		})
		largest, worst = max(largest, moved), math.Max(worst, ratio)
	}
	t.Logf("walks move by %d, ratio e^%.4f", largest, worst)
	if largest != 2 || worst > 0.8*(1+1e-12) || worst < 0.6 {
		t.Errorf("walks move by %d, ratio e^%g of e^0.8", largest, worst)
	}
}

// The default T makes the lemma's last term small, an answer is 1 as often as the
// walk says, and it takes the features as bounded.
func TestThresholdAnswers(t *testing.T) {
	const queries = 20_000
	x := mat.NewDense(5, 1, []float64{2, -1, 0.5, 0.25, -0.5})
	y := []float64{1, 0, 1, 1, 0}
	d, err := NewDataset(x, y, Schema{Columns: []string{"a"}, Numeric: map[string][2]float64{"a": {-1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	p, err := serve(d, Problem{}, PureDP(0.5*queries), ThresholdConfig{Queries: queries}, env)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x      float64
		margin float64
	}{{-2, -1}, {-0.5, -2}, {0.3, -1}, {99, 1}} {
		var ones float64
		for range queries / 4 {
			ones += ask(t, p, c.x)
		}
		want := queries / 4 / (1 + math.Exp(-0.5*c.margin/2))
		// Hoeffding's inequality at α = 1e-6, seed 1.
		if math.Abs(ones-want) > math.Sqrt(queries/4*math.Log(2e6)/2) {
			t.Errorf("%g of %d answers to %g are 1, want about %g", ones, queries/4, c.x, want)
		}
	}
	plan, err := ThresholdConfig{Queries: 1, Alpha: 0.01}.Plan(Shape{Rows: 1000, Dim: 1, FeatureBound: 1}, Problem{}, PureDP(0.5))
	if err != nil || plan.facts.Limit != 22 { // ⌈2·log(200)/0.5⌉
		t.Errorf("%v, %v", plan, err)
	}
}
