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
	d, err := Open(mat.NewDense(len(features), 1, features), labels, NewIdentity(1, 1, false), 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Walk(limit)
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
