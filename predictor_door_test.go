package dpglm

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// watch is a source of noise that sees what each release was given.
type watch struct {
	mechanisms.Source
	seen []release.Event
}

func newWatch() *watch { return &watch{Source: mechanisms.NewSeededSource(1)} }

func (w *watch) Record(e *release.Event) {
	copied := *e
	copied.Values = slices.Clone(e.Values)
	w.seen = append(w.seen, copied)
}

func (w *watch) last() release.Event { return w.seen[len(w.seen)-1] }

// watched returns what an answer to the data holds, a vector or a margin.
func watched(t *testing.T, d *curator.Data, x release.Answer, dim int) release.Event {
	t.Helper()
	s, err := release.Gaussian("watched", 1, 1, dim)
	if err != nil {
		t.Fatal(err)
	}
	w := newWatch()
	if _, err := s.Anew().Allow(d.Rows(), w).AddNoise(x); err != nil {
		t.Fatal(err)
	}
	return w.last()
}

// Each answer of each kind is one release by the planned mechanism, with the label
// of its ledger; after the last one the door refuses, whatever the predictor does,
// and before it any other release.
func TestPredictorsDoor(t *testing.T) {
	d, other := line(t, 300), line(t, 300)
	for kind, make := range makers() {
		for _, b := range []Budget{PureDP(2), GDP(0.5)} {
			w := newWatch()
			p, err := make(d, logit, b, 3, false, &Env{NoiseForTests: w})
			if err != nil {
				t.Fatal(err)
			}
			stranger, err := make(other, logit, b, 3, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			mine, err := p.ask([]float64{0.5})
			foreign, errForeign := stranger.ask([]float64{0.5})
			if err != nil || errForeign != nil {
				t.Fatal(err, errForeign)
			}
			planned := map[string]string{"vote": "vote", "threshold": "vote"}[kind]
			if planned == "" {
				planned = map[bool]string{true: "laplace", false: "gaussian"}[b.pure]
			}
			unplanned := map[string]func() error{
				"other rows": func() error { _, err := p.release(p.allow, foreign); return err },
				"selection":  func() error { _, err := p.allow.Select(mine); return err },
				"part":       func() error { _, err := p.allow.Part(0); return err },
				"vote":       func() error { _, err := p.allow.Vote(mine); return err },
				"noise":      func() error { _, err := p.allow.AddNoise(mine); return err },
				"skip back":  func() error { return p.allow.Skip(-1) },
			}
			delete(unplanned, map[bool]string{true: "vote", false: "noise"}[planned == "vote"])
			for name, try := range unplanned {
				if err := try(); !errors.Is(err, check.ErrUnplanned) {
					t.Errorf("%s, %s: %v", kind, name, err)
				}
			}
			for k := range 3 {
				if p.Answered() != k || len(w.seen) != k {
					t.Errorf("%s: %d answers, %d releases, want %d", kind, p.Answered(), len(w.seen), k)
				}
				ask(t, p, 0.5)
				if e := w.last(); e.Mechanism != planned || e.Rows != d.data.Rows() || len(e.Values) != 1 {
					t.Errorf("%s: released %d numbers by %s, want one by %s", kind, len(e.Values), e.Mechanism, planned)
				}
			}
			if _, err := p.release(p.allow, mine); !errors.Is(err, check.ErrUnplanned) {
				t.Errorf("%s: a fourth release gives %v", kind, err)
			}
			refused(t, p, ErrSpent, 0.5)
			if err := p.allow.Skip(1); !errors.Is(err, check.ErrUnplanned) || p.Answered() != 3 || len(w.seen) != 3 {
				t.Errorf("%s: %d answers, %d releases, %v", kind, p.Answered(), len(w.seen), err)
			}
		}
	}
}

// An answer counts before its noise is drawn: a source that breaks takes it along.
func TestPredictorCountsBeforeNoise(t *testing.T) {
	for kind, make := range makers() {
		p, err := make(line(t, 100), logit, PureDP(1), 2, false, &Env{NoiseForTests: brokenSource{}})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			func() {
				defer func() { _ = recover() }()
				ask(t, p, 0.5)
			}()
			if p.Answered() != k+1 {
				t.Errorf("%s: %d answers counted after %d", kind, p.Answered(), k+1)
			}
		}
		refused(t, p, ErrSpent, 0.5)
	}
}

