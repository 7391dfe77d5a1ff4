package estimates_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// With no noise to speak of a fit ends at the minimiser also where the model nearly tells the labels, so that all gradients are far shorter
// than those that the loss could have: off by at most a hundredth of the sandwich's standard errors.
func TestLabelsNearlyTold(t *testing.T) {
	const n, d = 4000, 3
	r := rand.New(rand.NewPCG(31, 32))
	x, y := mat.NewDense(n, d-1, nil), make([]float64, n)
	for i := range y {
		z := 1.0
		for j := range d - 1 {
			v := 2*r.Float64() - 1
			x.Set(i, j, v)
			z += v * float64(j+1) / 4
		}
		y[i] = math.Exp(z + .00003*r.NormFloat64())
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: math.Sqrt2, LabelRange: [2]float64{0, 400}, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, mu := range []float64{1e4, 1e6} {
		model, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Gamma{Least: 1e-3}}, dpglm.GDP(mu), given.Seeded(3))
		if err != nil {
			t.Fatal(err)
		}
		z, err := model.Scores(x)
		if err != nil {
			t.Fatal(err)
		}
		g, h, v := mat.NewVecDense(d, nil), mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
		for i := range y {
			row := mat.NewVecDense(d, []float64{x.At(i, 0), x.At(i, 1), 1})
			part := y[i] * math.Exp(-z.At(i, 0))
			g.AddScaledVec(g, 1-part, row)
			h.SymRankOne(h, part, row)
			v.SymRankOne(v, (1-part)*(1-part), row)
		}
		var inverse, sandwich mat.Dense
		if err := inverse.Inverse(h); err != nil {
			t.Fatal(err)
		}
		sandwich.Product(&inverse, v, &inverse)
		var step mat.VecDense
		step.MulVec(&inverse, g)
		for j := range d {
			if off := math.Abs(step.AtVec(j)) / math.Sqrt(sandwich.At(j, j)); !(off < 0.01) {
				t.Errorf("μ = %g: weight %d is off by %.3g standard errors", mu, j, off)
			}
		}
	}
}
