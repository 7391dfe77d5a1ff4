package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// planAuto is the computation behind Auto's plan.
func planAuto(t *testing.T, s Shape, p Problem, b Budget) *auto {
	t.Helper()
	resolved, err := p.withDefault(s, 10).resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	mu, err := b.gdp()
	if err != nil {
		t.Fatal(err)
	}
	a := &auto{scales: planScales(s, p.Loss.Labels(), mu), asked: p, planned: newObjective(s, resolved, 0)}
	if _, err := a.calibrate(b, mu, resolved); err != nil {
		t.Fatal(err)
	}
	return a
}

// Whatever was measured, the minimiser has the law that was planned: λ leaves the
// log-determinant what it is, for the smoothness that the loss in use has at every
// score. A descent has the releases that were planned, and they have no more than
// the budget together with the histograms.
func TestAutoKeepsTheLaw(t *testing.T) {
	for _, loss := range trainable() {
		for _, icpt := range []bool{false, true} {
			for _, epsilon := range []float64{0.1, 1, 8} {
				s := Shape{Rows: 5000, Dim: 4, Intercept: icpt, FeatureBound: 3, LabelBound: 7}
				b := ApproxDP(epsilon, 1e-6)
				a := planAuto(t, s, Problem{Loss: loss}, b)
				for k, row := range steps(s.rowBound()) {
					label := steps(s.LabelBound)[k]
					m := measured{row, label, typicalOf(loss.Labels(), row/2, label/2)}
					enc := rows.NewIdentity(s.features(), row, icpt)
					o, p, err := a.at(m, &enc)
					if err != nil {
						t.Fatal(err)
					}
					if a.descent != nil {
						sameReleases(t, a, b, a.descent.at(o.shape, p, o.clip))
						continue
					}
					bend := o.trained.Constants(everywhere, label).Smoothness * math.Pow(enc.FeatureBound(), 2)
					if logDet := math.Log1p(bend / o.lambda); o.law != a.planned.law || logDet > o.law.LogDet || logDet < o.law.LogDet*(1-1e-9) {
						t.Errorf("%s, rows of %g: log-determinant %g, planned %g", loss.Name(), row, logDet, o.law.LogDet)
					}
				}
			}
		}
	}
}

// sameReleases compares a descent at measured scales with the planned one.
func sameReleases(t *testing.T, a *auto, b Budget, o *preconditioned) {
	t.Helper()
	p := a.descent
	if o.lengths != p.lengths || o.moments != p.moments || o.counts != p.counts || o.gradients != p.gradients || o.steps != p.steps || !slices.Equal(o.choose, p.choose) {
		t.Errorf("releases of %+v, planned %+v", o, p)
	}
	sum := math.Pow(a.scales.mu, 2) + math.Pow(o.lengths.Mu, 2) + math.Pow(o.moments.Mu, 2) +
		float64(len(o.choose))*math.Pow(o.counts.Mu, 2) + float64(o.steps)*math.Pow(o.gradients.Mu, 2)
	if mu, err := b.gdp(); err != nil || sum > mu*mu {
		t.Errorf("releases compose to μ = %g of %g (%v)", math.Sqrt(sum), mu, err)
	}
}

// The law of Auto's minimiser over rows and labels held to measured scales, by
// search, as TestObjectiveLawBySearch has it.
func TestAutoLawBySearch(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	worst, s := 0.0, Shape{Rows: 2, Dim: 1, FeatureBound: 1, LabelBound: 1.5}
	for _, loss := range trainable() {
		if loss.Labels() == losses.Real {
			continue // no objective perturbation
		}
		for _, c := range []struct{ bound, label, ratio, lambda, epsilon float64 }{
			{0.2, 0.4, 0.5, 0.5, 0.3}, {0.2, 0.4, 0.5, 0.5, 3}, {0.05, 1.5, 0.5, 100, 1},
		} {
			planned := newPerturbed(t, Problem{loss, 1}, 0, c.ratio, c.lambda).objective
			a := &auto{asked: Problem{Loss: loss, Radius: 1}, planned: planned}
			a.planned.shape = s
			enc, held := rows.NewIdentity(1, c.bound, false), measured{c.bound, c.label, typicalOf(loss.Labels(), 0.8*c.bound, c.label/2)}
			o, _, err := a.at(held, &enc)
			if err != nil {
				t.Fatal(err)
			}
			q := lawOf(o)
			q.held = held
			share := q.search(t, c.epsilon, claim(t, o.law, c.epsilon))
			if worst = math.Max(worst, share); share > 1+1e-9 {
				t.Errorf("%s, %+v: neighbours reach %.4f of the claimed δ", loss.Name(), c, share)
			}
		}
	}
	hasPower(t, worst)
}

