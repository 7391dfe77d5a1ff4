package classes_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// thirds are rows of three classes that follow softmax regression, with coefficients of two columns and an intercept
// for the second and third against the first.
func thirds(t *testing.T, n int, seed uint64) *dpglm.Dataset {
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
// 28 come about in one of a thousand studies, and fewer than 2. The model has the same coefficients, and without much
// noise is close to the truth.
func TestInferClassesCovers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	p := dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}
	missed, square := 0, 0.0
	const fits = 40
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
				square += math.Pow((c.Estimate-truth[j])/c.StandardError, 2) / (6 * fits)
			}
		}
		if k > 0 {
			continue
		}
		if u := f.Model().Ledger().Unit(); !f.Model().Ledger().Within(3, 1e-3) || u.Of != "row" {
			t.Errorf("%v", f.Model().Ledger())
		}
	}
	t.Logf("%d of 240 missed, mean z² %.2f", missed, square)
	if missed < 2 || missed > 28 || square < 0.6 || square > 1.5 {
		t.Errorf("%d of 240 intervals don't cover, and squared errors are %.2f times what standard errors say", missed, square)
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
