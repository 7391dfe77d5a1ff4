package learners_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
)

// realLearners are all learners of real labels.
var realLearners = map[string]dpglm.Learner{
	"Auto": dpglm.AutoConfig{}, "NoisyGD": dpglm.NoisyGDConfig{}, "PreconditionedGD": dpglm.StandardisedGDConfig{}, "Infer": dpglm.InferConfig{},
	"FrankWolfe": dpglm.FrankWolfeConfig{Steps: 1}, "FrankWolfe within the ball": dpglm.FrankWolfeConfig{Output: dpglm.WithinBall},
	"ObjectivePerturbation": dpglm.ObjectivePerturbationConfig{}, "OutputPerturbation": dpglm.OutputPerturbationConfig{},
	"JL": dpglm.JLConfig{K: 1}, "GridSearch": dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}},
	"Boost": dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}},
}

// Adding a constant to all labels and to their range adds it to all predictions, with
// the same noise, bit for bit but for the rounding of the sum; and a plain bound is the
// range around 0.
func TestShiftedLabelsShiftPredictions(t *testing.T) {
	x, y := given.RealRows(200)
	for name, l := range realLearners {
		for _, intercept := range []bool{false, true} {
			fitted := func(y []float64, f dpglm.Bounds) *dpglm.Model {
				f.Feature, f.Intercept = 2, intercept
				d := given.Dataset(t, x, y, f)
				plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(2))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				m, err := plan.Run(ctx, d, given.Seeded(7))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return m
			}
			plain := fitted(y, dpglm.Bounds{Label: 1.5})
			if same := fitted(y, dpglm.Bounds{LabelRange: [2]float64{-1.5, 1.5}}); !slices.Equal(same.Weights()[0], plain.Weights()[0]) {
				t.Errorf("%s: a range around 0 gives the weights %v, the bound %v", name, same.Weights()[0], plain.Weights()[0])
			}
			want := given.Plus(given.Predicted(t, plain, x), 1024)
			moved := fitted(given.Plus(y, 1024), dpglm.Bounds{LabelRange: [2]float64{1022.5, 1025.5}})
			for i, v := range given.Predicted(t, moved, x) {
				if math.Abs(v-want[i]) > 1e-12*1024 || math.Abs(v) < 1000 {
					t.Fatalf("%s, intercept %v: prediction %d is %.17g, want %.17g", name, intercept, i, v, want[i])
				}
			}
			w := plain.Weights()[0]
			if intercept {
				w[2] += 1024
			}
			if !slices.Equal(moved.Weights()[0], w) {
				t.Errorf("%s, intercept %v: weights %v, want %v", name, intercept, moved.Weights()[0], w)
			}
		}
	}
}

// The same for predictors.
func TestShiftedLabelsShiftAnswers(t *testing.T) {
	x, y := given.RealRows(200)
	for name, c := range map[string]dpglm.PredictorConfig{
		"average": dpglm.AverageConfig{Queries: 3, Parts: 5}, "stable": dpglm.StableConfig{Queries: 3}, "descent": dpglm.DescentConfig{Queries: 3},
	} {
		answers := func(y []float64, f dpglm.Bounds) []float64 {
			f.Feature = 2
			p, err := dpglm.NewPredictor(ctx, given.Dataset(t, x, y, f), dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(2), c, given.Seeded(7))
			if err != nil {
				t.Fatal(err)
			}
			var all []float64
			for k := range 3 {
				v, err := p.Answer(ctx, mat.Row(nil, k, x))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, v)
			}
			return all
		}
		want := given.Plus(answers(y, dpglm.Bounds{Label: 1.5}), 1024)
		if got := answers(given.Plus(y, 1024), dpglm.Bounds{LabelRange: [2]float64{1022.5, 1025.5}}); !slices.Equal(got, want) {
			t.Errorf("%s: answers %v, want %v", name, got, want)
		}
	}
}

// A label beyond an end of the range counts as that end, and one within as itself.
func TestLabelsAreHeldToTheirRange(t *testing.T) {
	x, y := given.RealRows(50)
	fitted := func(label float64) []float64 {
		labels := given.Plus(y, 10)
		labels[7] = label
		d := given.Dataset(t, x, labels, dpglm.Bounds{Feature: 2, LabelRange: [2]float64{8.5, 12.5}})
		m, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Squared{}, Radius: 5}, dpglm.GDP(1), dpglm.NoisyGDConfig{Clip: dpglm.NoClip}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights()[0]
	}
	low, high := fitted(8.5), fitted(12.5)
	for label, want := range map[float64][]float64{8: low, 0: low, -1e300: low, 13: high, math.MaxFloat64: high} {
		if !slices.Equal(fitted(label), want) {
			t.Errorf("the label %g isn't held to its range", label)
		}
	}
	for _, inner := range []float64{8.75, 12.25} {
		if w := fitted(inner); slices.Equal(w, low) || slices.Equal(w, high) {
			t.Errorf("the label %g is changed", inner)
		}
	}
}

