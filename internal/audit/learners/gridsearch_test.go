package learners_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func accuracy(t *testing.T, m *dpglm.Model, n, d int, seed uint64) float64 {
	t.Helper()
	x, y := given.Separable(n, d, seed)
	p, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	right := 0.0
	for i, v := range p {
		if v == y[i] {
			right++
		}
	}
	return right / float64(n)
}

// [AB+22, Theorem 7], privacy: the search spends the budget, both stages in
// parallel. The noise of a candidate is 4.4 times smaller than under the paper's
// split, which gives each of K = 5 trainings ε/(2K), δ/(2K).
func TestGridSearchBudget(t *testing.T) {
	shape := dpglm.Shape{Rows: 4000, Dim: 10, FeatureBound: 1}
	b := dpglm.ApproxDP(1, 1e-6)
	plan, err := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 1}, Radii: []float64{1, 2, 4, 8, 16}}.Plan(shape, logistic, b)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := plan.Ledger.Epsilon(1e-6); err != nil || e > 1 || e < 1-1e-6 {
		t.Errorf("spends ε = %.9g (%v)", e, err)
	}
	var ledger struct {
		Parts []struct{ Parts []struct{ Mu float64 } } // training and selection; the five trainings
	}
	data, err := json.Marshal(plan.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &ledger); err != nil || len(ledger.Parts) != 2 || len(ledger.Parts[0].Parts) != 5 {
		t.Fatalf("not five trainings beside a selection: %v\n%v", err, plan.Ledger)
	}
	papers, err := mechanisms.GaussianMu(1.0/10, 1e-6/10)
	if err != nil {
		t.Fatal(err)
	}
	for j, training := range ledger.Parts[0].Parts {
		if gain := training.Mu / papers; math.Abs(gain-4.375) > 0.001 {
			t.Errorf("candidate %d: gain over the paper's split %.3f", j, gain)
		}
	}
}

// [AB+22, Theorem 7], accuracy: the search does about as well as the best radius
// of its grid, by loss and by error rate.
func TestGridSearchFindsAGoodRadius(t *testing.T) {
	x, y := given.Separable(20_000, 5, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	radii := []float64{0.01, 0.3, 10}
	best := 0.0
	for _, r := range radii {
		m, _ := given.Fit(t, dpglm.NoisyGDConfig{Steps: 60}, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: r}, dpglm.ApproxDP(1, 1e-6), 1)
		best = math.Max(best, accuracy(t, m, 4000, 5, 9))
	}
	for _, score := range []dpglm.Criterion{dpglm.ValidationLoss, dpglm.ZeroOneError} {
		c := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 60}, Radii: radii, Criterion: score}
		m, _ := given.Fit(t, c, d, logistic, dpglm.ApproxDP(1, 1e-6), 2)
		if got := accuracy(t, m, 4000, 5, 9); got < best-0.03 {
			t.Errorf("%s: accuracy %.3f, best radius %.3f", score, got, best)
		}
	}
}

// A search and the evaluation of its winner on other rows spend one budget, once: that is
// known before there are data, holds for what was released, and an account that has it has
// nothing left. On the same rows they would spend more.
func TestGridSearchEvaluated(t *testing.T) {
	x, y := given.Separable(3000, 2, 1)
	all := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	c := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, Radii: []float64{1, 4}}
	for _, group := range []int{1, 3} {
		b := dpglm.ApproxDP(1, 1e-6).ForGroups(group)
		rest, held, err := all.Split(0.25, 8)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := dpglm.EvaluateConfig{}.Ledger(held.Shape(), logistic, b)
		if err != nil {
			t.Fatal(err)
		}
		m, plan := given.Fit(t, c, rest, logistic, b, 1)
		e, err := dpglm.Evaluate(ctx, held, m, b, dpglm.EvaluateConfig{}, given.Seeded(2))
		if err != nil {
			t.Fatal(err)
		}
		for name, parts := range map[string][2]*dpglm.Ledger{"planned": {plan.Ledger, planned}, "released": {m.Ledger(), e.Ledger}} {
			both, err := mechanisms.Parallel(name, parts[0], parts[1])
			if err != nil {
				t.Fatal(err)
			}
			if epsilon, err := both.GroupEpsilon(group, 1e-6); err != nil || epsilon > 1 || epsilon < 0.999 {
				t.Errorf("%s, groups of %d: ε = %.9g (%v), want 1", name, group, epsilon, err)
			}
			sum, err := mechanisms.Sequential(name, parts[0], parts[1])
			if err != nil || sum.GroupWithin(group, 1.2, 1e-6) {
				t.Errorf("%s, groups of %d: on the same rows they spend no more (%v)", name, group, err)
			}
			if group > 1 {
				continue
			}
			account, err := mechanisms.NewAccountant(mechanisms.OneRow(), 1, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			if err := account.Spend(both); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := account.Spend(planned); err == nil {
				t.Errorf("%s: something is left of the budget", name)
			}
		}
	}
}

