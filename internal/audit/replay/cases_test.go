package replay_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
)

// designs are the kinds of data that every learner is tried on.
func designs(n int, labels losses.Labels) map[string]design {
	y := map[losses.Labels]float64{losses.Binary: 0, losses.Real: 1.5, losses.Count: 6, losses.Amount: 6}[labels]
	plain := dpglm.Bounds{Feature: 2, Label: y}
	one := dpglm.Bounds{Feature: 2, Label: y, Intercept: true}
	schema := dpglm.Schema{
		Columns: []string{"age", "size", "red", "green", "blue"},
		Numeric: map[string][2]float64{"age": {-2, 6}, "size": {0, 1}},
		OneHot:  map[string][]string{"colour": {"red", "green", "blue"}},
		Label:   y,
	}
	mixed := schema
	mixed.Intercept = true
	return map[string]design{
		"dense":                    {n, plain, 3, labels, "dense"},
		"dense, intercept":         {n, one, 3, labels, "dense"},
		"sparse":                   {n, plain, 3, labels, "sparse"},
		"sparse, intercept":        {n, one, 3, labels, "sparse"},
		"schema":                   {n, schema, 5, labels, "dense"},
		"sparse schema, intercept": {n, mixed, 5, labels, "sparse"},
		"any matrix":               {n, plain, 3, labels, "other"},
		"persons":                  {n, one, 3, labels, "persons"},
		"persons, schema":          {n, mixed, 5, labels, "persons"},
		"persons, alike":           {n, one, 3, labels, "persons, alike"},
		"places":                   {n, one, 3, labels, "places"},
		"persons, places":          {n, mixed, 5, labels, "persons, places"},
		"detailed":                 {n, one, 3, labels, "detailed"},
		"weighted":                 {n, one, 3, labels, "weighted"},
	}
}

// ranged is a design with a public range of labels, far from 0, for learners with real
// labels, and for those with counts that plan for such a range.
func ranged(l learned) (design, bool) {
	b := dpglm.Bounds{Feature: 2, LabelRange: [2]float64{7.25, 10.25}, Intercept: l.n%8 == 0}
	switch _, descent := l.learner.(dpglm.NoisyGDConfig); {
	case l.loss.Labels() == losses.Binary, l.loss.Labels().FromZero() && !descent:
		return design{}, false
	case l.loss.Labels().FromZero():
		b.LabelRange = [2]float64{0, 6}
	}
	return design{l.n, b, 3, l.loss.Labels(), "dense"}, true
}

// learned is a learner to try on all designs.
type learned struct {
	name    string
	n       int
	learner dpglm.Learner
	loss    losses.Loss
	radius  float64
	budget  dpglm.Budget
	// slope is that of a trial, for scores of at most z on the ball and the label bound.
	slope func(z, bound float64) func(score, y float64) float64
	// reaches are those of the trial on dense rows.
	reaches map[string]float64
}

func same(slope func(z, y float64) float64) func(_, _ float64) func(z, y float64) float64 {
	return func(_, _ float64) func(z, y float64) float64 { return slope }
}

// on is the trial of a learner on a design.
func (l learned) on(t *testing.T, form string, d design) *trial {
	t.Helper()
	c := &trial{name: l.name + ", " + form, design: d}
	if form == "dense" {
		c.reaches = l.reaches
	}
	plan := c.runs(t, l.learner, dpglm.Problem{Loss: l.loss, Radius: l.radius}, d.budget(l.budget))
	if l.slope != nil {
		shape := d.shape(t)
		c.slope, c.clip = l.slope(shape.FeatureBound*plan.Problem.Radius, shape.LabelBound), innerClip
		if o, ok := plan.Learner.(dpglm.ObjectivePerturbationConfig); ok {
			c.clip = o.Clip
		}
	}
	return c
}

// runs has the trial run a learner's plan, which it returns.
func (c *trial) runs(t *testing.T, l dpglm.Learner, p dpglm.Problem, b dpglm.Budget) *dpglm.Plan {
	t.Helper()
	shape := c.design.shape(t)
	plan, err := l.Plan(shape, p, b)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	before := fmt.Sprint(plan)
	c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		if s := d.Shape(); s != shape {
			t.Errorf("%s: the shape %+v of one table is not the neighbour's %+v", c.name, shape, s)
		}
		m, err := plan.Run(ctx, d, env)
		if now := fmt.Sprint(plan); now != before {
			t.Errorf("%s: a run changed its plan:\n%s\n%s", c.name, before, now)
		}
		return m, err
	}
	return plan
}

