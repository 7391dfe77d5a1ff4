package baseline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// conditioned draws rows whose standardised columns have about the given condition number:
// the second column is the first and a little of another one. Scores are of length 1.
func conditioned(n int, condition float64, r *rand.Rand) (x *mat.Dense, scores []float64) {
	x, scores = mat.NewDense(n, 4, nil), make([]float64, n)
	for i := range n {
		a, b, c, d := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		x.SetRow(i, []float64{3 + a, 3 + a + 2*b/condition, 100 * c, d / 100})
		if condition == 1 {
			x.Set(i, 1, b)
		}
		scores[i] = 0.3 + (a-b+c-d)/2
	}
	return x, scores
}

// drawnLabels are labels of a loss at scores.
func drawnLabels(loss losses.Loss, scores []float64, r *rand.Rand) []float64 {
	y := make([]float64, len(scores))
	for i, z := range scores {
		switch loss.(type) {
		case losses.Logistic, losses.Probit, losses.SquaredHinge, losses.SmoothedHinge:
			if r.Float64()*(1+math.Exp(-z)) < 1 {
				y[i] = 1
			}
		case losses.Poisson, losses.CappedPoisson, losses.NegativeBinomial:
			y[i] = math.Floor(math.Exp(z) * 2 * r.Float64())
		case losses.Ordinal:
			y[i] = math.Floor(math.Max(0, z+1+2*r.Float64()))
		case losses.Gamma, losses.Custom:
			y[i] = math.Exp(z) * (r.ExpFloat64() + 0.1)
		default:
			y[i] = z + r.NormFloat64()
		}
	}
	return y
}

// flatness is the length of the sum of the rows' slopes times their standardised columns and
// 1, over √n.
func flatness(x *mat.Dense, slopes []float64) float64 {
	var sum mat.VecDense
	sum.MulVec(standardise(Dense{x}).design.T(), mat.NewVecDense(len(slopes), slopes))
	return mat.Norm(&sum, 2) / math.Sqrt(float64(len(slopes)))
}

// However closely columns are correlated, fits are the minimisers: their gradient, beside
// standardised columns, is 10⁻⁸ of what noise makes of it, and least squares are those by QR.
func TestFitsAreMinimisersInAnyCondition(t *testing.T) {
	const n, most = 2000, 1e-8
	for _, condition := range []float64{1, 1e3, 5e5} {
		r := rand.New(rand.NewPCG(7, uint64(condition)))
		x, scores := conditioned(n, condition, r)
		var svd mat.SVD
		if s := standardise(Dense{x}); !svd.Factorize(s.design, mat.SVDNone) || svd.Cond() < condition/4 || svd.Cond() > 4*condition {
			t.Fatalf("the condition is %g, want about %g", svd.Cond(), condition)
		}
		for _, loss := range []losses.Loss{losses.Logistic{}, losses.Poisson{}, losses.Gamma{Least: 1e-3}, losses.Squared{}, losses.Probit{},
			losses.NegativeBinomial{Dispersion: 0.5}, losses.Ordinal{Thresholds: []float64{0, 1, 3}}, given.Tweedie(), losses.CappedPoisson{Cap: 3},
			losses.Huber{Kappa: 0.5}, losses.SquaredHinge{}, losses.SmoothedHinge{Width: 0.5}} {
			y := drawnLabels(loss, scores, r)
			m, err := Fit(Dense{x}, y, loss)
			if err != nil {
				t.Errorf("%s, condition %g: %v", loss.Name(), condition, err)
				continue
			}
			slopes, labels := m.Scores(Dense{x}), signed(y, loss.Labels())
			for i, z := range slopes {
				slopes[i] = loss.Deriv(z, labels[i])
			}
			if g := flatness(x, slopes); !(g <= most) {
				t.Errorf("%s, condition %g: the gradient is %g√n", loss.Name(), condition, g)
			}
			if _, ok := loss.(losses.Squared); ok {
				if err := unlikeQR(x, y, m); err != nil {
					t.Errorf("condition %g: %v", condition, err)
				}
			}
		}
		if g := classFlatness(t, x, scores, r); !(g <= most) {
			t.Errorf("classes, condition %g: the gradient is %g√n", condition, g)
		}
	}
}

// unlikeQR says by how much weights are not those of least squares, in standard errors.
func unlikeQR(x *mat.Dense, y []float64, m *Model) error {
	s := standardise(Dense{x})
	var qr mat.QR
	qr.Factorize(s.design)
	var v mat.VecDense
	if err := qr.SolveVecTo(&v, false, mat.NewVecDense(len(y), y)); err != nil {
		return err
	}
	want := s.model(&v)
	var gram mat.SymDense
	gram.SymOuterK(1, s.design.T())
	var inverse mat.Dense
	if err := inverse.Inverse(&gram); err != nil {
		if _, ok := err.(mat.Condition); !ok {
			return err
		}
	}
	for j, w := range m.Weights {
		if sd := math.Sqrt(inverse.At(j, j)) * s.scale[j]; !(math.Abs(w-want.Weights[j]) <= 1e-6*sd) {
			return fmt.Errorf("column %d: %g ± %g, by QR %g", j, w, sd, want.Weights[j])
		}
	}
	return nil
}

// classFlatness is the largest flatness of a class's slopes, of three classes.
func classFlatness(t *testing.T, x *mat.Dense, scores []float64, r *rand.Rand) float64 {
	t.Helper()
	y := drawnLabels(losses.Squared{}, scores, r)
	for i, z := range y {
		y[i] = math.Min(2, math.Max(0, math.Round(1+z)))
	}
	m, err := FitClasses(Dense{x}, y, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	p, worst := m.Probabilities(Dense{x}), 0.0
	for k := range m {
		slopes := mat.Col(nil, k, p)
		for i, v := range y {
			if int(v) == k {
				slopes[i]--
			}
		}
		worst = math.Max(worst, flatness(x, slopes))
	}
	for j := range 4 {
		if sum := floats.Sum([]float64{m[0].Weights[j], m[1].Weights[j], m[2].Weights[j]}); math.Abs(sum) > 1e-9*math.Abs(m[0].Weights[j]) {
			t.Errorf("column %d: weights sum to %g over the classes", j, sum)
		}
	}
	return worst
}
