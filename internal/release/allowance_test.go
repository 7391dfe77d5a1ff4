package release

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// recorder keeps what it is shown, and may change it.
type recorder struct {
	mechanisms.Source
	seen  []Event
	alter func(*Event)
}

func newRecorder() *recorder { return &recorder{Source: mechanisms.NewSeededSource(1)} }

func (r *recorder) Record(e *Event) {
	if r.alter != nil {
		r.alter(e)
	}
	c := *e
	c.Values = slices.Clone(e.Values)
	r.seen = append(r.seen, c)
}

// must returns a schedule that could be planned.
func must(s *Schedule, err error) *Schedule {
	if err != nil {
		panic(err)
	}
	return s
}

func gaussianOf(label string, releases, dim int) *Schedule {
	return must(Gaussian(label, 1, releases, dim))
}

// unplanned requires a refusal that names the release.
func unplanned(t *testing.T, err error, label, why string) {
	t.Helper()
	if !errors.Is(err, check.ErrUnplanned) || !strings.Contains(err.Error(), fmt.Sprintf("%q", label)) || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want a refusal of %q that says %q", err, label, why)
	}
}

func numbers(n int) []float64 { return make([]float64, n) }

// A leaf's allowance makes as many releases as planned, and not one more; a refused
// release doesn't count, and neither records anything nor draws noise.
func TestAllowanceCountsReleases(t *testing.T) {
	rows, src := NewRows(), newRecorder()
	a := gaussianOf("sums", 3, 2).Allow(rows, src)
	answer := NewAnswer(rows, numbers(2), 1)
	for k := range 3 {
		if _, err := a.AddNoise(NewAnswer(NewRows(), numbers(2), 1)); err == nil {
			t.Fatal("an answer from other rows is released")
		}
		if _, err := a.AddNoise(answer); err != nil || a.Made() != k+1 || len(src.seen) != k+1 {
			t.Fatalf("release %d: %v, %d made, %d recorded", k, err, a.Made(), len(src.seen))
		}
	}
	_, err := a.AddNoise(answer)
	unplanned(t, err, "sums", "3 times")
	if a.Made() != 3 || len(src.seen) != 3 {
		t.Errorf("a refused release counts: %d made, %d recorded", a.Made(), len(src.seen))
	}
}

