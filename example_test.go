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

func ExampleAuto() {
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
	model, err := dpglm.Auto(context.Background(), data, problem, dpglm.ApproxDP(1, 1e-6), env)
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
	// (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), n = 10,000
	// Noisy GD around the constant model: sequential, 0.236704-GDP
	// ├─ gradient sum at the start: 1 × Gaussian in 20 dimensions, σ = 13.3596 × sensitivity, together 0.0748525-GDP
	// └─ Noisy GD, gradient sums: 100 × Gaussian in 20 dimensions, σ = 44.532 × sensitivity, together 0.224557-GDP
	// clip 0.939, step size 16
}

// bought is customers as a data set with its public facts.
func bought() *dpglm.Dataset {
	x, y := customers()
	data, err := dpglm.NewDataset(x, y, dpglm.Schema{
		Columns:   []string{"age", "income"},
		Numeric:   map[string][2]float64{"age": {18, 100}, "income": {0, 100}},
		Intercept: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// report prints what a model says of two people.
func report(m *dpglm.Model, err error) {
	if err != nil {
		log.Fatal(err)
	}
	classes, err := m.Predict(mat.NewDense(2, 2, []float64{30, 80, 70, 20}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("young and rich:", classes[0], "old and poor:", classes[1])
}

// Noise on the minimiser itself: one release, no steps to tune.
func ExampleOutputPerturbation() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	problem := dpglm.Problem{Loss: losses.Logistic{}, Radius: 3}
	report(dpglm.OutputPerturbation(context.Background(), bought(), problem, dpglm.PureDP(4), dpglm.OutputPerturbationConfig{Project: true}, env))
	// Output:
	// young and rich: 1 old and poor: 0
}

// The ledger of a plan shows what is released before the data is seen.
func ExampleStandardisedGD() {
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	plan, err := dpglm.StandardisedGDConfig{}.Plan(bought().Shape(), problem, dpglm.ApproxDP(1, 1e-6))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Ledger)
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	report(dpglm.StandardisedGD(context.Background(), bought(), problem, dpglm.ApproxDP(1, 1e-6), dpglm.StandardisedGDConfig{}, env))
	// Output:
	// (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), n = 5,000
	// at most, standardised GD: 128 × Gaussian in 64 dimensions, σ = 47.7968 × sensitivity, together 0.236704-GDP
	// young and rich: 1 old and poor: 0
}

// Coefficients with standard errors, as statistics packages print them. The release spends
// the budget once; contrasts and tests are made of it.
func ExampleInfer() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	found, err := dpglm.Infer(context.Background(), bought(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(4, 1e-6), dpglm.InferConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(found)
	test, err := found.Wald(dpglm.AllZero("age", "income")...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(test)
	// Output:
	// logistic regression, n = 5000, (ε = 4, δ = 1e-06)-DP, unit: one row (replace-one)
	//                 coef   std err       z  P>|z|    [2.5%   97.5%]               odds ratio
	// age          -0.1755  0.007322  -23.96  0.000  -0.1916  -0.1594  0.8391 [0.8257, 0.8527]
	// income        0.1797  0.006807   26.39  0.000   0.1646   0.1947     1.197 [1.179, 1.215]
	// (Intercept)   -0.229    0.1671   -1.37  0.182  -0.5713   0.1134
	// Standard errors are robust and include the noise for privacy. Intervals cover the
	// coefficients of the population whose rows are held to their public bounds.
	// Wald test: χ²(2) = 696.6, p = 1.222e-10
}

// The radius need not be known: a grid search selects one, privately.
func ExampleGridSearch() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	search := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 100}, Radii: []float64{1, 5, 25}, Criterion: dpglm.ZeroOneError}
	plan, err := search.Plan(bought().Shape(), problem, dpglm.ApproxDP(1, 1e-6))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Ledger)
	report(dpglm.GridSearch(context.Background(), bought(), problem, dpglm.ApproxDP(1, 1e-6), search, env))
	// Output:
	// (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), n = 5,000
	// grid search, 4000 and 1000 rows by seed 0: parallel
	// ├─ 3 candidates on 4000 rows: sequential, 0.236704-GDP
	// │  ├─ Noisy GD, gradient sums: 100 × Gaussian in 3 dimensions, σ = 73.1736 × sensitivity, together 0.136661-GDP
	// │  ├─ Noisy GD, gradient sums: 100 × Gaussian in 3 dimensions, σ = 73.1736 × sensitivity, together 0.136661-GDP
	// │  └─ Noisy GD, gradient sums: 100 × Gaussian in 3 dimensions, σ = 73.1736 × sensitivity, together 0.136661-GDP
	// └─ selection on the other 1000 rows: 1 × 1-DP
	// young and rich: 1 old and poor: 0
}

// How good the selected model is leaves on rows that the search hasn't seen, within the same
// budget: a row is trained on, selected by or evaluated on.
func ExampleGridSearch_evaluated() {
	rest, held, err := bought().Split(0.2, 1)
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	ctx, budget := context.Background(), dpglm.ApproxDP(1, 1e-6)
	search := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 100}, Radii: []float64{1, 5, 25}, Criterion: dpglm.ZeroOneError}
	model, err := dpglm.GridSearch(ctx, rest, dpglm.Problem{Loss: losses.Logistic{}}, budget, search, env)
	if err != nil {
		log.Fatal(err)
	}
	e, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	both, err := mechanisms.Parallel("search and evaluation, split by seed 1", model.Ledger(), e.Ledger)
	if err != nil {
		log.Fatal(err)
	}
	accuracy, _ := e.Figure("accuracy")
	fmt.Printf("accuracy %.2f to %.2f\n", accuracy.Low, accuracy.High)
	fmt.Println("together within the budget:", both.Within(1, 1e-6))
	fmt.Println(both)
	// Output:
	// accuracy 0.87 to 0.94
	// together within the budget: true
	// (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one)
	// search and evaluation, split by seed 1: parallel
	// ├─ grid search, 3200 and 800 rows by seed 0: parallel
	// │  ├─ 3 candidates on 3200 rows: sequential, 0.236704-GDP
	// │  │  ├─ Noisy GD, gradient sums: 100 × Gaussian in 3 dimensions, σ = 73.1736 × sensitivity, together 0.136661-GDP
	// │  │  ├─ Noisy GD, gradient sums: 100 × Gaussian in 3 dimensions, σ = 73.1736 × sensitivity, together 0.136661-GDP
	// │  │  └─ Noisy GD, gradient sums: 100 × Gaussian in 3 dimensions, σ = 73.1736 × sensitivity, together 0.136661-GDP
	// │  └─ selection on the other 800 rows: 1 × 1-DP
	// └─ at most, evaluation: 2 × Gaussian in 164 dimensions, σ = 5.9746 × sensitivity, together 0.236704-GDP
	// NOTE: noise came from the caller's source; private only if that source is secret and secure
}

