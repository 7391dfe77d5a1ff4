package replay_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// answering are the predictors to try, and what their releases reach.
type answering struct {
	name    string
	design  design
	config  dpglm.PredictorConfig
	loss    losses.Loss
	radius  float64
	budget  dpglm.Budget
	reaches map[string]float64
	classes int
}

func predictors() []answering {
	classes, reals, counts := designs(24, losses.Binary), designs(24, losses.Real), designs(24, losses.Count)
	vote, average := dpglm.VoteConfig{Queries: 3, Parts: 5, Seed: 1}, dpglm.AverageConfig{Queries: 3, Parts: 5, Seed: 1}
	kept := vote
	kept.Cache = true
	few := designs(4, losses.Real)["dense"]
	centred, fewCentred := reals["dense"], few
	centred.facts = dpglm.Bounds{Feature: 2, LabelRange: [2]float64{7.25, 10.25}}
	fewCentred.facts = centred.facts
	line := dpglm.Bounds{Feature: 2}
	walk := design{24, line, 1, losses.Binary, "dense"}
	flips := map[string]float64{"votes of 5 models, split by seed 1": 1 - 1e-12}
	return []answering{
		{"VoteConfig", classes["dense"], vote, losses.Logistic{}, 5, dpglm.PureDP(1), flips, 0},
		{"VoteConfig, kept, hinge", classes["sparse schema, intercept"], kept, losses.Hinge{}, 5, dpglm.ApproxDP(1, 1e-6), nil, 0},
		{"VoteConfig, intercept", classes["sparse, intercept"], vote, losses.Logistic{}, 5, dpglm.GDP(1), flips, 0},
		{"AverageConfig", reals["dense"], average, losses.Squared{}, 5, dpglm.GDP(1), map[string]float64{"mean of 5 models, split by seed 1": 0.9}, 0},
		{"AverageConfig, range of labels", centred, average, losses.Squared{}, 5, dpglm.GDP(1), map[string]float64{"mean of 5 models, split by seed 1": 0.9}, 0},
		{"AverageConfig, pure, counts", counts["schema"], average, losses.Poisson{}, 1, dpglm.PureDP(1), nil, 0},
		{"StableConfig", few, dpglm.StableConfig{Queries: 3, Lambda: 100}, losses.Squared{}, 0.03, dpglm.GDP(1), map[string]float64{"scores of a regularised minimiser": 0.8}, 0},
		{"StableConfig, range of labels", fewCentred, dpglm.StableConfig{Queries: 3, Lambda: 100}, losses.Squared{}, 0.03, dpglm.GDP(1), map[string]float64{"scores of a regularised minimiser": 0.8}, 0},
		{"StableConfig, pure, intercept", classes["sparse, intercept"], dpglm.StableConfig{Queries: 3}, losses.Logistic{}, 5, dpglm.PureDP(1), nil, 0},
		{"DescentConfig", few, dpglm.DescentConfig{Queries: 3, Steps: 2, StepSize: 1e-3}, losses.Squared{}, 0.03, dpglm.GDP(1), map[string]float64{"scores after 2 steps of descent": 0.8}, 0},
		{"DescentConfig, schema", classes["sparse schema, intercept"], dpglm.DescentConfig{Queries: 3, Steps: 4}, losses.Hinge{}, 5, dpglm.PureDP(1), nil, 0},
		{"ThresholdConfig", walk, dpglm.ThresholdConfig{Queries: 3}, losses.Hinge{}, 0, dpglm.PureDP(3), map[string]float64{"projected walk within ±8": 1 - 1e-12}, 0},
		{"ThresholdConfig, ApproxDP", design{24, line, 1, losses.Binary, "sparse"}, dpglm.ThresholdConfig{Queries: 3}, losses.Hinge{}, 0, dpglm.ApproxDP(3, 1e-6), nil, 0},
	}
}

// of is the same on rows in another form.
func (a answering) of(form string) answering {
	a.name, a.design.form, a.reaches = a.name+", "+form, form, nil
	return a
}

// trial is one of three queries.
func (a answering) trial(t *testing.T) *trial {
	t.Helper()
	queries := [3][]float64{}
	for k := range queries {
		queries[k] = make([]float64, a.design.columns)
		switch a.design.columns {
		case 1:
			queries[k][0] = 0.5 - float64(k)/2
		case 5: // a schema's
			queries[k][0], queries[k][2] = float64(4*k)-2, 1
		default: // at the bound
			queries[k][k/2] = float64(2 - 4*(k%2))
		}
	}
	plan, err := a.config.Plan(a.design.shape(t), dpglm.Problem{Loss: a.loss, Radius: a.radius, Classes: a.classes}, a.design.budget(a.budget))
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	c := &trial{name: a.name, design: a.design, reaches: a.reaches}
	c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		p, err := plan.Run(ctx, d, env)
		if err != nil {
			return nil, err
		}
		var answers []float64
		for _, x := range queries {
			v, err := p.Answer(ctx, x)
			if err != nil {
				return nil, err
			}
			answers = append(answers, v)
		}
		_, spent := p.Answer(ctx, make([]float64, a.design.columns))
		state, err := p.State()
		return []any{answers, p.Planned(), p.Answered(), string(state), fmt.Sprint(p, spent)}, err
	}
	return c
}
