package curator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/mechanisms"
)

func walkOver(t *testing.T, features, labels []float64, limit int) *Walk {
	t.Helper()
	d, err := Open(mat.NewDense(len(features), 1, features), labels, NewIdentity(1, 1, false), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Walk(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	return w
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
func walkError(t *testing.T, w *Walk, features, labels []float64, vote mechanisms.Vote) float64 {
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
				got := walkError(t, walkOver(t, features, labels, limit), features, labels, vote)
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

// The walk is a loop over the rows in the order of their features, those of equal
// features in their own order; a replaced row moves no value by more than 2.
func TestWalkByLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	values := func(features, labels []float64, limit int, query float64) int {
		order := make([]int, len(features))
		for i := range order {
			order[i] = i
		}
		for i := range order { // insertion sort, which is stable
			for k := i; k > 0 && features[order[k]] < features[order[k-1]]; k-- {
				order[k], order[k-1] = order[k-1], order[k]
			}
		}
		v := 0
		for _, i := range order {
			if features[i] > query {
				break
			}
			if labels[i] > 0 && v < limit {
				v++
			} else if !(labels[i] > 0) && v > -limit {
				v--
			}
		}
		return v
	}
	farthest := 0.0
	for range 200 {
		n, limit := 1+r.IntN(12), 1+r.IntN(4)
		features, labels := make([]float64, n), make([]float64, n)
		for i := range n {
			features[i], labels[i] = float64(r.IntN(5))/5, float64(r.IntN(2))
		}
		w := walkOver(t, features, labels, limit)
		moved, changed := append([]float64(nil), features...), append([]float64(nil), labels...)
		k := r.IntN(n)
		moved[k], changed[k] = float64(r.IntN(5))/5, float64(r.IntN(2))
		other := walkOver(t, moved, changed, limit)
		for _, query := range []float64{-1, 0, 0.1, 0.4, 0.75, 1} {
			if got, want := w.at(query), values(features, labels, limit, query); got != want {
				t.Fatalf("%v, %v, limit %d: %d at %g, want %d", features, labels, limit, got, query, want)
			}
			farthest = math.Max(farthest, math.Abs(float64(w.at(query)-other.at(query))))
		}
		answer, err := w.Margin([]float64{0.4})
		if err != nil {
			t.Fatal(err)
		}
		if e := overheard(t, w.origin.rows, answer, 1); e.Values[0] != float64(w.at(0.4)) || e.L2 != 2 {
			t.Errorf("margin %v with sensitivity %g, value %d", e.Values, e.L2, w.at(0.4))
		}
	}
	if farthest != 2 {
		t.Errorf("neighbours are %g apart, should reach 2", farthest)
	}
}
