package dpglm

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// The audits are audited: each of these variants has one of the bugs that privacy
// libraries have had, planted in this library's own path by a doctored schedule, a
// recorder that alters answers, a faulty source or a loss that misstates itself, and
// must be caught. All are caught by the short form, in every go test.
//
//	variant                                   caught by
//	half the noise                            TestAuditCatches, output
//	half of a sensitivity                     TestAuditCatches, output
//	sensitivity G where 2G is due             TestAuditCatches, output; TestSearchCatches (rows)
//	no row scaling                            TestAuditCatches, output; TestSearchCatches
//	one noise vector used twice               TestAuditCatches, transcript
//	a key of few bits                         TestFitsNeverRepeat, TestDefaultSourcesNeverRepeat
//	noise redrawn until the solver converges  TestMinimiseDrawsOnce (internal/release)
//	selection with the wrong half's scores    TestAuditCatches, output
//	an intercept left out of the bound        TestAuditCatches, output; TestSearchCatches
//	no re-scaling after a projection          TestSearchCatches
//	an unclipped score, an unclipped gradient TestSearchCatches
//	a solver's tolerance ignored              TestMinimiserCountsTheTolerance (internal/curator), TestMinimiseOutputNoise (internal/release)
//	Auto's histograms with half the noise     TestAuditCatchesBrokenAuto, histograms
//	their sensitivity 1, or one row's of two  TestAuditCatchesBrokenAuto, histograms
//	scales read from the data without noise   TestAuditCatchesBrokenAuto, output
//	rows not shrunk to the measured bound     TestSearchCatches (rows)
//	G for 2G, or no log-determinant, in objective perturbation: TestObjectiveSearchCatches
func TestAuditCatches(t *testing.T) {
	t.Parallel()
	t.Run("half the noise", func(t *testing.T) { caught(t, doctored(t, "half the noise", 2, unaltered)) })
	t.Run("half of a sensitivity", func(t *testing.T) { caught(t, doctored(t, "half of a sensitivity", 1, louder)) })
	t.Run("nothing doctored", func(t *testing.T) { missed(t, doctored(t, "nothing", 1, unaltered)) })
	t.Run("G for 2G", func(t *testing.T) {
		caught(t, misstated(halved{losses.Squared{}}, Bounds{Feature: 1, Label: 2}, -2, 2, 1))
	})
	t.Run("no row scaling", func(t *testing.T) {
		caught(t, misstated(stretched{losses.Logistic{}, 3}, Bounds{Feature: 1}, 0, 1, 3))
	})
	t.Run("intercept left out", func(t *testing.T) {
		caught(t, misstated(stretched{losses.Logistic{}, math.Sqrt2}, Bounds{Feature: 1}, 0, 1, math.Sqrt2))
	})
	t.Run("wrong half's scores", func(t *testing.T) { caught(t, wrongHalf(t)) })
	t.Run("noise used twice", func(t *testing.T) { noiseUsedTwice(t) })
}

// caught requires that the audit refutes a claim.
func caught(t *testing.T, a audited) {
	t.Helper()
	got := a.measure(t, a.runs, math.Nextafter(a.claimed, math.Inf(1)), math.Inf(1)).Lower
	t.Logf("claimed %.3f %s, audited %.3f", a.claimed, a.unit, got)
	if got <= a.claimed {
		t.Errorf("audit finds %.3f %s only, claimed %.3f: the bug goes unnoticed", got, a.unit, a.claimed)
	}
}

// missed requires that the audit does not.
func missed(t *testing.T, a audited) {
	t.Helper()
	if got := a.measure(t, a.runs, math.Inf(1), 0).Lower; got > a.claimed {
		t.Errorf("audit finds %.3f %s, claimed %.3f", got, a.unit, a.claimed)
	}
}

// doctored is one step of Noisy GD on the row (1) whose plan claims μ = 1, with
// another schedule in its place, or answers that a recorder alters on their way out.
func doctored(t *testing.T, name string, mu float64, alter func(*release.Event)) audited {
	t.Helper()
	p := lone(NoisyGDConfig{Steps: 1, StepSize: 1, Output: LastIterate, Clip: NoClip}, Problem{Loss: losses.Logistic{}, Radius: 1e3}, GDP(1), 0, 1)
	plan := p.plan(t)
	claimed := plan.Ledger.Mu()
	if mu != 1 {
		var err error
		if plan.schedule, err = release.Gaussian("doctored", mu, 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	return audited{name, evidence.Mu, claimed, math.Inf(1), shortRuns, func(t *testing.T, side int) func() float64 {
		t.Helper()
		d := p.data(t, side)
		return repeated(func(_ int, src mechanisms.Source) (float64, error) {
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: listener{src, alter}})
			if err != nil {
				return 0, err
			}
			return m.weights[0][0], nil
		})(t, side)
	}}
}