// learnerOf is what a trial's name begins with: a learner, and how it is used.
func learnerOf(c *trial) string {
	name, _, _ := strings.Cut(c.name, ",")
	return name
}

// trials are all of them.
func trials(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	for _, l := range allLearned() {
		forms := designs(l.n, l.loss.Labels())
		for _, form := range []string{"dense", "dense, intercept", "sparse", "sparse, intercept", "schema", "sparse schema, intercept", "any matrix"} {
			all = append(all, l.on(t, form, forms[form]))
		}
		if l.slope == nil { // objective perturbation takes one row of each person
			all = append(all, l.on(t, "persons", forms["persons"]), l.on(t, "persons, schema", forms["persons, schema"]), l.on(t, "persons, places", forms["persons, places"]))
		}
		places := l.on(t, "places", forms["places"])
		if l.slope == nil {
			places.reaches = map[string]float64{}
			for label, want := range l.reaches {
				places.reaches[strings.Replace(label, "the other ", "the other at most ", 1)] = want
			}
		}
		all = append(all, places)
		all = append(all, l.on(t, "detailed", forms["detailed"]))
	}
	for _, a := range predictors() {
		all = append(all, a.trial(t))
		if a.design.form == "dense" {
			all = append(all, a.of("persons").trial(t), a.of("places").trial(t), a.of("persons, places").trial(t))
		}
		if _, walk := a.config.(dpglm.ThresholdConfig); a.design.form == "dense" && !walk {
			all = append(all, a.of("detailed").trial(t))
		}
	}
	for _, l := range allLearned() {
		if d, ok := ranged(l); ok {
			all = append(all, l.on(t, "dense, range of labels", d))
		}
	}
	stopped := noisyGDs()[0].on(t, "stopped at step 3", designs(24, losses.Binary)["dense"])
	stopped.stopAt = 3
	all = append(all, evaluations(t)...)
	all = append(all, softmaxes()...)
	all = slices.Concat(all, againstRests(), classInferences(), classEvaluations(t))
	all = append(all, stopped, selectModel(), selectCentred(), projectedObjective(t))
	all = append(append(all, onFrames(t)...), wholly(t)...)
	all = append(append(all, classLearners(t)...), classChoices(t)...)
	// Those of places, then of persons alike, and of labels, come last: seeds go by the order.
	all = append(slices.DeleteFunc(slices.Clone(all), func(c *trial) bool { return c.design.places() }), slices.DeleteFunc(all, func(c *trial) bool { return !c.design.places() })...)
	for _, l := range allLearned() {
		if l.slope == nil {
			all = append(all, l.on(t, "persons, alike", designs(l.n, l.loss.Labels())["persons, alike"]))
		}
	}
	all = slices.Concat(all, onLabels(t), priors(t), momentTrials())
	for _, l := range pureObjectives() {
		forms := designs(l.n, l.loss.Labels())
		for _, form := range []string{"dense", "dense, intercept", "sparse, intercept", "sparse schema, intercept", "any matrix", "places", "detailed"} {
			all = append(all, l.on(t, form, forms[form]))
		}
	}
	all = append(all, labelPriors(t)...)
	for _, l := range recalibrated() {
		forms := designs(l.n, l.loss.Labels())
		for _, form := range []string{"dense, intercept", "persons", "persons, places", "sparse schema, intercept", "places"} {
			all = append(all, l.on(t, form, forms[form]))
		}
	}
	all = append(all, countsOnLabels(t)...)
	for _, l := range allLearned() {
		if l.loss.Labels() == losses.Count && l.slope == nil {
			d := designs(l.n, l.loss.Labels())["detailed"]
			d.form = "detailed, wide"
			all = append(all, l.on(t, d.form, d))
		}
	}
	return all
}

// recalibrated are choices of models with the budget for a mean of predictions after them.
func recalibrated() []learned {
	step, again := dpglm.NoisyGDConfig{Steps: 3}, map[string]float64{"predictions' sum": 0}
	return []learned{
		{"recalibrated GridSearch", 24, dpglm.GridSearchConfig{Learner: step}, losses.Squared{}, 0, dpglm.GDP(100), nil, again},
		{"recalibrated Boost", 32, dpglm.BoostConfig{Learner: step, Chunks: 3}, losses.Squared{}, 0, dpglm.GDP(100), nil, again},
	}
}

func allLearned() []learned {
	var all []learned
	all = append(all, noisyGDs()...)
	all = append(all, standardised()...)
	all = append(all, inferences()...)
	all = append(all, selecting()...)
	all = append(all, perturbations()...)
	all = append(all, projections()...)
	all = append(all, combinators()...)
	return all
}

