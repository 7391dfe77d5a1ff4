package persons_test

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// crowd are persons, each with rows of one feature and a label of 0 or 1, none to many.
type crowd [][]given.Row

const crowdMost = 130 // rows of a person that count: more than a tile has

// crowdOf draws persons of none, of 1, of up to 2 rows more than count, some of them alike.
func crowdOf(persons int, seed uint64) crowd {
	r, c := rand.New(rand.NewPCG(seed, 11)), make(crowd, persons)
	for p := range c {
		for k := range []int{0, 1, 1, 2, 3, crowdMost + 2}[r.IntN(6)] {
			if k > 0 && r.IntN(3) == 0 {
				c[p] = append(c[p], c[p][0])
				continue
			}
			c[p] = append(c[p], given.Row{X: []float64{2*r.Float64() - 1}, Y: float64(r.IntN(2)), Weight: 1.3 * given.Heavy * r.Float64(), Offset: given.OffsetEnd * r.NormFloat64()})
		}
	}
	return c
}

// with are the same persons, but those at the given places.
func (c crowd) with(others map[int][]given.Row) crowd {
	of := slices.Clone(c)
	for p, rows := range others {
		of[p] = rows
	}
	return of
}

// manner is how a crowd is written down, which means nothing: the persons' ids, and whose row
// comes next, each person's in their order.
type manner struct {
	ids   []int
	whose []int
}

// plainly writes person by person.
func (c crowd) plainly() (m manner) {
	for p, rows := range c {
		m.ids = append(m.ids, p)
		m.whose = append(m.whose, slices.Repeat([]int{p}, len(rows))...)
	}
	return m
}

// anyhow has other ids, and rows in another order.
func (c crowd) anyhow(seed uint64) manner {
	r, m := rand.New(rand.NewPCG(seed, 12)), c.plainly()
	for p := range m.ids {
		m.ids[p] = int(r.Uint64()) | 1<<20 ^ p
	}
	r.Shuffle(len(m.whose), func(i, j int) { m.whose[i], m.whose[j] = m.whose[j], m.whose[i] })
	return m
}

// coins are a source that puts persons to places. Of each place they are the same numbers.
type coins struct {
	first []uint64 // which make the order
	given.Words
}

func (c *coins) Uint64() uint64 {
	if len(c.first) > 0 {
		word := c.first[0]
		c.first = c.first[1:]
		return word
	}
	return c.Words.Uint64()
}

// putting is a source from which rand.Perm draws the order.
func putting(t *testing.T, order []int) *coins {
	t.Helper()
	c, at, of := new(coins), make([]int, len(order)), make([]int, len(order)) // where each stands
	for k := range at {
		at[k], of[k] = k, k
	}
	for i := len(order) - 1; i > 0; i-- {
		j, n := of[order[i]], uint64(i+1)
		word := uint64(j)
		if n&(n-1) != 0 { // in the middle of those that draw j
			word, _ = bits.Div64(uint64(j), 1<<63, n)
		}
		at[i], at[j], c.first = at[j], at[i], append(c.first, word)
		of[at[i]], of[at[j]] = i, j
	}
	if got := rand.New(&coins{first: slices.Clone(c.first)}).Perm(len(order)); !slices.Equal(got, order) {
		t.Fatalf("the order %v is drawn, want %v", got, order)
	}
	c.Seed = 77
	return c
}

// placed puts the crowd's persons to their places, in whatever manner they are written down: its
// order is among places by which those who occur come first, as they occur.
func (c crowd) placed(t *testing.T, m manner) dpglm.PersonOrder {
	t.Helper()
	var occur []int
	seen := make([]bool, len(c))
	for _, p := range append(slices.Clone(m.whose), c.plainly().ids...) {
		if !seen[p] {
			seen[p], occur = true, append(occur, p)
		}
	}
	order := make([]int, len(c))
	for k, p := range occur {
		order[(p*7919+3)%len(c)] = k // whatever the places are
	}
	return dpglm.PersonOrder{ForTests: putting(t, order)}
}

