package dpglm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// permutation returns a public random order of n rows; it depends on the seed
// and on n only.
func permutation(n int, seed uint64) []int {
	return rand.New(mechanisms.NewSeededSource(seed)).Perm(n)
}

// planChild plans a learner inside another one and holds what it plans against
// what was asked for: a Learner from elsewhere may plan another shape or a larger
// budget.
func planChild(l Learner, s Shape, p Problem, b Budget) (*Plan, error) {
	plan, err := l.Plan(s, p, b)
	if err != nil {
		return nil, err
	}
	if plan == nil || plan.run == nil || plan.Ledger == nil {
		return nil, check.Fail(ErrConfig, "learner", nil, "must return a plan made by this package")
	}
	if plan.shape != s {
		return nil, check.Fail(ErrShape, "learner's plan", plan.shape, "must be for the shape that was asked for")
	}
	return plan, b.covers(plan.Ledger)
}

// split says that a plan works on disjoint parts of its rows, and what it
// releases of each. Plans with the same by split the same rows the same way.
type split struct {
	by    string
	parts []*Ledger
}

func (s *split) ledger() (*Ledger, error) { return mechanisms.Parallel(s.by, s.parts...) }

// sequence composes plans that run one after the other on the same rows. Where
// all of them split these in the same way, a row lies in the same part each
// time: the parts compose in sequence and the results in parallel, so that a row
// meets either all trainings or all selections.
func sequence(label string, plans []*Plan) (*Ledger, error) {
	whole := make([]*Ledger, len(plans))
	same := plans[0].split != nil
	for j, p := range plans {
		whole[j] = p.Ledger
		same = same && p.split != nil && p.split.by == plans[0].split.by
	}
	if !same {
		return mechanisms.Sequential(label, whole...)
	}
	merged := &split{by: label + ", " + plans[0].split.by}
	for i := range plans[0].split.parts {
		part := make([]*Ledger, len(plans))
		for j, p := range plans {
			part[j] = p.split.parts[i]
		}
		l, err := mechanisms.Sequential(fmt.Sprintf("part %d, %d times", i+1, len(plans)), part...)
		if err != nil {
			return nil, err
		}
		merged.parts = append(merged.parts, l)
	}
	return merged.ledger()
}

// scoreBound returns a public bound on |⟨w, x⟩| over the given number of rows that
// holds with probability 1−beta over the output noise: weights are a point of
// norm at most reach plus noise of standard deviation spread. Accuracy rests on
// it, privacy does not.
func (p *Plan) scoreBound(rows int, beta float64) float64 {
	return p.shape.FeatureBound * (p.reach + p.spread*math.Sqrt(2*math.Log(2*float64(rows)/beta)))
}
