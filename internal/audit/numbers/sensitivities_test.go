package numbers_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

const (
	most  = 24   // numbers of a run that are kept
	alike = 1e-6 // of a number, within which another one isn't
)

// listener is a source of noise that writes down what releases declare.
type listener struct {
	mechanisms.Source
	all map[string][]float64
	run string
}

// Record implements release.Recorder. Of a run's different numbers the first ones are kept, after the number of releases.
func (l listener) Record(e *release.Event) {
	list := l.all[l.run]
	list[0]++
	for _, x := range append([]float64{e.L2, e.Mu}, e.Each...) {
		near := func(y float64) bool { return math.Abs(x-y) <= alike*x }
		if x > 0 && len(list) <= most && !slices.ContainsFunc(list[1:], near) {
			list = append(list, x)
		}
	}
	l.all[l.run] = list
}

// listening has the noise of given.Seeded, and hears a run.
func (o *rowsOf) listening(run string, seed uint64) *dpglm.Env {
	return listening(o.declared, run, seed)
}

func listening(all map[string][]float64, run string, seed uint64) *dpglm.Env {
	all[run] = []float64{0}
	return &dpglm.Env{NoiseForTests: listener{mechanisms.NewSeededSource(seed), all, run}}
}

// formRuns adds what is declared of rows of other forms, dense and sparse, with and without persons, weights and offsets.
func formRuns(t *testing.T, declared map[string][]float64) {
	t.Helper()
	steps := dpglm.NoisyGDConfig{Steps: 2}
	learners := map[string]dpglm.Learner{
		"Auto": dpglm.AutoConfig{}, "Infer": dpglm.InferConfig{}, "NoisyGD": steps, "FrankWolfe": dpglm.FrankWolfeConfig{Steps: 2},
		"NoisyGD, moments": dpglm.NoisyGDConfig{Steps: 200, Clip: dpglm.NoClip}, "OutputPerturbation": dpglm.OutputPerturbationConfig{},
		"ObjectivePerturbation": dpglm.ObjectivePerturbationConfig{}, "JL": dpglm.JLConfig{Learner: steps, K: 3},
		"JL, Hadamard": dpglm.JLConfig{Learner: steps, K: 3, Map: dpglm.HadamardMap},
		"Boost":        dpglm.BoostConfig{Learner: steps, Chunks: 2}, "GridSearch": dpglm.GridSearchConfig{Learner: steps},
	}
	budgets := map[string]dpglm.Budget{"μ": dpglm.GDP(3), "ε": dpglm.ApproxDP(4, 1e-6), "pure": dpglm.PureDP(9)}
	all := []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Probit{}, losses.Poisson{}, losses.Hinge{}}
	for k, f := range given.Forms(600, 6) {
		d, err := dpglm.NewDataset(f.X, f.Y, f.Facts, append(f.More[:len(f.More):len(f.More)], given.Ordered(1))...)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range all {
			for name, learner := range learners {
				for unit, b := range budgets {
					if k > 0 && (i > 1 || unit != "μ") {
						continue // the first form has all
					}
					run := fmt.Sprintf("%s, %s, %s, %s", f.Name, name, l.Name(), unit)
					plan, err := learner.Plan(d.Shape(), dpglm.Problem{Loss: l, Radius: 2}, b)
					if err != nil {
						continue // nothing is declared, of which the number of runs tells
					}
					if _, err := plan.Run(ctx, d, listening(declared, run, 7)); err != nil {
						t.Fatalf("%s: %v", run, err)
					}
				}
			}
		}
		formPredictors(t, f.Name, d, declared)
	}
}

// formPredictors are predictors' runs, and a selection's.
func formPredictors(t *testing.T, form string, d *dpglm.Dataset, declared map[string][]float64) {
	t.Helper()
	p := dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}
	for name, c := range map[string]dpglm.PredictorConfig{
		"votes": dpglm.VoteConfig{Queries: 20}, "averages": dpglm.AverageConfig{Queries: 20}, "stable": dpglm.StableConfig{Queries: 20},
		"descent": dpglm.DescentConfig{Queries: 20, Steps: 3},
	} {
		run := fmt.Sprintf("%s, %s", form, name)
		predictor, err := dpglm.NewPredictor(ctx, d, p, dpglm.PureDP(20), c, listening(declared, run, 5))
		if err != nil {
			continue // not of rows of that form
		}
		for i := range 6 {
			x := make([]float64, 6)
			x[i] = 0.5
			if _, err := predictor.Answer(ctx, x); err != nil {
				t.Fatalf("%s: %v", run, err)
			}
		}
	}
	for limit := range 2 {
		run := fmt.Sprintf("%s, SelectModel, limit %d", form, limit)
		models := [][][]float64{{{1, 0, 0, 0, 0, 0, 0}}, {{0, 0, 0, 1, 0, 0, 0.5}}, {{0, 2, 0, 0, 0, 0, 0}}}
		if _, _, err := dpglm.SelectModel(ctx, d, p, dpglm.GDP(1), models, float64(limit), listening(declared, run, 5)); err != nil {
			delete(declared, run)
		}
	}
}
