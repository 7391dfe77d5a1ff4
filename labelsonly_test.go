package dpglm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// labelledRows draws rows with labels of a kind. Columns differ in scale, the third is all but a sum of the others, and the last never varies.
func labelledRows(n int, kind losses.Labels, r *rand.Rand) (*mat.Dense, []float64) {
	x, y := mat.NewDense(n, 5, nil), make([]float64, n)
	for i := range n {
		a, b := r.NormFloat64(), r.NormFloat64()
		level := float64(r.IntN(2))
		x.SetRow(i, []float64{a, 10 * b, a + b + .3*r.NormFloat64(), level, 2})
		s := .8*a - .4*b + .5*level - .2
		switch kind {
		case losses.Real:
			y[i] = s + r.NormFloat64()
		case losses.Count:
			for k := r.ExpFloat64(); k < math.Exp(s) && y[i] < 40; k += r.ExpFloat64() {
				y[i]++
			}
		default:
			if r.Float64() < 1/(1+math.Exp(-s)) {
				y[i] = 1
			}
		}
	}
	return x, y
}

// rangeOf is the range of labelledRows' labels.
func rangeOf(l losses.Loss) [2]float64 {
	switch l.Labels() {
	case losses.Real:
		return [2]float64{-10, 10}
	case losses.Count:
		return [2]float64{0, 40}
	}
	return [2]float64{}
}

// With no noise to speak of, and many rows, estimates where labels alone are private are those without privacy.
func TestLabelsOnlyTendsToTheMinimiser(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		x, y := labelledRows(20000, loss.Labels(), rand.New(rand.NewPCG(3, 4)))
		bounds := dpglm.Bounds{Feature: 100, LabelRange: rangeOf(loss), Intercept: true}
		d, err := dpglm.NewDataset(x, y, bounds)
		if err != nil {
			t.Fatal(err)
		}
		env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(5)}
		m, err := dpglm.Auto(context.Background(), d, dpglm.Problem{Loss: loss}, dpglm.GDP(1e6).LabelsOnly(), env)
		if err != nil {
			t.Fatal(err)
		}
		z, err := m.Scores(x)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 4 { // at the minimiser the loss has no slope
			var slope, variance float64
			for i, label := range y {
				if loss.Labels() == losses.Binary {
					label = 2*label - 1
				}
				g := loss.Deriv(z.At(i, 0), label) * x.At(i, j)
				slope += g
				variance += g * g
			}
			if off := math.Abs(slope) / math.Sqrt(variance); off > .1 {
				t.Errorf("%s: the loss's slope by weight %d is %.3g of its standard deviations off", loss.Name(), j, off)
			}
		}
	}
}

