package stored_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// classRun releases something of rows of three classes.
type classRun = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error)

// classRuns are learners of several classes inside others, choices and votes, on rows of so many
// features.
func classRuns(features int) map[string]classRun {
	b := dpglm.ApproxDP(4, 1e-6)
	steps := dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 4, Clip: 0.5}}
	both := dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: dpglm.SoftmaxConfig{}}, {Learner: steps}, {Learner: steps, Radius: 1}}}
	byErrors := both
	byErrors.Criterion = dpglm.ZeroOneError
	learner := func(l dpglm.Learner, loss losses.Loss) classRun {
		return func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: loss, Radius: 2, Classes: 3}, b)
			if err != nil {
				return nil, err
			}
			return plan.Run(ctx, d, env)
		}
	}
	return map[string]classRun{
		"OneAgainstRest":     learner(steps, losses.Logistic{}),
		"GridSearch":         learner(both, losses.Logistic{}),
		"GridSearch, errors": learner(byErrors, losses.Logistic{}),
		"Boost":              learner(dpglm.BoostConfig{Learner: steps, Chunks: 3}, losses.Probit{}),
		"Boost, hinge":       learner(dpglm.BoostConfig{Learner: steps, Chunks: 3}, losses.Hinge{}),
		"JL":                 learner(dpglm.JLConfig{Learner: steps, K: features / 2}, losses.Logistic{}),
		"SelectModel":        chooses(losses.Logistic{}, b, features),
		"SelectModel, hinge": chooses(losses.Hinge{}, b, features),
		"votes":              votes(features),
	}
}

// chooses is a choice among models whose weights differ.
func chooses(loss losses.Loss, b dpglm.Budget, features int) classRun {
	return func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		models := make([][][]float64, 3)
		for j := range models {
			models[j] = make([][]float64, 3)
			for k := range models[j] {
				models[j][k] = make([]float64, d.Shape().Dim)
				models[j][k][(j+k)%features] = float64(j - k)
			}
		}
		best, ledger, err := dpglm.SelectModel(ctx, d, dpglm.Problem{Loss: loss, Classes: 3}, b, models, 2, env)
		return []any{best, ledger}, err
	}
}

// votes are answers to a few queries.
func votes(features int) classRun {
	return func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		p, err := dpglm.NewPredictor(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: 2, Classes: 3}, dpglm.PureDP(10), dpglm.VoteConfig{Queries: 4, Parts: 5}, env)
		if err != nil {
			return nil, err
		}
		var answers []float64
		for j := range 4 {
			x := make([]float64, features)
			x[j] = 0.5
			v, err := p.Answer(ctx, x)
			if err != nil {
				return nil, err
			}
			answers = append(answers, v)
		}
		return answers, nil
	}
}

// Models of several classes inside others, choices among them and votes for classes have the same
// bits in memory, in a file and of workers: what is returned, and what is added up before noise.
func TestStoredClassesHaveTheSameBits(t *testing.T) {
	const n, d = 1200, 6
	for _, f := range some(given.Forms(n, d)) {
		r := rand.New(rand.NewPCG(8, 1))
		for i := range f.Y {
			f.Y[i] = math.Floor(math.Min(2, math.Max(0, 1.5+3*f.X.At(i, 1)+r.NormFloat64())))
		}
		if len(f.More) > 1 { // classes take no offsets
			f.More = f.More[:2]
		}
		memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts, append(f.More[:len(f.More):len(f.More)], given.Ordered(1))...)
		if err != nil {
			t.Fatal(err)
		}
		remote, _ := onWorkers(t, f)
		others := map[string]*dpglm.Dataset{"file": stored(t, f.X, f.Y, f.Facts, f.More...), "workers": remote}
		for name, run := range classRuns(d) {
			want, heard := playedOn(t, memory, run)
			if len(heard) == 0 {
				t.Fatalf("%s, %s: nothing was added up", f.Name, name)
			}
			for where, other := range others {
				got, others := playedOn(t, other, run)
				if got != want {
					t.Errorf("%s, %s, %s:\n%s, want\n%s", f.Name, name, where, got, want)
				}
				sameBits(t, f.Name+", "+name+", "+where, others, heard)
			}
		}
	}
}

// playedOn is what a run returns, and the numbers that it hears before noise.
func playedOn(t *testing.T, d *dpglm.Dataset, run classRun) (out string, heard []float64) {
	t.Helper()
	p := &given.Tape{Words: given.Words{Seed: 7}}
	result, err := run(ctx, d, &dpglm.Env{NoiseForTests: p})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range p.Heard {
		heard = append(heard, h.Values...)
	}
	return given.Describe(result, nil), heard
}

// Plans of several classes bound the passes, too: of one class those of all others come after it.
func TestPlansBoundPassesOfClasses(t *testing.T) {
	x, data := counted(t, 1500, 4, rand.NewPCG(8, 16), dpglm.Bounds{Feature: 2, Intercept: true}, oneOf(3))
	steps := dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}}
	three := given.OfClasses(logistic, 3)
	for _, c := range []struct {
		learner dpglm.Learner
		least   float64
	}{
		{dpglm.SoftmaxConfig{}, 30}, {steps, 15}, {dpglm.OneAgainstRestConfig{}, 60},
		{dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: steps}, {Learner: dpglm.SoftmaxConfig{}}}, Validation: 0.2}, 30},
		{dpglm.BoostConfig{Learner: steps, Chunks: 2}, 10}, {dpglm.JLConfig{Learner: steps, K: 2}, 1},
	} {
		x.comesNear(t, data, c.learner, three, dpglm.GDP(2), c.least)
	}
}
