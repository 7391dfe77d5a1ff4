package questions

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// A gridRow is a row of a small grid.
type gridRow struct{ x, y, z float64 }

// gridRows are all rows of two columns from a few values, at the bound of 2, within and beyond it, and both labels.
func gridRows() (all []gridRow) {
	for _, x := range []float64{-2, 0, 0.5, 3} {
		for _, y := range []float64{0, 2} {
			for _, z := range []float64{0, 1} {
				all = append(all, gridRow{x, y, z})
			}
		}
	}
	return all
}

// gridPersons are nobody's rows, each row, and each two.
func gridPersons() [][]gridRow {
	all := [][]gridRow{nil}
	for i, u := range gridRows() {
		all = append(all, []gridRow{u})
		for _, v := range gridRows()[:i+1] {
			all = append(all, []gridRow{u, v})
		}
	}
	return all
}

// gridSums are the sums over a person and two others, of whom one has two rows.
func gridSums(t *testing.T, person []gridRow, each, places bool) *Sums {
	t.Helper()
	all, persons := append([]gridRow{{1, -1, 1}, {0.3, 0.2, 0}, {-1, 1, 1}}, person...), []int{0, 0, 1}
	x, y := mat.NewDense(len(all), 2, nil), make([]float64, len(all))
	for i, u := range all {
		x.SetRow(i, []float64{u.x, u.y})
		y[i] = u.z
	}
	for range person {
		persons = append(persons, 2)
	}
	facts := rows.Owners{Persons: persons, Count: 3, Most: 2, Each: each, Coins: mechanisms.NewSeededSource(9)}
	if places {
		facts.Count, facts.Places = 0, 3
	}
	table, order, err := rows.Own(mustTable(t, x, encoding.NewIdentity(2, 2, false)), facts)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]float64, len(order))
	for k, i := range order {
		labels[k] = y[i]
	}
	s, err := NewSums(table, labels, 0, 0, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// apart are the largest distances of answers, and that of an answer from the first one's.
func apart(answers [][]float64) (pairs, first float64) {
	for i, v := range answers {
		first = math.Max(first, floats.Distance(v, answers[0], 2))
		for _, w := range answers[:i] {
			pairs = math.Max(pairs, floats.Distance(v, w, 2))
		}
	}
	return pairs, first
}

// Each answer about persons of a small grid, with no row, one or two, declares what the worst pair of all of them moves it by under
// replace-one, and what the worst person adds under add/remove: no less, and where the grid has the worst rows no more.
func TestEveryPairOfPersons(t *testing.T) {
	const clip, beside = 0.25, 0.4
	edges := []float64{1.5, 0.7, 0.1}
	at := []float64{0.5, -0.25}
	asked := map[string]struct {
		ask         func(s *Sums, r *Framed) ([]float64, float64, error)
		whole       float64 // what theory declares, under replace-one, and
		removed     float64 // under add/remove
		least, once float64 // parts of these that persons whose rows count each reach
	}{
		"gradient": {func(s *Sums, r *Framed) ([]float64, float64, error) {
			return heard(r.Gradient(ctx, at, 0.1, Slope{Clip: clip}))
		}, 2 * clip, clip, 0.99, 0.99},
		"means": {func(s *Sums, r *Framed) ([]float64, float64, error) {
			return heard(r.Gradient(ctx, at, 0.1, Slope{Clip: clip, Constant: beside, Apart: 1, Means: 0.05}))
		}, math.Hypot(2*clip, beside), math.Hypot(clip, beside), 0.99, 0.99},
		"moments": {func(s *Sums, r *Framed) ([]float64, float64, error) { return heard(r.Moments(ctx, 0.5)) }, math.Sqrt2 * 0.25, 0.25, 0.99, 0.99},
		"lengths": {func(s *Sums, r *Framed) ([]float64, float64, error) { return heard(r.Lengths(ctx, edges)) }, math.Sqrt2, 1, 0.999, 0.999},
		"gradients": {func(s *Sums, r *Framed) ([]float64, float64, error) {
			return heard(r.GradientNorms(ctx, edges, at, 0.1, Slope{Clip: clip}))
		}, math.Sqrt2, 1, 0.999, 0.999},
		"labels": {func(s *Sums, _ *Framed) ([]float64, float64, error) { return s.LabelSum(ctx) }, 1, 1, 0.999, 0.999},
		"totals": {func(s *Sums, _ *Framed) ([]float64, float64, error) { return s.Totals(ctx, 1, 0) }, 0, 0, 0, 0},
	}
	for _, each := range []bool{false, true} {
		for _, places := range []bool{false, true} {
			for name, c := range asked {
				if each && name == "means" { // which are refused
					continue
				}
				var answers [][]float64
				claimed := 0.0
				for _, p := range gridPersons() {
					s := gridSums(t, p, each, places)
					f := Frame{}
					if each {
						f.Each = 1
					}
					r, err := NewFramed(ctx, s, whole, f)
					if err != nil {
						t.Fatal(err)
					}
					v, l2, err := c.ask(s, r)
					if err != nil || claimed != 0 && l2 != claimed {
						t.Fatalf("%s: sensitivity %g, was %g (%v)", name, l2, claimed, err)
					}
					claimed, answers = l2, append(answers, v)
				}
				pairs, first := apart(answers)
				moved, want, least := pairs, c.whole, c.least
				if places {
					moved, want, least = first, c.removed, c.once
				}
				of := fmt.Sprintf("%s, each %v, places %v", name, each, places)
				if moved > claimed {
					t.Errorf("%s: a pair moves it by %.17g, declared %.17g", of, moved, claimed)
				}
				if want > 0 && math.Abs(claimed/want-1) > 1e-9 {
					t.Errorf("%s: %g is declared, not %g", of, claimed, want)
				}
				if moved < least*claimed {
					t.Errorf("%s: the worst pair moves it by %g of %g only", of, moved, claimed)
				}
			}
		}
	}
}

// Whatever a label is, beyond its range too, an added row moves the two sums of ends by 1 at most, and at an end by as much, and those of J steps of counts by √J; the first two
// tell how many rows there are, and the others which part of its step a label reaches, where labels are in their range.
func TestEveryLabelsEnds(t *testing.T) {
	for _, c := range []struct {
		loss      losses.Loss
		low, high float64
		steps     []float64
	}{
		{losses.Logistic{}, 0, 1, []float64{1}}, {losses.Squared{}, -2, 2, []float64{4}},
		{losses.Gamma{Least: 0.01}, 0, 2048, []float64{2, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}},
		{losses.Poisson{}, 0, 1, []float64{1}}, {losses.Poisson{}, 0, 2, []float64{1, 1}}, {losses.Poisson{}, 0, 5, []float64{1, 2, 2}}, {losses.Poisson{}, 0, 11, []float64{1, 2, 4, 4}},
	} {
		name := fmt.Sprintf("%s to %g", c.loss.Name(), c.high)
		at := func(labels []float64, places int) ([]float64, float64) {
			table, order, err := rows.Own(mustTable(t, mat.NewDense(len(labels), 1, nil), encoding.NewIdentity(1, 1, false)), rows.Owners{Places: places, Coins: mechanisms.NewSeededSource(4)})
			if err != nil {
				t.Fatal(err)
			}
			y := slices.Clone(labels)
			for k, i := range order {
				y[k] = labels[i]
			}
			s, err := NewSums(table, y, 0, math.Max(c.high, 1), c.loss)
			if err != nil {
				t.Fatal(err)
			}
			v, l2, err := s.LabelSum(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if p, most, err := Predicted(ctx, s, []float64{1}); err != nil || len(p) != len(v) || places > 0 && !(math.Abs(p[0]+p[1]-float64(len(y))) < 1e-12 && most >= l2) {
				t.Errorf("%s: of %d labels' predictions the sums are %v (%v)", name, len(y), p, err)
			}
			return v, l2
		}
		without, declared := at([]float64{c.high, c.low}, 9)
		for k, v := range without {
			if v != 1 {
				t.Errorf("%s: sum %d of both ends is %g", name, k, v)
			}
		}
		if len(without) != 1+len(c.steps) || math.Abs(declared/math.Sqrt(float64(len(c.steps)))-1) > 1e-9 {
			t.Errorf("%s: %d sums, declared %g", name, len(without), declared)
		}
		replaced, whole := at([]float64{c.high, c.low, c.low}, 0)
		for _, part := range []float64{0, 0.1, 0.25, 0.5, 0.9, 1} {
			if c.high == 1 && part != 0 && part != 1 {
				continue
			}
			label := c.low + part*(c.high-c.low)
			with, _ := at([]float64{c.high, c.low, label}, 9)
			moved := floats.Distance(with, without, 2)
			if moved > declared || part == 1 && moved < 0.999*declared {
				t.Errorf("%s: a label moves it by %g, declared %g", name, moved, declared)
			}
			want, above := []float64{3}, label-c.low
			for _, step := range c.steps {
				want, above = append(want, 1+math.Min(math.Max(above/step, 0), 1)), above-step
			}
			if want[0] -= want[1]; !floats.EqualApprox(with, want, 1e-12) {
				t.Errorf("%s: sums %v of three labels, the third at %g of the range, and not %v", name, with, part, want)
			}
			of, _ := at([]float64{c.high, c.low, label}, 0)
			if moved := floats.Distance(of, replaced, 2); moved > whole || part == 1 && moved < 0.999*whole {
				t.Errorf("%s: a replaced label moves it by %g, declared %g", name, moved, whole)
			}
			if len(c.steps) > 1 && !floats.EqualApprox(of, want[1:], 1e-12) {
				t.Errorf("%s: sums %v of three labels, the third at %g of the range, and not %v", name, of, part, want[1:])
			}
		}
	}
}

// Steps of counts come to the range, whatever it is, and no step is wider than all before together and 1; amounts have eleven, of which each is as wide as all before; other labels have one.
func TestLabelSteps(t *testing.T) {
	if steps := LabelSteps(losses.Amount, math.SmallestNonzeroFloat64); len(steps) != mostLabelSteps { // whose parts are 0: a party may be asked for them
		t.Errorf("%d steps to the least number", len(steps))
	}
	for _, high := range []float64{0, 0.25, 1, 1.5, 2, 3, 7, 7.5, 1000, 1e12, 1e150} {
		steps, below := LabelSteps(losses.Count, high), 0.0
		for k, width := range steps {
			if width > below+1 && k+1 < mostLabelSteps || width <= 0 && high > 0 || k+1 < len(steps) && width != math.Ldexp(1, k) {
				t.Errorf("to %g: step %d is %g, after %g", high, k, width, below)
			}
			below += width
		}
		if math.Abs(below-high) > 1e-9*high || len(steps) > mostLabelSteps || high <= 1 && len(steps) != 1 {
			t.Errorf("%d steps come to %g, not %g", len(steps), below, high)
		}
		amounts, total := LabelSteps(losses.Amount, high), 0.0
		for k, width := range amounts {
			if k > 0 && width != total {
				t.Errorf("amounts to %g: step %d is %g, after %g", high, k, width, total)
			}
			total += width
		}
		if total != high || high > 0 && len(amounts) != 11 {
			t.Errorf("amounts' %d steps come to %g, not %g", len(amounts), total, high)
		}
		for _, kind := range []losses.Labels{losses.Real, losses.Binary} {
			if other := LabelSteps(kind, high); len(other) != 1 || other[0] != high {
				t.Errorf("%s to %g: %g", kind, high, other)
			}
		}
	}
}

// What a label alone moves a sum by that is cut by features, over all rows of a grid and both labels: less than what is declared, which is what
// a row does, and half of what a row's opposite would, K times the range of labels.
func TestEveryPairOfLabels(t *testing.T) {
	const cut = 0.5
	p := Slope{Clip: 0.5 * cut, Cut: cut, Plain: true, Middle: 0.5}
	worst, claimed := 0.0, 0.0
	for _, u := range gridRows() {
		var answers [][]float64
		for _, label := range []float64{0, 1} {
			s := gridSums(t, []gridRow{{u.x, u.y, label}}, false, false)
			r, err := NewFramed(ctx, s, whole, Frame{})
			if err != nil {
				t.Fatal(err)
			}
			v, l2, err := heard(r.Gradient(ctx, []float64{0, 0}, 0, p))
			if err != nil {
				t.Fatal(err)
			}
			answers, claimed = append(answers, v), l2
		}
		pairs, _ := apart(answers)
		worst = math.Max(worst, pairs)
	}
	if worst > claimed || worst < cut*(1-1e-9) || math.Abs(claimed/cut-1) > 1e-9 {
		t.Errorf("labels move it by %g, declared %g, and a range of 1 times the cut is %g", worst, claimed, cut)
	}
}

// Histograms of three classes' log-odds: all pairs of rows of a grid, of any two classes, move them by √(2m) at most, and some by as much.
func TestEveryPairOfClasses(t *testing.T) {
	const k = 3
	at := ClassPoint{[][]float64{{1, 0}, {0, 1}, {-1, -1}}, make([]float64, k)}
	edges := [][]float64{{0.5, -1}, {0.5, -1}, {0.5, -1}}
	for of, m := range map[Counted]float64{Own: 1, Others: k - 1, Every: k} {
		var answers [][]float64
		claimed := 0.0
		for _, u := range gridRows() {
			for class := range k {
				x := mat.NewDense(3, 2, []float64{1, 0, 0, 1, u.x, u.y})
				c, err := NewClasses(ctx, mustTable(t, x, encoding.NewIdentity(2, 4, false)), []float64{0, 2, float64(class)}, k)
				if err != nil {
					t.Fatal(err)
				}
				r, err := c.Frame(ctx, whole, Frame{})
				if err != nil {
					t.Fatal(err)
				}
				v, l2, err := heard(r.LogOdds(ctx, of, edges, at, nil))
				if err != nil {
					t.Fatal(err)
				}
				answers, claimed = append(answers, v), l2
			}
		}
		if pairs, _ := apart(answers); pairs > claimed || pairs < 0.999*claimed || math.Abs(claimed/math.Sqrt(2*m)-1) > 1e-9 {
			t.Errorf("in %g histograms: pairs move them by %g, declared %g, theory √%g", m, pairs, claimed, 2*m)
		}
	}
}

// What another class moves the sum of classes by that is cut by features, over all rows of a grid, all pairs of classes, scores of 0 and others: no
// more than what is declared, √2 times the cut, and as much where a row is cut, beside a constant and without. A row's own length of
// gradient says nothing: at scores that tell classes it would have one row count twice as another.
func TestEveryPairOfLabelsOfClasses(t *testing.T) {
	const cut = 0.5
	for k := 2; k <= 5; k++ {
		for _, constant := range []float64{0, 1} {
			for _, far := range []float64{0, 3} {
				at, p := ClassPoint{make([][]float64, k), make([]float64, k)}, ClassSlope{Clip: cut, Constant: constant, LabelAlone: true}
				for j := range k {
					at.U[j] = []float64{far * float64(j), -far}
				}
				worst, claimed := 0.0, 0.0
				for _, u := range gridRows() {
					var answers [][]float64
					for class := range k {
						x := mat.NewDense(3, 2, []float64{1, 0, 0, 1, u.x, u.y})
						c, err := NewClasses(ctx, mustTable(t, x, encoding.NewIdentity(2, 4, constant > 0)), []float64{0, 1, float64(class)}, k)
						if err != nil {
							t.Fatal(err)
						}
						r, err := c.Frame(ctx, whole, Frame{})
						if err != nil {
							t.Fatal(err)
						}
						v, l2, err := heard(r.Gradient(ctx, at, p))
						if err != nil {
							t.Fatal(err)
						}
						answers, claimed = append(answers, v), l2
					}
					pairs, _ := apart(answers)
					worst = math.Max(worst, pairs)
				}
				if worst > claimed || worst < cut*math.Sqrt2*(1-1e-9) || math.Abs(claimed/(cut*math.Sqrt2)-1) > 1e-9 {
					t.Errorf("%d classes, constant %g, scores of up to %g: labels move it by %g, declared %g, and √2 times the cut is %g", k, constant, far, worst, claimed, cut*math.Sqrt2)
				}
			}
		}
	}
}
