package classes_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// thirds are rows of three classes that follow softmax regression, with coefficients of two columns and an intercept
// for the second and third against the first.
func thirds(t *testing.T, n int, seed uint64) *dpglm.Dataset {
	t.Helper()
	return nonlinear(t, n, seed, 0)
}

// nonlinear are such rows with scores that aren't linear, by so much.
func nonlinear(t *testing.T, n int, seed uint64, by float64) *dpglm.Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 31))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range y {
		a, b := r.NormFloat64(), r.ExpFloat64()-1
		x.SetRow(i, []float64{a, b})
		odds := [3]float64{1}
		for k, w := range thirdsTruth {
			odds[k+1] = math.Exp(w[0]*a + w[1]*b + w[2])
		}
		odds[1] *= math.Exp(by * (a*a - a*b))
		odds[2] *= math.Exp(by * math.Sin(2*a))
		u := r.Float64() * (odds[0] + odds[1] + odds[2])
		for u -= odds[0]; u > 0 && y[i] < 2; u -= odds[int(y[i])] {
			y[i]++
		}
	}
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 4, Label: 2, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// coefficientsOf are those of a class against the reference.
func coefficientsOf(t *testing.T, f *dpglm.ClassInference, class int) []dpglm.Coefficient {
	t.Helper()
	of, err := f.Of(strconv.Itoa(class))
	if err != nil {
		t.Fatal(err)
	}
	return of.Coefficients()
}

var thirdsTruth = [2][3]float64{{0.8, -0.4, 0.3}, {-0.5, 0.6, -0.2}}

// Intervals of classes against the reference cover the coefficients of the softmax that labels follow: of 40 fits with
// six, some 12 of 240 don't. Those of one fit err together, so that their number has a standard deviation of some 5:
// 28 come about in one of a thousand studies, and fewer than 2, and 15 of the 96 of 16 fits. The model has the same
// coefficients, and without much noise is close to the truth.
func TestInferClassesCovers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	p := dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}
	missed, square := 0, 0.0
	fits := sample.Of(16, 40)
	for k := range fits {
		f, err := dpglm.InferClasses(ctx, thirds(t, 6000, uint64(k)), p, dpglm.GDP(0.5), dpglm.InferConfig{}, given.Seeded(uint64(k)))
		if err != nil {
			t.Fatal(err)
		}
		for class, truth := range thirdsTruth {
			for j, c := range coefficientsOf(t, f, class+1) {
				if c.Low > truth[j] || c.High < truth[j] {
					missed++
				}
				square += math.Pow((c.Estimate-truth[j])/c.StandardError, 2) / float64(6*fits)
			}
		}
		if k > 0 {
			continue
		}
		if u := f.Model().Ledger().Unit(); !f.Model().Ledger().Within(3, 1e-3) || u.Of != "row" {
			t.Errorf("%v", f.Model().Ledger())
		}
	}
	t.Logf("%d of %d missed, mean z² %.2f", missed, 6*fits, square)
	if missed < sample.Of(0, 2) || missed > sample.Of(15, 28) || square < sample.Of(0.4, 0.6) || square > sample.Of(1.8, 1.5) {
		t.Errorf("%d of %d intervals don't cover, and squared errors are %.2f times what standard errors say", missed, 6*fits, square)
	}
	f, err := dpglm.InferClasses(ctx, thirds(t, 30_000, 99), p, dpglm.GDP(1000), dpglm.InferConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Model().Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	for class, truth := range thirdsTruth {
		for j, c := range coefficientsOf(t, f, class+1) {
			if math.Abs(c.Estimate-truth[j]) > 4*c.StandardError || math.Abs(c.Estimate-list[3*(class+1)+j].Value) > 1e-9 || c.StandardError > 0.05 {
				t.Errorf("class %d: %+v, want %g; the model has %+v", class+1, c, truth[j], list[3*(class+1)+j])
			}
		}
	}
	if s := f.String(); strings.Count(s, " against 0, among the rows of both: logistic regression") != 2 {
		t.Error(s)
	}
	text, err := json.Marshal(f)
	var read dpglm.ClassInference
	if err := errors.Join(err, json.Unmarshal(text, &read)); err != nil || read.String() != f.String() {
		t.Errorf("%v\n%v", err, &read)
	}
	if err := json.Unmarshal([]byte(strings.Replace(string(text), `"version":1`, `"version":2`, 1)), &read); !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("another version: %v", err)
	}
}