const (
	gradientSums = "Noisy GD, gradient sums"
	minimisers   = "output perturbation, minimiser"
	linearTerm   = `"objective perturbation" (linear term)`
	innerClip    = 0.4 // of objective perturbation inside another learner
)

// mine is a loss that a user might state: a shifted pseudo-Huber loss.
func mine() losses.Loss {
	return losses.Custom{
		Label: "mine", Domain: losses.Real,
		Phi:    func(z, y float64) float64 { return math.Sqrt(1+(z-y)*(z-y)) - 1 },
		DPhi:   func(z, y float64) float64 { return (z - y) / math.Sqrt(1+(z-y)*(z-y)) },
		AtZero: func(y float64) float64 { return math.Sqrt(1+y*y) - 1 }, Smoothness: 1, Lipschitz: 1,
	}
}

func noisyGDs() []learned {
	few := dpglm.NoisyGDConfig{Steps: 5, StepSize: 2}
	plain := few
	plain.Clip = dpglm.NoClip
	direct := few
	direct.Clip = 1e50
	full := map[string]float64{gradientSums: 0.85}
	list := []learned{
		{"NoisyGD, default clip", 24, few, losses.Logistic{}, 5, dpglm.GDP(1), nil, full},
		{"NoisyGD, logistic", 24, plain, losses.Logistic{}, 5, dpglm.GDP(1), nil, full},
		{"NoisyGD, theorem 1", 24, dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1, Steps: 4}, losses.Logistic{}, 5, dpglm.ApproxDP(1, 1e-6), nil, full},
		{"NoisyGD, squared, second moments", 24, plain, losses.Squared{}, 5, dpglm.GDP(1), nil, full},
		{"NoisyGD, squared, direct", 24, direct, losses.Squared{}, 5, dpglm.GDP(1), nil, full},
	}
	for _, loss := range []losses.Loss{losses.Absolute{}, losses.Quantile{Tau: 0.3}, losses.Hinge{}, losses.Huber{Kappa: 1},
		losses.SmoothedHinge{Width: 0.5}, losses.SquaredHinge{}, losses.Poisson{}, mine()} {
		list = append(list, learned{"NoisyGD, " + loss.Name(), 24, plain, loss, 1, dpglm.GDP(1), nil, nil})
	}
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		list = append(list,
			learned{"NoisyGD around the constant model, " + loss.Name(), 24, dpglm.NoisyGDConfig{Steps: 5}, loss, 0, dpglm.ApproxDP(1, 1e-6), nil, nil},
			learned{"NoisyGD around the constant model, no clip, " + loss.Name(), 24, dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1, Steps: 5}, loss, 0, dpglm.GDP(1), nil, nil})
	}
	for _, loss := range append(families(), losses.Gamma{Least: 0.1, Ratio: 3}) {
		list = append(list, learned{"NoisyGD, " + loss.Name(), 24, plain, loss, 1, dpglm.GDP(1), nil, nil})
	}
	return list
}

// pureObjectives are objective perturbation by Laplace noise, around 0 and around the constant model.
func pureObjectives() []learned {
	objective, reaches := dpglm.ObjectivePerturbationConfig{}, map[string]float64{linearTerm: 1 - 1e-4}
	return []learned{
		{"Auto, pure", 24, dpglm.AutoConfig{}, losses.Logistic{}, 0, dpglm.PureDP(1), same(logisticSlope), nil},
		{"ObjectivePerturbation, pure", 24, objective, losses.Logistic{}, 5, dpglm.PureDP(2), same(logisticSlope), reaches},
		{"ObjectivePerturbation, squared, clip, pure", 24, dpglm.ObjectivePerturbationConfig{Clip: 0.3, Lambda: 2}, losses.Squared{}, 5, dpglm.PureDP(6), same(squaredSlope), nil},
		{"ObjectivePerturbation, poisson, pure", 24, objective, losses.Poisson{}, 0, dpglm.PureDP(2), poissonSlope, nil},
	}
}