// Labels that are heavy on one side, in [0, 18777] with a mean near 5,300, need not be
// bounded on the other side too: the noise in a prediction is half as large, its
// square a quarter, and the mean prediction is the mean label's. Over 20 seeds the
// ratio of squares of 60 normal numbers is below 2, if it is 4, with probability 4e-3;
// the seeds are fixed.
func TestOneSidedLabels(t *testing.T) {
	const n, high = 2000, 18777.0
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		a, b := 2*r.Float64()-1, 2*r.Float64()-1
		x.SetRow(i, []float64{a, b})
		y[i] = math.Min(high, math.Exp(8.2+0.5*a-0.3*b+0.9*r.NormFloat64()))
	}
	fits := func(f dpglm.Bounds, mu float64, seed uint64) []float64 {
		f.Feature, f.Intercept = 1.5, true
		m, err := dpglm.NoisyGD(ctx, given.Dataset(t, x, y, f), dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(mu), dpglm.NoisyGDConfig{Clip: dpglm.NoClip, Steps: 100}, given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		return given.Predicted(t, m, x)
	}
	bounds := []dpglm.Bounds{{Label: high}, {LabelRange: [2]float64{0, high}}}
	noise := make([]float64, len(bounds))
	for k, f := range bounds {
		exact, bias := fits(f, 1e6, 0), 0.0
		for seed := range uint64(20) {
			z := fits(f, 1, seed+1)
			bias += (stat.Mean(z, nil)/stat.Mean(y, nil) - 1) / 20
			for i, v := range z {
				noise[k] += (v - exact[i]) * (v - exact[i])
			}
		}
		t.Logf("%+v: mean prediction off by %.4f", f, bias)
		if k == 1 && math.Abs(bias) > 0.02 {
			t.Errorf("mean predictions are off by %g", bias)
		}
	}
	if ratio := noise[0] / noise[1]; !(ratio > 2 && ratio < 8) {
		t.Errorf("a bound has %g times the squared noise of a range, want about 4", ratio)
	}
}