// Where labels alone are private intervals of classes cover the coefficients of the softmax that labels follow, and effects, of one sum: with less
// budget than rows would need, where noise is most of the errors, and narrower where rows have any. Of 40 fits some 12 of 240 intervals don't cover, with a deviation of some 5 as above: 28 come about
// in one of a thousand studies, and fewer than 2, and 15 of 96 of 16 fits.
func TestInferClassesOfLabelsCovers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	p := dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}
	const rows, mu, rowsNeed = 3000, 0.08, 0.2
	fits := sample.Of(16, 40)
	infer := func(k int, b dpglm.Budget) *dpglm.ClassInference {
		f, err := dpglm.InferClasses(ctx, thirds(t, rows, uint64(k)), p, b, dpglm.InferConfig{}, given.Seeded(uint64(k)))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	missed, square, effects, narrower := 0, 0.0, 0, 0.0
	for k := range fits {
		f := infer(k, dpglm.GDP(mu).LabelsOnly())
		for class, truth := range thirdsTruth {
			list := coefficientsOf(t, f, class+1)
			for j, c := range list {
				if c.Low > truth[j] || c.High < truth[j] {
					missed++
				}
				square += math.Pow((c.Estimate-truth[j])/c.StandardError, 2) / float64(6*fits)
			}
			of, err := f.Of(strconv.Itoa(class + 1))
			if err != nil {
				t.Fatal(err)
			}
			rises, err := of.MarginalEffects()
			if err != nil {
				t.Fatal(err)
			}
			for j, truth := range thirdsEffects()[class] {
				if rises[j].Low > truth || rises[j].High < truth {
					effects++
				}
			}
		}
		if k > 0 {
			continue
		}
		if u := f.Model().Ledger().Unit(); u.Of != "label" || strings.Contains(f.String(), "among the rows of both") {
			t.Errorf("%v\n%v", f.Model().Ledger(), f)
		}
		of := coefficientsOf(t, infer(k, dpglm.GDP(rowsNeed).LabelsOnly()), 1)
		for j, c := range coefficientsOf(t, infer(k, dpglm.GDP(rowsNeed)), 1) {
			narrower += of[j].StandardError / c.StandardError / 3
		}
		text, err := json.Marshal(f)
		var read dpglm.ClassInference
		if err := errors.Join(err, json.Unmarshal(text, &read)); err != nil || read.String() != f.String() {
			t.Errorf("%v\n%v", err, &read)
		}
	}
	t.Logf("%d of %d missed, mean z² %.2f; %d of %d effects; standard errors are %.2f times those for rows at μ = %g", missed, 6*fits, square, effects, 4*fits, narrower, rowsNeed)
	if missed < sample.Of(0, 2) || missed > sample.Of(15, 28) || square < sample.Of(0.4, 0.6) || square > sample.Of(1.8, 1.5) || effects > sample.Of(12, 20) || !(narrower < 0.8) {
		t.Errorf("%d of %d intervals and %d of %d effects' don't cover, squared errors are %.2f times what standard errors say, and these %.2f times those for rows", missed, 6*fits, effects, 4*fits, square, narrower)
	}
}

