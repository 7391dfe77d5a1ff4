package stored_test

import (
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
)

// diagonal is a sparse matrix with one nonzero in each row.
func diagonal(t *testing.T, n, d int) *dpglm.Sparse {
	t.Helper()
	indptr, indices, values := make([]int, n+1), make([]int, n), make([]float64, n)
	for i := range n {
		indptr[i+1], indices[i], values[i] = i+1, i%d, 0.5
	}
	x, err := dpglm.NewSparse(n, d, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A fit holds the caller's matrix and O(n + d) numbers beside it, O(d²) for each
// goroutine where second moments are used: all that it ever allocates, collected or
// not, is less than half of the matrix, which has 64 columns.
func TestFitsHoldTheDataOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which runs the short tests, drops what pools hold")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const n, d = 80_000, 64
	x, y := given.Separable(n, d, 1)
	var grid []dpglm.Candidate
	for range 3 {
		grid = append(grid, dpglm.Candidate{Learner: dpglm.NoisyGDConfig{Steps: 20}})
	}
	for _, c := range []struct {
		name    string
		x       mat.Matrix
		problem dpglm.Problem
		learner dpglm.Learner
	}{
		{"Noisy GD", x, logistic, dpglm.NoisyGDConfig{Steps: 20}},
		{"Noisy GD, sparse", diagonal(t, n, d), logistic, dpglm.NoisyGDConfig{Steps: 20}},
		{"Noisy GD, moments", x, squared, dpglm.NoisyGDConfig{Steps: 200, Clip: dpglm.NoClip}},
		{"objective perturbation", x, logistic, dpglm.ObjectivePerturbationConfig{}},
		{"output perturbation", x, logistic, dpglm.OutputPerturbationConfig{}},
		{"grid search", x, logistic, dpglm.GridSearchConfig{Candidates: grid}},
		{"boosting", x, logistic, dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{Steps: 20}}},
	} {
		shape := dpglm.Shape{Rows: n, Dim: d, FeatureBound: 1, LabelBound: 1}
		plan, err := c.learner.Plan(shape, c.problem, dpglm.ApproxDP(1, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		data := given.Dataset(t, c.x, y, dpglm.Bounds{Feature: 1, Label: 1})
		if _, err := plan.Run(ctx, data, given.Seeded(1)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		share := float64(after.TotalAlloc-before.TotalAlloc) / (8 * n * d)
		t.Logf("%s: %.2f of the matrix", c.name, share)
		if share > 0.5 {
			t.Errorf("%s: allocated %.2f of the matrix", c.name, share)
		}
	}
}