// Where nothing can be learned the zero model is among the candidates: the search
// returns it, exactly, rather than noise.
func TestGridSearchMayReturnZero(t *testing.T) {
	x, y := given.Separable(40, 5, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	m, _ := given.Fit(t, dpglm.GridSearchConfig{Learner: dpglm.OutputPerturbationConfig{}, Radii: []float64{100, 200}}, d, logistic, dpglm.ApproxDP(0.1, 1e-6), 1)
	for _, w := range m.Weights()[0] {
		if w != 0 {
			t.Fatalf("weights %v from 40 rows at ε = 0.1", m.Weights()[0])
		}
	}
}

// Searches inside a search compose in parallel only where they split the rows in the
// same way; with other fractions, as with other seeds, one comes after the other, and
// all that is planned can be released.
func TestGridSearchesNest(t *testing.T) {
	x, y := given.Separable(200, 2, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	inner := func(validation float64, seed uint64) dpglm.Candidate {
		return dpglm.Candidate{Learner: dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 3}, Radii: []float64{1}, Validation: validation, Seed: seed}}
	}
	for name, c := range map[string]struct {
		other dpglm.Candidate
		want  string
	}{
		"same split":     {inner(0.5, 1), "rows, 50 and 50 rows by seed 1: parallel"},
		"other fraction": {inner(0.25, 1), "rows: sequential"},
		"other seed":     {inner(0.5, 2), "rows: sequential"},
	} {
		search := dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{inner(0.5, 1), c.other}, Validation: 0.5}
		m, err := dpglm.GridSearch(t.Context(), d, logistic, dpglm.ApproxDP(1, 1e-6), search, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := "2 candidates on 100 " + c.want; !strings.Contains(m.Ledger().String(), want) {
			t.Errorf("%s: no %q in\n%v", name, want, m.Ledger())
		}
	}
}

// misfit plans for another shape.
type misfit struct{ dpglm.NoisyGDConfig }

func (g misfit) Plan(s dpglm.Shape, p dpglm.Problem, b dpglm.Budget) (*dpglm.Plan, error) {
	s.Dim++
	return g.NoisyGDConfig.Plan(s, p, b)
}

// empty plans nothing.
type empty struct{}

func (empty) Plan(dpglm.Shape, dpglm.Problem, dpglm.Budget) (*dpglm.Plan, error) {
	return &dpglm.Plan{}, nil
}

func TestBadCombinations(t *testing.T) {
	shape := dpglm.Shape{Rows: 50, Dim: 3, FeatureBound: 1, LabelBound: 1}
	gd := dpglm.NoisyGDConfig{}
	for name, c := range map[string]struct {
		l    dpglm.Learner
		p    dpglm.Problem
		want error
	}{
		"no learner":         {dpglm.GridSearchConfig{}, logistic, dpglm.ErrConfig},
		"both":               {dpglm.GridSearchConfig{Learner: gd, Candidates: []dpglm.Candidate{{Learner: gd}}}, logistic, dpglm.ErrConfig},
		"empty grid":         {dpglm.GridSearchConfig{Learner: gd, Radii: []float64{}}, logistic, dpglm.ErrConfig},
		"empty candidates":   {dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{}}, logistic, dpglm.ErrConfig},
		"nil candidate":      {dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{}}}, logistic, dpglm.ErrConfig},
		"duplicate radii":    {dpglm.GridSearchConfig{Learner: gd, Radii: []float64{1, 2, 1}}, logistic, dpglm.ErrConfig},
		"negative radius":    {dpglm.GridSearchConfig{Learner: gd, Radii: []float64{-1}}, logistic, dpglm.ErrBound},
		"infinite radius":    {dpglm.GridSearchConfig{Learner: gd, Radii: []float64{inf}}, logistic, dpglm.ErrBound},
		"validation":         {dpglm.GridSearchConfig{Learner: gd, Validation: 1}, logistic, dpglm.ErrConfig},
		"validation NaN":     {dpglm.GridSearchConfig{Learner: gd, Validation: nan}, logistic, dpglm.ErrConfig},
		"beta":               {dpglm.GridSearchConfig{Learner: gd, Beta: -0.1}, logistic, dpglm.ErrConfig},
		"criterion":          {dpglm.GridSearchConfig{Learner: gd, Criterion: "auc"}, logistic, dpglm.ErrConfig},
		"errors of numbers":  {dpglm.GridSearchConfig{Learner: gd, Criterion: dpglm.ZeroOneError}, squared, dpglm.ErrConfig},
		"greedy child":       {dpglm.GridSearchConfig{Learner: given.Greedy{}}, logistic, dpglm.ErrBudget},
		"misfit child":       {dpglm.GridSearchConfig{Learner: misfit{}}, logistic, dpglm.ErrShape},
		"nil *learner":       {dpglm.GridSearchConfig{Learner: (*dpglm.NoisyGDConfig)(nil)}, logistic, dpglm.ErrConfig},
		"nil *candidate":     {dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: (*dpglm.AutoConfig)(nil)}}}, logistic, dpglm.ErrConfig},
		"boost: nil *":       {dpglm.BoostConfig{Learner: (*dpglm.NoisyGDConfig)(nil)}, logistic, dpglm.ErrConfig},
		"JL: nil *":          {dpglm.JLConfig{Learner: (*dpglm.NoisyGDConfig)(nil)}, logistic, dpglm.ErrConfig},
		"empty child":        {dpglm.GridSearchConfig{Learner: empty{}}, logistic, dpglm.ErrConfig},
		"boost: no learner":  {dpglm.BoostConfig{}, logistic, dpglm.ErrConfig},
		"boost: chunks":      {dpglm.BoostConfig{Learner: gd, Chunks: -1}, logistic, dpglm.ErrConfig},
		"boost: few rows":    {dpglm.BoostConfig{Learner: gd, Chunks: 50}, logistic, dpglm.ErrShape},
		"boost: beta":        {dpglm.BoostConfig{Learner: gd, Beta: 2}, logistic, dpglm.ErrConfig},
		"boost: greedy":      {dpglm.BoostConfig{Learner: given.Greedy{}}, logistic, dpglm.ErrBudget},
		"boost: misfit":      {dpglm.BoostConfig{Learner: misfit{}}, logistic, dpglm.ErrShape},
		"JL: k":              {dpglm.JLConfig{K: -1}, logistic, dpglm.ErrConfig},
		"JL: map":            {dpglm.JLConfig{Map: "fourier"}, logistic, dpglm.ErrConfig},
		"JL: slack":          {dpglm.JLConfig{Slack: 2}, logistic, dpglm.ErrConfig},
		"JL: no slack":       {dpglm.JLConfig{Slack: -1}, logistic, dpglm.ErrConfig},
		"JL: slack NaN":      {dpglm.JLConfig{Slack: nan}, logistic, dpglm.ErrConfig},
		"JL: greedy":         {dpglm.JLConfig{K: 2, Learner: given.Greedy{}}, logistic, dpglm.ErrBudget},
		"JL: misfit":         {dpglm.JLConfig{K: 2, Learner: misfit{}}, logistic, dpglm.ErrShape},
		"nil loss in search": {dpglm.GridSearchConfig{Learner: gd}, dpglm.Problem{}, dpglm.ErrConfig},
	} {
		plan, err := c.l.Plan(shape, c.p, dpglm.ApproxDP(1, 1e-6))
		if !errors.Is(err, c.want) || plan != nil {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	tiny := shape
	tiny.Rows = 1
	if _, err := (dpglm.GridSearchConfig{Learner: gd}).Plan(tiny, logistic, dpglm.GDP(1)); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("one row gives %v", err)
	}
}

