package inference_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// withRare are rows of two uniform columns and one that is 1 in a share of them, with the given
// coefficients.
func withRare(seed uint64, n int, share, effect, rare float64, loss losses.Loss) *shops {
	s := &shops{x: mat.NewDense(n, 3, nil), y: make([]float64, n), schema: dpglm.Schema{
		Columns:   []string{"a", "b", "rare"},
		Numeric:   map[string][2]float64{"a": {0, 1}, "b": {0, 1}, "rare": {0, 1}},
		Intercept: true,
	}}
	if loss.Labels() == losses.Real {
		s.schema.LabelRange = [2]float64{-10, 10}
	}
	r := rand.New(rand.NewPCG(seed, 6))
	for i := range n {
		a, b, few := r.Float64(), r.Float64(), 0.0
		if r.Float64() < share {
			few = 1
		}
		s.x.SetRow(i, []float64{a, b, few})
		z := float64(effect*(a-b)) + float64(rare*few)
		switch loss.Labels() {
		case losses.Binary:
			if r.Float64() < 1/(1+math.Exp(-z)) {
				s.y[i] = 1
			}
		default:
			s.y[i] = math.Max(-10, math.Min(10, z+r.NormFloat64()))
		}
	}
	return s
}

// A coefficient of which one row of 100 tells, each ten times as long as others, is known about
// as well as without privacy where there is little noise: rows that long count in the Hessian.
// Were they shortened there, its standard error would be more than twice as long.
func TestInferenceOfFewRows(t *testing.T) {
	for k := range uint64(10) {
		s := withRare(k, 20_000, 0.01, 1, 1.5, losses.Squared{})
		plain, covariance := s.sandwiched(t, losses.Squared{})
		c := s.infer(t, losses.Squared{}, dpglm.GDP(6), k).Coefficients()[2]
		if c.Undetermined() {
			t.Fatalf("fit %d: not determined", k)
		}
		off, ratio := math.Abs(c.Estimate-plain[2])/c.StandardError, c.StandardError/math.Sqrt(covariance.At(2, 2))
		t.Logf("fit %d: %.2f standard errors from the fit without privacy, which are %.2f times its", k, off, ratio)
		if off > 4 || ratio > 2 {
			t.Errorf("fit %d: %.3g ± %.3g, not %.3g", k, c.Estimate, c.StandardError, plain[2])
		}
	}
}

// Standard errors of real labels are in their units, that part included which rows that count less may change.
func TestInferenceKeepsToLabelUnits(t *testing.T) {
	const factor = 1024
	for k := range uint64(4) {
		s := withRare(k, 20_000, 0.01, 1, 1.5, losses.Squared{})
		want := s.infer(t, losses.Squared{}, dpglm.GDP(0.5), k).Coefficients()
		for i := range s.y {
			s.y[i] *= factor
		}
		s.schema.LabelRange = [2]float64{-10 * factor, 10 * factor}
		for j, c := range s.infer(t, losses.Squared{}, dpglm.GDP(0.5), k).Coefficients() {
			if got := c.StandardError / factor; math.Abs(got/want[j].StandardError-1) > 1e-6 || c.Mark != want[j].Mark {
				t.Errorf("fit %d: %g of %s (%q), in other units %g (%q)", k, want[j].StandardError, c.Name, want[j].Mark, got, c.Mark)
			}
		}
	}
}

// With all the budget that there may be no row is cut off, however long: twenty of 5,000 carry
// a coefficient here.
func TestInferenceAsNoiseFades(t *testing.T) {
	s := withRare(1, 5_000, 0.004, 1, 1.5, losses.Logistic{})
	plain, covariance := s.sandwiched(t, losses.Logistic{})
	c := s.infer(t, losses.Logistic{}, dpglm.GDP(1e5), 1).Coefficients()[2]
	sd := math.Sqrt(covariance.At(2, 2))
	t.Logf("%.4g ± %.3g; without privacy %.4g ± %.3g", c.Estimate, c.StandardError, plain[2], sd)
	if math.Abs(c.Estimate-plain[2]) > 0.1*sd || math.Abs(c.StandardError/sd-1) > 0.2 {
		t.Errorf("%.4g ± %.3g, not %.4g ± %.3g", c.Estimate, c.StandardError, plain[2], sd)
	}
}

// Where a feature tells nearly every row's class the minimum is far out, and nothing is
// determined: intervals around a point on the way there would be wrong.
func TestInferenceOfSeparatedClasses(t *testing.T) {
	for k := range uint64(5) {
		for effect, determined := range map[float64]bool{3: true, 60: false} {
			c := withRare(k, 10_000, 0.5, effect, 0.1, losses.Logistic{}).infer(t, losses.Logistic{}, dpglm.GDP(0.8), k).Coefficients()[0]
			if c.Undetermined() == determined {
				t.Errorf("fit %d, effect %g: %.3g ± %.3g", k, effect, c.Estimate, c.StandardError)
			}
		}
	}
}

// Where one column tells all classes there is no minimum at all, and noise that makes scores look near mustn't pass for one: without its deviation on top
// of them, 4 of these 20 fits print intervals, of 60 fits 9; with it none of 60.
func TestInferenceOfFewSeparatedClasses(t *testing.T) {
	const n = 1000
	for k := range uint64(20) {
		r := rand.New(rand.NewPCG(k, 5))
		x, y := mat.NewDense(n, 3, nil), make([]float64, n)
		for i := range n {
			for j := range 3 {
				x.Set(i, j, math.Min(math.Max(r.NormFloat64(), -3), 3))
			}
			if x.At(i, 0) > 0 {
				y[i] = 1
			}
		}
		d := given.Dataset(t, x, y, dpglm.Bounds{Feature: math.Sqrt(27), Label: 1, Intercept: true})
		f, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), dpglm.InferConfig{}, given.Seeded(k))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Coefficients() {
			if !c.Undetermined() {
				t.Errorf("fit %d: %s is %.3g ± %.3g", k, c.Name, c.Estimate, c.StandardError)
			}
		}
	}
}