func perturbations() []learned {
	objective, noClip := dpglm.ObjectivePerturbationConfig{}, dpglm.ObjectivePerturbationConfig{Clip: dpglm.NoClip}
	clip := dpglm.ObjectivePerturbationConfig{Clip: 0.3, Lambda: 2}
	output := dpglm.OutputPerturbationConfig{}
	near, far := map[string]float64{minimisers: 0.8}, map[string]float64{linearTerm: 1 - 1e-9}
	return []learned{
		{"ObjectivePerturbation, logistic", 24, objective, losses.Logistic{}, 0, dpglm.ApproxDP(1, 1e-6), same(logisticSlope), map[string]float64{linearTerm: 1 - 1e-4}}, // the clip is that of a slope at 0
		{"ObjectivePerturbation, logistic, no clip", 24, noClip, losses.Logistic{}, 0, dpglm.GDP(1), same(logisticSlope), nil},
		{"ObjectivePerturbation, squared, clip", 24, clip, losses.Squared{}, 0, dpglm.GDP(3), same(squaredSlope), far},
		{"ObjectivePerturbation, poisson", 24, objective, losses.Poisson{}, 0, dpglm.GDP(3), poissonSlope, nil},
		{"ObjectivePerturbation, amounts", 24, objective, losses.Gamma{Least: 0.1}, 0, dpglm.GDP(3), gammaSlope, nil},
		{"ObjectivePerturbation, hinge", 24, objective, losses.Hinge{}, 0, dpglm.GDP(3), func(z, _ float64) func(float64, float64) float64 { return hingeSlope(z / 100) }, nil},
		{"ObjectivePerturbation, absolute", 24, objective, losses.Absolute{}, 0, dpglm.ApproxDP(2, 1e-6), func(z, _ float64) func(float64, float64) float64 { return absoluteSlope(z / 100) }, nil},
		{"OutputPerturbation, GDP", 4, dpglm.OutputPerturbationConfig{Lambda: 100}, losses.Squared{}, 0.03, dpglm.GDP(1), nil, near},
		{"OutputPerturbation, pure", 4, dpglm.OutputPerturbationConfig{Lambda: 100}, losses.Squared{}, 0.03, dpglm.PureDP(1), nil, near},
		{"OutputPerturbation, logistic, projected", 24, dpglm.OutputPerturbationConfig{Project: true}, losses.Logistic{}, 0, dpglm.PureDP(1), nil, nil},
		{"OutputPerturbation around the constant model", 24, output, losses.Squared{}, 0, dpglm.GDP(1), nil, nil},
		{"OutputPerturbation around the constant model, pure", 24, output, losses.Logistic{}, 0, dpglm.PureDP(1), nil, nil},
		{"OutputPerturbation, hinge", 24, output, losses.Hinge{}, 0, dpglm.ApproxDP(1, 1e-6), nil, nil},
		{"OutputPerturbation, poisson", 24, output, losses.Poisson{}, 0, dpglm.GDP(1), nil, nil},
	}
}

func projections() []learned {
	var list []learned
	step := dpglm.NoisyGDConfig{Steps: 3, Clip: dpglm.NoClip}
	for _, kind := range []dpglm.JLMap{dpglm.GaussianMap, dpglm.RademacherMap, dpglm.SparseMap, dpglm.HadamardMap} {
		list = append(list, learned{"JL by " + string(kind), 24, dpglm.JLConfig{K: 2, Map: kind, Learner: step}, losses.Logistic{}, 5, dpglm.GDP(1), nil, map[string]float64{gradientSums: 0.5}})
	}
	return append(list,
		learned{"JL, standardised", 24, dpglm.JLConfig{K: 2, Slack: 0.5, Learner: dpglm.StandardisedGDConfig{}}, losses.Squared{}, 1, dpglm.GDP(60), nil, nil},
		learned{"JL without projection", 24, dpglm.JLConfig{K: 9, Learner: step}, losses.Logistic{}, 5, dpglm.GDP(1), nil, nil})
}