// autoPair is 300 rows near the length 1, half with either label, under the bound 8.
// The last one has another label and another length on either side: it moves two
// counts of the histogram, and its gradient from one end of the clip to the other,
// which is at 0.4.
func autoPair(l Learner) pair {
	const n = 300
	p := pair{learner: l, problem: Problem{Loss: losses.Logistic{}}, budget: ApproxDP(4, 1e-2), facts: Bounds{Feature: 8}}
	for side := range p.x {
		x, y := mat.NewDense(n, 1, nil), make([]float64, n)
		for i := range y {
			x.Set(i, 0, 0.99)
			y[i] = float64(i % 2)
		}
		x.Set(n-1, 0, []float64{0.99, 1.18}[side])
		y[n-1] = float64(side)
		p.x[side], p.y[side] = x, y
	}
	return p
}

// auditedAuto are the histograms alone, the model, and both: the whole transcript.
func auditedAuto(t *testing.T) []audited {
	t.Helper()
	p := autoPair(AutoConfig{})
	a := planAuto(t, p.data(t, 0).Shape(), p.problem, p.budget)
	claimed := p.plan(t).Ledger.Mu()
	both := math.Hypot(2*a.planned.law.Ratio, a.scales.mu) // λ is too large for a log-determinant to matter
	return []audited{
		{"Auto, histograms of rows and labels", inMu, 1, 1, 100_000, histograms(t, scales{mu: 1, histograms: 2}, 0)},
		{"Auto, model", inMu, claimed, both, 100_000, p.sample(firstWeight)},
		{"Auto, transcript", inMu, claimed, both, 100_000, autoTranscripts(a, p)},
		{"Auto, real labels, a step at measured scales", inMu, 1, 1, 100_000, autoStep(t, losses.Squared{}, 5)},
		{"Auto, classes by μ, a step at measured scales", inMu, 1, 1, 100_000, autoStep(t, losses.Logistic{}, 0)},
	}
}

// autoStep samples a step of the descent with μ = 1, on rows and labels held to scales
// far below their bounds, among them a long row whose label is one bound or class or
// the other: the gradient goes from one end of the clip to the other.
func autoStep(t *testing.T, loss losses.Loss, bound float64) func(*testing.T, int, int) []float64 {
	t.Helper()
	p := autoPair(AutoConfig{})
	p.problem, p.facts, p.budget = Problem{Loss: loss}, Bounds{Feature: 8, Label: bound}, GDP(1)
	last := len(p.y[0]) - 1
	for side := range p.x {
		p.x[side].(*mat.Dense).Set(last, 0, 8)
		if p.y[side][last] = float64(side); bound > 0 {
			p.y[side][last] = 2*bound*float64(side) - bound
		}
	}
	a := planAuto(t, p.data(t, 0).Shape(), p.problem, p.budget)
	a.descent.gradients.Mu, a.descent.lengths.Mu, a.descent.moments.Mu = 1, 0, 0
	a.descent.steps, a.descent.choose = 1, nil
	held := measured{1.2, 0.4, typicalOf(loss.Labels(), 1, 0.1)}
	return repeated(func(side int, src mechanisms.Source) (float64, error) {
		d := p.data(t, side)
		table := d.table.Rebound(held.bound, 0)
		o, resolved, err := a.at(held, table.Encoding())
		if err != nil {
			return 0, err
		}
		sums, err := rows.NewSums(table, d.labels, held.labelBound, o.trained)
		if err != nil {
			return 0, err
		}
		w, err := a.descent.at(o.shape, resolved, o.clip).descend(context.Background(), sums, src, nil)
		if err != nil {
			return 0, err
		}
		return w[0], nil
	})
}

// histograms samples a release of histograms, in which the pair moves two counts
// each; or one with noise for another sensitivity, where that isn't 0.
func histograms(t *testing.T, m scales, sensitivity float64) func(*testing.T, int, int) []float64 {
	t.Helper()
	const low = 0.1 // of the bounds
	p := lone(AutoConfig{}, Problem{Loss: losses.Squared{}}, GDP(1), 2*low, 2)
	p.x[1] = mat.NewDense(1, 1, []float64{low})
	if sensitivity != 0 {
		m.mu *= m.sensitivity() / sensitivity
	}
	return func(t *testing.T, side, runs int) []float64 {
		t.Helper()
		d := p.data(t, side)
		sums, err := d.sums(p.problem.Loss)
		if err != nil {
			t.Fatal(err)
		}
		return repeated(func(_ int, src mechanisms.Source) (float64, error) {
			counts, err := m.draw(d.table, sums, d.Shape(), src)
			return movement(counts, cellOf(1, low)), err
		})(t, side, runs)
	}
}

