package inference_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// fewClasses are two classes, a quarter of the second, that hardly depend on six features.
func fewClasses(t *testing.T, seed uint64) (x *mat.Dense, y []float64, d *dpglm.Dataset) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	x, y = mat.NewDense(500, 6, nil), make([]float64, 500)
	for i := range y {
		for j := range 6 {
			x.Set(i, j, 0.3*r.NormFloat64())
		}
		if r.Float64() < 1/(1+math.Exp(1-1.2*x.At(i, 0))) {
			y[i] = 1
		}
	}
	return x, y, given.Dataset(t, x, y, dpglm.Bounds{Feature: 2, Intercept: true})
}

// Where nothing is determined the model isn't the noise of the last steps: of 450 fits, of which a
// few find nothing, its loss is on average hardly above a constant's. All
// that is printed and stored says so first.
func TestInferenceOfNothing(t *testing.T) {
	loss, excess, fits := losses.Logistic{}, 0.0, 0
	for seed := range uint64(450) {
		x, y, d := fewClasses(t, seed)
		f, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: loss}, dpglm.GDP(0.5), dpglm.InferConfig{}, given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		known := false
		for _, c := range f.Coefficients() {
			known = known || !c.Undetermined()
		}
		if known != (f.Note() == "") || known == strings.HasPrefix(f.String(), "Nothing is determined: n·μ is 250, and most coefficients have an interval from some 1.5e+03 on; as 6 times the rows have, or these with 6 times the μ.") {
			t.Fatalf("fit %d has intervals: %v; %s", seed, known, f)
		}
		if known {
			continue
		}
		if bytes := string(text); strings.Count(bytes, `"standard_error":null,"freedom":null,"low":null,"high":null,"z":null,"p":null`) != 7 || !strings.Contains(bytes, `"note":"Nothing is determined`) {
			t.Fatalf("fit %d: %s", seed, text)
		}
		read := new(dpglm.Inference)
		if err := json.Unmarshal(text, read); err != nil || read.String() != f.String() {
			t.Errorf("fit %d is read as %v (%v)", seed, read, err)
		}
		z, err := given.One(f.Model().Scores(x))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range z {
			excess += (loss.Value(s, 2*y[i]-1) - loss.Value(-1, 2*y[i]-1)) / float64(len(z))
		}
		fits++
	}
	if mean := excess / float64(fits); fits < 5 || !(mean < 0.1) {
		t.Errorf("in %d fits without an interval the loss is on average %.3g above a constant's", fits, mean)
	}
}

// The note says what ε would do, and whether the model is a constant.
func TestInferenceOfAConstant(t *testing.T) {
	_, _, d := fewClasses(t, 1)
	f, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(0.3, 1e-6), dpglm.InferConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if want := "or these with ε = 18.2. The model is the constant one"; !strings.Contains(f.Note(), want) {
		t.Errorf("%q, want it to say %q", f.Note(), want)
	}
}