func combinators() []learned {
	step := dpglm.NoisyGDConfig{Steps: 2, Clip: dpglm.NoClip}
	output := dpglm.OutputPerturbationConfig{Lambda: 1}
	boost := dpglm.BoostConfig{Learner: output, Chunks: 3, Seed: 2}
	noisyMax := boost
	noisyMax.NoisyMax = true
	mixed := []dpglm.Candidate{{Learner: step, Radius: 1}, {Learner: output, Radius: 2}, {Learner: dpglm.StandardisedGDConfig{}, Radius: 1}}
	projected := dpglm.JLConfig{K: 2, Learner: step}
	grid := dpglm.GridSearchConfig{Learner: step, Radii: []float64{0.5, 2}}
	chosen := "selection on the other 8 rows"
	scores, half := map[string]float64{chosen: 0.95}, map[string]float64{"selection on the other 12 rows": 0.95}
	return []learned{
		{"Boost around the constant model", 32, dpglm.BoostConfig{Learner: step, Chunks: 3}, losses.Squared{}, 0, dpglm.ApproxDP(1, 1e-6), nil, nil},
		{"GridSearch around the constant model", 24, dpglm.GridSearchConfig{Learner: step}, losses.Squared{}, 0, dpglm.ApproxDP(1, 1e-6), nil, nil},
		{"GridSearch around the constant model, pure", 24, dpglm.GridSearchConfig{Learner: output}, losses.Logistic{}, 0, dpglm.PureDP(1), nil, nil},
		{"Boost", 32, boost, losses.Squared{}, 1, dpglm.GDP(0.3), nil, scores},
		{"Boost, noisy max", 32, noisyMax, losses.Squared{}, 1, dpglm.ApproxDP(0.3, 1e-6), nil, scores},
		{"Boost, pure", 32, boost, losses.Logistic{}, 1, dpglm.PureDP(0.3), nil, nil},
		{"GridSearch, losses", 24, dpglm.GridSearchConfig{Candidates: mixed, Validation: 0.5}, losses.Squared{}, 0, dpglm.GDP(0.3), nil, half},
		{"GridSearch, errors", 24, dpglm.GridSearchConfig{Candidates: mixed, Validation: 0.5, Criterion: dpglm.ZeroOneError}, losses.Logistic{}, 0, dpglm.ApproxDP(1, 1e-6), nil, half},
		{"GridSearch over Boost", 24, dpglm.GridSearchConfig{Learner: boost, Radii: []float64{0.5, 2}}, losses.Logistic{}, 0, dpglm.GDP(1), nil, nil},
		{"GridSearch over JL", 24, dpglm.GridSearchConfig{Learner: projected, Radii: []float64{0.5, 2}}, losses.Logistic{}, 0, dpglm.GDP(1), nil, nil},
		{"Boost over GridSearch", 32, dpglm.BoostConfig{Learner: grid, Chunks: 2}, losses.Logistic{}, 0, dpglm.GDP(1), nil, nil},
		{"JL, Boost", 32, dpglm.JLConfig{K: 2, Learner: boost}, losses.Logistic{}, 1, dpglm.GDP(1), nil, nil},
		{"GridSearch over ObjectivePerturbation", 24, dpglm.GridSearchConfig{Learner: dpglm.ObjectivePerturbationConfig{Clip: innerClip}, Radii: []float64{2, 4}}, losses.Logistic{}, 0, dpglm.GDP(2), same(logisticSlope), map[string]float64{linearTerm: 1 - 1e-9}},
	}
}

// selectModel chooses one of given models.
func selectModel() *trial {
	models := [][][]float64{{{0, 0, 0}}, {{0.5, -0.5, 0}}, {{-1, 0, 2}}}
	c := &trial{name: "SelectModel", design: designs(24, losses.Binary)["dense"], reaches: map[string]float64{"choice of one of 3 models": 0.9}}
	c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		best, ledger, err := dpglm.SelectModel(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), models, 0, env)
		return []any{best, ledger}, err
	}
	return c
}

// selectCentred chooses among models with intercepts on the labels' own scale.
func selectCentred() *trial {
	models := [][][]float64{{{0, 0, 8.75}}, {{0.5, -0.5, 9}}, {{-1, 0, 7}}}
	d := design{24, dpglm.Bounds{Feature: 2, LabelRange: [2]float64{7.25, 10.25}, Intercept: true}, 2, losses.Real, "dense"}
	c := &trial{name: "SelectModel, range of labels", design: d, reaches: map[string]float64{"choice of one of 3 models": 0.8}}
	c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		best, ledger, err := dpglm.SelectModel(ctx, d, dpglm.Problem{Loss: losses.Absolute{}}, dpglm.GDP(1), models, 0, env)
		return []any{best, ledger}, err
	}
	return c
}

// projectedObjective is objective perturbation of projected rows.
func projectedObjective(t *testing.T) *trial {
	t.Helper()
	l := learned{"JL, ObjectivePerturbation", 24, dpglm.JLConfig{K: 2, Map: dpglm.GaussianMap, Seed: 3, Learner: dpglm.ObjectivePerturbationConfig{Clip: innerClip}}, losses.Logistic{}, 0, dpglm.GDP(2), same(logisticSlope), nil}
	c := l.on(t, "dense", designs(24, losses.Binary)["dense"])
	phi, bound := sketch.NewGaussian(2, 3, 3), dpglm.Bounds{Feature: 2}
	c.features = func(u []float64) []float64 {
		v := make([]float64, 2)
		phi.Apply(v, u)
		return encoded(bound, v)
	}
	return c
}