// SelectModel compares models on the labels' own scale, as Weights gives them.
func TestSelectModelCentres(t *testing.T) {
	x, y := given.RealRows(200)
	f := dpglm.Bounds{Feature: 2, LabelRange: [2]float64{1022.5, 1025.5}, Intercept: true}
	models := [][][]float64{{{1, -1, 0}}, {{1, -1, 1023}}, {{1, -1, 1024}}, {{1, -1, 1025}}}
	choose := func(d *dpglm.Dataset, models [][][]float64) int {
		best, _, err := dpglm.SelectModel(ctx, d, dpglm.Problem{Loss: losses.Absolute{}}, dpglm.PureDP(10), models, 0, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return best
	}
	if best := choose(given.Dataset(t, x, given.Plus(y, 1024), f), models); best != 2 || models[2][0][2] != 1024 {
		t.Errorf("model %d is chosen, of %v", best, models)
	}
	f.Intercept = false
	if best := choose(given.Dataset(t, x, given.Plus(y, 1024), f), [][][]float64{{{-1, 1}}, {{1, -1}}}); best != 1 {
		t.Errorf("without intercepts model %d is chosen", best)
	}
}

// The range of counts begins at 0, and is then the same as its upper end as a bound;
// binary losses don't read it.
func TestRangesOfOtherLabels(t *testing.T) {
	x, y := given.RealRows(50)
	for i := range y {
		y[i] = math.Floor(4 * math.Abs(y[i]))
	}
	poisson, config := dpglm.Problem{Loss: losses.Poisson{}}, dpglm.NoisyGDConfig{}
	bounds := func(lo, hi float64) dpglm.Bounds {
		return dpglm.Bounds{Feature: 2, LabelRange: [2]float64{lo, hi}}
	}
	for name, l := range map[string]dpglm.Learner{
		"NoisyGD": config, "ObjectivePerturbation": dpglm.ObjectivePerturbationConfig{}, "OutputPerturbation": dpglm.OutputPerturbationConfig{},
		"JL": dpglm.JLConfig{K: 1}, "GridSearch": dpglm.GridSearchConfig{Learner: dpglm.AutoConfig{}}, "Boost": dpglm.BoostConfig{Learner: config},
	} {
		var weights [2][]float64
		for k, f := range []dpglm.Bounds{{Feature: 2, Label: 5}, bounds(0, 5)} {
			d := given.Dataset(t, x, y, f)
			plan, err := l.Plan(d.Shape(), poisson, dpglm.GDP(1))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			m, err := plan.Run(ctx, d, given.Seeded(1))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			weights[k] = m.Weights()[0]
		}
		if !slices.Equal(weights[0], weights[1]) {
			t.Errorf("%s: counts up to 5 and in [0, 5] give the weights %v", name, weights)
		}
	}
	for _, f := range []dpglm.Bounds{bounds(1, 5), bounds(-1, 5)} {
		d := given.Dataset(t, x, y, f)
		if _, err := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Gamma{Least: 0.1}}, dpglm.GDP(1), nil); !errors.Is(err, dpglm.ErrBound) || !strings.Contains(err.Error(), "begin at 0") {
			t.Errorf("%v: %v", f.LabelRange, err)
		}
		if _, err := dpglm.NoisyGD(ctx, d, poisson, dpglm.GDP(1), config, nil); !errors.Is(err, dpglm.ErrBound) || !strings.Contains(err.Error(), "begin at 0") {
			t.Errorf("%v: %v", f.LabelRange, err)
		}
		if _, _, err := dpglm.SelectModel(ctx, d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(1), [][][]float64{{{0, 0}}}, 0, nil); !errors.Is(err, dpglm.ErrBound) {
			t.Errorf("%v: %v", f.LabelRange, err)
		}
		if _, err := dpglm.NewPredictor(ctx, d, poisson, dpglm.GDP(1), dpglm.StableConfig{Queries: 1}, nil); !errors.Is(err, dpglm.ErrBound) {
			t.Errorf("%v: %v", f.LabelRange, err)
		}
	}
	y[3] = -0.5
	if _, err := dpglm.Auto(ctx, given.Dataset(t, x, y, bounds(0, 5)), dpglm.Problem{Loss: losses.Gamma{Least: 0.1}}, dpglm.GDP(1), nil); !errors.Is(err, dpglm.ErrLabel) {
		t.Errorf("a negative amount: %v", err)
	}
	for i := range y {
		y[i] = float64(i % 2)
	}
	a, errA := dpglm.NoisyGD(ctx, given.Dataset(t, x, y, bounds(3, 7)), logistic, dpglm.GDP(1), config, given.Seeded(1))
	b, errB := dpglm.NoisyGD(ctx, given.Dataset(t, x, y, dpglm.Bounds{Feature: 2}), logistic, dpglm.GDP(1), config, given.Seeded(1))
	if errA != nil || errB != nil || !slices.Equal(a.Weights()[0], b.Weights()[0]) {
		t.Errorf("a binary loss reads the range: %v, %v", errA, errB)
	}
}

// A range is two numbers, in order, of a sane magnitude, beside no other bound: errors
// come before anything else, and name it.
func TestBadLabelRanges(t *testing.T) {
	x, y := given.RealRows(10)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		label  float64
		limits [2]float64
	}{
		{0, [2]float64{1, 1}}, {0, [2]float64{2, 1}}, {0, [2]float64{nan, 1}}, {0, [2]float64{0, nan}}, {0, [2]float64{nan, nan}},
		{0, [2]float64{-inf, 1}}, {0, [2]float64{0, inf}}, {0, [2]float64{0, 1e61}}, {0, [2]float64{-1e61, 0}}, {0, [2]float64{0, 1e-61}},
		{1, [2]float64{0, 1}}, {nan, [2]float64{0, 1}}, {-1, [2]float64{}}, {nan, [2]float64{}},
	} {
		schema := dpglm.Schema{Columns: []string{"a", "b"}, Numeric: map[string][2]float64{"a": {0, 1}, "b": {0, 1}}, Label: c.label, LabelRange: c.limits}
		for _, f := range []dpglm.Facts{dpglm.Bounds{Feature: 1, Label: c.label, LabelRange: c.limits}, schema} {
			d, err := dpglm.NewDataset(x, y, f)
			if d != nil || !errors.Is(err, dpglm.ErrBound) || !strings.Contains(strings.ToLower(err.Error()), "label") {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
	shape := dpglm.Shape{Rows: 10, Dim: 2, FeatureBound: 1, LabelBound: 1}
	for _, centre := range []float64{nan, inf, -1e61} {
		shape.LabelCentre = centre
		if _, err := (dpglm.NoisyGDConfig{}).Plan(shape, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(1)); !errors.Is(err, dpglm.ErrBound) {
			t.Errorf("centre %g: %v", centre, err)
		}
	}
}

// Extreme ranges that are allowed give finite weights.
func TestExtremeLabelRanges(t *testing.T) {
	x, y := given.RealRows(20)
	for _, limits := range [][2]float64{{-1e59, 1e59}, {0, 2e-60}, {9e59, 1e60}, {1e9, 1e9 + 1e-6}, {-3, -1}} {
		for i := range y {
			y[i] = []float64{limits[0], limits[1], math.MaxFloat64, -math.MaxFloat64}[i%4]
		}
		d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, LabelRange: limits, Intercept: true})
		m, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Huber{Kappa: 1}}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 3}, given.Seeded(1))
		if err != nil {
			t.Errorf("%v: %v", limits, err)
			continue
		}
		for _, v := range given.Predicted(t, m, x) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%v: prediction %g", limits, v)
			}
		}
	}
}

