package replay_test

import (
	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

const (
	vertices = "Frank–Wolfe, vertices"
	besides  = "intercept and refit"
)

// selecting are FrankWolfe's ways, with a refit or within the ball, which takes an
// intercept's sums alone or no pool at all.
func selecting() []learned {
	refit, within := dpglm.FrankWolfeConfig{Steps: 3}, dpglm.FrankWolfeConfig{Output: dpglm.WithinBall, Steps: 6}
	held := within
	held.EntryBound, held.Clip = 0.7, 0.2
	all := map[string]float64{vertices: 0.85}
	list := []learned{
		{"FrankWolfe, constant refit", 24, refit, losses.Logistic{}, 0, dpglm.GDP(1), nil, all},
		{"FrankWolfe, refit", 24, refit, losses.Logistic{}, 0, dpglm.GDP(40), nil, all},
		{"FrankWolfe, approximate", 24, refit, losses.Squared{}, 0, dpglm.ApproxDP(8, 1e-6), nil, all},
		{"FrankWolfe, within the ball", 24, within, losses.Logistic{}, 4, dpglm.GDP(2), nil, all},
		{"FrankWolfe, small bounds", 24, held, losses.Logistic{}, 3, dpglm.GDP(2), nil, all},
	}
	for _, loss := range []losses.Loss{losses.Hinge{}, losses.Quantile{Tau: 0.3}, losses.Poisson{}, mine()} {
		list = append(list, learned{"FrankWolfe, " + loss.Name(), 24, within, loss, 0, dpglm.GDP(2), nil, nil})
	}
	for _, loss := range families() {
		list = append(list, learned{"FrankWolfe, " + loss.Name(), 24, refit, loss, 0, dpglm.GDP(30), nil, nil})
	}
	return list
}