// Where labels don't follow softmax intervals cover the coefficients of the softmax that is nearest, as a fit of many other rows has it. Bounds are those
// of the test before.
func TestInferClassesOfLabelsCoversTheNearest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	const rows, by = 3000, 0.5
	fits := sample.Of(16, 40)
	infer := func(n, seed int, mu float64) *dpglm.ClassInference {
		f, err := dpglm.InferClasses(ctx, nonlinear(t, n, uint64(seed), by), dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(mu).LabelsOnly(), dpglm.InferConfig{}, given.Seeded(uint64(seed)))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	nearest := infer(sample.Of(100_000, 300_000), fits, 1e4)
	missed, square, off := 0, 0.0, 0.0
	for k := range fits {
		f := infer(rows, k, 1)
		for class := 1; class < 3; class++ {
			for j, c := range coefficientsOf(t, f, class) {
				truth := coefficientsOf(t, nearest, class)[j].Estimate
				if c.Low > truth || c.High < truth {
					missed++
				}
				square += math.Pow((c.Estimate-truth)/c.StandardError, 2) / float64(6*fits)
				off = math.Max(off, math.Abs(truth-thirdsTruth[class-1][j]))
			}
		}
	}
	t.Logf("%d of %d missed, mean z² %.2f; coefficients are up to %.2f off those of linear scores", missed, 6*fits, square, off)
	if missed < sample.Of(0, 2) || missed > sample.Of(15, 28) || square < sample.Of(0.4, 0.6) || square > sample.Of(1.8, 1.5) || off < 0.2 {
		t.Errorf("%d of %d intervals don't cover, squared errors are %.2f times what standard errors say, and coefficients up to %.2f off those of linear scores", missed, 6*fits, square, off)
	}
}

// A rare class has intervals where labels alone are private, whichever place it has among the classes.
func TestInferClassesOfLabelsTakesARareClass(t *testing.T) {
	const rows = 20_000
	rates := []float64{.49, .49, .02}
	for rare := range rates {
		r := rand.New(rand.NewPCG(3, 4))
		x, y := mat.NewDense(rows, 1, nil), make([]float64, rows)
		for i := range y {
			x.Set(i, 0, r.NormFloat64())
			u, k := r.Float64(), 0
			for u >= rates[k] && k+1 < len(rates) {
				u -= rates[k]
				k++
			}
			y[i] = float64((k + rare + 1) % len(rates)) // the last is at rare
		}
		d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 5, Intercept: true})
		f, err := dpglm.InferClasses(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: len(rates)}, dpglm.GDP(1).LabelsOnly(), dpglm.InferConfig{}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k < len(rates); k++ {
			for _, c := range coefficientsOf(t, f, k) {
				if c.Undetermined() {
					t.Errorf("the rare class is %d: coefficient %s of class %d is undetermined", rare, c.Name, k)
				}
			}
		}
	}
}

// A class that features tell from all others has no intervals where labels alone are private, and an inference that says so of it. Others have theirs, which
// cover: of 20 fits with six coefficients some 6 of 120 don't, with a deviation of some 3.5 as above; 17 come about in one of a thousand
// studies, and 10 of the 48 of 8 fits. Where that class is the reference nothing is determined.
func TestInferClassesOfLabelsWithholdsOneClass(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	const rows, told = 4000, 2.5
	fits := sample.Of(8, 20)
	infer := func(seed uint64, first float64) *dpglm.ClassInference {
		r := rand.New(rand.NewPCG(seed, 7))
		x, y := mat.NewDense(rows, 3, nil), make([]float64, rows)
		for i := range y {
			a, b, c := r.NormFloat64(), r.NormFloat64(), r.Float64()
			odds := [3]float64{1}
			for k, w := range thirdsTruth {
				odds[k+1] = math.Exp(w[0]*a + w[1]*b + w[2])
			}
			u := r.Float64() * (odds[0] + odds[1] + odds[2])
			for u -= odds[0]; u > 0 && y[i] < 2; u -= odds[int(y[i])] {
				y[i]++
			}
			if c > .8 {
				y[i], c = 3, c+told
			}
			x.SetRow(i, []float64{a, b, c})
			y[i] = math.Mod(y[i]+first, 4)
		}
		d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 6, Intercept: true})
		f, err := dpglm.InferClasses(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, dpglm.GDP(.5).LabelsOnly(), dpglm.InferConfig{}, given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if s := infer(1, 1).String(); strings.Count(s, "Nothing is determined") != 3 {
		t.Errorf("the reference is told by features: %s", s)
	}
	missed, square := 0, 0.0
	for seed := range uint64(fits) {
		f := infer(seed, 0)
		if s := f.String(); strings.Count(s, "Nothing is determined") != 1 || !strings.Contains(s, "Nothing is determined of 3 against 0") {
			t.Fatalf("seed %d: not said of the third class, or of others: %s", seed, s)
		}
		for k, truth := range thirdsTruth {
			list := coefficientsOf(t, f, k+1)
			for j, want := range []float64{truth[0], truth[1], 0, truth[2]} {
				if j == 2 { // a column that tells the third class
					continue
				}
				c := list[j]
				if c.Undetermined() {
					t.Fatalf("seed %d: %s of class %d is undetermined", seed, c.Name, k+1)
				}
				if c.Low > want || c.High < want {
					missed++
				}
				square += math.Pow((c.Estimate-want)/c.StandardError, 2) / float64(6*fits)
			}
		}
	}
	t.Logf("%d of %d missed, mean z² %.2f", missed, 6*fits, square)
	if missed > sample.Of(9, 16) || square > sample.Of(2.1, 1.7) {
		t.Errorf("%d of %d intervals don't cover, squared errors are %.2f times what standard errors say", missed, 6*fits, square)
	}
}

