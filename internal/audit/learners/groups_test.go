package learners_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/mechanisms"
)

// groupLearners is every way in which a learner composes releases.
func groupLearners() map[string]dpglm.Learner {
	radii := []float64{1, 4}
	return map[string]dpglm.Learner{
		"auto":                 dpglm.AutoConfig{},
		"noisy gd":             dpglm.NoisyGDConfig{Steps: 20},
		"output":               dpglm.OutputPerturbationConfig{},
		"objective":            dpglm.ObjectivePerturbationConfig{},
		"jl":                   dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, K: 2},
		"grid":                 dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, Radii: radii},
		"grid of objectives":   dpglm.GridSearchConfig{Learner: dpglm.ObjectivePerturbationConfig{}, Radii: radii},
		"grid of outputs":      dpglm.GridSearchConfig{Learner: dpglm.OutputPerturbationConfig{}, Radii: radii, Criterion: dpglm.ZeroOneError},
		"boost":                dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}, Chunks: 3},
		"grid of boosts":       dpglm.GridSearchConfig{Learner: dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}, Chunks: 3}, Radii: radii},
		"boost of objectives":  dpglm.BoostConfig{Learner: dpglm.ObjectivePerturbationConfig{}, Chunks: 2},
		"grid of many outputs": dpglm.GridSearchConfig{Learner: dpglm.OutputPerturbationConfig{}, Radii: []float64{1, 2, 3, 4, 5, 6, 7}},
	}
}

// protected reports whether a ledger keeps to a budget for groups, by its public curve.
func protected(t *testing.T, l *dpglm.Ledger, rows int, epsilon, delta, mu float64) bool {
	t.Helper()
	switch {
	case mu > 0:
		return l.GroupMu(rows) <= mu
	case delta == 0:
		return l.GroupWithin(rows, epsilon, 0)
	}
	got, err := l.GroupEpsilon(rows, delta)
	if err != nil {
		t.Fatal(err)
	}
	return got <= epsilon*(1+1e-12) || l.GroupWithin(rows, epsilon, delta)
}

// Every learner plans for groups within the budget, of which a release that is Gaussian
// uses all; the ledger names the group; and a budget for one row would not do.
func TestGroupsFitTheirBudget(t *testing.T) {
	s := dpglm.Shape{Rows: 50_000, Dim: 4, FeatureBound: 1}
	for name, l := range groupLearners() {
		for i, k := range []int{2, 5, 60} {
			for _, c := range []struct {
				b                  dpglm.Budget
				epsilon, delta, mu float64
			}{
				{b: dpglm.ApproxDP(1, 1e-6), epsilon: 1, delta: 1e-6},
				{b: dpglm.ApproxDP(8, 1e-9), epsilon: 8, delta: 1e-9},
				{b: dpglm.PureDP(2), epsilon: 2},
				{b: dpglm.GDP(0.7), mu: 0.7},
			} {
				if !sample.Nth(2, i, name, c.b) {
					continue
				}
				plan, err := l.Plan(s, logistic, c.b.ForGroups(k))
				if c.delta == 0 && c.mu == 0 && errors.Is(err, dpglm.ErrBudget) && strings.Contains(err.Error(), "noise is Gaussian") {
					continue
				}
				if err != nil {
					t.Errorf("%s, %v for %d: %v", name, c.b, k, err)
					continue
				}
				if !protected(t, plan.Ledger, k, c.epsilon, c.delta, c.mu) {
					t.Errorf("%s, %v for %d: spends more:\n%v", name, c.b, k, plan.Ledger)
				}
				if protected(t, plan.Ledger, 2*k, c.epsilon, c.delta, c.mu) {
					t.Errorf("%s, %v for %d rows would do for twice as many:\n%v", name, c.b, k, plan.Ledger)
				}
			}
		}
	}
}

// Where a group's rows lie in both parts of a split, two Gaussian parts with the whole
// budget each fit it together, as do two pure ones; objective perturbation beside one does
// not, and the ledger of both says so.
func TestPartsOfASplitForGroups(t *testing.T) {
	s := dpglm.Shape{Rows: 50_000, Dim: 4, FeatureBound: 1}
	both := func(b dpglm.Budget, learners ...dpglm.Learner) *dpglm.Ledger {
		t.Helper()
		var parts []*dpglm.Ledger
		for _, l := range learners {
			plan, err := l.Plan(s, logistic, b)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, plan.Ledger)
		}
		l, err := mechanisms.Parallel("fit and evaluation", parts...)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	objective, output, gaussian := dpglm.ObjectivePerturbationConfig{}, dpglm.OutputPerturbationConfig{}, dpglm.NoisyGDConfig{Steps: 4}
	for _, k := range []int{2, 5, 20} {
		for _, l := range []dpglm.Learner{dpglm.AutoConfig{}, dpglm.NoisyGDConfig{Steps: 9}, output} {
			if both := both(dpglm.ApproxDP(1, 1e-6).ForGroups(k), l, gaussian); !protected(t, both, k, 1, 1e-6, 0) {
				t.Errorf("%T for %d rows: both parts spend more:\n%v", l, k, both)
			}
			if both := both(dpglm.GDP(0.7).ForGroups(k), l, gaussian); !protected(t, both, k, 0, 0, 0.7) {
				t.Errorf("%T for %d rows: both parts spend more:\n%v", l, k, both)
			}
		}
		if both := both(dpglm.PureDP(2).ForGroups(k), output, output); !protected(t, both, k, 2, 0, 0) {
			t.Errorf("pure, for %d rows: both parts spend more:\n%v", k, both)
		}
	}
	if both := both(dpglm.ApproxDP(1, 1e-6).ForGroups(20), objective, gaussian); protected(t, both, 20, 1, 1e-6, 0) {
		t.Errorf("objective perturbation has the whole budget beside another part:\n%v", both)
	}
}

