package numbers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

var ctx = context.Background()

// rows are made up: three columns of different scales, of which two are correlated.
type rowsOf struct {
	x               *mat.Dense
	persons         []int
	weights, scores []float64
	r               *rand.Rand
	declared        map[string][]float64 // of each run, the sensitivities of its releases
}

func made(n int) *rowsOf {
	o := &rowsOf{x: mat.NewDense(n, 3, nil), r: rand.New(rand.NewPCG(51, 52)), declared: map[string][]float64{}}
	for i := range n {
		a, b, c := 2*o.r.Float64()-1, o.r.Float64(), 2*o.r.Float64()-1
		o.x.SetRow(i, []float64{a, 2*b + a/2, c / 4})
		o.scores = append(o.scores, 0.2+0.9*a-0.6*b+0.8*c)
		o.persons, o.weights = append(o.persons, i*i%(n/3)), append(o.weights, 0.2+o.r.Float64())
	}
	return o
}

// labels are drawn of the scores, for a loss.
func (o *rowsOf) labels(l losses.Loss) (y []float64) {
	r := rand.New(rand.NewPCG(53, 54))
	for _, z := range o.scores {
		switch _, levels := l.(losses.Ordinal); {
		case levels:
			y = append(y, math.Min(2, math.Floor(math.Exp(z/2)*2*r.Float64())))
		case l.Labels() == losses.Binary:
			y = append(y, math.Round(0.5+0.5*math.Tanh(z+r.NormFloat64())))
		case l.Labels() == losses.Count:
			y = append(y, math.Floor(math.Exp(z/2)*2*r.Float64()))
		case l.Labels() == losses.Amount:
			y = append(y, 0.3+math.Exp(z/2)*r.ExpFloat64())
		default:
			y = append(y, z+r.NormFloat64()/2)
		}
	}
	return y
}

func (o *rowsOf) dataset(t *testing.T, y []float64, kind string) *dpglm.Dataset {
	t.Helper()
	bounds := dpglm.Bounds{Feature: 2.5, Label: 4, Intercept: kind != "no intercept"}
	if kind == "wide labels" {
		bounds.Label = 1e3
	}
	d, err := dpglm.NewDataset(o.x, y, bounds, o.details(kind)...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// kinds are what rows may have beside features and labels.
var kinds = []string{"rows", "persons", "persons alike", "weights", "add/remove", "offsets", "no intercept"}

// details are those of a kind. Each call draws the same order.
func (o *rowsOf) details(kind string) []dpglm.RowDetail {
	persons := dpglm.Persons{Of: o.persons, MaxRows: 5, Alike: kind == "persons alike"}
	switch kind {
	case "persons", "persons alike":
		return []dpglm.RowDetail{persons, given.Ordered(5)}
	case "weights":
		return []dpglm.RowDetail{dpglm.Weights{Of: o.weights, Max: 1}}
	case "add/remove":
		return []dpglm.RowDetail{dpglm.AddRemove{AtMost: 4000}, given.Ordered(5)}
	case "offsets":
		return []dpglm.RowDetail{dpglm.Offsets{Of: o.weights, Range: [2]float64{0, 2}}}
	}
	return nil
}

// found are all numbers of what was released, in the order of its JSON.
func found(t *testing.T, v any, err error) (list []float64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case json.Number:
			x, err := v.Float64()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		case []any:
			for _, of := range v {
				walk(of)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if name != "ledger" { // has tests of its own, and many numbers
					walk(v[name])
				}
			}
		}
	}
	walk(out)
	return list
}

// inferred are the numbers of an inference: coefficients with errors and freedom, the covariance, effects.
func inferred(t *testing.T, f *dpglm.Inference, err error) []float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var list []float64
	add := func(of ...dpglm.Coefficient) {
		for _, c := range of {
			list = append(list, c.Estimate, c.StandardError, c.Freedom, c.Low, c.P, float64(len(c.Mark)))
		}
	}
	add(f.Coefficients()...)
	add(f.Thresholds()...)
	if m := f.Covariance(); m != nil {
		for i := range m.SymmetricDim() {
			for j := range i {
				list = append(list, m.At(i, j))
			}
		}
	}
	if effects, err := f.MarginalEffects(); err == nil {
		add(effects...)
	}
	if sum, err := f.Combination("sum", map[string]float64{"x1": 1, "x2": -2, "(Intercept)": 0.5}); err == nil {
		add(sum)
	}
	return list
}

