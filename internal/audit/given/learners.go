package given

import (
	"testing"

	"github.com/dpglm/dpglm"
)

// Fit plans and runs a learner.
func Fit(t *testing.T, l dpglm.Learner, d *dpglm.Dataset, p dpglm.Problem, b dpglm.Budget, seed uint64) (*dpglm.Model, *dpglm.Plan) {
	t.Helper()
	plan, err := l.Plan(d.Shape(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	m, err := plan.Run(ctx, d, Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	return m, plan
}

// Greedy plans with more than it was given.
type Greedy struct{ dpglm.NoisyGDConfig }

func (g Greedy) Plan(s dpglm.Shape, p dpglm.Problem, _ dpglm.Budget) (*dpglm.Plan, error) {
	return g.NoisyGDConfig.Plan(s, p, dpglm.ApproxDP(5, 1e-6))
}

// OfClasses is the problem for labels of so many classes.
func OfClasses(p dpglm.Problem, classes int) dpglm.Problem {
	p.Classes = classes
	return p
}
