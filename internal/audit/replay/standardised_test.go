package replay_test

import (
	"fmt"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// standardised are StandardisedGD and Auto on each of their ways: which one a run takes
// follows from what was released, here from n·μ. Gradients along the last line are held as if no row's
// coordinate were shorter than 1, and reach that much less of what they declare.
func standardised() []learned {
	few, auto := dpglm.StandardisedGDConfig{}, dpglm.AutoConfig{}
	first, tight := map[string]float64{pooled + " #1": 1 - 1e-9}, map[string]float64{pooled: 0.5}
	list := []learned{
		{"StandardisedGD, constant model", 24, few, losses.Logistic{}, 0, dpglm.GDP(1), nil, first},
		{"StandardisedGD, moments drowned", 24, few, losses.Logistic{}, 0, dpglm.GDP(3), nil, tight},
		{"StandardisedGD, moments", 24, few, losses.Logistic{}, 0, dpglm.GDP(25), nil, nil},
		{"StandardisedGD, Hessian", 24, few, losses.Logistic{}, 0, dpglm.GDP(3000), nil, nil},
		{"StandardisedGD, approximate", 40, few, losses.Squared{}, 0, dpglm.ApproxDP(8, 1e-6), nil, tight},
		{"Auto, counts", 40, auto, losses.Poisson{}, 0, dpglm.GDP(20), nil, tight},
		{"Auto, counts, Hessian", 24, auto, losses.Poisson{}, 0, dpglm.GDP(3000), nil, nil},
		{"Auto, real labels", 40, auto, losses.Squared{}, 0, dpglm.GDP(20), nil, tight},
		{"Auto, real labels, Hessian", 24, auto, losses.Squared{}, 0, dpglm.GDP(3000), nil, nil},
		{"Auto, few rows", 8, auto, losses.Hinge{}, 0, dpglm.GDP(0.5), nil, nil},
		{"OutputPerturbation, squared hinge, pure", 24, dpglm.OutputPerturbationConfig{}, losses.SquaredHinge{}, 0, dpglm.PureDP(1), nil, nil},
	}
	for _, loss := range []losses.Loss{losses.Hinge{}, losses.Absolute{}, losses.Quantile{Tau: 0.3}, losses.Huber{Kappa: 1},
		losses.SquaredHinge{}, losses.SmoothedHinge{Width: 0.5}, mine()} {
		list = append(list,
			learned{fmt.Sprintf("Auto, %s", loss.Name()), 24, auto, loss, 0, dpglm.GDP(20), nil, tight},
			learned{fmt.Sprintf("Auto, %s, large budget", loss.Name()), 24, auto, loss, 0, dpglm.GDP(3000), nil, first})
	}
	for _, loss := range families() {
		list = append(list, learned{fmt.Sprintf("Auto, %s", loss.Name()), 24, auto, loss, 0, dpglm.GDP(20), nil, nil})
	}
	return append(list, learned{"Auto, amounts, Hessian", 24, auto, losses.Gamma{Least: 0.1}, 0, dpglm.GDP(3000), nil, first})
}

// families are likelihoods of other kinds of labels.
func families() []losses.Loss {
	return []losses.Loss{losses.Probit{}, losses.NegativeBinomial{Dispersion: 0.5}, losses.Gamma{Least: 0.1}, losses.Ordinal{Thresholds: []float64{-1, 0, 2}}}
}

// onFrames are trials of frames of their own: of rows of more columns than second moments
// are released of; and with an intercept, where the features' mean is released too, as
// far as a row can move every release.
func onFrames(t *testing.T) []*trial {
	t.Helper()
	many := learned{"StandardisedGD, by columns", 24, dpglm.StandardisedGDConfig{}, losses.Logistic{}, 0, dpglm.GDP(30), nil, nil}
	all := []*trial{many.on(t, "sparse, intercept", design{24, dpglm.Bounds{Feature: 2, Intercept: true}, 1001, losses.Binary, "sparse"})}
	for _, l := range []learned{
		{"StandardisedGD, centred, classes", 24, dpglm.StandardisedGDConfig{}, losses.Logistic{}, 0, dpglm.GDP(3), nil, nil},
		{"StandardisedGD, centred, real labels", 40, dpglm.StandardisedGDConfig{}, losses.Absolute{}, 0, dpglm.GDP(20), nil, nil},
	} {
		c := l.on(t, "dense, intercept", designs(l.n, l.loss.Labels())["dense, intercept"])
		c.reaches = map[string]float64{pooled: 0.5}
		all = append(all, c)
	}
	// Thresholds that are estimated, of which joint histograms of levels and scores are released.
	for k, l := range []learned{
		{"Auto, thresholds, few rows", 24, dpglm.AutoConfig{}, losses.Ordinal{Levels: 3}, 0, dpglm.GDP(0.5), nil, nil},
		{"Auto, thresholds", 24, dpglm.AutoConfig{}, losses.Ordinal{Levels: 3}, 0, dpglm.GDP(40), nil, nil},
		{"Infer, thresholds", 24, dpglm.InferConfig{}, losses.Ordinal{Levels: 3}, 0, dpglm.GDP(3000), nil, nil},
	} {
		for _, form := range [][]string{{"dense"}, {"sparse", "persons"}, {"persons"}}[k] {
			all = append(all, l.on(t, form, design{l.n, dpglm.Bounds{Feature: 2, Label: 2, Intercept: form != "sparse"}, 3, classLabels, form}))
		}
	}
	return all
}

// pooled is the label of a pool's releases.
const pooled = "standardised GD"