func unaltered(*release.Event) {}

// louder doubles an answer, as if it had been declared half as sensitive as it is.
func louder(e *release.Event) { floats.Scale(2, e.Values) }

// misstated is one step of Noisy GD on the row (1), with a loss that misstates
// itself.
func misstated(l losses.Loss, facts Facts, y0, y1, reachable float64) audited {
	p := lone(NoisyGDConfig{Steps: 1, StepSize: 1, Output: LastIterate, Clip: NoClip}, Problem{Loss: l, Radius: 1e3}, GDP(1), y0, y1)
	p.facts = facts
	return audited{l.Name(), evidence.Mu, 1, reachable, shortRuns, p.sample(firstWeight)}
}

// halved states half of its diameter: the longest gradient instead of the largest
// distance of two.
type halved struct{ losses.Loss }

func (l halved) Diameter(z, y float64) float64 { return l.Loss.Diameter(z, y) / 2 }
func (halved) Misstated(check.OnPurpose)       {}

// stretched is the loss of rows that are longer, by a factor, than the bound that
// its constants assume.
type stretched struct {
	losses.Loss
	factor float64
}

func (l stretched) Value(z, y float64) float64 { return l.Loss.Value(l.factor*z, y) }
func (l stretched) Deriv(z, y float64) float64 { return l.factor * l.Loss.Deriv(l.factor*z, y) }
func (stretched) Misstated(check.OnPurpose)    {}

// wrongHalf is a grid search that scores models on the rows that trained them, by a
// schedule that lets it. A training row then meets a selection too: the second model
// wins with a probability that falls by e^ε, and its noisy sum has the other ε/2. The
// search's own schedule refuses to.
func wrongHalf(t *testing.T) audited {
	t.Helper()
	c := GridSearchConfig{Candidates: []Candidate{{worst{10}, 0}, {worst{-10}, 0}}, Criterion: ZeroOneError, Seed: 1}
	p := combined(c, []float64{1, 0, -1, -1}, 1)
	s := p.data(t, 0).Shape()
	c, err := c.resolve(s, p.problem)
	if err != nil {
		t.Fatal(err)
	}
	train := s
	train.Rows = 2
	g := &gridSearch{GridSearchConfig: c, shape: s, problem: p.problem, held: 2}
	if err := g.plan(train, p.budget, p.budget.share(2)); err != nil {
		t.Fatal(err)
	}
	const claimed = 1
	if !g.schedule.Ledger().Within(claimed, 0) {
		t.Fatalf("the search claims other than 1-DP:\n%v", g.schedule.Ledger())
	}
	selection, err := release.Selection("selection", mechanisms.PermuteAndFlip{Epsilon: g.epsilon})
	if err != nil {
		t.Fatal(err)
	}
	lax, err := release.Sequential("doctored", g.plans[0].schedule, g.plans[1].schedule, selection)
	if err != nil {
		t.Fatal(err)
	}
	refusesWrongHalf(t, g, p.data(t, 0))
	return audited{"wrong half", evidence.Epsilon, claimed, 1.5, 20_000, func(t *testing.T, side int) func() float64 {
		t.Helper()
		d := p.data(t, side)
		half := d.data.Split(c.Seed, 2, 2)[0]
		return repeated(func(_ int, src mechanisms.Source) (float64, error) {
			r, made := alone(d, lax, src), make([]*fitted, 2)
			for j, plan := range g.plans {
				allow, err := r.allow.Part(j)
				if err != nil {
					return 0, err
				}
				if made[j], err = plan.inside(r, half, allow); err != nil {
					return 0, err
				}
			}
			allow, err := r.allow.Part(2)
			if err != nil {
				return 0, err
			}
			best, err := g.choose(r, half, made, allow)
			if err != nil {
				return 0, err
			}
			return ofSecondModel(made[best].weights[0]), nil
		})(t, side)
	}}
}

// refusesWrongHalf requires that a search's schedule gives no selection on the rows
// that trained, nor on others of another split.
func refusesWrongHalf(t *testing.T, g *gridSearch, d *Dataset) {
	t.Helper()
	halves, others := d.data.Split(g.Seed, 2, 2), d.data.Split(g.Seed+1, 2, 2)
	for name, rows := range map[string]*release.Rows{"that trained": halves[0].Rows(), "of another split": others[1].Rows(), "all": d.data.Rows()} {
		allow := g.schedule.Anew().Allow(d.data.Rows(), mechanisms.NewSeededSource(1))
		if _, err := allow.On(0, halves[0].Rows()); err != nil {
			t.Fatal(err)
		}
		if _, err := allow.On(1, rows); !errors.Is(err, check.ErrUnplanned) {
			t.Errorf("selection on the rows %s: %v", name, err)
		}
	}
}