// runs are all that is run, by name, and what each declared.
func runs(t *testing.T) (all, declared map[string][]float64) {
	t.Helper()
	o, all := made(3000), map[string][]float64{}
	ordinal, err := losses.OrdinalFromFractions(0.3, 0.4, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]losses.Loss{
		"logistic": losses.Logistic{}, "probit": losses.Probit{}, "squared": losses.Squared{}, "Poisson": losses.Poisson{},
		"negative binomial": losses.NegativeBinomial{Dispersion: 0.5}, "gamma": losses.Gamma{Least: 0.2}, "ordinal": ordinal,
		"ordinal, thresholds": losses.Ordinal{Levels: 3},
	} {
		y, p := o.labels(l), dpglm.Problem{Loss: l}
		for _, kind := range kinds {
			if strings.HasPrefix(name, "ordinal") && (kind == "offsets" || kind == "no intercept") {
				continue
			}
			for _, mu := range []float64{1, 8, 64} {
				if mu > 8 && kind != "rows" && kind != "no intercept" {
					continue
				}
				run := fmt.Sprintf("Infer, %s, %s, μ = %g", name, kind, mu)
				f, err := dpglm.Infer(ctx, o.dataset(t, y, kind), p, budget(kind, mu), dpglm.InferConfig{}, o.listening(run, 3))
				all[run] = inferred(t, f, err)
			}
		}
		if l.Labels() != losses.Binary && !strings.HasPrefix(name, "ordinal") {
			run := fmt.Sprintf("Infer, %s, wide labels", name)
			f, err := dpglm.Infer(ctx, o.dataset(t, y, "wide labels"), p, dpglm.GDP(8), dpglm.InferConfig{}, o.listening(run, 3))
			all[run] = inferred(t, f, err)
		}
		m, err := dpglm.Auto(ctx, o.dataset(t, y, "rows"), p, dpglm.GDP(1), o.listening("Auto, "+name, 3))
		all["Auto, "+name] = found(t, m, err)
		e, err := dpglm.Evaluate(ctx, o.dataset(t, y, "rows"), m, dpglm.GDP(2), dpglm.EvaluateConfig{}, o.listening("Evaluate, "+name, 4))
		all["Evaluate, "+name] = found(t, e, err)
	}
	o.learners(t, all)
	o.labelsAlone(t, all)
	o.boundedSlopes(t, all)
	return all, o.declared
}

// boundedSlopes adds what is found by losses whose gradients don't tell how much labels vary.
func (o *rowsOf) boundedSlopes(t *testing.T, all map[string][]float64) {
	t.Helper()
	for _, l := range []losses.Loss{losses.Absolute{}, losses.Quantile{Tau: 0.9}, losses.Huber{Kappa: 0.5}} {
		for _, kind := range kinds {
			run := fmt.Sprintf("Auto, %s, %s", l.Name(), kind)
			m, err := dpglm.Auto(ctx, o.dataset(t, o.labels(l), kind), dpglm.Problem{Loss: l}, budget(kind, 3), o.listening(run, 3))
			all[run] = found(t, m, err)
		}
	}
}

