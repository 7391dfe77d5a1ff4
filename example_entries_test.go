package dpglm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Rows and facts are checked when they meet: an error names the parameter and its rule.
func ExampleNewDataset() {
	x := mat.NewDense(3, 2, []float64{34, 0.5, 51, 2, 28, 1})
	y := []float64{0, 1, 0}
	facts := dpglm.Schema{
		Columns:   []string{"age", "dose"},
		Numeric:   map[string][2]float64{"age": {18, 100}, "dose": {0, 4}},
		Intercept: true,
	}
	data, err := dpglm.NewDataset(x, y, facts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(data.Shape().Rows, "rows of", data.Shape().Dim, "weights")
	_, err = dpglm.NewDataset(x, y[:2], facts)
	fmt.Println(errors.Is(err, dpglm.ErrShape), err)
	// Output:
	// 3 rows of 3 weights
	// true dpglm: shape: len(y) = 2 must equal the 3 rows of x
}

// Rows that are mostly zeros stay sparse.
func ExampleNewSparse() {
	// Row 0 is (0, 0, 5), row 1 is all zeros, row 2 is (1, 0, 2).
	x, err := dpglm.NewSparse(3, 3, []int{0, 1, 1, 3}, []int{2, 0, 2}, []float64{5, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.At(0, 2), x.At(1, 1), x.At(2, 0))
	data, err := dpglm.NewDataset(x, []float64{1, 0, 1}, dpglm.Bounds{Feature: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(data.Shape().Rows, data.Shape().Dim)
	// Output:
	// 5 0 1
	// 3 3
}

// The paper's algorithm with the schedule that its Theorem 1 analyses.
func ExampleNoisyGD() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	problem := dpglm.Problem{Loss: losses.Logistic{}, Radius: 5}
	report(dpglm.NoisyGD(context.Background(), bought(), problem, dpglm.ApproxDP(4, 1e-6), dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1}, env))
	// Output:
	// young and rich: 1 old and poor: 0
}

// One promise has three forms. The Gaussian one is a curve, and the others are points of it.
func ExampleGDP() {
	shape := dpglm.Shape{Rows: 10_000, Dim: 5, FeatureBound: 1}
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	for _, budget := range []dpglm.Budget{dpglm.ApproxDP(1, 1e-6), dpglm.GDP(0.2), dpglm.PureDP(1)} {
		plan, err := dpglm.OutputPerturbationConfig{}.Plan(shape, problem, budget)
		if err != nil {
			log.Fatal(err)
		}
		epsilon, err := plan.Ledger.Epsilon(1e-9)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: at δ = 1e-9, ε = %.2f\n", budget, epsilon)
	}
	// Output:
	// (ε = 1, δ = 1e-06)-DP: at δ = 1e-9, ε = 1.32
	// 0.2-GDP: at δ = 1e-9, ε = 1.10
	// 1-DP: at δ = 1e-9, ε = 1.00
}

// A model is stored as JSON with its facts and its ledger, and predicts in another program.
func ExampleModel_UnmarshalJSON() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	trained, err := dpglm.Auto(context.Background(), bought(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	stored, err := json.Marshal(trained)
	if err != nil {
		log.Fatal(err)
	}
	var model dpglm.Model
	if err := json.Unmarshal(stored, &model); err != nil {
		log.Fatal(err)
	}
	report(&model, nil)
	// Output:
	// young and rich: 1 old and poor: 0
}

// A plan says what a fit will spend; whoever must agree sees it before there are data.
func ExamplePlan_Run() {
	data := bought()
	plan, err := dpglm.AutoConfig{}.Plan(data.Shape(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Ledger.Within(1, 1e-6), plan.Passes > 0)
	report(plan.Run(context.Background(), data, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}))
	// Output:
	// true true
	// young and rich: 1 old and poor: 0
}

// Where some people were asked more often than others, weights make up for it.
func ExampleWeights() {
	x, y := customers()
	weights := make([]float64, len(y))
	for i := range weights {
		weights[i] = 1
		if x.At(i, 0) > 60 { // older people were asked twice as often
			weights[i] = 0.5
		}
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 150, Intercept: true}, dpglm.Weights{Of: weights, Max: 1})
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	report(dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env))
	// Output:
	// young and rich: 1 old and poor: 0
}

// priced is a made-up table of sizes and prices in thousands, 2 for each unit of size.
func priced() *dpglm.Dataset {
	r := rand.New(rand.NewPCG(5, 6))
	x, y := mat.NewDense(5000, 1, nil), make([]float64, 5000)
	for i := range y {
		size := 10 * r.Float64()
		x.Set(i, 0, size)
		y[i] = 2*size + r.NormFloat64()
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Schema{
		Columns:    []string{"size"},
		Numeric:    map[string][2]float64{"size": {0, 10}},
		LabelRange: [2]float64{0, 20},
		Intercept:  true,
	})
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// answer asks a predictor for the price of size 8, which is 16, and prints it rounded.
func answer(config dpglm.PredictorConfig) {
	ctx, env := context.Background(), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	p, err := dpglm.NewPredictor(ctx, priced(), dpglm.Problem{Loss: losses.Squared{}}, dpglm.ApproxDP(2, 1e-6), config, env)
	if err != nil {
		log.Fatal(err)
	}
	price, err := p.Answer(ctx, []float64{8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("about %.0f, and %d answers are left\n", price, 5-p.Answered())
}

// The mean of many models' predictions, with noise in each answer.
func ExampleAverageConfig() {
	answer(dpglm.AverageConfig{Queries: 5})
	// Output:
	// about 16, and 4 answers are left
}

// One regularised model stays inside; its predictions get noise.
func ExampleStableConfig() {
	answer(dpglm.StableConfig{Queries: 5})
	// Output:
	// about 16, and 4 answers are left
}

// The same with a model of a few steps of gradient descent.
func ExampleDescentConfig() {
	answer(dpglm.DescentConfig{Queries: 5})
	// Output:
	// about 16, and 4 answers are left
}

// The count of answers outlives the program: a state is stored before the answer is given out,
// and a predictor of the same rows takes it up.
func ExamplePredictor_Restore() {
	ctx, env := context.Background(), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	start := func() *dpglm.Predictor {
		p, err := dpglm.NewPredictor(ctx, priced(), dpglm.Problem{Loss: losses.Squared{}}, dpglm.ApproxDP(2, 1e-6), dpglm.StableConfig{Queries: 2}, env)
		if err != nil {
			log.Fatal(err)
		}
		return p
	}
	first := start()
	if _, err := first.Answer(ctx, []float64{8}); err != nil {
		log.Fatal(err)
	}
	state, err := first.State()
	if err != nil {
		log.Fatal(err)
	}

	second := start() // after a restart
	if err := second.Restore(state); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err := second.Answer(ctx, []float64{5})
		fmt.Println(second.Answered(), "of 2 answers, spent:", errors.Is(err, dpglm.ErrSpent))
	}
	// Output:
	// 2 of 2 answers, spent: false
	// 2 of 2 answers, spent: true
}

// Which two of 300 columns say what the label is.
func ExampleFrankWolfe() {
	r := rand.New(rand.NewPCG(1, 1))
	const n, d = 5000, 300
	starts, indices, y := []int{0}, []int{}, make([]float64, n)
	for i := range n {
		for j := range d {
			if r.IntN(4) == 0 {
				indices = append(indices, j)
			}
		}
		row := indices[starts[i]:]
		ones := 3 // of ten
		if slices.Contains(row, 7) {
			ones += 5
		}
		if slices.Contains(row, 42) {
			ones -= 2
		}
		if r.IntN(10) < ones {
			y[i] = 1
		}
		starts = append(starts, len(indices))
	}
	x, err := dpglm.NewSparse(n, d, starts, indices, slices.Repeat([]float64{1}, len(indices)))
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 10, Intercept: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := dpglm.FrankWolfeConfig{Steps: 2, EntryBound: 1}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // leave out for a release
	m, err := dpglm.FrankWolfe(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(2, 1e-6), cfg, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	for j, w := range m.Weights()[0][:d] {
		if w != 0 {
			fmt.Printf("column %d, raises: %v\n", j, w > 0)
		}
	}
	// Output:
	// column 7, raises: true
	// column 42, raises: false
}