// [AB+22, Theorem 8]: grid search over boosted output perturbation. One split
// serves all boosts, so each row meets either all trainings or all selections:
// the ledger shows it, and the composition fills the budget.
func TestTheorem8Nesting(t *testing.T) {
	x, y := given.Separable(6000, 4, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	boost := dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}, Chunks: 3}
	m, plan := given.Fit(t, dpglm.GridSearchConfig{Learner: boost, Radii: []float64{0.5, 5}}, d, logistic, dpglm.ApproxDP(4, 1e-6), 1)
	if e, err := plan.Ledger.Epsilon(1e-6); err != nil || e > 4 || e < 4*(1-1e-6) {
		t.Errorf("spends ε = %.9g (%v)", e, err)
	}
	text := plan.Ledger.String()
	for _, want := range []string{"grid search", "2 candidates on 4800 rows, 4800 rows in 4 chunks by seed 0", "each of 3 chunks of 1200 rows", "selection on the other 1200 rows"} {
		if !strings.Contains(text, want) {
			t.Errorf("ledger lacks %q:\n%s", want, text)
		}
	}
	if a := accuracy(t, m, 2000, 4, 5); a < 0.8 {
		t.Errorf("accuracy %.3f", a)
	}
	other := boost
	other.Seed = 1
	two := dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: boost, Radius: 1}, {Learner: other, Radius: 1}}}
	if _, plan := given.Fit(t, two, d, logistic, dpglm.ApproxDP(4, 1e-6), 1); strings.Contains(plan.Ledger.String(), "part 1") {
		t.Errorf("boosts with different splits are composed as if they had one:\n%v", plan.Ledger)
	}
}

// Boosting by either selection finds a model that is about as good as the chunks
// allow.
func TestBoost(t *testing.T) {
	x, y := given.Separable(12_000, 3, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	for _, noisyMax := range []bool{false, true} {
		c := dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{Steps: 60}, NoisyMax: noisyMax}
		m, plan := given.Fit(t, c, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: 5}, dpglm.ApproxDP(2, 1e-6), 1)
		if a := accuracy(t, m, 4000, 3, 9); a < 0.85 {
			t.Errorf("accuracy %.3f", a)
		}
		if e, err := plan.Ledger.Epsilon(1e-6); err != nil || e > 2 || e < 2*(1-1e-6) {
			t.Errorf("spends ε = %.9g (%v)", e, err)
		}
	}
}
