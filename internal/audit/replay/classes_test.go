package replay_test

import (
	"context"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// ofClasses is a learner of three classes to try on some designs.
type ofClasses struct {
	name    string
	forms   []string
	n       int
	learner dpglm.Learner
	loss    losses.Loss
	budget  dpglm.Budget
	reaches map[string]float64 // on the first form
}

// trials are those of a learner on its designs.
func (l ofClasses) trials(t *testing.T) (all []*trial) {
	t.Helper()
	forms := designs(l.n, classLabels)
	for k, form := range l.forms {
		c := &trial{name: l.name + ", " + form, design: forms[form]}
		if k == 0 {
			c.reaches = l.reaches
		}
		c.runs(t, l.learner, dpglm.Problem{Loss: l.loss, Radius: classRadius, Classes: 3}, l.budget)
		all = append(all, c)
	}
	return all
}

// classRadius is that of the balls of models of classes.
const classRadius = 5

// classLearners are learners of several classes inside others.
func classLearners(t *testing.T) (all []*trial) {
	t.Helper()
	steps := dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 2, StepSize: 2, Clip: dpglm.NoClip}}
	both := []dpglm.Candidate{{Learner: dpglm.SoftmaxConfig{}, Radius: 1}, {Learner: steps, Radius: 2}, {Learner: steps}}
	byLoss := dpglm.GridSearchConfig{Candidates: both, Validation: 0.5}
	byErrors, rest := byLoss, dpglm.GridSearchConfig{Candidates: both[1:], Validation: 0.5}
	byErrors.Criterion = dpglm.ZeroOneError
	boost := dpglm.BoostConfig{Learner: steps, Chunks: 3, Seed: 2}
	noisyMax, ofSoftmax := boost, dpglm.BoostConfig{Learner: dpglm.SoftmaxConfig{}, Chunks: 2}
	noisyMax.NoisyMax = true
	half, last := "selection on the other 12 rows", "selection on the other 8 rows"
	counts := map[string]float64{half: 1 - 1e-12}
	several := []string{"dense, intercept", "dense", "sparse schema, intercept", "any matrix", "persons", "persons, schema", "weighted"}
	some := []string{"dense", "sparse, intercept", "persons", "weighted"}
	for _, l := range []ofClasses{
		{"GridSearch of classes, losses", several, 24, byLoss, losses.Logistic{}, dpglm.GDP(40), map[string]float64{half: 0.9}},
		{"GridSearch of classes, errors", several, 24, byErrors, losses.Logistic{}, dpglm.ApproxDP(1, 1e-6), counts},
		{"GridSearch of classes, probit", some, 24, rest, losses.Probit{}, dpglm.GDP(40), map[string]float64{half: 0.9}},
		{"GridSearch of classes, hinge", some, 24, rest, losses.Hinge{}, dpglm.GDP(1), counts},
		{"Boost of classes, hinge", some, 32, boost, losses.Hinge{}, dpglm.GDP(1), map[string]float64{last: 1 - 1e-12}},
		{"Boost of classes, noisy max", some, 32, noisyMax, losses.Logistic{}, dpglm.ApproxDP(1, 1e-6), nil},
		{"Boost of Softmax", some, 33, ofSoftmax, losses.Logistic{}, dpglm.GDP(60), map[string]float64{"selection on the other 11 rows": 0.9}},
		{"JL of classes", some, 24, dpglm.JLConfig{K: 2, Learner: steps}, losses.Logistic{}, dpglm.GDP(1), map[string]float64{gradientSums: 0.5}},
		{"JL of Softmax", some, 24, dpglm.JLConfig{K: 2, Slack: 0.5, Learner: dpglm.SoftmaxConfig{}}, losses.Logistic{}, dpglm.GDP(60), nil},
		{"GridSearch over Boost of classes", some[:1], 24, dpglm.GridSearchConfig{Learner: boost, Radii: []float64{0.5, 2}}, losses.Logistic{}, dpglm.GDP(1), nil},
		{"Boost over GridSearch of classes", some[:1], 32, dpglm.BoostConfig{Learner: byLoss, Chunks: 2}, losses.Logistic{}, dpglm.GDP(1), nil},
		{"GridSearch of classes, pure", some[:1], 24, dpglm.GridSearchConfig{Learner: dpglm.OneAgainstRestConfig{Learner: dpglm.OutputPerturbationConfig{}}}, losses.SquaredHinge{}, dpglm.PureDP(1), nil},
	} {
		all = append(all, l.trials(t)...)
	}
	return all
}

// classChoices choose one of given models of classes, and answer queries by votes for them.
func classChoices(t *testing.T) (all []*trial) {
	t.Helper()
	forms := designs(24, classLabels)
	models := func(d design) [][][]float64 {
		list := [][][]float64{{{}, {}, {}}, {{4, 0, 0}, {-4}, {0, 4}}, {{1, 1, -1}, {0, 0, 9}, {0, 0, -9}}}
		for _, model := range list {
			for k := range model {
				model[k] = append(model[k], make([]float64, d.shape(t).Dim-len(model[k]))...)
			}
		}
		return list
	}
	chosen := "choice of one of 3 models"
	for _, of := range []struct {
		form    string
		loss    losses.Loss
		limit   float64
		reaches float64
	}{
		{"dense, intercept", losses.Logistic{}, 0, 0.8}, {"dense", losses.Logistic{}, 1.5, 1 - 1e-6}, {"sparse", losses.Probit{}, 0, 0.7}, {"sparse schema, intercept", losses.Hinge{}, 0, 0},
		{"dense, intercept", losses.Hinge{}, 0, 1 - 1e-12}, {"persons", losses.Logistic{}, 0, 0}, {"persons, schema", losses.Hinge{}, 0, 0}, {"weighted", losses.Probit{}, 2, 0},
	} {
		d := forms[of.form]
		c := &trial{name: "SelectModel of classes, " + of.loss.Name() + ", " + of.form, design: d}
		if of.reaches > 0 {
			c.reaches = map[string]float64{chosen: of.reaches}
		}
		of, given := of, models(d)
		c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			best, ledger, err := dpglm.SelectModel(ctx, d, dpglm.Problem{Loss: of.loss, Classes: 3}, dpglm.ApproxDP(1, 1e-6), given, of.limit, env)
			return []any{best, ledger}, err
		}
		all = append(all, c)
	}
	vote := dpglm.VoteConfig{Queries: 3, Parts: 5, Seed: 1}
	kept := vote
	kept.Cache = true
	one := map[string]float64{"votes of 5 models, split by seed 1": 1 - 1e-12}
	for _, a := range []answering{
		{"VoteConfig of classes", forms["dense"], vote, losses.Logistic{}, classRadius, dpglm.PureDP(1), one, 3},
		{"VoteConfig of classes, kept, hinge", forms["sparse schema, intercept"], kept, losses.Hinge{}, classRadius, dpglm.ApproxDP(1, 1e-6), nil, 3},
		{"VoteConfig of classes, intercept", forms["sparse, intercept"], vote, losses.Probit{}, classRadius, dpglm.GDP(1), one, 3},
		{"VoteConfig of classes", forms["persons"], vote, losses.Logistic{}, classRadius, dpglm.GDP(1), nil, 3},
		{"VoteConfig of classes", forms["weighted"], vote, losses.Logistic{}, classRadius, dpglm.GDP(1), nil, 3},
	} {
		c := a.trial(t)
		c.name += ", " + a.design.form
		all = append(all, c)
	}
	return all
}
