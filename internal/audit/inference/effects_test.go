package inference_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// rise is by how much the mean of a label rises with the score of shops, on average: by the definition.
func (s *shops) rise(loss losses.Loss, w []float64) (mean float64) {
	n, d := s.x.Dims()
	for i := range n {
		z := w[d]
		for j, v := range s.x.RawRowView(i) {
			z += w[j] * v
		}
		switch losses.LinkOf(loss) {
		case losses.Logit:
			mean += 1 / (2 + math.Exp(z) + math.Exp(-z)) / float64(n)
		case losses.ProbitLink:
			mean += distuv.UnitNormal.Prob(z) / float64(n)
		case losses.Log:
			mean += math.Exp(z) / float64(n)
		default:
			mean += 1 / float64(n)
		}
	}
	return mean
}

// Without noise average marginal effects are coefficients times the mean of the derivative over rows, but for the
// width of a histogram's cells; odds and rate ratios are exponentials; and means of rows are the model's.
func TestEffectsWithoutNoise(t *testing.T) {
	for _, c := range []struct {
		loss  losses.Loss
		ratio string
	}{{losses.Logistic{}, "odds ratio"}, {losses.Probit{}, ""}, {losses.Poisson{}, "rate ratio"}, {losses.Squared{}, ""}} {
		s := newShops(4000, c.loss, false, 1)
		f := s.infer(t, c.loss, dpglm.GDP(3e4), 1)
		effects, err := f.MarginalEffects()
		if err != nil || len(effects) != 3 {
			t.Fatal(len(effects), err)
		}
		var w []float64
		for _, k := range f.Coefficients() {
			w = append(w, k.Estimate)
		}
		rise := s.rise(c.loss, w)
		for j, e := range effects {
			if math.Abs(e.Estimate/(rise*w[j])-1) > 0.01 || !(e.Low < e.Estimate && e.Estimate < e.High) || e.Name != f.Coefficients()[j].Name {
				t.Errorf("%s: %+v, want %g", c.loss.Name(), e, rise*w[j])
			}
		}
		if got := f.Model().Ratio(); got != c.ratio {
			t.Errorf("%s has %q", c.loss.Name(), got)
		}
		ten, err := f.Coefficients()[0].Per(-10)
		if e := ten.Exp(); err != nil || math.Abs(e.Value-math.Exp(-10*w[0])) > 1e-12 || !(e.Low < e.Value && e.Value < e.High) || ten.Z*f.Coefficients()[0].Z > 0 {
			t.Errorf("%s: per −10: %+v, %+v (%v)", c.loss.Name(), ten, e, err)
		}
		first := s.x.Slice(0, 20, 0, 3)
		means, err := f.Means(first, nil)
		if err != nil {
			t.Fatal(err)
		}
		own, err := f.Model().Means(first)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range means {
			if m.Value != own[i] || !(m.Low < m.Value && m.Value < m.High) {
				t.Errorf("%s, row %d: %+v, the model's %g", c.loss.Name(), i, m, own[i])
			}
		}
	}
}

// What rows come to may be less than n says: weights below the largest, a secret number of rows far below its bound, persons
// who have none. Average marginal effects are those of the rows all the same, and something is determined.
func TestEffectsOfFewerThanStated(t *testing.T) {
	const n = 4000
	weights, persons := make([]float64, n), make([]int, n)
	for i := range weights {
		weights[i], persons[i] = 1, i
	}
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		s := newShops(n, loss, false, 1)
		for name, detail := range map[string]dpglm.RowDetail{
			"weights": dpglm.Weights{Of: weights, Max: 9}, "secret n": dpglm.AddRemove{AtMost: 9 * n}, "persons": dpglm.Persons{Of: persons, Count: 9 * n, MaxRows: 1},
		} {
			d, err := dpglm.NewDataset(s.x, s.y, s.schema, detail)
			if err != nil {
				t.Fatal(err)
			}
			budget := dpglm.GDP(3e4)
			if d.Shape().AddRemove {
				budget = budget.AddRemove()
			}
			f, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: loss}, budget, dpglm.InferConfig{}, given.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			effects, err := f.MarginalEffects()
			if err != nil {
				t.Fatal(err)
			}
			var w []float64
			for _, k := range f.Coefficients() {
				w = append(w, k.Estimate)
			}
			rise := s.rise(loss, w)
			for j, e := range effects {
				if !(math.Abs(e.Estimate/(rise*w[j])-1) < 0.01) || !(e.Low < e.Estimate && e.Estimate < e.High) {
					t.Errorf("%s, %s: %+v, want %g", loss.Name(), name, e, rise*w[j])
				}
			}
		}
	}
}

// Of 150 fits with three marginal effects and the means of two rows, 750 intervals, some 38 don't cover what the
// population has. Those of one fit err together, so that their number has a standard deviation of some 10: 68
// come about in one of a thousand studies, and fewer than 8, and 36 of the 300 of 60 fits, and none.
func TestEffectsCover(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	rows := mat.NewDense(2, 3, []float64{2, 1, 0, 8, 0, 0})
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Poisson{}} {
		if loss == (losses.Logistic{}) && !sample.All() {
			continue
		}
		rise := newShops(sample.Of(60_000, 200_000), loss, false, 999).rise(loss, shopTruth)
		missed := 0
		fits := sample.Of(60, 150)
		for k := range fits {
			f := newShops(5000, loss, false, uint64(100+k)).infer(t, loss, dpglm.GDP(0.3), uint64(k))
			effects, err := f.MarginalEffects()
			if err != nil {
				t.Fatal(err)
			}
			for j, e := range effects {
				if want := rise * shopTruth[j]; e.Low > want || e.High < want {
					missed++
				}
			}
			means, err := f.Means(rows, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range means {
				z := shopTruth[3] + rows.At(i, 0)*shopTruth[0] + rows.At(i, 1)*shopTruth[1]
				if want := losses.LinkOf(loss).Mean(z); m.Low > want || m.High < want {
					missed++
				}
			}
		}
		t.Logf("%s: %d of %d missed", loss.Name(), missed, 5*fits)
		if missed < sample.Of(1, 8) || missed > sample.Of(35, 68) {
			t.Errorf("%s: %d of %d intervals don't cover", loss.Name(), missed, 5*fits)
		}
	}
}

