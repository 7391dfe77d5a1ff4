package dpglm

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// The default radius lets the scores of rows at the feature bound reach a public
// number that suits the labels.
func TestDefaultRadius(t *testing.T) {
	for _, c := range []struct {
		loss  losses.Loss
		bound float64
		want  float64
	}{
		{losses.Logistic{}, 0, 50},
		{losses.Squared{}, 3, 6},
		{losses.Poisson{}, math.E - 1, 1},
		{losses.Poisson{}, 1e6, (1 + math.Log1p(1e6)) / 2},
		{losses.Extended{Inner: losses.Poisson{}, Limit: 1}, math.E - 1, 1},
	} {
		s := Shape{Rows: 10, Dim: 2, FeatureBound: 2, LabelBound: c.bound}
		p, err := Problem{Loss: c.loss}.resolve(s, farScore)
		if err != nil || math.Abs(p.Radius-c.want) > 1e-14*c.want {
			t.Errorf("%s, label bound %g: radius %g, want %g (%v)", c.loss.Name(), c.bound, p.Radius, c.want, err)
		}
	}
}

// asker is a learner that keeps the radius that it is asked for.
type asker struct{ radius *float64 }

func (a asker) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	*a.radius = p.Radius
	return OutputPerturbationConfig{}.Plan(s, p, b)
}

// Boosting and grid search leave the default radius to the inner learner, and pass on
// a given one.
func TestDefaultRadiusIsTheInnerLearners(t *testing.T) {
	s := Shape{Rows: 1000, Dim: 10, FeatureBound: 2}
	got := math.NaN()
	for name, l := range map[string]Learner{
		"boosting":   BoostConfig{Learner: asker{&got}, Chunks: 2},
		"candidates": GridSearchConfig{Candidates: []Candidate{{Learner: asker{&got}}}},
	} {
		for _, r := range []float64{0, 3} {
			if _, err := l.Plan(s, Problem{Loss: losses.Logistic{}, Radius: r}, PureDP(1)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got != r {
				t.Errorf("%s: radius %g instead of %g", name, got, r)
			}
		}
	}
}

// Plan refuses a loss with a bad parameter and a radius at which the loss's
// constants overflow.
func TestProblemRefuses(t *testing.T) {
	s := Shape{Rows: 10, Dim: 2, FeatureBound: 1, LabelBound: 3}
	for _, c := range []struct {
		problem Problem
		kind    error
	}{
		{Problem{}, ErrConfig},
		{Problem{Loss: losses.Huber{}}, ErrConfig},
		{Problem{Loss: losses.Extended{Inner: nil, Limit: 1}}, ErrConfig},
		{Problem{Loss: losses.Poisson{}, Radius: 800}, ErrBound},
		{Problem{Loss: losses.Squared{}, Radius: -1}, ErrBound},
	} {
		if _, err := (NoisyGDConfig{}).Plan(s, c.problem, GDP(1)); !errors.Is(err, c.kind) {
			t.Errorf("%+v: %v, want %v", c.problem, err, c.kind)
		}
	}
}