// form writes the crowd down.
func (c crowd) form(m manner, run crowdRun) given.Form {
	f, next := given.Form{Name: "crowd", Facts: run.facts}, make([]int, len(c))
	var x, weights, offsets []float64
	var of []int
	for _, p := range m.whose {
		u := c[p][next[p]]
		next[p]++
		x, f.Y, of = append(x, u.X[0]), append(f.Y, u.Y), append(of, m.ids[p])
		weights, offsets = append(weights, u.Weight), append(offsets, u.Offset)
	}
	f.X, f.More = mat.NewDense(len(f.Y), 1, x), []dpglm.RowDetail{dpglm.Persons{Of: of, Count: len(c), MaxRows: crowdMost}}
	if run.weighted || run.detailed {
		f.More = append(f.More, dpglm.Weights{Of: weights, Max: given.Heavy})
	}
	if run.detailed {
		f.More = append(f.More, dpglm.Offsets{Of: offsets, Range: [2]float64{-given.OffsetEnd, given.OffsetEnd}})
	}
	return f
}

// dataset has the crowd's persons at their places.
func (c crowd) dataset(t *testing.T, m manner, run crowdRun) *dpglm.Dataset {
	t.Helper()
	f := c.form(m, run)
	d, err := dpglm.NewDataset(f.X, f.Y, f.Facts, append(f.More, c.placed(t, m))...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// stored are the same rows in a file, and where workers read them, as far as the run takes such.
func (c crowd) stored(t *testing.T, m manner, run crowdRun) map[string]*dpglm.Dataset {
	t.Helper()
	facts, path, all := run.facts, filepath.Join(t.TempDir(), "x.rows"), map[string]*dpglm.Dataset{}
	f := c.form(m, run)
	if err := dpglm.WriteRows(ctx, path, f.X, f.Y, f.More...); err != nil {
		t.Fatal(err)
	}
	file, err := dpglm.OpenRows(ctx, path, facts, c.placed(t, m))
	if err != nil {
		t.Fatal(err)
	}
	all["file"] = file
	if all["workers"], err = dpglm.OpenRowsOn(ctx, path, facts, given.Workers{Count: 3, Dir: t.TempDir()}, c.placed(t, m)); err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		t.Cleanup(func() { d.Close() })
	}
	return all
}

// crowdRun releases something of a crowd.
type crowdRun struct {
	facts    dpglm.Facts
	weighted bool // whether rows have weights
	detailed bool // whether rows have weights and offsets
	run      func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error)
}

var (
	crowdFacts  = dpglm.Bounds{Feature: 1, LabelRange: [2]float64{0, 2}, Intercept: true}
	crowdLogits = dpglm.Problem{Loss: losses.Logistic{}}
	crowdBudget = dpglm.GDP(9)
)

// budgetOf is the budget for a data set's neighbours.
func budgetOf(d *dpglm.Dataset) dpglm.Budget {
	if d.Shape().AddRemove {
		return crowdBudget.AddRemove()
	}
	return crowdBudget
}