// movement is the sum of the counts that the second side raises less those that it
// lowers: of a row that falls from the first cell to a low one, and of a label that
// rises.
func movement(counts []float64, low int) (sum float64) {
	for h := 0; h < len(counts); h += cells {
		rise := counts[h+low] - counts[h]
		if h > 0 {
			rise = -rise
		}
		sum += rise
	}
	return sum
}

// autoTranscripts samples the log-likelihood ratio of the counts, drawn once more
// from the same source, and of the weights: where rows are symmetric but for one,
// −θ̂ times their curvature is b and that row's gradient.
func autoTranscripts(a *auto, p pair) func(*testing.T, int, int) []float64 {
	return func(t *testing.T, side, runs int) []float64 {
		t.Helper()
		plan, d, out := p.plan(t), p.data(t, side), make([]float64, runs)
		sums, err := d.sums(p.problem.Loss)
		if err != nil {
			t.Fatal(err)
		}
		src := &again{seed: uint64(7000 + side)}
		for i := range out {
			src.seed += 2
			src.restart()
			counts, err := a.scales.draw(d.table, sums, d.Shape(), src)
			if err != nil {
				t.Fatal(err)
			}
			held := a.scales.read(counts, 8, d.Shape(), losses.Binary)
			enc := rows.NewIdentity(1, held.bound, false)
			o, _, err := a.at(held, &enc)
			if err != nil {
				t.Fatal(err)
			}
			src.restart()
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src})
			if err != nil {
				t.Fatal(err)
			}
			row, moved := math.Min(0.99, held.bound), counts[cellOf(8, 1.18)]-counts[cellOf(8, 0.99)]
			b := -m.weights[0] * (float64(len(d.labels))*row*row/4 + o.lambda) // and a row's gradient
			out[i] = a.scales.mu*a.scales.mu*moved/2 - 2*o.law.Ratio*b*o.law.Ratio/o.clip
		}
		return out
	}
}

// cellOf is the cell of a histogram below bound that v is in.
func cellOf(bound, v float64) int {
	k := 0
	for edges := steps(bound); k+1 < cells && v <= edges[k+1]; {
		k++
	}
	return k
}

// crossing is a pair of which all rows are tiny but 60 of 300 (61 on the second side)
// that are at the bound: the exact quantile goes from one end of the histogram to the
// other.
func crossing() pair {
	const n = 300
	p := autoPair(AutoConfig{})
	for side := range p.x {
		x := mat.NewDense(n, 1, nil)
		for i := range n {
			x.Set(i, 0, 0.01)
			if i < 60+side {
				x.Set(i, 0, 8)
			}
		}
		p.x[side] = x
	}
	return p
}

// Variants of Auto with bugs are caught; Auto itself is not, on the same pairs.
func TestAuditCatchesBrokenAuto(t *testing.T) {
	const runs = 40_000
	variant := func(m scales, sensitivity float64) audited {
		return audited{fmt.Sprint(m), inMu, 1, math.Inf(1), runs, histograms(t, m, sensitivity)}
	}
	t.Run("histograms with half the noise", func(t *testing.T) { caught(t, variant(scales{mu: 2, histograms: 1}, 0)) })
	t.Run("sensitivity 1 for √2", func(t *testing.T) { caught(t, variant(scales{mu: 1, histograms: 1}, 1)) })
	t.Run("two histograms with the noise of one", func(t *testing.T) {
		caught(t, variant(scales{mu: 1, histograms: 2}, math.Sqrt2))
	})
	p := crossing()
	unmeasured := func(measure float64) audited {
		return audited{"scales", inMu, p.plan(t).Ledger.Mu(), math.Inf(1), shortRuns, func(t *testing.T, side, runs int) []float64 {
			t.Helper()
			a, d := planAuto(t, p.data(t, 0).Shape(), p.problem, p.budget), p.data(t, side)
			a.scales.mu *= measure
			return repeated(func(_ int, src mechanisms.Source) (float64, error) {
				w, err := a.run(context.Background(), d, &Env{NoiseForTests: src})
				if err != nil {
					return 0, err
				}
				return math.Abs(w[0]), nil
			})(t, side, runs)
		}}
	}
	t.Run("scales without noise", func(t *testing.T) { caught(t, unmeasured(1e6)) })
	t.Run("scales with noise", func(t *testing.T) { missed(t, unmeasured(1)) })
}