// A stored model predicts as before, with the middle of the range in its offset or in
// its intercept; one that contradicts its own bounds is refused.
func TestModelStoresItsOffset(t *testing.T) {
	x, y := given.RealRows(50)
	fitted := func(f dpglm.Facts) (*dpglm.Model, string) {
		m, err := dpglm.NoisyGD(ctx, given.Dataset(t, x, given.Plus(y, 10), f), dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(1), dpglm.NoisyGDConfig{}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return m, string(text)
	}
	schema := dpglm.Schema{Columns: []string{"a", "b"}, Numeric: map[string][2]float64{"a": {0, 1}, "b": {-1, 1}}, LabelRange: [2]float64{8, 12}, Intercept: true}
	for _, f := range []dpglm.Facts{dpglm.Bounds{Feature: 2, LabelRange: [2]float64{8, 12}}, schema} {
		m, text := fitted(f)
		var back dpglm.Model
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(given.Predicted(t, &back, x), given.Predicted(t, m, x)) || !strings.Contains(text, `"label_range":[8,12]`) {
			t.Errorf("%s predicts otherwise", text)
		}
	}
	_, bounded := fitted(dpglm.Bounds{Feature: 2, LabelRange: [2]float64{8, 12}})
	_, plain := fitted(dpglm.Bounds{Feature: 2, Label: 12})
	if strings.Contains(plain, "label_range") || strings.Contains(plain, "offset") {
		t.Errorf("a plain bound is stored as %s", plain)
	}
	for _, c := range [][3]string{
		{bounded, `"offset":10`, `"offset":9`}, {bounded, `"offset":10,`, ``}, {bounded, `[8,12]`, `[8,13]`}, {bounded, `[8,12]`, `[12,8]`},
		{bounded, `[8,12]`, `[8,12],"label":3`}, {bounded, `[8,12]`, `[8,12],"intercept":true`}, {plain, `"ledger"`, `"offset":10,"ledger"`},
		{bounded, `"labels":"real"`, `"labels":"binary"`},
	} {
		bad := strings.Replace(c[0], c[1], c[2], 1)
		if bad == c[0] {
			t.Fatalf("%s is not in %s", c[1], c[0])
		}
		var back dpglm.Model
		if err := json.Unmarshal(resealed.JSON([]byte(bad)), &back); !errors.Is(err, dpglm.ErrModel) {
			t.Errorf("%s for %s: %v", c[2], c[1], err)
		}
	}
}

// A run of a predictor reads the labels as the planned loss takes them, whatever the
// caller makes of the plan's exported fields.
func TestPredictorPlansKeepTheirLoss(t *testing.T) {
	x, y := given.RealRows(50)
	d := given.Dataset(t, x, given.Plus(y, 3), dpglm.Bounds{Feature: 2, LabelRange: [2]float64{0, 6}})
	ask := func(change func(*dpglm.PredictorPlan)) float64 {
		plan, err := dpglm.StableConfig{Queries: 1}.Plan(d.Shape(), dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(1))
		if err != nil {
			t.Fatal(err)
		}
		change(plan)
		p, err := plan.Run(ctx, d, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Answer(ctx, []float64{1, 0})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := ask(func(*dpglm.PredictorPlan) {})
	for _, loss := range []losses.Loss{nil, (*losses.Squared)(nil), losses.Poisson{}} {
		if got := ask(func(p *dpglm.PredictorPlan) { p.Problem.Loss = loss }); got != want {
			t.Errorf("%T: answer %g, want %g", loss, got, want)
		}
	}
}