// brokenSource is a source that panics.
type brokenSource struct{}

func (brokenSource) Uint64() uint64 { panic("no randomness") }

// Queries are bounded as rows are, by whoever vouches for the sensitivity.
func TestPredictorBoundsQueries(t *testing.T) {
	d := line(t, 300)
	for kind, make := range makers() {
		w := newWatch()
		p, err := make(d, logit, PureDP(2), 2, false, &Env{NoiseForTests: w})
		if err != nil {
			t.Fatal(err)
		}
		ask(t, p, 1)
		ask(t, p, 1e90)
		if a, b := w.seen[0].Values[0], w.seen[1].Values[0]; a != b {
			t.Errorf("%s: %g at the bound, %g beyond it", kind, a, b)
		}
	}
}

// Whatever a configuration calibrates, its plan is held against the budget.
func TestPredictorPlansFitTheBudget(t *testing.T) {
	s := Shape{Rows: 20, Dim: 1, FeatureBound: 1}
	for releases, want := range map[int]error{1: nil, 2: ErrBudget} {
		schedule, err := release.Vote("votes", 1, releases)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newPredictorPlan(VoteConfig{}, s, logit, PureDP(1), service{schedule: schedule}); !errors.Is(err, want) {
			t.Errorf("%d votes of 1-DP within 1-DP: %v", releases, err)
		}
	}
}

// TestAuditPredictions asks predictors that add noise on their worst neighbours:
// the answers may not tell these apart better than claimed for each answer, and
// should do so nearly as well, so that half the noise would be noticed. Each audit
// errs with probability 1e-6; seeds 1 and 2.
func TestAuditPredictions(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	const queries = 30_000
	makers := map[string]struct {
		rows int
		make func(*Dataset, Budget, uint64) (*Predictor, error)
	}{
		"stable": {1, func(d *Dataset, b Budget, seed uint64) (*Predictor, error) {
			p := Problem{Loss: losses.Squared{}, Radius: 0.03}
			return serve(d, p, b, StableConfig{Queries: queries, Lambda: 50}, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		}},
		"descent": {1, func(d *Dataset, b Budget, seed uint64) (*Predictor, error) {
			p := Problem{Loss: losses.Squared{}, Radius: 0.01}
			return serve(d, p, b, DescentConfig{Queries: queries, Steps: 5, StepSize: 1e-3}, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		}},
		"average": {2, func(d *Dataset, b Budget, seed uint64) (*Predictor, error) {
			p := Problem{Loss: losses.Squared{}, Radius: 4}
			return serve(d, p, b, AverageConfig{Queries: queries, Parts: 2, Lambda: 1e-3}, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		}},
	}
	for name, c := range makers {
		sample := func(b Budget, y float64, seed uint64) []float64 {
			x, labels := mat.NewDense(c.rows, 2, nil), make([]float64, c.rows)
			x.SetRow(0, []float64{1, 0})
			labels[0] = y
			d, err := NewDataset(x, labels, Bounds{Feature: 1, Label: 1})
			if err != nil {
				t.Fatal(err)
			}
			p, err := c.make(d, b, seed)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float64, queries)
			for i := range out {
				if out[i], err = p.Answer(context.Background(), []float64{1, 0}); err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
		// Gaussian noise, each answer 1-GDP.
		mu := GDP(math.Sqrt(queries))
		if got := lowerBound(t, sample(mu, 1, 1), sample(mu, -1, 2), evidence.Mu); got > 1 || got < 0.8 {
			t.Errorf("%s: audit finds μ ≥ %.3f, claimed 1", name, got)
		} else {
			t.Logf("%s: audited μ ≥ %.3f of 1", name, got)
		}
		// Laplace noise, each answer 1-DP.
		pure := PureDP(queries)
		if got := lowerBound(t, sample(pure, 1, 1), sample(pure, -1, 2), evidence.Epsilon); got > 1 || got < 0.8 {
			t.Errorf("%s: audit finds ε ≥ %.3f, claimed 1", name, got)
		} else {
			t.Logf("%s: audited ε ≥ %.3f of 1", name, got)
		}
	}
}
