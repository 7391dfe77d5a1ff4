package release

import (
	"testing"

	"github.com/dpglm/dpglm/mechanisms"
)

// As many releases are skipped as are left, none too, and not one more; of a pool none are.
func TestSkipsUpToWhatIsLeft(t *testing.T) {
	a := gaussianOf("sums", 3, 1).Allow(NewRows(), mechanisms.NewSeededSource(1))
	for _, n := range []int{0, 1, 2, 0} {
		if err := a.Skip(n); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	unplanned(t, a.Skip(1), "sums", "has no 1 releases left")
	if a.Made() != 3 {
		t.Errorf("%d made", a.Made())
	}
	unplanned(t, must(Pool("moments", 1, 3, 1)).Allow(NewRows(), mechanisms.NewSeededSource(1)).Skip(1), "moments", "pool")
}

// Of no parts nothing is composed, and of a law without a budget nothing is planned.
func TestNothingIsNoSchedule(t *testing.T) {
	for name, plan := range map[string]func() (*Schedule, error){
		"sequential": func() (*Schedule, error) { return Sequential("") }, "parallel": func() (*Schedule, error) { return Parallel("", "") },
		"woven": func() (*Schedule, error) { return Woven("") }, "rankings": func() (*Schedule, error) { return Rankings("", mechanisms.Exponential{Epsilon: 1}, 0) },
		"objective": func() (*Schedule, error) { return Objective("", mechanisms.ObjectivePerturbation{}, 1) },
		"Laplace's": func() (*Schedule, error) { return PureObjective("", mechanisms.PureObjectivePerturbation{}, 1) },
		"plurality": func() (*Schedule, error) { return Plurality("", 1, 0) },
	} {
		if s, err := plan(); err == nil || s != nil {
			t.Errorf("%s: a schedule (%v)", name, err)
		}
	}
	leaf := gaussianOf("sums", 1, 1)
	for name, c := range map[string]struct {
		s    *Schedule
		want bool
	}{
		"leaf": {leaf, false}, "sequential": {must(Sequential("", leaf, gaussianOf("sums", 1, 1))), false}, "parallel": {must(Parallel("", "", leaf)), true},
		"replicated": {must(Replicated("", 2, leaf)), true}, "woven": {must(Woven("", must(Parallel("", "a", leaf)), must(Parallel("", "a", leaf)))), true},
		"inside": {must(Sequential("", leaf, must(Sequential("", must(Replicated("", 2, leaf)))))), true},
	} {
		if c.s.divides() != c.want {
			t.Errorf("%s: divides is %v", name, !c.want)
		}
	}
}
