package dpglm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/mechanisms"
)

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