// A ledger says that nothing but a label is protected, and means it: another feature changes what is released by more than
// any noise hides. Budgets for labels are refused where they would say less than they seem to.
func TestLabelsOnlyProtectsNothingElse(t *testing.T) {
	x, y := labelledRows(400, losses.Binary, rand.New(rand.NewPCG(1, 2)))
	bounds := dpglm.Bounds{Feature: 1e7, Intercept: true}
	budget := dpglm.GDP(1).LabelsOnly()
	fit := func() *dpglm.Model {
		t.Helper()
		d, err := dpglm.NewDataset(x, y, bounds)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.Auto(context.Background(), d, dpglm.Problem{Loss: losses.Logistic{}}, budget, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(7)})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := fit()
	if got, want := before.Ledger().Unit(), mechanisms.OneLabel(); got != want {
		t.Errorf("the unit is %v, want %v", got, want)
	}
	line, _, _ := strings.Cut(before.Ledger().String(), "\n")
	for _, words := range []string{"unit: one label (replace-one)", "who is in the table, and all else about them, is public"} {
		if !strings.Contains(line, words) {
			t.Errorf("the ledger begins with %q, which doesn't say %q", line, words)
		}
	}
	x.Set(0, 0, 1e6)
	if after := fit(); math.Abs(after.Weights()[0][0]) > math.Abs(before.Weights()[0][0])/100 {
		t.Errorf("a feature of a million left its weight at %g, of %g without it: so much of it was hidden", after.Weights()[0][0], before.Weights()[0][0])
	}

	persons := make([]int, len(y))
	for i := range persons {
		persons[i] = i / 2
	}
	for _, more := range []dpglm.RowDetail{dpglm.Persons{Of: persons, MaxRows: 2}, dpglm.AddRemove{AtMost: 500}} {
		d, err := dpglm.NewDataset(x, y, bounds, more)
		if err != nil {
			t.Fatal(err)
		}
		_, err = dpglm.Auto(context.Background(), d, dpglm.Problem{Loss: losses.Logistic{}}, budget, nil)
		if !errors.Is(err, dpglm.ErrBudget) || !strings.Contains(fmt.Sprint(err), "labels only") {
			t.Errorf("%T: the error is %v", more, err)
		}
	}
	row, err := dpglm.AutoConfig{}.Plan(dpglm.Shape{Rows: 400, Dim: 6, Intercept: true, FeatureBound: 1}, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mechanisms.Sequential("both", before.Ledger(), row.Ledger); err == nil {
		t.Error("guarantees for labels and for rows were added up")
	}
}

// Labels that are all alike, and rows that are few or don't vary, are no error after noise was drawn, and no weights that aren't numbers.
func TestLabelsOnlyTellingNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{2, 30, 1500} {
		for name, draw := range map[string]func() float64{"alike": func() float64 { return .3 }, "varying": r.NormFloat64} {
			x := mat.NewDense(n, 2, nil)
			for i := range n {
				x.SetRow(i, []float64{draw(), draw()})
			}
			for seed := range uint64(10) {
				for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
					d, err := dpglm.NewDataset(x, make([]float64, n), dpglm.Bounds{Feature: 1, Label: 1, Intercept: true})
					if err != nil {
						t.Fatal(err)
					}
					f, err := dpglm.Infer(context.Background(), d, dpglm.Problem{Loss: loss}, dpglm.GDP(10).LabelsOnly(), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
					if err != nil {
						t.Fatalf("%d rows, %s, %s, seed %d: %v", n, name, loss.Name(), seed, err)
					}
					if _, err := json.Marshal(f); err != nil {
						t.Fatalf("%d rows, %s, %s, seed %d: %v, of the weights %v", n, name, loss.Name(), seed, err, f.Model().Weights())
					}
					for _, w := range f.Model().Weights()[0] {
						if !(math.Abs(w) < 1e3) {
							t.Fatalf("%d rows, %s, %s, seed %d: weights %v", n, name, loss.Name(), seed, f.Model().Weights())
						}
					}
				}
			}
		}
	}
}

// Nor are several classes, of which some may have no row. Whatever features tell, a model has each class about as often as the rows do: 10 rows off, where
// their counts' noise has a deviation of 1 or less. Of many rows each class that has some has intervals, whether others
// have any or not, and a column that doesn't vary has none.
func TestLabelsOnlyTellingNothingOfClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	p := dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}
	for _, n := range []int{2, 30, 1500} {
		for varying := range 3 {
			for _, label := range []string{"one class", "three of four", "by a column"} {
				x, y, rows := mat.NewDense(n, 2, nil), make([]float64, n), make([]float64, p.Classes)
				for i := range n {
					z := r.NormFloat64()
					x.SetRow(i, []float64{.3, .3})
					for j := range varying {
						x.Set(i, j, []float64{z, r.NormFloat64()}[j])
					}
					switch label {
					case "three of four":
						y[i] = float64(r.IntN(3))
					case "by a column":
						y[i] = math.Min(3, math.Floor(math.Abs(z)*2))
					}
					rows[int(y[i])]++
				}
				d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 5, Intercept: true})
				if err != nil {
					t.Fatal(err)
				}
				for seed := range uint64(5) {
					of := fmt.Sprintf("%d rows, %d columns vary, %s, seed %d", n, varying, label, seed)
					f, err := dpglm.InferClasses(t.Context(), d, p, dpglm.GDP(10).LabelsOnly(), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
					if err != nil {
						t.Fatalf("%s: %v", of, err)
					}
					if _, err := json.Marshal(f); err != nil {
						t.Fatalf("%s: %v", of, err)
					}
					for _, w := range f.Model().Weights() {
						for _, v := range w {
							if !(math.Abs(v) < 1e4) {
								t.Fatalf("%s: weights %v", of, f.Model().Weights())
							}
						}
					}
					likely, err := f.Model().Probabilities(x)
					if err != nil {
						t.Fatal(err)
					}
					for k, count := range rows {
						if said := mat.Sum(likely.ColView(k)); math.Abs(said-count) > 10 {
							t.Errorf("%s: %.1f rows are said to be of class %d, and %g are", of, said, k, count)
						}
						if k == 0 {
							continue
						}
						one, err := f.Of(fmt.Sprint(k))
						if err != nil {
							t.Fatal(err)
						}
						list := one.Coefficients()
						for j := range list[:2] {
							told, can := !list[j].Undetermined(), j < varying
							if told && !can || n == 1500 && can && count > 0 && !told {
								t.Errorf("%s: coefficient %d of class %d, which has %g rows, is determined: %v", of, j, k, count, told)
							}
						}
					}
				}
			}
		}
	}
}