// Where nothing is determined neither are effects, and a mean may be anything; levels have no mean, and what Infer
// hasn't made has nothing.
func TestEffectsOfNothing(t *testing.T) {
	f := newShops(60, losses.Logistic{}, false, 1).infer(t, losses.Logistic{}, dpglm.GDP(0.1), 1)
	if f.Note() == "" {
		t.Fatal("something is determined")
	}
	effects, err := f.MarginalEffects()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range effects {
		if !e.Undetermined() || e.P != 1 || !math.IsInf(e.High, 1) {
			t.Errorf("%+v", e)
		}
	}
	means, err := f.Means(mat.NewDense(1, 3, []float64{2, 1, 0}), nil)
	if err != nil || means[0].Low != 0 || means[0].High != 1 {
		t.Errorf("%+v, %v", means, err)
	}
	if _, err := f.Means(mat.NewDense(1, 2, nil), nil); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("two columns in place of three: %v", err)
	}
	if _, err := f.Means(mat.NewDense(1, 3, nil), []float64{}); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("no offset for a row: %v", err)
	}
	if _, err := f.Coefficients()[0].Per(0); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("per 0: %v", err)
	}
	if _, err := (*dpglm.Inference)(nil).MarginalEffects(); !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := new(dpglm.Inference).Means(mat.NewDense(1, 1, nil), nil); !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("of nothing: %v", err)
	}
}

// An interval of a mean that lies beyond the range of labels is the whole range, as the model is wrong there; one that
// reaches into it ends at the range's end.
func TestMeansBeyondLabels(t *testing.T) {
	r := mechanisms.NewSeededSource(1)
	unit := func() float64 { return float64(r.Uint64()>>11) / (1 << 53) }
	const n = 2000
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		v := unit()/2 - 0.25
		x.Set(i, 0, v)
		y[i] = 4*v + (unit()-0.5)/4
	}
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1, LabelRange: [2]float64{-1.5, 1.5}, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(100), dpglm.InferConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	end := 1.5 / f.Coefficients()[0].Estimate
	list, err := f.Means(mat.NewDense(4, 1, []float64{1, -1, end, 0}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, value := range []float64{1.5, -1.5} {
		if list[k] != (dpglm.Interval{Value: value, Low: -1.5, High: 1.5}) {
			t.Errorf("beyond the range: %v", list[k])
		}
	}
	if at := list[2]; at.High != 1.5 || !(at.Low > 1.4 && at.Low < 1.5) || list[3].High-list[3].Low > 0.1 {
		t.Errorf("at its end %v, and within %v", at, list[3])
	}
}

// Columns that stand in a square, a logarithm, a spline or a product have no effect: they are left out with their levels and indicators, and
// what is left is the coefficient times the mean of the derivative, which is that of all rows.
func TestEffectsOfBentColumns(t *testing.T) {
	schema, err := table.ParseSchema([]byte(`{"version": 1, "label": "visits", "columns": [
		{"name": "square", "kind": "numeric", "range": [0, 1], "square": true},
		{"name": "straight", "kind": "numeric", "range": [0, 1]},
		{"name": "log", "kind": "numeric", "range": [1, 9], "log": true, "missing": "indicator"},
		{"name": "spline", "kind": "numeric", "range": [0, 1], "knots": [0.5]},
		{"name": "product", "kind": "numeric", "range": [0, 1]},
		{"name": "levels", "kind": "categorical", "levels": ["a", "b", "c"]},
		{"name": "plain", "kind": "categorical", "levels": ["a", "b", "c"]},
		{"name": "visits", "kind": "count", "cap": 20}], "interactions": [["product", "levels"]]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, text, mean := rand.New(rand.NewPCG(1, 8)), "square,straight,log,spline,product,levels,plain,visits\n", 0.0
	const n = 6000
	for range n {
		straight, levels, plain := r.Float64(), r.IntN(3), r.IntN(3)
		visits := math.Min(20, distuv.Poisson{Lambda: math.Exp(straight + float64(plain)/4), Src: r}.Rand())
		text += fmt.Sprintf("%.3f,%.3f,%.3f,%.3f,%.3f,%c,%c,%.0f\n", r.Float64(), straight, 1+8*r.Float64(), r.Float64(), r.Float64(), 'a'+levels, 'a'+plain, visits)
		mean += visits / n
	}
	read, err := table.ReadCSV(strings.NewReader(text), schema)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(100), dpglm.InferConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	effects, err := f.MarginalEffects()
	if err != nil || len(effects) != 3 {
		t.Fatalf("%+v, %v", effects, err)
	}
	for k, name := range []string{"straight", "plain=b", "plain=c"} {
		at := slices.IndexFunc(f.Coefficients(), func(c dpglm.Coefficient) bool { return c.Name == name })
		if want := mean * f.Coefficients()[at].Estimate; effects[k].Name != name || math.Abs(effects[k].Estimate/want-1) > 0.02 || effects[k].Undetermined() {
			t.Errorf("%+v, want %s and %g", effects[k], name, want)
		}
	}
}
