package release

import (
	"fmt"
	"testing"

	"github.com/dpglm/dpglm/mechanisms"
)

// compositions are schedules of each kind of so many parts, each part apart.
func compositions(n int) map[string]struct {
	whole *Schedule
	parts []*Schedule
} {
	type composed = struct {
		whole *Schedule
		parts []*Schedule
	}
	leaves := func() (list []*Schedule) {
		for k := range n {
			list = append(list, gaussianOf(fmt.Sprint("part ", k), 1, 1))
		}
		return list
	}
	all := map[string]composed{}
	one := leaves()
	all["sequential"] = composed{must(Sequential("whole", one...)), one}
	one = leaves()
	all["parallel"] = composed{must(Parallel("whole", "in order", one...)), one}
	one = leaves()[:1]
	all["replicated"] = composed{must(Replicated("whole", n, one[0])), one}
	one = leaves()
	all["woven in sequence"] = composed{must(Woven("whole", one...)), one}
	one = nil
	for range n {
		one = append(one, must(Parallel("split", "in order", leaves()...)))
	}
	all["woven"] = composed{must(Woven("whole", one...)), one}
	return all
}

// What is a part of a schedule, at whichever place and of however many, makes no release by itself: neither before the whole is
// allowed nor after it.
func TestNoPartIsAllowedApart(t *testing.T) {
	rows := NewRows()
	halves := rows.Split("in order", 5)
	tried := func(s *Schedule) (released bool) {
		src := newRecorder()
		a := s.Allow(rows, src)
		_, noise := a.AddNoise(NewAnswer(rows, numbers(1), 1))
		_, part := a.Part(0)
		_, on := a.On(0, halves[0])
		return noise == nil || part == nil || on == nil || a.Skip(1) == nil || len(src.seen) > 0
	}
	for _, n := range []int{1, 2, 3, 5} {
		for kind := range compositions(n) {
			for _, after := range []bool{false, true} {
				c := compositions(n)[kind]
				if after && !tried(c.whole) {
					t.Errorf("%s of %d: the whole isn't allowed", kind, n)
				}
				for k, part := range c.parts {
					if tried(part) {
						t.Errorf("%s of %d: part %d is allowed by itself, after the whole %v", kind, n, k, after)
					}
				}
			}
		}
	}
}

// Schedules that split rows into another number of parts, more or fewer, or by other words, share no part: they cost what they do one after the
// other, in any order of them, and each asks for its own parts.
func TestOtherSplitsAreNotWoven(t *testing.T) {
	split := func(by string, n int) *Schedule {
		var parts []*Schedule
		for range n {
			parts = append(parts, gaussianOf("part", 1, 1))
		}
		parts[n-1] = gaussianOf("part", 9, 1) // the last one costs most
		return must(Parallel("split", by, parts...))
	}
	for name, c := range map[string]struct {
		plans func() []*Schedule
		woven bool
	}{
		"the same": {func() []*Schedule { return []*Schedule{split("in order", 2), split("in order", 2)} }, true},
		"more":     {func() []*Schedule { return []*Schedule{split("in order", 2), split("in order", 3)} }, false},
		"fewer":    {func() []*Schedule { return []*Schedule{split("in order", 3), split("in order", 2)} }, false},
		"more, the third one": {func() []*Schedule {
			return []*Schedule{split("in order", 2), split("in order", 2), split("in order", 3)}
		}, false},
		"other words":      {func() []*Schedule { return []*Schedule{split("in order", 2), split("by seed 1", 2)} }, false},
		"not at all":       {func() []*Schedule { return []*Schedule{split("in order", 2), gaussianOf("sum", 9, 1)} }, false},
		"not at all first": {func() []*Schedule { return []*Schedule{gaussianOf("sum", 9, 1), split("in order", 2)} }, false},
	} {
		s, plain := must(Woven("whole", c.plans()...)), must(Sequential("whole", c.plans()...))
		if got, want := s.Ledger().Mu(), plain.Ledger().Mu(); got != want {
			t.Errorf("%s: μ is %g, in sequence %g", name, got, want)
		}
		if got := s.how == woven; got != c.woven {
			t.Errorf("%s: woven is %v", name, got)
		}
		a := s.Allow(NewRows(), mechanisms.NewSeededSource(1))
		for i := range c.plans() {
			if _, err := a.Part(i); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