// Intervals where labels alone are private cover as often as they say, of 16 or 40 samples, also from a prior whose signs are turned; what rows don't tell
// has none. Of 160 intervals 141 or fewer cover with a probability of 4e-4 where each does with .95, and of 64 53.
func TestLabelsOnlyIntervals(t *testing.T) {
	truth := []float64{.8, -.04, 0, .5}
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		rows := func(n int, seed, more uint64, sign float64) *dpglm.Dataset {
			x, y := labelledRows(n, loss.Labels(), rand.New(rand.NewPCG(seed, more)))
			bounds := dpglm.Bounds{Feature: 100, LabelRange: rangeOf(loss), Intercept: true}
			x.Scale(sign, x)
			d, err := dpglm.NewDataset(x, y, bounds)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		turned, err := dpglm.Auto(t.Context(), rows(2000, 1, 10, -1), dpglm.Problem{Loss: loss}, dpglm.GDP(100).LabelsOnly(), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Fatal(err)
		}
		for name, prior := range map[string]*dpglm.Model{"no prior": nil, "one turned": turned} {
			covered, all := 0, 0
			for rep := range uint64(sample.Of(16, 40)) {
				f, err := dpglm.Infer(t.Context(), rows(3000, rep, 9, 1), dpglm.Problem{Loss: loss, Prior: prior}, dpglm.GDP(1).LabelsOnly(), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(rep)})
				if err != nil {
					t.Fatal(err)
				}
				list := f.Coefficients()
				for j, want := range truth {
					if list[j].Undetermined() {
						t.Fatalf("%s, %s: coefficient %d isn't determined", loss.Name(), name, j)
					}
					all++
					if list[j].Low <= want && want <= list[j].High {
						covered++
					}
				}
				if !list[4].Undetermined() {
					t.Fatalf("%s, %s: a column that never varies has the interval %v to %v", loss.Name(), name, list[4].Low, list[4].High)
				}
			}
			if covered <= sample.Of(53, 141) {
				t.Errorf("%s, %s: %d of %d intervals cover", loss.Name(), name, covered, all)
			}
			t.Logf("%s, %s: %d of %d", loss.Name(), name, covered, all)
		}
	}
}

// observed is a schema of which the range of x is of the rows.
const observed = `{"version": 1, "label": "y", "private": ["y"], "columns": [{"name": "y", "kind": "binary", "above": 0}, {"name": "x", "kind": "numeric", "range": [0, 9], "observed": true}]}`

