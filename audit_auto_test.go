package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// planAuto is the computation behind Auto's plan.
func planAuto(t *testing.T, s Shape, p Problem, b Budget) *auto {
	t.Helper()
	resolved, err := p.resolve(s, nearScore)
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

// held are the facts of rows of a shape that were held to measured scales.
func held(t *testing.T, s Shape, m measured, constant float64) curator.Facts {
	t.Helper()
	facts := Bounds{Feature: s.rowBound(), Label: s.LabelBound, Intercept: s.Intercept}
	d, err := NewDataset(mat.NewDense(1, s.features(), nil), []float64{0}, facts)
	if err != nil {
		t.Fatal(err)
	}
	return d.data.Rebound(m.bound, constant, m.labelBound).Facts()
}

// Whatever was measured, the minimiser has the law that was planned: λ leaves the
// log-determinant what it is, for the smoothness that the loss in use has at every
// score of rows of the measured length.
func TestAutoKeepsTheLaw(t *testing.T) {
	checked := 0
	for _, loss := range trainable() {
		for _, icpt := range []bool{false, true} {
			for _, epsilon := range []float64{0.1, 1, 8} {
				s := Shape{Rows: 5000, Dim: 4, Intercept: icpt, FeatureBound: 3, LabelBound: 7}
				a := planAuto(t, s, Problem{Loss: loss}, ApproxDP(epsilon, 1e-6))
				if a.descent != nil {
					continue // TestAutoMakesItsReleases
				}
				for k, row := range steps(s.rowBound()) {
					label := steps(s.LabelBound)[k]
					m := measured{row, label, typicalOf(loss.Labels(), row/2, label/2)}
					facts := held(t, s, m, 0x1p-3)
					o, _, err := a.at(m, facts)
					if err != nil {
						t.Fatal(err)
					}
					smoothness := o.trained.Constants(everywhere, label).Smoothness * math.Pow(facts.FeatureBound, 2)
					if logDet := math.Log1p(smoothness / o.lambda); o.law != a.planned.law || logDet > o.law.LogDet || logDet < o.law.LogDet*(1-1e-9) {
						t.Errorf("%s, rows of %g: log-determinant %g, planned %g", loss.Name(), row, logDet, o.law.LogDet)
					}
					checked++
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d laws checked", checked)
	}
}

// Whatever the histograms say, Auto makes the releases that its ledger counts, as
// often and with as many numbers, none more; each has a sensitivity that rows held
// to the measured bounds can't exceed.
func TestAutoMakesItsReleases(t *testing.T) {
	const n, bound, labelBound = 2000, 3.0, 7.0
	for _, loss := range trainable() {
		d := objData(t, n, 3, loss, Bounds{Feature: bound, Label: labelBound, Intercept: true})
		plan, err := AutoConfig{}.Plan(d.Shape(), Problem{Loss: loss}, ApproxDP(1, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range []int{0, 7, cells - 1} { // all rows and labels are said to lie in
			planned, shortest := map[string]int{}, math.Inf(1)
			for _, l := range leaves(t, plan.Ledger) {
				planned[l.Label] += l.Releases
			}
			src := listener{mechanisms.NewSeededSource(1), func(e *release.Event) {
				if e.Mechanism != "minimiser" { // which is of one release with the linear term
					planned[e.Label]--
				}
				switch e.Label {
				case "histograms of norms and labels":
					for k := range e.Values {
						e.Values[k] = 0
						if k%cells == cell {
							e.Values[k] = n
						}
					}
				case "preconditioned GD, gradient sums":
					shortest = math.Min(shortest, e.L2)
				}
			}}
			if _, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src}); err != nil {
				t.Fatalf("%s, cell %d: %v", loss.Name(), cell, err)
			}
			for label, missing := range planned {
				if missing != 0 {
					t.Errorf("%s, cell %d: %q has %d releases less than planned", loss.Name(), cell, label, missing)
				}
			}
			if cell == cells-1 && shortest > bound*labelBound/10 && !math.IsInf(shortest, 1) {
				t.Errorf("%s: tiny rows have gradients of sensitivity %g", loss.Name(), shortest)
			}
		}
	}
}

// The plan composes to no more than the budget, with the histograms.
func TestAutoSharesItsBudget(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Hinge{}} {
		s := Shape{Rows: 5000, Dim: 4, FeatureBound: 3, LabelBound: 7}
		for _, epsilon := range []float64{0.1, 1, 8} {
			b, sum := ApproxDP(epsilon, 1e-6), 0.0
			plan, err := AutoConfig{}.Plan(s, Problem{Loss: loss}, b)
			if err != nil {
				t.Fatal(err)
			}
			list := leaves(t, plan.Ledger)
			for _, l := range list {
				sum += float64(l.Releases) * l.Mu * l.Mu
			}
			mu, err := b.gdp()
			if share := sum / mu / mu; err != nil || share > 1 || share < 1-1e-6 || len(list) < 2 {
				t.Errorf("%s, ε = %g: %d kinds of releases take %.9f of μ² (%v)", loss.Name(), epsilon, len(list), share, err)
			}
		}
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
			m := measured{c.bound, c.label, typicalOf(loss.Labels(), 0.8*c.bound, c.label/2)}
			o, _, err := a.at(m, held(t, s, m, 0))
			if err != nil {
				t.Fatal(err)
			}
			q := lawOf(o)
			q.held = m
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
	plan := p.plan(t)
	claimed, both := plan.Ledger.Mu(), reachOfAuto(t, p, plan)
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
	a.descent.gradients, a.descent.lengths, a.descent.moments, a.descent.counts = 1, 0, 0, 0
	a.descent.steps, a.descent.choose = 1, nil
	schedule, err := a.descent.schedule()
	if err != nil {
		t.Fatal(err)
	}
	m := measured{1.2, 0.4, typicalOf(loss.Labels(), 1, 0.1)}
	return repeated(func(side int, src mechanisms.Source) (float64, error) {
		d := p.data(t, side)
		rebound := d.data.Rebound(m.bound, 0, m.labelBound)
		o, resolved, err := a.at(m, rebound.Facts())
		if err != nil {
			return 0, err
		}
		r := alone(d, schedule, src)
		w, err := a.descent.at(o.shape, resolved, o.clip).descend(r, rebound, r.allow)
		if err != nil {
			return 0, err
		}
		return w[0], nil
	})
}

// counted releases the histograms of the rows and labels under a loss.
func counted(m scales, d *Dataset, loss losses.Loss, src mechanisms.Source) ([]float64, error) {
	schedule, err := m.schedule()
	if err != nil {
		return nil, err
	}
	sums, err := d.data.Under(loss)
	if err != nil {
		return nil, err
	}
	var labels []float64
	if m.histograms == 2 {
		labels = steps(d.Shape().LabelBound)
	}
	return schedule.Allow(d.data.Rows(), src).AddNoise(sums.Lengths(steps(d.data.Facts().Bound), labels))
}

// histograms samples a release of histograms, in which the pair moves two counts
// each; or one by a schedule for another sensitivity, where that isn't 0.
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
		return repeated(func(_ int, src mechanisms.Source) (float64, error) {
			counts, err := counted(m, d, p.problem.Loss, src)
			if err != nil {
				return 0, err
			}
			return movement(counts, cellOf(1, low)), nil
		})(t, side, runs)
	}
}

// reachOfAuto is what the best test of Auto's transcript reaches on a pair, by what
// its runs release: the counts differ by so much of their declared sensitivity, and
// the gradient goes from one end of the clip to the other. λ is too large for a
// log-determinant to matter.
func reachOfAuto(t *testing.T, p pair, plan *Plan) float64 {
	t.Helper()
	var counts [2][]float64
	var declared float64
	for side := range counts {
		src := listener{mechanisms.NewSeededSource(1), func(e *release.Event) {
			if e.Mechanism == "gaussian" {
				counts[side], declared = slices.Clone(e.Values), e.L2
			}
		}}
		if _, err := plan.Run(context.Background(), p.data(t, side), &Env{NoiseForTests: src}); err != nil {
			t.Fatal(err)
		}
	}
	list := leaves(t, plan.Ledger)
	if len(list) != 2 || len(counts[0]) != list[0].Dim {
		t.Fatalf("not the releases of a histogram and a minimiser:\n%v", plan.Ledger)
	}
	moved := floats.Distance(counts[0], counts[1], 2)
	if moved > declared {
		t.Errorf("counts move by %g, declared %g", moved, declared)
	}
	return math.Hypot(2*list[1].Ratio, list[0].Mu*moved/declared)
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
		src := &again{seed: uint64(7000 + side)}
		for i := range out {
			src.seed += 2
			src.restart()
			counts, err := counted(a.scales, d, p.problem.Loss, src)
			if err != nil {
				t.Fatal(err)
			}
			read := a.scales.read(counts, 8, d.Shape(), losses.Binary)
			o, _, err := a.at(read, d.data.Rebound(read.bound, 0, read.labelBound).Facts())
			if err != nil {
				t.Fatal(err)
			}
			src.restart()
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src})
			if err != nil {
				t.Fatal(err)
			}
			row, moved := math.Min(0.99, read.bound), counts[cellOf(8, 1.18)]-counts[cellOf(8, 0.99)]
			b := -m.weights[0] * (float64(d.Shape().Rows)*row*row/4 + o.lambda) // and a row's gradient
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
			schedule := histogramsAndMinimiser(t, a)
			return repeated(func(_ int, src mechanisms.Source) (float64, error) {
				w, err := a.train(alone(d, schedule, src))
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

// histogramsAndMinimiser is Auto's schedule with whatever μ its histograms were given.
func histogramsAndMinimiser(t *testing.T, a *auto) *release.Schedule {
	t.Helper()
	counts, err := a.scales.schedule()
	if err != nil {
		t.Fatal(err)
	}
	minimiser, err := release.Objective("minimiser", a.planned.law, a.planned.shape.Dim)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := release.Sequential("auto", counts, minimiser)
	if err != nil {
		t.Fatal(err)
	}
	return schedule
}
