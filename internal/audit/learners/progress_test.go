package learners_test

import (
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
)

// Every learner shows how far it is, its own steps or those of the one inside it, and
// ends at the end.
func TestEveryLearnerShowsProgress(t *testing.T) {
	x, y := given.Separable(2000, 3, 2)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2, Intercept: true})
	steps := dpglm.NoisyGDConfig{Steps: 7}
	for name, c := range map[string]struct {
		learner dpglm.Learner
		total   int // 0 is any
	}{
		"Auto": {dpglm.AutoConfig{}, 0}, "StandardisedGD": {dpglm.StandardisedGDConfig{}, 0}, "NoisyGD": {steps, 7},
		"ObjectivePerturbation": {dpglm.ObjectivePerturbationConfig{}, 1}, "OutputPerturbation": {dpglm.OutputPerturbationConfig{}, 1},
		"FrankWolfe": {dpglm.FrankWolfeConfig{Steps: 3}, 6}, "FrankWolfe within the ball": {dpglm.FrankWolfeConfig{Output: dpglm.WithinBall, Steps: 5}, 5},
		"JL": {dpglm.JLConfig{Learner: steps, K: 2}, 7}, "JL without projection": {dpglm.JLConfig{Learner: steps, K: 9}, 7},
		"GridSearch": {dpglm.GridSearchConfig{Learner: steps, Radii: []float64{1, 2}}, 2}, "Boost": {dpglm.BoostConfig{Learner: dpglm.JLConfig{Learner: steps, K: 2}, Chunks: 3}, 3},
	} {
		plan, err := c.learner.Plan(d.Shape(), logistic, dpglm.ApproxDP(4, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		env, last, end := given.Seeded(1), 0, 0
		env.Progress = func(done, total int) {
			if done < last || done > total || end != 0 && total != end {
				t.Errorf("%s: %d of %d comes after %d of %d", name, done, total, last, end)
			}
			last, end = done, total
		}
		if _, err := plan.Run(ctx, d, env); err != nil {
			t.Fatal(err)
		}
		if last == 0 || last != end || c.total != 0 && end != c.total {
			t.Errorf("%s: ends at %d of %d, want %d", name, last, end, c.total)
		}
	}
}
