package dpglm

import (
	"context"
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
			w := newWalk(d.table.First(), d.labels, limit)
			return func(q []float64) int {
				u, err := d.table.Encoding().Encode(q)
				if err != nil {
					t.Fatal(err)
				}
				v := w.at(u[0])
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

// bestIntervals returns the least number of errors, on labels in the order of
// distinct features, of a union of intervals with at most k ends.
func bestIntervals(labels []float64, k int) int {
	errors := make([]int, k+1) // with j ends passed; the class is 1 after odd j
	for _, y := range labels {
		for j := k; j >= 0; j-- {
			if j > 0 {
				errors[j] = min(errors[j], errors[j-1])
			}
		}
		for j := range errors {
			if (j%2 == 1) != (y > 0) {
				errors[j]++
			}
		}
	}
	best := errors[0]
	for _, e := range errors {
		best = min(best, e)
	}
	return best
}

// The mean error over the training rows, exactly.
func walkError(t *testing.T, w *walk, features, labels []float64, vote mechanisms.Vote) float64 {
	t.Helper()
	var sum float64
	for i, x := range features {
		v := w.at(x)
		if labels[i] > 0 {
			v = -v
		}
		p, err := vote.Probability(v)
		if err != nil {
			t.Fatal(err)
		}
		sum += p
	}
	return sum / float64(len(features))
}

// [DF18, Lemma 5.2]: on rows of distinct features the mean error exceeds that of
// the best union of intervals with k ends by at most (k+2)T/n + e^{−εT/2}.
func TestThresholdErrorBound(t *testing.T) {
	const n = 3000
	slack := math.Inf(1)
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		features, labels := make([]float64, n), make([]float64, n)
		ends, noise := 1+int(seed%4), []float64{0, 0.1, 0.45}[seed%3]
		for i, k := range r.Perm(n) {
			features[k] = float64(i) / n
			if (i*(ends+1)/n)%2 == 1 != (r.Float64() < noise) {
				labels[k] = 1
			}
		}
		sorted := make([]float64, n)
		for i, x := range features {
			sorted[int(math.Round(x*n))] = labels[i]
		}
		for _, epsilon := range []float64{0.05, 0.3, 2} {
			for _, limit := range []int{1, 4, 20, 100} {
				vote := mechanisms.Vote{Epsilon: epsilon}
				got := walkError(t, newWalk(features, labels, limit), features, labels, vote)
				for k := range 7 {
					bound := float64(bestIntervals(sorted, k))/n + float64((k+2)*limit)/n + math.Exp(-epsilon*float64(limit)/2)
					slack = math.Min(slack, bound-got)
					if got > bound {
						t.Errorf("seed %d, ε = %g, T = %d, k = %d: error %.4f, bound %.4f", seed, epsilon, limit, k, got, bound)
					}
				}
			}
		}
	}
	t.Logf("the bound is kept by %.4f at least", slack)
	if slack > 0.05 {
		t.Error("the bound is never tight enough to mean anything")
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
	p, err := NewThreshold(context.Background(), d, PureDP(0.5*queries), ThresholdConfig{Queries: queries}, env)
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
	_, limit, err := ThresholdConfig{Queries: 1, Alpha: 0.01}.plan(Shape{Rows: 1000, Dim: 1, FeatureBound: 1}, PureDP(0.5))
	if err != nil || limit != 22 { // ⌈2·log(200)/0.5⌉
		t.Errorf("T = %d, %v", limit, err)
	}
}