// labelsAlone adds what is found where labels alone are private: from nothing and from a public model, of little and of much noise.
func (o *rowsOf) labelsAlone(t *testing.T, all map[string][]float64) {
	t.Helper()
	add := func(name string, d *dpglm.Dataset, p dpglm.Problem, mu float64) {
		run := fmt.Sprintf("labels alone, %s, μ = %g", name, mu)
		switch {
		case p.Classes == 0:
			f, err := dpglm.Infer(ctx, d, p, dpglm.GDP(mu).LabelsOnly(), dpglm.InferConfig{}, o.listening("Infer, "+run, 3))
			all["Infer, "+run] = inferred(t, f, err)
		case p.Prior == nil:
			f, err := dpglm.InferClasses(ctx, d, p, dpglm.GDP(mu).LabelsOnly(), dpglm.InferConfig{}, o.listening("InferClasses, "+run, 3))
			all["InferClasses, "+run] = found(t, f, err)
		}
		m, err := dpglm.Auto(ctx, d, p, dpglm.GDP(mu).LabelsOnly(), o.listening("Auto, "+run, 3))
		all["Auto, "+run] = found(t, m, err)
	}
	for name, p := range map[string]dpglm.Problem{
		"logistic": {Loss: losses.Logistic{}}, "squared": {Loss: losses.Squared{}}, "poisson": {Loss: losses.Poisson{}}, "three classes": {Loss: losses.Logistic{}, Classes: 3},
	} {
		y := o.labels(p.Loss)
		if p.Classes > 0 {
			y = o.labels(losses.Ordinal{})
		}
		for _, kind := range []string{"rows", "no intercept", "weights", "offsets"} {
			if kind == "offsets" && p.Classes > 0 {
				continue
			}
			for _, mu := range []float64{0.3, 8} {
				add(name+", "+kind, o.dataset(t, y, kind), p, mu)
			}
		}
		prior, err := dpglm.Auto(ctx, o.dataset(t, y, "rows"), p, dpglm.GDP(0.5), given.Seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		p.Prior = prior
		add(name+", a prior", o.dataset(t, y, "rows"), p, 0.3)
		if p.Classes == 0 && p.Loss.Labels() == losses.Real {
			p.Prior = nil
			add(name+", wide labels", o.dataset(t, y, "wide labels"), p, 1)
		}
	}
}

func budget(kind string, mu float64) dpglm.Budget {
	if kind == "add/remove" {
		return dpglm.GDP(mu).AddRemove()
	}
	return dpglm.GDP(mu)
}

// learners adds the other learners, on one loss of each kind.
func (o *rowsOf) learners(t *testing.T, all map[string][]float64) {
	t.Helper()
	steps := dpglm.NoisyGDConfig{Steps: 6}
	for _, l := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
		y := o.labels(l)
		for _, kind := range kinds {
			for name, learner := range map[string]dpglm.Learner{
				"StandardisedGD": dpglm.StandardisedGDConfig{}, "NoisyGD": steps, "FrankWolfe": dpglm.FrankWolfeConfig{Steps: 4},
				"OutputPerturbation": dpglm.OutputPerturbationConfig{}, "ObjectivePerturbation": dpglm.ObjectivePerturbationConfig{},
				"JL": dpglm.JLConfig{Learner: steps, K: 2}, "Boost": dpglm.BoostConfig{Learner: steps, Chunks: 2},
				"GridSearch":         dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: steps}, {Learner: dpglm.NoisyGDConfig{Steps: 3}, Radius: 2}}},
				"GridSearch, around": dpglm.GridSearchConfig{Learner: steps},
			} {
				d, run := o.dataset(t, y, kind), fmt.Sprintf("%s, %s, %s", name, l.Name(), kind)
				plan, err := learner.Plan(d.Shape(), dpglm.Problem{Loss: l}, budget(kind, 2))
				if err != nil {
					all[run] = nil // refused: see whether that changes
					continue
				}
				m, err := plan.Run(ctx, d, o.listening(run, 3))
				all[run] = found(t, m, err)
			}
		}
	}
	o.classes(t, all)
}

// classes adds those of labels of three classes.
func (o *rowsOf) classes(t *testing.T, all map[string][]float64) {
	t.Helper()
	y, p := o.labels(losses.Poisson{}), dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}
	for i := range y {
		y[i] = math.Min(y[i], 2)
	}
	for _, kind := range kinds {
		if kind == "offsets" {
			continue
		}
		d := o.dataset(t, y, kind)
		m, err := dpglm.Softmax(ctx, d, p, budget(kind, 2), dpglm.SoftmaxConfig{}, o.listening("Softmax, "+kind, 3))
		all["Softmax, "+kind] = found(t, m, err)
		e, err := dpglm.Evaluate(ctx, d, m, budget(kind, 2), dpglm.EvaluateConfig{}, o.listening("Evaluate, classes, "+kind, 4))
		all["Evaluate, classes, "+kind] = found(t, e, err)
		f, err := dpglm.InferClasses(ctx, d, p, budget(kind, 4), dpglm.InferConfig{}, o.listening("InferClasses, "+kind, 3))
		if err != nil {
			t.Fatal(err)
		}
		all["InferClasses, "+kind] = found(t, f, err)
		if kind == "rows" || kind == "add/remove" { // others have none
			moments, err := o.dataset(t, o.labels(losses.Squared{}), kind).Moments(ctx, budget(kind, 2), o.listening("Moments, "+kind, 3))
			all["Moments, "+kind] = found(t, moments, err)
		}
	}
}

// Seeded runs give the numbers of testdata/numbers.txt, and declare the sensitivities of testdata/sensitivities.txt. That
// these are right other tests say; this one says that a change has no effect on them which nobody has looked at. Who means to
// change one writes the files anew, by go test ./internal/audit/numbers -write, and says why in the commit.
func TestNumbersStay(t *testing.T) {
	all, declared := runs(t)
	formRuns(t, declared)
	stays(t, "numbers", all, false)
	stays(t, "sensitivities", declared, true)
}