// again is a source that can start over.
type again struct {
	mechanisms.Source
	seed uint64
}

func (s *again) restart() { s.Source = mechanisms.NewSeededSource(s.seed) }

// noiseUsedTwice restarts the source after the first of two steps. The first
// release then tells the noise of the second: what is left of the second is
// −ηH·w₁/n without noise, H the curvature of the replaced row. Both rows, (1) with
// label 1 and (½) with label 2, have the same gradient at zero, where the true
// noise hides them for good.
func noiseUsedTwice(t *testing.T) {
	t.Helper()
	const n, eta, mid = 50, 0.1, (1 + 0.25) / 2
	run := func(twice bool) audited {
		return audited{"noise used twice", evidence.Mu, 1, math.Inf(1), shortRuns, func(t *testing.T, side int) func() float64 {
			t.Helper()
			return noiseTwice(t, n, eta, mid, twice, side)
		}}
	}
	caught(t, run(true))
	missed(t, run(false))
}

// noiseTwice returns the second release less what the first one says of it, if
// the noise is the same and the changed row has the curvature mid.
func noiseTwice(t *testing.T, n int, eta, mid float64, twice bool, side int) func() float64 {
	t.Helper()
	var scores []float64
	config := NoisyGDConfig{Steps: 2, StepSize: eta, Clip: 2, Output: LastIterate} // one σ for all w
	p := lone(config, Problem{Loss: recorder{losses.Squared{}, &scores}, Radius: 1e6}, GDP(1), 0, 0)
	p.crowd(n)
	plan, d := p.plan(t), p.data(t, side)
	src := &again{seed: uint64(1000 + side)}
	return func() float64 {
		src.seed += 2
		src.restart()
		env := &Env{NoiseForTests: src, Progress: func(int, int) {
			if twice {
				src.restart()
			}
		}}
		scores = nil
		m, err := plan.Run(context.Background(), d, env)
		if err != nil {
			t.Fatal(err)
		}
		w2, w3 := scores[n+1], m.weights[0][0] // the score of the second row, (1), in the second pass
		first, second := -w2*float64(n)/eta, (w2-w3)*float64(n)/eta
		return second - first - (float64(n-1)+mid)*w2
	}
}

// crowd makes p a pair of n rows (1) with label 2 but for the first, which is (1)
// with label 1 on one side and (½) with label 2 on the other.
func (p *pair) crowd(n int) {
	for side := range p.x {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = 1, 2
		}
		x[0], y[0] = []float64{1, 0.5}[side], []float64{1, 2}[side]
		p.x[side], p.y[side] = mat.NewDense(n, 1, x), y
	}
}

// Runs with the library's own source never have the same noise: 2000 models of one
// release, on a grid of more than 2^40 steps a σ, are all different, but for a
// probability below α = 1e-6. A key of 20 bits would give two equal ones, one of 16
// bits thirty.
func TestFitsNeverRepeat(t *testing.T) {
	const runs = 2000
	p := lone(NoisyGDConfig{Steps: 1, StepSize: 1, Output: LastIterate, Clip: NoClip}, Problem{Loss: losses.Logistic{}, Radius: 1e3}, GDP(1), 0, 1)
	plan, d, seen := p.plan(t), p.data(t, 0), map[float64]bool{}
	for range runs {
		m, err := plan.Run(context.Background(), d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.Ledger().CallerNoise() {
			t.Fatal("noise of the library's own source is called the caller's")
		}
		seen[m.weights[0][0]] = true
	}
	if len(seen) != runs {
		t.Errorf("%d runs have %d different models", runs, len(seen))
	}
}

// The default source has a key that isn't repeated: of 100,000 first words of 64 bits
// none is equal to another, but for a probability below 1e-9. A key of 28 bits would
// give nearly twenty equal ones.
func TestDefaultSourcesNeverRepeat(t *testing.T) {
	const sources = 100_000
	seen := map[uint64]bool{}
	for k := range sources {
		seen[[]*Env{nil, {}}[k%2].noise().Uint64()] = true
	}
	if len(seen) != sources {
		t.Errorf("%d sources have %d different first words", sources, len(seen))
	}
}