// tabled are 400 rows of a schema with a label y and a column x.
func tabled(t *testing.T, schema string, label func(i int) int) *dpglm.Dataset {
	t.Helper()
	rows := "y,x\n"
	for i := range 400 {
		rows += fmt.Sprintf("%d,%d\n", label(i), i%10)
	}
	s, err := table.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	of, err := table.ReadCSV(strings.NewReader(rows), s)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.NewTableDataset(of)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Whatever releases from rows whose ranges are their own refuses budgets that don't protect labels alone, before anything is drawn.
func TestObservedRangesAreForLabels(t *testing.T) {
	d := tabled(t, observed, func(i int) int { return i % 7 / 5 })
	ctx, p := t.Context(), dpglm.Problem{Loss: losses.Logistic{}}
	model, err := dpglm.Auto(ctx, d, p, dpglm.GDP(1).LabelsOnly(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dpglm.Evaluate(ctx, d, model, dpglm.GDP(1).LabelsOnly(), dpglm.EvaluateConfig{}, nil); err != nil {
		t.Error(err)
	}
	for name, run := range map[string]func(env *dpglm.Env) error{
		"Auto": func(env *dpglm.Env) error { _, err := dpglm.Auto(ctx, d, p, dpglm.GDP(1), env); return err },
		"pure": func(env *dpglm.Env) error { _, err := dpglm.Auto(ctx, d, p, dpglm.PureDP(1), env); return err },
		"NoisyGD": func(env *dpglm.Env) error {
			_, err := dpglm.NoisyGD(ctx, d, p, dpglm.GDP(1), dpglm.NoisyGDConfig{}, env)
			return err
		},
		"Infer": func(env *dpglm.Env) error {
			_, err := dpglm.Infer(ctx, d, p, dpglm.GDP(1), dpglm.InferConfig{}, env)
			return err
		},
		"Evaluate": func(env *dpglm.Env) error {
			_, err := dpglm.Evaluate(ctx, d, model, dpglm.GDP(1), dpglm.EvaluateConfig{}, env)
			return err
		},
		"SelectModel": func(env *dpglm.Env) error {
			_, _, err := dpglm.SelectModel(ctx, d, p, dpglm.PureDP(1), [][][]float64{model.Weights()}, 0, env)
			return err
		},
		"votes": func(env *dpglm.Env) error {
			_, err := dpglm.NewPredictor(ctx, d, p, dpglm.PureDP(5), dpglm.VoteConfig{Queries: 5}, env)
			return err
		},
	} {
		err := run(&dpglm.Env{NoiseForTests: silentSource{t}})
		if !errors.Is(err, dpglm.ErrBudget) || !strings.Contains(err.Error(), "labels only") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A condition on the label says who is there, which is public where the label alone is private: no such budget suits it, whatever the schema
// says of privacy.
func TestConditionsOnLabelsAreForRows(t *testing.T) {
	d := tabled(t, `{"version": 1, "label": "y", "where": [{"column": "y", "from": 1}], "columns": [{"name": "y", "kind": "numeric", "range": [0, 9]}, {"name": "x", "kind": "numeric", "range": [0, 9]}]}`, func(i int) int { return i % 7 })
	p := dpglm.Problem{Loss: losses.Squared{}}
	if _, err := dpglm.Auto(t.Context(), d, p, dpglm.GDP(1).LabelsOnly(), &dpglm.Env{NoiseForTests: silentSource{t}}); !errors.Is(err, dpglm.ErrBudget) || !strings.Contains(err.Error(), "condition on the label") {
		t.Error(err)
	}
	if _, err := dpglm.Auto(t.Context(), d, p, dpglm.GDP(1), nil); err != nil {
		t.Error(err)
	}
}

// silentSource is one of which nothing must be drawn.
type silentSource struct{ t *testing.T }

func (s silentSource) Uint64() uint64 {
	s.t.Error("noise is drawn")
	return 0
}

// Where exposures differ by a factor of thousands few rows have most of the events, and what is cut off of these is told by the estimate alone: it is read again until
// it stays. Slopes of sums read but twice are .69 of the truth on average.
func TestLabelsOnlyWideExposures(t *testing.T) {
	const n, seeds, far = 2000, 12, 4.0
	for _, wide := range []float64{far, 5 * far} {
		var part float64
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 12))
			x, y, exposures := mat.NewDense(n, 2, nil), make([]float64, n), make([]float64, n)
			for i := range n {
				x.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64()})
				exposures[i] = far * (2*r.Float64() - 1)
				mean := math.Exp(.4*x.At(i, 0) - .4*x.At(i, 1) - .8 + exposures[i])
				for k := r.ExpFloat64(); k < mean && y[i] < 1000; k += r.ExpFloat64() {
					y[i]++
				}
			}
			d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 6, Label: 1000, Intercept: true}, dpglm.Offsets{Of: exposures, Range: [2]float64{-wide, wide}})
			if err != nil {
				t.Fatal(err)
			}
			m, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.ApproxDP(1, 1e-6).LabelsOnly(), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
			if err != nil {
				t.Fatal(err)
			}
			part += (m.Weights()[0][0] - m.Weights()[0][1]) / (.8 * seeds)
		}
		t.Logf("in ±%g slopes are %.3f of the truth on average", wide, part)
		if !(math.Abs(part-1) <= .12) {
			t.Errorf("in ±%g slopes are %.3f of the truth on average", wide, part)
		}
	}
}

// Where noise hides how far residuals go there are no intervals: of counts with events in half of the rows alone, and of real labels whose range is twice what
// they take, a third of those that there would be hold the slope.
func TestLabelsOnlyWithholdsWhatHistogramsHide(t *testing.T) {
	const n, seeds, slope = 500, 6, .8
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Poisson{}} {
		for epsilon, want := range map[float64]int{1: 0, 8: seeds} {
			found := 0
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, 3))
				x, y, bound := mat.NewDense(n, 1, nil), make([]float64, n), 8.0
				for i := range n {
					x.Set(i, 0, r.NormFloat64())
					if y[i] = 1 + slope*x.At(i, 0) + .3*r.NormFloat64(); loss.Labels() == losses.Count {
						mean := 2 * math.Exp(1+slope*x.At(i, 0)) * float64(r.IntN(2))
						for y[i], bound = 0, 50; mean > 0; mean -= r.ExpFloat64() {
							y[i]++
						}
					}
				}
				d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 4, Label: bound, Intercept: true})
				if err != nil {
					t.Fatal(err)
				}
				f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: loss}, dpglm.ApproxDP(epsilon, 1e-6).LabelsOnly(), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
				if err != nil {
					t.Fatal(err)
				}
				if !f.Coefficients()[0].Undetermined() {
					found++
				}
			}
			if found != want {
				t.Errorf("%s, ε = %g: %d of %d have an interval, want %d", loss.Name(), epsilon, found, seeds, want)
			}
		}
	}
}

