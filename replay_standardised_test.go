package dpglm_test

import (
	"fmt"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// standardised are StandardisedGD and Auto on each of their ways: which one a run takes
// follows from what was released, here from n·μ.
func standardised() []learned {
	few, auto := dpglm.StandardisedGDConfig{}, dpglm.AutoConfig{}
	list := []learned{
		{"StandardisedGD, constant model", 24, few, losses.Logistic{}, 0, dpglm.GDP(1), nil, map[string]float64{pooled + " #1": 1 - 1e-9}},
		{"StandardisedGD, moments drowned", 24, few, losses.Logistic{}, 0, dpglm.GDP(3), nil, nil},
		{"StandardisedGD, moments", 24, few, losses.Logistic{}, 0, dpglm.GDP(25), nil, nil},
		{"StandardisedGD, Hessian", 24, few, losses.Logistic{}, 0, dpglm.GDP(3000), nil, nil},
		{"StandardisedGD, approximate", 40, few, losses.Squared{}, 0, dpglm.ApproxDP(8, 1e-6), nil, nil},
		{"Auto, counts", 40, auto, losses.Poisson{}, 0, dpglm.GDP(20), nil, nil},
		{"Auto, counts, Hessian", 24, auto, losses.Poisson{}, 0, dpglm.GDP(3000), nil, nil},
		{"Auto, real labels", 40, auto, losses.Squared{}, 0, dpglm.GDP(20), nil, nil},
		{"Auto, real labels, Hessian", 24, auto, losses.Squared{}, 0, dpglm.GDP(3000), nil, nil},
		{"Auto, few rows", 8, auto, losses.Hinge{}, 0, dpglm.GDP(0.5), nil, nil},
		{"Auto, pure", 24, auto, losses.Logistic{}, 0, dpglm.PureDP(1), nil, nil},
	}
	for _, loss := range []losses.Loss{losses.Hinge{}, losses.Absolute{}, losses.Quantile{Tau: 0.3}, losses.Huber{Kappa: 1},
		losses.SquaredHinge{}, losses.SmoothedHinge{Width: 0.5}, mine()} {
		for _, mu := range []float64{20, 3000} {
			list = append(list, learned{fmt.Sprintf("Auto, %s, %g-GDP", loss.Name(), mu), 24, auto, loss, 0, dpglm.GDP(mu), nil, nil})
		}
	}
	return list
}

// manyColumns is a trial on rows of more columns than second moments are released of.
func manyColumns(t *testing.T) *trial {
	t.Helper()
	l := learned{"StandardisedGD, by columns", 24, dpglm.StandardisedGDConfig{}, losses.Logistic{}, 0, dpglm.GDP(30), nil, nil}
	return l.on(t, "sparse, intercept", design{l.n, dpglm.Bounds{Feature: 2, Intercept: true}, 1001, losses.Binary, "sparse"})
}

// pooled is the label of a pool's releases.
const pooled = "standardised GD"