// Boosting trains on disjoint chunks and keeps the best model, so that a single
// unlucky draw of the noise does not spoil the result.
func ExampleBoost() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	boost := dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{Steps: 100}, Chunks: 3}
	report(dpglm.Boost(context.Background(), bought(), problem, dpglm.ApproxDP(1, 1e-6), boost, env))
	// Output:
	// young and rich: 1 old and poor: 0
}

// In many dimensions a random projection keeps the noise down.
func ExampleJL() {
	const n, d = 2000, 500
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range 5 { // the signal lies in few directions
			x.Set(i, j, r.NormFloat64()/3)
		}
		if x.At(i, 0)+x.At(i, 1) > 0 {
			y[i] = 1
		}
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1})
	if err != nil {
		log.Fatal(err)
	}
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	model, err := dpglm.JL(context.Background(), data, problem, dpglm.ApproxDP(4, 1e-6), dpglm.JLConfig{K: 50, Seed: 7}, env)
	if err != nil {
		log.Fatal(err)
	}
	classes, err := model.Predict(x)
	if err != nil {
		log.Fatal(err)
	}
	right := 0
	for i, c := range classes {
		if c == y[i] {
			right++
		}
	}
	fmt.Println(model.Ledger())
	fmt.Printf("more than 75 %% right: %v\n", right > n*3/4)
	// Output:
	// (ε = 4, δ = 1e-06)-DP, unit: one row (replace-one), n = 2,000
	// JL to 50 dimensions by a sparse map of seed 7: sequential, 0.837859-GDP
	// └─ Noisy GD around the constant model: sequential, 0.837859-GDP
	//    ├─ gradient sum at the start: 1 × Gaussian in 50 dimensions, σ = 3.77424 × sensitivity, together 0.264954-GDP
	//    └─ Noisy GD, gradient sums: 494 × Gaussian in 50 dimensions, σ = 27.9622 × sensitivity, together 0.794863-GDP
	// NOTE: noise came from the caller's source; private only if that source is secret and secure
	// more than 75 % right: true
}