// crowdRuns are each learner, search, evaluation and predictor, and parts of parts.
func crowdRuns(t *testing.T) map[string]crowdRun {
	t.Helper()
	all := map[string]crowdRun{}
	add := func(name string, f func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error)) {
		all[name] = crowdRun{facts: crowdFacts, run: f}
	}
	steps := dpglm.NoisyGDConfig{Steps: 2}
	for name, l := range map[string]dpglm.Learner{
		"Auto": dpglm.AutoConfig{}, "StandardisedGD": dpglm.StandardisedGDConfig{}, "NoisyGD": dpglm.NoisyGDConfig{Steps: 3}, "OutputPerturbation": dpglm.OutputPerturbationConfig{},
		"ObjectivePerturbation": dpglm.ObjectivePerturbationConfig{}, "FrankWolfe": dpglm.FrankWolfeConfig{}, "JL": dpglm.JLConfig{K: 1, Learner: steps}, "Infer": dpglm.InferConfig{},
		"Boost":       dpglm.BoostConfig{Learner: steps, Chunks: 3},
		"GridSearch":  dpglm.GridSearchConfig{Learner: steps, Radii: []float64{1, 4}},
		"Boost of JL": dpglm.BoostConfig{Learner: dpglm.JLConfig{K: 1, Learner: steps}, Chunks: 3}, "GridSearch of JL": dpglm.GridSearchConfig{Learner: dpglm.JLConfig{K: 1, Learner: steps}, Radii: []float64{1, 4}},
	} {
		add(name, plannedBy(l, crowdLogits))
	}
	for name, l := range map[string]dpglm.Learner{"StandardisedGD": dpglm.StandardisedGDConfig{}, "Infer": dpglm.InferConfig{}} {
		add(name+", thresholds", plannedBy(l, dpglm.Problem{Loss: losses.Ordinal{Levels: 3}}))
	}
	add("FrankWolfe of a part", func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		_, held, err := d.Split(0.3, 5)
		if err != nil {
			return nil, err
		}
		return dpglm.FrankWolfe(ctx, held, crowdLogits, budgetOf(d), dpglm.FrankWolfeConfig{}, env)
	})
	add("SelectModel", func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		best, ledger, err := dpglm.SelectModel(ctx, d, crowdLogits, budgetOf(d), [][][]float64{{{0, 0}}, {{1, 0.5}}}, 0, env)
		return []any{best, ledger}, err
	})
	add("Split of a Split, Evaluate", func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		first, last, err := d.Split(0.3, 5)
		if err != nil {
			return nil, err
		}
		train, held, err := first.Split(0.4, 6)
		if err != nil {
			return nil, err
		}
		m, err := dpglm.NoisyGD(ctx, train, crowdLogits, budgetOf(d), steps, env)
		if err != nil {
			return nil, err
		}
		e, err := dpglm.Evaluate(ctx, held, m, budgetOf(d), dpglm.EvaluateConfig{}, env)
		if err != nil {
			return nil, err
		}
		n, err := dpglm.NoisyGD(ctx, last, crowdLogits, budgetOf(d), steps, env)
		return []any{m, e, n}, err
	})
	addClassRuns(t, add)
	addClassLearners(add)
	for name, p := range map[string]dpglm.PredictorConfig{
		"votes": dpglm.VoteConfig{Queries: 2, Parts: 8}, "averages": dpglm.AverageConfig{Queries: 2, Parts: 8}, "stable scores": dpglm.StableConfig{Queries: 2},
		"descent": dpglm.DescentConfig{Queries: 2, Steps: 2},
	} {
		add(name, answersOf(crowdLogits, p))
	}
	all["walk"] = crowdRun{facts: dpglm.Bounds{Feature: 1}, run: answersOf(crowdLogits, dpglm.ThresholdConfig{Queries: 2})}
	for _, name := range []string{"Auto", "StandardisedGD", "NoisyGD", "OutputPerturbation", "Infer", "Boost", "GridSearch", "votes"} {
		run := all[name]
		run.detailed = true
		all[name+", weights and offsets"] = run
	}
	for _, name := range []string{"Softmax", "GridSearch of classes", "GridSearch of classes by errors", "Boost of classes", "SelectModel of classes", "votes of classes"} {
		run := all[name]
		run.weighted = true
		all[name+", weights"] = run
	}
	return all
}