// Another kind, another dimension and other rows are refused, by name.
func TestAllowanceRefusesOtherKinds(t *testing.T) {
	rows := NewRows()
	part := rows.Split("halves", 2)[0]
	vector, scores := NewAnswer(rows, numbers(2), 1), NewScores(rows, numbers(2), []float64{1, 1})
	law := mechanisms.ObjectivePerturbation{Ratio: 0.1, LogDet: 1, OutputMu: 0.1}
	leaves := map[string]*Schedule{
		"gaussian": gaussianOf("gaussian", 9, 2), "laplace": must(Laplace("laplace", 1, 9, 2)), "vote": must(Vote("vote", 1, 9)),
		"selection": must(Selection("selection", mechanisms.PermuteAndFlip{Epsilon: 1})), "objective": must(Objective("objective", law, 2)),
		"plurality": must(Plurality("plurality", 1, 9)),
	}
	ways := map[string]func(a *Allowance) error{
		"vector":    func(a *Allowance) error { _, err := a.AddNoise(vector); return err },
		"scores":    func(a *Allowance) error { _, err := a.Select(scores); return err },
		"margin":    func(a *Allowance) error { _, err := a.Vote(NewAnswer(rows, numbers(1), 2)); return err },
		"minimiser": func(a *Allowance) error { _, err := a.Minimise(t.Context(), flat(rows, 2)); return err },
	}
	fits := map[string]string{"gaussian": "vector", "laplace": "vector", "vote": "margin", "selection": "scores", "plurality": "scores", "objective": "minimiser"}
	for leaf, s := range leaves {
		for way, f := range ways {
			err := f(s.Anew().Allow(rows, mechanisms.NewSeededSource(1)))
			if fits[leaf] == way {
				if err != nil {
					t.Errorf("%s, planned: %v", way, err)
				}
				continue
			}
			unplanned(t, err, leaf, "planned")
		}
	}
	for name, c := range map[string]struct {
		x   Answer
		why string
	}{
		"one coordinate more":  {NewAnswer(rows, numbers(3), 1), "2 coordinates"},
		"one coordinate less":  {NewAnswer(rows, numbers(1), 1), "2 coordinates"},
		"other rows":           {NewAnswer(NewRows(), numbers(2), 1), "other rows"},
		"no rows":              {NewAnswer(nil, numbers(2), 1), "other rows"},
		"nothing":              {Answer{}, "other rows"},
		"scores, not a vector": {scores, "vector"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := leaves["gaussian"].Anew().Allow(rows, mechanisms.NewSeededSource(1)).AddNoise(c.x)
			unplanned(t, err, "gaussian", c.why)
		})
	}
	// A part's answer may be released as the whole's, never the other way round.
	if _, err := leaves["gaussian"].Anew().Allow(rows, mechanisms.NewSeededSource(1)).AddNoise(NewAnswer(part, numbers(2), 1)); err != nil {
		t.Errorf("an answer of a part: %v", err)
	}
	_, err := leaves["gaussian"].Anew().Allow(part, mechanisms.NewSeededSource(1)).AddNoise(vector)
	unplanned(t, err, "gaussian", "other rows")
	for _, l2 := range []float64{math.Nextafter(2, 3), 2.1, math.Inf(1), math.NaN()} {
		_, err := leaves["vote"].Anew().Allow(rows, mechanisms.NewSeededSource(1)).Vote(NewAnswer(rows, numbers(1), l2))
		unplanned(t, err, "vote", "sensitivity 2")
	}
	for _, margin := range []float64{0.5, -0.5, math.NaN(), math.Inf(1), math.Inf(-1), 0x1p52 + 1, -0x1p52 - 1, 0x1p63, -0x1p63} {
		_, err := leaves["vote"].Anew().Allow(rows, mechanisms.NewSeededSource(1)).Vote(NewAnswer(rows, []float64{margin}, 2))
		unplanned(t, err, "vote", "whole number")
	}
	for _, margin := range []float64{0x1p52, -0x1p52} {
		yes, err := leaves["vote"].Anew().Allow(rows, mechanisms.NewSeededSource(1)).Vote(NewAnswer(rows, []float64{margin}, 2))
		if err != nil || yes != (margin > 0) {
			t.Errorf("a margin of %g: %v (%v)", margin, yes, err)
		}
	}
	_, err = leaves["selection"].Anew().Allow(rows, mechanisms.NewSeededSource(1)).Select(NewScores(rows, numbers(3), []float64{1, 1}))
	unplanned(t, err, "selection", "selection")
	if _, err := leaves["selection"].Anew().Allow(rows, mechanisms.NewSeededSource(1)).Part(0); err == nil {
		t.Error("a leaf has a part")
	}
}

// A part of a composition is given once.
func TestAllowancePartsOnce(t *testing.T) {
	rows, src := NewRows(), mechanisms.NewSeededSource(1)
	halves := rows.Split("halves", 2)
	one := gaussianOf("one", 1, 1)
	for name, c := range map[string]struct {
		s    *Schedule
		part func(a *Allowance, i int) (*Allowance, error)
	}{
		"sequential": {must(Sequential("sequential", one, one)), func(a *Allowance, i int) (*Allowance, error) { return a.Part(i) }},
		"parallel":   {must(Parallel("parallel", "in halves", one, one)), func(a *Allowance, i int) (*Allowance, error) { return a.On(i, halves[i]) }},
		"replicated": {must(Replicated("replicated", 2, one)), func(a *Allowance, i int) (*Allowance, error) { return a.On(i, halves[i]) }},
		"woven": {must(Woven("woven", must(Parallel("p", "in halves", one, one)), must(Parallel("q", "in halves", one, one)))),
			func(a *Allowance, i int) (*Allowance, error) { return a.Part(i) }},
	} {
		a := c.s.Allow(rows, src)
		for i := range 2 {
			if _, err := c.part(a, i); err != nil {
				t.Errorf("%s, part %d: %v", name, i, err)
			}
			_, err := c.part(a, i)
			unplanned(t, err, name, "planned 1 times")
		}
		for _, i := range []int{-1, 2} {
			_, err := a.Part(i)
			if name == "parallel" || name == "replicated" {
				_, err = a.On(i, halves[0])
			}
			unplanned(t, err, name, "no part")
		}
		if _, err := a.AddNoise(NewAnswer(rows, numbers(1), 1)); !errors.Is(err, check.ErrUnplanned) {
			t.Errorf("%s: an inner node releases (%v)", name, err)
		}
	}
	a := must(Sequential("sequential", one)).Allow(rows, src)
	_, err := a.On(0, halves[0])
	unplanned(t, err, "sequential", "disjoint")
	b := must(Parallel("parallel", "in halves", one, one)).Allow(rows, src)
	_, err = b.Part(0)
	unplanned(t, err, "parallel", "same rows")
}

