package dpglm_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// customers is a made-up table: age, income and whether someone bought.
func customers() (x *mat.Dense, y []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y = mat.NewDense(5000, 2, nil), make([]float64, 5000)
	for i := range y {
		age, income := 20+60*r.Float64(), 90*r.Float64()
		x.SetRow(i, []float64{age, income})
		if income+10*r.NormFloat64() > age {
			y[i] = 1
		}
	}
	return x, y
}

func ExampleNoisyGD() {
	x, y := customers()
	// Public facts: what the columns may hold, known without looking at them.
	data, err := dpglm.NewDataset(x, y, dpglm.Schema{
		Columns:   []string{"age", "income"},
		Numeric:   map[string][2]float64{"age": {18, 100}, "income": {0, 100}},
		Intercept: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	// A real fit passes nil for the last argument: noise that nobody can predict.
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	model, err := dpglm.NoisyGD(context.Background(), data, problem, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	epsilon, err := model.Ledger().Epsilon(1e-6)
	if err != nil {
		log.Fatal(err)
	}
	classes, err := model.Predict(mat.NewDense(2, 2, []float64{30, 80, 70, 20}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("(%.3f, 1e-06)-DP\n", epsilon)
	fmt.Println("young and rich:", classes[0])
	fmt.Println("old and poor:", classes[1])
	// Output:
	// (1.000, 1e-06)-DP
	// young and rich: 1
	// old and poor: 0
}

// A plan sees public facts only: it tells what a fit would cost, and how noisy
// it would be, before there are any data.
func ExampleNoisyGDConfig_Plan() {
	shape := dpglm.Shape{Rows: 10_000, Dim: 20, FeatureBound: 1}
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	plan, err := dpglm.NoisyGDConfig{Steps: 100}.Plan(shape, problem, dpglm.ApproxDP(1, 1e-6))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Ledger)
	fmt.Printf("clip %.3g, step size %.3g\n", plan.Learner.(dpglm.NoisyGDConfig).Clip, plan.Learner.(dpglm.NoisyGDConfig).StepSize)
	// Output:
	// Noisy GD, gradient sums: 100 × Gaussian in 20 dimensions, σ = 42.2468 × sensitivity, together 0.236704-GDP
	// clip 0.25, step size 64
}
