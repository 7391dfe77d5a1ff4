package dpglm_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Patients with one to four visits each: all visits of a patient are protected together.
func ExamplePersons() {
	r := rand.New(rand.NewPCG(1, 1))
	var features, readmitted []float64
	var patients []int
	for patient := range 3000 {
		age := 20 + 60*r.Float64()
		for range 1 + r.IntN(4) {
			days := 20 * r.Float64()
			again := 0.0
			if age/80+days/20+r.NormFloat64()/4 > 1.2 {
				again = 1
			}
			features, readmitted, patients = append(features, age, days), append(readmitted, again), append(patients, patient)
		}
	}
	data, err := dpglm.NewDataset(mat.NewDense(len(readmitted), 2, features), readmitted,
		dpglm.Schema{Columns: []string{"age", "days"}, Numeric: map[string][2]float64{"age": {0, 100}, "days": {0, 30}}, Intercept: true},
		dpglm.Persons{Of: patients, Count: 3000, MaxRows: 4})
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // leave it out in earnest
	model, err := dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("protected:", model.Ledger().Unit())
	p, err := model.Means(mat.NewDense(2, 2, []float64{30, 2, 75, 15}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("young and home soon: %.1f, old and home late: %.1f\n", p[0], p[1])
	// Output:
	// protected: one person (replace-one)
	// young and home soon: 0.0, old and home late: 1.0
}

// Claims per policy: a policy's exposure, in years, multiplies what is expected of it.
func ExampleOffsets() {
	r := rand.New(rand.NewPCG(2, 1))
	const n = 20_000
	young, claims, logs := mat.NewDense(n, 1, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		young.Set(i, 0, float64(r.IntN(2)))
		years := 0.1 + 0.9*r.Float64()
		logs[i] = math.Log(years)
		if r.Float64() < years*0.1*(1+young.At(i, 0)) { // a tenth a year, or two
			claims[i] = 1
		}
	}
	data, err := dpglm.NewDataset(young, claims, dpglm.Bounds{Feature: 1, Label: 4, Intercept: true},
		dpglm.Offsets{Of: logs, Range: [2]float64{math.Log(0.1), 0}})
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // leave it out in earnest
	model, err := dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.ApproxDP(4, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	rates, err := model.Means(mat.NewDense(2, 1, []float64{0, 1}))
	if err != nil {
		log.Fatal(err)
	}
	half, err := model.MeansAt(mat.NewDense(1, 1, []float64{1}), []float64{math.Log(0.5)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("claims a year: %.1f and %.1f; in half a year: %.1f\n", rates[0], rates[1], half[0])
	// Output:
	// claims a year: 0.1 and 0.2; in half a year: 0.1
}

// Three kinds of iris-like flowers, told apart by one model.
func ExampleSoftmax() {
	r := rand.New(rand.NewPCG(3, 1))
	const n = 6000
	x, kinds := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		kind := r.IntN(3)
		kinds[i] = float64(kind)
		x.SetRow(i, []float64{2 + 2*float64(kind) + 0.5*r.NormFloat64(), 1 + 0.5*float64(kind) + 0.2*r.NormFloat64()})
	}
	data, err := dpglm.NewDataset(x, kinds, dpglm.Schema{Columns: []string{"length", "width"},
		Numeric: map[string][2]float64{"length": {0, 8}, "width": {0, 3}}, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // leave it out in earnest
	model, err := dpglm.Softmax(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.ApproxDP(1, 1e-6), dpglm.SoftmaxConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	flowers := mat.NewDense(3, 2, []float64{2, 1, 4, 1.5, 6, 2})
	classes, err := model.Predict(flowers)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("kinds:", classes)
	// Output:
	// kinds: [0 1 2]
}

// The same by support vector machines, one for each kind, and how good they are on flowers that
// they haven't seen: privately, too.
func ExampleOneAgainstRest() {
	r := rand.New(rand.NewPCG(3, 1))
	const n = 6000
	x, kinds := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		kind := r.IntN(3)
		kinds[i] = float64(kind)
		x.SetRow(i, []float64{math.Cos(2*float64(kind)) + 0.3*r.NormFloat64(), math.Sin(2*float64(kind)) + 0.3*r.NormFloat64()})
	}
	data, err := dpglm.NewDataset(x, kinds, dpglm.Bounds{Feature: 2, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	train, held, err := data.Split(0.3, 1)
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // leave it out in earnest
	budget := dpglm.ApproxDP(1, 1e-6)
	model, err := dpglm.OneAgainstRest(context.Background(), train, dpglm.Problem{Loss: losses.Hinge{}, Classes: 3}, budget, dpglm.OneAgainstRestConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	e, err := dpglm.Evaluate(context.Background(), held, model, budget, dpglm.EvaluateConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	accuracy, _ := e.Figure("accuracy")
	recall, _ := e.ClassFigure("2", "recall")
	fmt.Println("nine in ten are told, also of the last kind:", accuracy.Low > 0.9, recall.Low > 0.9)
	// Output:
	// nine in ten are told, also of the last kind: true true
}