// Parts of a parallel composition are for rows that are known to be disjoint.
func TestAllowanceRefusesOverlaps(t *testing.T) {
	rows := NewRows()
	halves, thirds := rows.Split("halves", 2), rows.Split("thirds", 3)
	quarters := halves[0].Split("halves", 2)
	one := gaussianOf("one", 1, 1)
	for name, c := range map[string]struct {
		first, second *Rows
		why           string
	}{
		"the same":             {halves[0], halves[0], "may share"},
		"the whole":            {halves[0], rows, "may share"},
		"another split's":      {halves[0], thirds[2], "may share"},
		"a part of it":         {halves[0], quarters[1], "may share"},
		"that it is a part of": {quarters[1], halves[0], "may share"},
		"another data set's":   {halves[0], NewRows(), "other rows"},
		"none":                 {halves[0], nil, "other rows"},
		"the other half":       {halves[0], halves[1], ""},
		"a part of the other":  {quarters[0], halves[1], ""},
		"the other quarter":    {quarters[0], quarters[1], ""},
	} {
		for _, s := range []*Schedule{must(Parallel("parallel", "somehow", one, one)), must(Replicated("parallel", 2, one))} {
			for i := range 2 { // in either order
				a := s.Anew().Allow(rows, mechanisms.NewSeededSource(1))
				if _, err := a.On(i, c.first); err != nil {
					t.Fatal(err)
				}
				second, err := a.On(1-i, c.second)
				if c.why != "" {
					unplanned(t, err, "parallel", c.why)
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				_, err = second.AddNoise(NewAnswer(c.first, numbers(1), 1))
				unplanned(t, err, "one", "other rows")
			}
		}
	}
}

// Woven schedules split the same rows in the same way each time: a part has the rows
// that it had before.
func TestWovenSplitsAgree(t *testing.T) {
	rows := NewRows()
	halves, again := rows.Split("by seed 1", 2), rows.Split("by seed 2", 2)
	one := gaussianOf("one", 1, 1)
	parallel := must(Parallel("boost", "in halves", one, one))
	nested := must(Sequential("JL", parallel)) // a single part's split is its own
	for name, second := range map[string]*Schedule{"plain": parallel, "nested": nested} {
		a := must(Woven("search", parallel, second)).Allow(rows, mechanisms.NewSeededSource(1))
		first, err := a.Part(0)
		if err != nil {
			t.Fatal(err)
		}
		then, err := a.Part(1)
		if err != nil {
			t.Fatal(err)
		}
		if name == "nested" {
			if then, err = then.Part(0); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 {
			if _, err := first.On(i, halves[i]); err != nil {
				t.Fatal(err)
			}
		}
		_, err = then.On(0, again[0])
		unplanned(t, err, "boost", "")
		_, err = then.On(1, halves[0])
		unplanned(t, err, "boost", "")
	}
	// Also where only one part was met before, and its rows aren't those of any other.
	for _, other := range []*Rows{again[0], halves[1], halves[0].Split("by seed 1", 2)[0], rows} {
		a := must(Woven("search", parallel, parallel)).Allow(rows, mechanisms.NewSeededSource(1))
		for j, half := range []*Rows{halves[0], other} {
			part, err := a.Part(j)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = part.On(0, half); j == 1 {
				unplanned(t, err, "boost", "same split")
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	a := must(Woven("search", parallel, parallel)).Allow(rows, mechanisms.NewSeededSource(1))
	for j := range 2 {
		part, err := a.Part(j)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if _, err := part.On(i, halves[i]); err != nil {
				t.Errorf("schedule %d, part %d: %v", j, i, err)
			}
		}
	}
	// What isn't split alike composes in sequence and shares nothing.
	other := must(Parallel("boost", "in other halves", one, one))
	mixed := must(Woven("search", parallel, other)).Allow(rows, mechanisms.NewSeededSource(1))
	for j, split := range [][]*Rows{halves, again} {
		part, err := mixed.Part(j)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.On(0, split[0]); err != nil {
			t.Errorf("schedule %d: %v", j, err)
		}
	}
}

// Ledgers are what the schedules cost: parallel parts their largest, copies one of
// them, woven ones the sum within a part, others the sum of all.
func TestScheduleLedgers(t *testing.T) {
	leaf := func(mu float64, n int) *Schedule { return must(Gaussian("leaf", mu, n, 1)) }
	split := func(a, b float64) *Schedule { return must(Parallel("split", "in halves", leaf(a, 1), leaf(b, 1))) }
	other := must(Parallel("split", "otherwise", leaf(3, 1), leaf(4, 1)))
	for name, c := range map[string]struct {
		s    *Schedule
		want float64
	}{
		"leaf":           {leaf(3, 4), 6},
		"sequential":     {must(Sequential("s", leaf(3, 1), leaf(4, 1))), 5},
		"parallel":       {split(3, 4), 4},
		"replicated":     {must(Replicated("r", 9, leaf(3, 1))), 3},
		"woven":          {must(Woven("w", split(3, 0.1), split(4, 0.1))), 5},
		"woven, crossed": {must(Woven("w", split(3, 0.1), split(0.1, 4))), math.Hypot(4, 0.1)},
		"not woven":      {must(Woven("w", split(0.1, 4), other)), math.Hypot(4, 4)},
	} {
		if got := c.s.Ledger().Mu(); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("%s: μ = %g, want %g", name, got, c.want)
		}
	}
	if _, err := Replicated("r", 0, leaf(1, 1)); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no copies: %v", err)
	}
	for name, plan := range map[string]func() (*Schedule, error){
		"no releases":  func() (*Schedule, error) { return Gaussian("", 1, 0, 1) },
		"no dimension": func() (*Schedule, error) { return Laplace("", 1, 1, 0) },
		"no μ":         func() (*Schedule, error) { return Gaussian("", 0, 1, 1) },
		"no ε":         func() (*Schedule, error) { return Vote("", 0, 1) },
		"no selection": func() (*Schedule, error) { return Selection("", mechanisms.NoisyMax{}) },
	} {
		if s, err := plan(); err == nil || s != nil {
			t.Errorf("%s: a schedule (%v)", name, err)
		}
	}
}

// Skipped releases count as made.
func TestAllowanceSkips(t *testing.T) {
	rows := NewRows()
	a := gaussianOf("sums", 5, 1).Allow(rows, mechanisms.NewSeededSource(1))
	if err := a.Skip(3); err != nil || a.Made() != 3 {
		t.Fatalf("%v, %d made", err, a.Made())
	}
	for _, n := range []int{-1, 3} {
		unplanned(t, a.Skip(n), "sums", "left")
	}
	answer := NewAnswer(rows, numbers(1), 1)
	for range 2 {
		if _, err := a.AddNoise(answer); err != nil {
			t.Fatal(err)
		}
	}
	_, err := a.AddNoise(answer)
	unplanned(t, err, "sums", "5 times")
	unplanned(t, must(Sequential("all", gaussianOf("sums", 5, 1))).Allow(rows, mechanisms.NewSeededSource(1)).Skip(1), "all", "left")
}

// Callers at once get together what is planned; the source, which isn't safe for
// concurrent use, is drawn from by one at a time.
func TestAllowanceUnderConcurrentCallers(t *testing.T) {
	const planned, callers = 40, 8
	rows := NewRows()
	s := must(Sequential("all", gaussianOf("a", planned, 1), gaussianOf("b", planned, 1)))
	src := newRecorder()
	root := s.Allow(rows, src)
	var parts [2]*Allowance
	for i := range parts {
		var err error
		if parts[i], err = root.Part(i); err != nil {
			t.Fatal(err)
		}
	}
	var made atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range 4 * planned {
				if _, err := parts[k%2].AddNoise(NewAnswer(rows, numbers(1), 1)); err == nil {
					made.Add(1)
				} else if !errors.Is(err, check.ErrUnplanned) {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if made.Load() != 2*planned || len(src.seen) != 2*planned {
		t.Errorf("%d releases, %d recorded, %d planned", made.Load(), len(src.seen), 2*planned)
	}
}

// watched is a source that notes when it is read while a lock is free.
type watched struct {
	mechanisms.Source
	lock *sync.Mutex
	free bool
}

func (w *watched) Uint64() uint64 {
	if w.lock.TryLock() {
		w.free = true
		w.lock.Unlock()
	}
	return w.Source.Uint64()
}

// All allowances of a run draw from its source one at a time, those of parts too: two
// that read the same words would give two releases the same noise.
func TestReleasesHoldTheLock(t *testing.T) {
	rows := NewRows()
	part := rows.Split("somehow", 1)[0]
	for name, c := range map[string]struct {
		schedule *Schedule
		release  func(*Allowance) error
	}{
		"a vector": {gaussianOf("", 1, 2), func(a *Allowance) error { _, err := a.AddNoise(NewAnswer(part, numbers(2), 1)); return err }},
		"a vote":   {must(Vote("", 1, 1)), func(a *Allowance) error { _, err := a.Vote(NewAnswer(part, numbers(1), 2)); return err }},
		"a selection": {must(Selection("", mechanisms.Exponential{Epsilon: 1})), func(a *Allowance) error {
			_, err := a.Select(NewScores(part, []float64{1, 2}, []float64{1, 1}))
			return err
		}},
		"a minimiser": {must(Objective("", mechanisms.ObjectivePerturbation{Ratio: 0.1, LogDet: 1, OutputMu: 0.1}, 2)), func(a *Allowance) error {
			_, err := a.Minimise(context.Background(), flat(part, 2))
			return err
		}},
	} {
		src := &watched{Source: mechanisms.NewSeededSource(1)}
		whole := must(Parallel("", "somehow", must(Sequential("", c.schedule)))).Allow(rows, src)
		src.lock = &whole.run.lock
		split, err := whole.On(0, part)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := split.Part(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.release(leaf); err != nil || src.free {
			t.Errorf("%s: noise is drawn without the run's lock: %v (%v)", name, src.free, err)
		}
	}
}

// A schedule is allowed once, as its ledger counts one run, and not at all where it is a part
// of another one, whose ledger counts it.
func TestScheduleAllowsOnce(t *testing.T) {
	rows, src := NewRows(), newRecorder()
	part, all := gaussianOf("part", 2, 1), gaussianOf("all", 2, 1)
	whole := must(Sequential("whole", part, all))
	answer := NewAnswer(rows, numbers(1), 1)
	first := whole.Allow(rows, src)
	for name, a := range map[string]*Allowance{"again": whole.Allow(rows, src), "the part": part.Allow(rows, src), "the part again": part.Allow(rows, src)} {
		_, parts := a.Part(0)
		_, on := a.On(0, rows)
		_, noise := a.AddNoise(answer)
		for _, err := range []error{parts, on, noise, a.Skip(1)} {
			if err == nil {
				t.Errorf("%s: is allowed", name)
			}
		}
	}
	if len(src.seen) != 0 {
		t.Errorf("%d raw answers came to be released", len(src.seen))
	}
	a, err := first.Part(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := a.AddNoise(answer); err != nil {
			t.Error(err)
		}
	}
	other := part.Anew().Allow(rows, src)
	if _, err := other.AddNoise(answer); err != nil {
		t.Errorf("another run: %v", err)
	}
}