// A vote answers queries instead of releasing a model, until its budget is spent.
func ExampleNewPredictor() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	problem := dpglm.Problem{Loss: losses.Logistic{}}
	ctx := context.Background()
	vote, err := dpglm.NewPredictor(ctx, bought(), problem, dpglm.PureDP(1), dpglm.VoteConfig{Queries: 2}, env)
	if err != nil {
		log.Fatal(err)
	}
	for _, customer := range [][]float64{{30, 80}, {70, 20}, {50, 50}} {
		class, err := vote.Answer(ctx, customer)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("class", class)
	}
	fmt.Println(vote.Planned())
	// Output:
	// class 1
	// class 0
	// dpglm: privacy budget spent: answers = 2 are all that the budget was planned for
	// 1-DP, unit: one row (replace-one), n = 5,000
	// votes of 53 models, split by seed 0: 2 × bounded range 0.5
	// NOTE: noise came from the caller's source; private only if that source is secret and secure
}

// A threshold needs no loss: it walks along the sorted rows.
func ExampleThresholdConfig() {
	x, y := mat.NewDense(1000, 1, nil), make([]float64, 1000)
	for i := range y {
		x.Set(i, 0, float64(i))
		if i >= 300 {
			y[i] = 1
		}
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1000})
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	ctx := context.Background()
	p, err := dpglm.NewPredictor(ctx, data, dpglm.Problem{}, dpglm.PureDP(2), dpglm.ThresholdConfig{Queries: 10}, env)
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range []float64{100, 200, 500, 900} {
		class, err := p.Answer(ctx, []float64{q})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(class, " ")
	}
	state, err := p.State() // to be stored before the answers are given out
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Answered(), "answers,", len(state) > 0)
	// Output:
	// 0 0 1 1 4 answers, true
}

// Given models, such as published ones, are chosen among privately.
func ExampleSelectModel() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	published := [][][]float64{{{1, -1, 0}}, {{-1, 1, 0}}, {{0, 0, 1}}} // of age, income, intercept
	best, ledger, err := dpglm.SelectModel(context.Background(), bought(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.PureDP(0.1), published, 0, env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(best)
	fmt.Println(ledger)
	// Output:
	// 1
	// 0.1-DP, unit: one row (replace-one), n = 5,000
	// choice of one of 3 models: 1 × bounded range 0.1
	// NOTE: noise came from the caller's source; private only if that source is secret and secure
}

// Where a person may have several rows, a budget for groups protects them together.
func ExampleBudget_ForGroups() {
	shape := dpglm.Shape{Rows: 100_000, Dim: 8, FeatureBound: 1}
	budget := dpglm.ApproxDP(1, 1e-6).ForGroups(4) // nobody has more than four rows
	plan, err := dpglm.OutputPerturbationConfig{}.Plan(shape, dpglm.Problem{Loss: losses.Logistic{}}, budget)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Ledger)
	for _, rows := range []int{1, 4, 5} {
		epsilon, err := plan.Ledger.GroupEpsilon(rows, 1e-6)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d rows: ε = %.2f\n", rows, epsilon)
	}
	// Output:
	// (ε = 1, δ = 1e-06)-DP, unit: any 4 rows (replace-one), n = 100,000
	// output perturbation, minimiser: 1 × Gaussian in 8 dimensions, σ = 16.8987 × sensitivity, together 0.0591761-GDP
	// 1 rows: ε = 0.23
	// 4 rows: ε = 1.00
	// 5 rows: ε = 1.27
}

// How good the model is on rows held out leaves as privately as the model, at no extra cost.
func ExampleEvaluate() {
	train, held, err := bought().Split(0.3, 1)
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	ctx, budget := context.Background(), dpglm.ApproxDP(1, 1e-6)
	model, err := dpglm.Auto(ctx, train, dpglm.Problem{Loss: losses.Logistic{}}, budget, env)
	if err != nil {
		log.Fatal(err)
	}
	e, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	both, err := mechanisms.Parallel("fit and evaluation, split by seed 1", model.Ledger(), e.Ledger)
	if err != nil {
		log.Fatal(err)
	}
	accuracy, _ := e.Figure("accuracy")
	fmt.Printf("accuracy %.2f to %.2f\n", accuracy.Low, accuracy.High)
	area, _ := e.Figure("AUC")
	fmt.Printf("AUC %.2f to %.2f\n", area.Low, area.High)
	fmt.Println("together within the budget:", both.Within(1, 1e-6))
	// Output:
	// accuracy 0.86 to 0.92
	// AUC 0.91 to 0.98
	// together within the budget: true
}
