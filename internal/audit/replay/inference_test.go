package replay_test

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// inferences are Infer on each of its ways; which one a run takes follows from n·μ.
func inferences() []learned {
	few := dpglm.InferConfig{}
	first, tight := map[string]float64{inferred + " #1": 1 - 1e-9}, map[string]float64{inferred: 0.8}
	return []learned{
		{"Infer, constant model", 24, few, losses.Logistic{}, 0, dpglm.GDP(1), nil, first},
		{"Infer, classes", 24, few, losses.Logistic{}, 0, dpglm.GDP(25), nil, nil},
		{"Infer, approximate", 40, few, losses.Squared{}, 0, dpglm.ApproxDP(60, 1e-6), nil, tight},
		{"Infer, counts", 40, few, losses.Poisson{}, 0, dpglm.GDP(40), nil, nil},
		{"Infer, probit", 24, few, losses.Probit{}, 0, dpglm.GDP(25), nil, nil},
		{"Infer, amounts", 40, few, losses.Gamma{Least: 0.1}, 0, dpglm.GDP(40), nil, nil},
		{"Infer, classes, large budget", 24, few, losses.Logistic{}, 0, dpglm.GDP(3000), nil, nil},
		{"Infer, real labels, large budget", 40, few, losses.Squared{}, 0, dpglm.GDP(3000), nil, nil},
	}
}

// inferred is the label of an inference's releases.
const inferred = "inference"

// wholly are trials of all that Infer returns, not of the model alone: coefficients with
// their standard errors, and the covariance matrix.
func wholly(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	for _, l := range inferences() {
		for _, form := range []string{"dense", "sparse schema, intercept", "places"} {
			c := l.on(t, form, designs(l.n, l.loss.Labels())[form])
			c.name += ", with errors"
			budget := c.design.budget(l.budget)
			c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
				return dpglm.Infer(ctx, d, dpglm.Problem{Loss: l.loss}, budget, dpglm.InferConfig{}, env)
			}
			all = append(all, c)
		}
	}
	return all
}

// Rows that are all alike have noise for most of their second moments, and the mean of what is left of the Hessian's may be below 0: no
// number that follows from it may have what another row's label left in memory say how much a row counts.
func TestInferenceOfConstantColumns(t *testing.T) {
	const n = 400
	x := mat.NewDense(n, 3, nil)
	for i := range n {
		x.SetRow(i, []float64{.5, .5, .5})
	}
	for seed := range uint64(40) {
		play := func(label float64, script []given.Heard) *given.Tape {
			y := make([]float64, n)
			y[0] = label
			d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1, Label: 1})
			if err != nil {
				t.Fatal(err)
			}
			p := &given.Tape{Words: given.Words{Seed: seed + 1}}
			if script != nil {
				p.Overwrite = given.Replay(script)
			}
			if _, err := dpglm.Infer(context.Background(), d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(4), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: p}); err != nil {
				t.Fatal(err)
			}
			return p
		}
		a := play(0, nil)
		b := play(1, a.Heard)
		if len(a.Heard) != len(b.Heard) {
			t.Fatalf("seed %d: %d and %d releases", seed, len(a.Heard), len(b.Heard))
		}
		for k, h := range a.Heard {
			if moved := h.Moved(b.Heard[k]); moved > 1 {
				t.Errorf("seed %d: release %d moves by %g of what it declares", seed, k, moved)
			}
		}
	}
}
