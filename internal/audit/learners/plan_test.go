package learners_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// Shares of a budget add up to it in floating point too: no budget is refused for
// its last digit.
func TestSharesFitTheirBudget(t *testing.T) {
	s := dpglm.Shape{Rows: 100, Dim: 3, FeatureBound: 1}
	grid := dpglm.GridSearchConfig{Learner: dpglm.OutputPerturbationConfig{}}
	for _, v := range []float64{0.010254105265246559, 0.012922195943706251, 0.03490025694699907, 0.036401967397221555, 0.2774969530004295, 0.6300090711693886, 1.1, 2.3} {
		if _, err := (dpglm.ObjectivePerturbationConfig{}).Plan(s, logistic, dpglm.GDP(v)); err != nil {
			t.Errorf("objective perturbation, %g-GDP: %v", v, err)
		}
		for _, k := range []int{3, 5, 7, 49} {
			g := grid
			for j := range k {
				g.Radii = append(g.Radii, float64(j+1))
			}
			for _, b := range []dpglm.Budget{dpglm.PureDP(v), dpglm.GDP(v)} {
				if _, err := g.Plan(s, logistic, b); err != nil {
					t.Errorf("%d candidates, %v: %v", k, b, err)
				}
			}
		}
	}
}

// A cap on the loss that a selection would refuse is refused by Plan, before
// anything is spent.
func TestPlanRefusesTinyCaps(t *testing.T) {
	s := dpglm.Shape{Rows: 20, Dim: 3, FeatureBound: 1e-3, LabelBound: 1e-43}
	for _, l := range []dpglm.Learner{
		dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}},
		dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}},
	} {
		if _, err := l.Plan(s, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(1)); !errors.Is(err, dpglm.ErrBound) {
			t.Errorf("%T: %v", l, err)
		}
	}
}

// A model's ledger and loss are those that its plan was made with, whatever a caller
// does to the plan's fields.
func TestPlanRunsAsPlanned(t *testing.T) {
	x, y := given.Separable(100, 2, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	plan, err := dpglm.NoisyGDConfig{Steps: 3}.Plan(d.Shape(), logistic, dpglm.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Ledger
	plan.Ledger, plan.Problem, plan.Learner = nil, dpglm.Problem{}, nil
	m, err := plan.Run(t.Context(), d, nil)
	if err != nil || m.Ledger() != want || !strings.Contains(m.String(), "logistic model") {
		t.Errorf("%v (%v), want a logistic model and\n%v", m, err, want)
	}
}

// askew is a learner that plans for one row more than it was asked to.
type askew struct{}

func (askew) Plan(s dpglm.Shape, p dpglm.Problem, b dpglm.Budget) (*dpglm.Plan, error) {
	s.Rows++
	return dpglm.OutputPerturbationConfig{}.Plan(s, p, b)
}

// Combinators refuse a part's plan for other rows before anything is spent.
func TestPlansOfPartsHaveTheirShape(t *testing.T) {
	s := dpglm.Shape{Rows: 100, Dim: 3, FeatureBound: 1}
	for _, l := range []dpglm.Learner{
		dpglm.GridSearchConfig{Learner: askew{}}, dpglm.BoostConfig{Learner: askew{}}, dpglm.JLConfig{Learner: askew{}, K: 2}, dpglm.JLConfig{Learner: askew{}, K: 5},
	} {
		if _, err := l.Plan(s, logistic, dpglm.GDP(1)); !errors.Is(err, dpglm.ErrShape) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
