package dpglm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// TestSeededFits logs the bits of seeded fits of each kind, for .ci/run to compare
// between builds. They are those of whole learners: plans, passes, noise and solvers.
func TestSeededFits(t *testing.T) {
	const n, d = 400, 5
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, float64(r.IntN(2049)-1024)/1024)
		}
		if x.At(i, 0)+x.At(i, 1) > float64(r.IntN(1024)-512)/1024 {
			y[i] = 1
		}
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1.5, Label: 1, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		learner dpglm.Learner
	}{
		{"Auto", dpglm.AutoConfig{}},
		{"NoisyGD", dpglm.NoisyGDConfig{}},
		{"StandardisedGD", dpglm.StandardisedGDConfig{}},
		{"Infer", dpglm.InferConfig{}},
		{"FrankWolfe within the ball", dpglm.FrankWolfeConfig{Output: dpglm.WithinBall}},
		{"FrankWolfe with a refit", dpglm.FrankWolfeConfig{}},
		{"OutputPerturbation", dpglm.OutputPerturbationConfig{}},
		{"ObjectivePerturbation", dpglm.ObjectivePerturbationConfig{}},
		{"JL, sparse map", dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{}, K: 3}},
		{"GridSearch", dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}},
		{"Boost", dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}, Chunks: 3}},
	} {
		for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
			for _, b := range []dpglm.Budget{dpglm.GDP(1), dpglm.ApproxDP(1, 1e-6)} {
				plan, err := c.learner.Plan(data.Shape(), dpglm.Problem{Loss: loss}, b)
				if err != nil {
					t.Fatalf("%s, %s, %v: %v", c.name, loss.Name(), b, err)
				}
				m, err := plan.Run(ctx, data, seeded(7))
				if err != nil {
					t.Fatalf("%s, %s, %v: %v", c.name, loss.Name(), b, err)
				}
				bits := make([]uint64, 0, d+1)
				for _, w := range m.Weights()[0] {
					bits = append(bits, math.Float64bits(w))
				}
				t.Logf("bits of %s, %s, %v: %x", c.name, loss.Name(), b, bits)
			}
		}
	}
}