// addClassRuns adds evaluations of models that were trained on others.
func addClassRuns(t *testing.T, add func(string, func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error))) {
	t.Helper()
	others := crowdOf(40, 99)
	d := others.dataset(t, others.plainly(), crowdRun{facts: crowdFacts})
	classes, err := dpglm.Softmax(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(60), dpglm.SoftmaxConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	levels, err := dpglm.StandardisedGD(ctx, d, dpglm.Problem{Loss: losses.Ordinal{Thresholds: []float64{-0.5, 0.5}}}, dpglm.GDP(60), dpglm.StandardisedGDConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	add("EvaluateClasses", func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		return dpglm.Evaluate(ctx, d, classes, budgetOf(d), dpglm.EvaluateConfig{}, env)
	})
	add("Evaluate, levels", func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		return dpglm.Evaluate(ctx, d, levels, budgetOf(d), dpglm.EvaluateConfig{}, env)
	})
}

// addClassLearners adds learners of three classes, alone and inside others, a choice among models
// and votes. The crowd has labels of two of them.
func addClassLearners(add func(string, func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error))) {
	logits, hinges := given.OfClasses(crowdLogits, 3), dpglm.Problem{Loss: losses.Hinge{}, Classes: 3}
	steps := dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 2}}
	both := dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: dpglm.SoftmaxConfig{}}, {Learner: steps, Radius: 2}}, Validation: 0.5}
	byErrors := both
	byErrors.Criterion = dpglm.ZeroOneError
	for name, c := range map[string]struct {
		learner dpglm.Learner
		problem dpglm.Problem
	}{
		"Softmax": {dpglm.SoftmaxConfig{}, logits}, "OneAgainstRest": {steps, logits}, "Auto of classes": {dpglm.AutoConfig{}, logits},
		"GridSearch of classes": {both, logits}, "GridSearch of classes by errors": {byErrors, logits},
		"Boost of classes": {dpglm.BoostConfig{Learner: steps, Chunks: 3}, hinges}, "JL of classes": {dpglm.JLConfig{K: 1, Learner: steps}, logits},
	} {
		add(name, plannedBy(c.learner, c.problem))
	}
	models := [][][]float64{{{0, 0}, {1, 0}, {-1, 0}}, {{1, 0.5}, {0, 0}, {0, -1}}}
	for name, p := range map[string]dpglm.Problem{"SelectModel of classes": logits, "SelectModel of classes, hinge": hinges} {
		add(name, func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			best, ledger, err := dpglm.SelectModel(ctx, d, p, budgetOf(d), models, 0, env)
			return []any{best, ledger}, err
		})
	}
	add("votes of classes", answersOf(logits, dpglm.VoteConfig{Queries: 2, Parts: 8}))
}

// plannedBy is a learner's model, and its plan.
func plannedBy(l dpglm.Learner, p dpglm.Problem) func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
	return func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		plan, err := l.Plan(d.Shape(), p, budgetOf(d))
		if err != nil {
			return nil, err
		}
		m, err := plan.Run(ctx, d, env)
		return []any{m, fmt.Sprint(plan, d, d.Shape())}, err
	}
}

// answersOf are a predictor's, and its state.
func answersOf(problem dpglm.Problem, p dpglm.PredictorConfig) func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
	return func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		q, err := dpglm.NewPredictor(ctx, d, problem, budgetOf(d), p, env)
		if err != nil {
			return nil, err
		}
		var answers []float64
		for _, x := range []float64{-0.4, 0.6} {
			v, err := q.Answer(ctx, []float64{x})
			if err != nil {
				return nil, err
			}
			answers = append(answers, v)
		}
		state, err := q.State()
		return []any{answers, q.Planned(), string(state)}, err
	}
}

// play runs on a data set, and hears what it releases.
func (c crowdRun) play(d *dpglm.Dataset, overwrite func(int, *release.Event)) given.Ran {
	p := &given.Tape{Words: given.Words{Seed: 9}, Overwrite: overwrite}
	var calls [][2]int
	out, err := c.run(ctx, d, &dpglm.Env{NoiseForTests: p, Progress: func(done, total int) { calls = append(calls, [2]int{done, total}) }})
	return given.Ran{Out: fmt.Sprintf("%s\nprogress %v", given.Describe(out, err), calls), Result: out, Err: err, Tape: p}
}
