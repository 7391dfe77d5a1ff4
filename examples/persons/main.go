// Persons protects people who have several rows each, and compares that with protecting any
// ten rows at the same budget.
//
//	go run ./examples/persons
//
// The data are made up: 10,000 patients with up to ten visits, three on average, each of
// which ends well or not. The log-loss is on other patients' visits, mean of several runs.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

const (
	maxVisits = 10
	delta     = 1e-6
)

func main() {
	log.SetFlags(0)
	patients := flag.Int("patients", 10_000, "patients to train on")
	repeats := flag.Int("repeat", 10, "runs of each")
	flag.Parse()
	if err := compare(*patients, *repeats); err != nil {
		log.Fatal(err)
	}
}

// visits are rows: features, whether they ended well, and whose they are.
type visits struct {
	x        *mat.Dense
	good     []float64
	patients []int
}

func compare(patients, repeats int) error {
	train, test := visitsOf(patients, 1), visitsOf(5000, 2)
	facts := dpglm.Bounds{Feature: 4, Intercept: true} // public: longer rows are scaled down
	rows, err := dpglm.NewDataset(train.x, train.good, facts)
	if err != nil {
		return err
	}
	persons, err := dpglm.NewDataset(train.x, train.good, facts,
		dpglm.Persons{Of: train.patients, Count: patients, MaxRows: maxVisits})
	if err != nil {
		return err
	}
	fmt.Printf("%d patients with %d visits, log-loss (a constant has %.3f)\n\n", patients, len(train.good), test.constant())
	fmt.Println("| ε | any 10 rows | a patient | a patient, at ε/3 |\n|---|---|---|---|")
	for _, epsilon := range []float64{0.2, 0.5, 1, 2, 4} {
		var found [3]float64
		for range repeats {
			for k, of := range []struct {
				data   *dpglm.Dataset
				budget dpglm.Budget
			}{
				{rows, dpglm.ApproxDP(epsilon, delta).ForGroups(maxVisits)},
				{persons, dpglm.ApproxDP(epsilon, delta)},
				{persons, dpglm.ApproxDP(epsilon/3, delta)},
			} {
				m, err := dpglm.Auto(context.Background(), of.data, dpglm.Problem{Loss: losses.Logistic{}}, of.budget, nil)
				if err != nil {
					return err
				}
				loss, err := test.logLoss(m)
				if err != nil {
					return err
				}
				found[k] += loss / float64(repeats)
			}
		}
		fmt.Printf("| %g | %.3f | %.3f | %.3f |\n", epsilon, found[0], found[1], found[2])
	}
	return nil
}

// visitsOf makes up patients, who differ in their features and in what the features don't
// tell.
func visitsOf(patients int, seed uint64) visits {
	effects := []float64{0.8, -0.6, 0.4, 0.3, -0.3, 0.2}
	r := rand.New(rand.NewPCG(seed, 0))
	var v visits
	var x []float64
	for p := range patients {
		own, untold := make([]float64, len(effects)), 0.5*r.NormFloat64()
		for j := range own {
			own[j] = 0.7 * r.NormFloat64()
		}
		for visit := 0; visit == 0 || visit < maxVisits && r.Float64() < 0.69; visit++ {
			score := untold - 0.5
			for j, effect := range effects {
				feature := own[j] + 0.7*r.NormFloat64()
				x = append(x, feature)
				score += effect * feature
			}
			good := 0.0
			if r.Float64() < 1/(1+math.Exp(-score)) {
				good = 1
			}
			v.good, v.patients = append(v.good, good), append(v.patients, p)
		}
	}
	v.x = mat.NewDense(len(v.good), len(effects), x)
	return v
}

func (v visits) logLoss(m *dpglm.Model) (float64, error) {
	p, err := m.Means(v.x)
	if err != nil {
		return 0, err
	}
	return v.mean(func(i int) float64 { return p[i] }), nil
}

// constant is the log-loss of the mean.
func (v visits) constant() float64 {
	mean := 0.0
	for _, y := range v.good {
		mean += y / float64(len(v.good))
	}
	return v.mean(func(int) float64 { return mean })
}

// mean is the log-loss of probabilities.
func (v visits) mean(p func(i int) float64) (loss float64) {
	for i, y := range v.good {
		q := math.Min(math.Max(p(i), 1e-12), 1-1e-12)
		loss -= (y*math.Log(q) + (1-y)*math.Log(1-q)) / float64(len(v.good))
	}
	return loss
}