// Answers of predictors are planned for groups too.
func TestPredictorsForGroups(t *testing.T) {
	s := dpglm.Shape{Rows: 5000, Dim: 3, FeatureBound: 1}
	for _, c := range []dpglm.PredictorConfig{
		dpglm.VoteConfig{Queries: 40, Parts: 50},
		dpglm.StableConfig{Queries: 40},
		dpglm.AverageConfig{Queries: 40, Parts: 50},
	} {
		for _, k := range []int{2, 30} {
			for _, b := range []dpglm.Budget{dpglm.ApproxDP(1, 1e-6), dpglm.PureDP(1), dpglm.GDP(0.3)} {
				plan, err := c.Plan(s, logistic, b.ForGroups(k))
				if err != nil {
					t.Errorf("%T, %v for %d: %v", c, b, k, err)
					continue
				}
				within := plan.Ledger.GroupWithin
				fits := within(k, 1, 1e-6)
				switch b {
				case dpglm.PureDP(1):
					fits = within(k, 1, 0)
				case dpglm.GDP(0.3):
					fits = plan.Ledger.GroupMu(k) <= 0.3
				}
				if !fits {
					t.Errorf("%T, %v for %d: spends more:\n%v", c, b, k, plan.Ledger)
				}
			}
		}
	}
}

// The noise of a Gaussian release grows with the rows of a group, and no more.
func TestGroupsScaleGaussianNoise(t *testing.T) {
	s := dpglm.Shape{Rows: 1000, Dim: 4, FeatureBound: 1}
	for _, b := range []dpglm.Budget{dpglm.ApproxDP(1, 1e-6), dpglm.GDP(0.5)} {
		mu := func(b dpglm.Budget) float64 {
			plan, err := dpglm.NoisyGDConfig{Steps: 10}.Plan(s, logistic, b)
			if err != nil {
				t.Fatal(err)
			}
			return plan.Ledger.Mu()
		}
		if got, want := 7*mu(b.ForGroups(7)), mu(b); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: 7 rows get %g, one gets %g", b, got, want)
		}
		if mu(b.ForGroups(1)) != mu(b) {
			t.Errorf("%v: a group of one row isn't one row", b)
		}
	}
}

// What is said of a group survives encoding, and a ledger that keeps to its budget for
// fewer rows only is said to.
func TestGroupLedgersSayWhom(t *testing.T) {
	s := dpglm.Shape{Rows: 10_000, Dim: 4, FeatureBound: 1}
	for _, b := range []dpglm.Budget{dpglm.ApproxDP(1, 1e-6), dpglm.PureDP(1), dpglm.GDP(1)} {
		plan, err := dpglm.OutputPerturbationConfig{}.Plan(s, logistic, b.ForGroups(3))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(plan.Ledger)
		if err != nil {
			t.Fatal(err)
		}
		var back dpglm.Ledger
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(back.String(), "\n")
		if want := b.String() + ", unit: any 3 rows (replace-one), n = 10,000"; first != want || back.String() != plan.Ledger.String() {
			t.Errorf("prints\n%s, want\n%s", first, want)
		}
		claim, _ := back.Claim()
		claim.Group = 4
		if s := back.WithClaim(claim).String(); !strings.Contains(s, "NOTE: more than the "+b.String()) {
			t.Errorf("for four rows it prints\n%s", s)
		}
	}
}

func TestGroupArguments(t *testing.T) {
	s := dpglm.Shape{Rows: 10, Dim: 2, FeatureBound: 1}
	for _, k := range []int{0, -1, 1<<30 + 1} {
		for _, b := range []dpglm.Budget{dpglm.ApproxDP(1, 1e-6), dpglm.PureDP(1), dpglm.GDP(1)} {
			if _, err := (dpglm.OutputPerturbationConfig{}).Plan(s, logistic, b.ForGroups(k)); !errors.Is(err, dpglm.ErrBudget) || !strings.Contains(err.Error(), "rows of a group") {
				t.Errorf("%d rows: %v", k, err)
			}
		}
	}
	if _, err := (dpglm.OutputPerturbationConfig{}).Plan(s, logistic, dpglm.Budget{}.ForGroups(2)); !errors.Is(err, dpglm.ErrBudget) {
		t.Errorf("a group without a budget: %v", err)
	}
	if got := dpglm.GDP(1).ForGroups(2).String(); got != "1-GDP for groups of 2" {
		t.Error(got)
	}
}