// TestLabelsOnlyKnowsNoUnits wants intervals to be the same whatever unit a column has: a coefficient is determined by what it is for rows that have the column, and not
// for a step of 1. They differ by what noise makes of columns that are scaled by other numbers in binary, none here.
func TestLabelsOnlyKnowsNoUnits(t *testing.T) {
	const n = 4000
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Poisson{}, losses.Squared{}} {
		var plain []dpglm.Coefficient
		for _, unit := range []float64{1, 0x1p-10, 0x1p10, 0x1p20} {
			r := rand.New(rand.NewPCG(3, 4))
			x, y := mat.NewDense(n, 2, nil), make([]float64, n)
			for i := range n {
				a, b := r.NormFloat64(), r.NormFloat64()
				x.SetRow(i, []float64{a * unit, b * unit})
				switch score := 0.5*a - 0.3*b; loss.(type) {
				case losses.Logistic:
					if r.Float64() < 1/(1+math.Exp(-score)) {
						y[i] = 1
					}
				case losses.Poisson:
					for left := math.Exp(score) - r.ExpFloat64(); left > 0; left -= r.ExpFloat64() {
						y[i]++
					}
				default:
					y[i] = score + r.NormFloat64()
				}
			}
			d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 8 * unit, Label: 8, Intercept: true})
			if err != nil {
				t.Fatal(err)
			}
			f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: loss}, dpglm.ApproxDP(2, 1e-6).LabelsOnly(), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(5)})
			if err != nil {
				t.Fatal(err)
			}
			if plain == nil {
				plain = f.Coefficients()
			}
			for j, c := range f.Coefficients() {
				times := []float64{unit, unit, 1}[j]
				if was := plain[j]; was.Undetermined() || math.Abs(c.Estimate*times-was.Estimate) > 1e-3*was.StandardError || math.Abs(c.StandardError*times/was.StandardError-1) > 1e-3 {
					t.Errorf("%s in units of %g: %s is %g ± %g, want %g ± %g", loss.Name(), unit, c.Name, c.Estimate*times, c.StandardError*times, was.Estimate, was.StandardError)
				}
			}
		}
	}
}

// TestLabelsOnlyWithholdsWhatFewRowsHold wants no slopes of counts where noise hides the labels of the few rows that have most events, as offsets make them: the others say next
// to nothing, and intervals of slopes that are drawn to 0 were narrow. Where those rows are seen, or all have events, slopes are there, and hold.
func TestLabelsOnlyWithholdsWhatFewRowsHold(t *testing.T) {
	const fits, slope = 12, 0.4
	for _, c := range []struct {
		rows          int
		wide, epsilon float64
		printed       bool
	}{{300, 10, 8, false}, {300, 6, 8, false}, {1000, 10, 8, true}, {2000, 0.001, 1, true}} {
		printed, held := 0, 0
		for seed := range uint64(fits) {
			r := rand.New(rand.NewPCG(seed, 4))
			x, y, offsets := mat.NewDense(c.rows, 1, nil), make([]float64, c.rows), make([]float64, c.rows)
			for i := range y {
				x.Set(i, 0, r.NormFloat64())
				offsets[i] = c.wide * (2*r.Float64() - 1)
				y[i] = distuv.Poisson{Lambda: math.Exp(0.5 + slope*x.At(i, 0) + offsets[i]), Src: r}.Rand()
			}
			d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 8, Label: 1e6, Intercept: true}, dpglm.Offsets{Of: offsets, Range: [2]float64{-c.wide, c.wide}})
			if err != nil {
				t.Fatal(err)
			}
			f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.ApproxDP(c.epsilon, 1e-6).LabelsOnly(), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
			if err != nil {
				t.Fatal(err)
			}
			if of := f.Coefficients()[0]; !of.Undetermined() {
				printed++
				if of.Low <= slope && slope <= of.High {
					held++
				}
			}
		}
		t.Logf("%d rows, offsets of ±%g, ε = %g: %d of %d printed, %d hold", c.rows, c.wide, c.epsilon, printed, fits, held)
		if c.printed && (printed < fits/2 || held < printed-2) || !c.printed && printed > 0 {
			t.Errorf("%d rows, offsets of ±%g, ε = %g: %d of %d printed, %d hold", c.rows, c.wide, c.epsilon, printed, fits, held)
		}
	}
}