// thirdsEffects are the average marginal effects of the two columns, of the second and third class against the first.
var thirdsEffects = sync.OnceValue(effectsOfThirds)

// effectsOfThirds integrates over rows, a million drawn by a seed.
func effectsOfThirds() (out [2][2]float64) {
	const draws = 1_000_000
	r := rand.New(rand.NewPCG(1, 1))
	for class, w := range thirdsTruth {
		sum, both := 0.0, 0.0
		for range draws {
			a, b := r.NormFloat64(), r.ExpFloat64()-1
			total, odds := 1.0, [2]float64{}
			for k, v := range thirdsTruth {
				odds[k] = math.Exp(v[0]*a + v[1]*b + v[2])
				total += odds[k]
			}
			q, m := odds[class]/(1+odds[class]), (1+odds[class])/total
			sum += m * q * (1 - q)
			both += m
		}
		out[class] = [2]float64{w[0] * sum / both, w[1] * sum / both}
	}
	return out
}

// What can't be asked is refused before anything is released.
func TestInferClassesRefuses(t *testing.T) {
	d := thirds(t, 100, 1)
	infer := func(p dpglm.Problem) error {
		_, err := dpglm.InferClasses(ctx, d, p, dpglm.GDP(1), dpglm.InferConfig{}, given.Seeded(1))
		return err
	}
	if err := infer(dpglm.Problem{Loss: losses.Logistic{}}); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("no classes: %v", err)
	}
	if err := infer(dpglm.Problem{Loss: losses.Probit{}, Classes: 3}); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("probit: %v", err)
	}
	if err := infer(dpglm.Problem{Loss: losses.Logistic{}, Classes: 2}); !errors.Is(err, dpglm.ErrLabel) {
		t.Errorf("a label that is no class: %v", err)
	}
	if _, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(1), dpglm.InferConfig{}, nil); !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), "InferClasses") {
		t.Errorf("Infer of classes: %v", err)
	}
	wide := dpglm.Shape{Rows: 5000, Dim: 2001, Intercept: true, FeatureBound: 1} // which no budget suits, and so not one that is too small either
	if _, err := (dpglm.InferConfig{}).Plan(wide, dpglm.Problem{Loss: losses.Logistic{}, Classes: 5}, dpglm.GDP(1e-9).LabelsOnly()); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("more columns than there may be: %v", err)
	}
	f, err := dpglm.InferClasses(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(0.1), dpglm.InferConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	of, err := f.Of("2")
	if err != nil || !strings.HasPrefix(of.Note(), "Nothing is determined of 2 against 0") {
		t.Errorf("%v, %v", of, err)
	}
	for _, class := range []string{"0", "three"} {
		if _, err := f.Of(class); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("of %q: %v", class, err)
		}
	}
	if _, err := (*dpglm.ClassInference)(nil).Of("1"); !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("of nothing: %v", err)
	}
}
