package dpglm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// descended returns the weights after a descent, and how far one row may move them.
func descended(t *testing.T, d *Dataset, loss losses.Loss, radius float64, c DescentConfig) ([]float64, float64) {
	t.Helper()
	sums, err := d.data.Under(loss)
	if err != nil {
		t.Fatal(err)
	}
	point, err := sums.Descend(context.Background(), radius, c.Steps, c.StepSize, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	e := watched(t, d.data, point.Weights(), sums.Dim())
	return e.Values, e.L2
}

// [DF18, Theorem 4.12], for passes over all rows: T steps of projected gradient
// descent lead to weights no further apart than claimed, for every loss and any
// admitted step, the longest one included. The replaced row is searched.
func TestDescentStability(t *testing.T) {
	for _, loss := range trainable() {
		for _, c := range []struct {
			radius, step float64 // in units of 1/H̃
			steps        int
		}{{0.4, 2, 3}, {2, 1, 5}} {
			t.Run(fmt.Sprintf("%s, radius %g", loss.Name(), c.radius), func(t *testing.T) {
				const n = 3
				r := rand.New(rand.NewPCG(1, 2))
				trained := smooth.Kinks(loss, c.radius, 1.5)
				config := DescentConfig{Steps: c.steps, StepSize: c.step / trained.Constants(c.radius, 1.5).Smoothness}
				x, y := mat.NewDense(n, 2, nil), make([]float64, n)
				for i := range n {
					x.SetRow(i, []float64{0.3 * r.NormFloat64(), 0.3 * r.NormFloat64()})
				}
				descend := func(row []float64) ([]float64, float64) {
					x.SetRow(0, row[:2])
					y[0] = label(loss, row[2])
					d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 1.5})
					if err != nil {
						t.Fatal(err)
					}
					w, moves := descended(t, d, trained, c.radius, config)
					if vector.Norm(w) > c.radius*(1+1e-12) {
						t.Fatalf("weights of norm %g", vector.Norm(w))
					}
					return w, moves
				}
				_, claimed := descend([]float64{0, 0, 0})
				worst := 0.0
				for range 2 {
					start := make([]float64, 6)
					for j := range start {
						start[j] = 2 * r.NormFloat64()
					}
					res, err := optimize.Minimize(optimize.Problem{Func: func(p []float64) float64 {
						a, _ := descend(p[:3])
						b, _ := descend(p[3:])
						return -floats.Distance(a, b, 2)
					}}, start, &optimize.Settings{FuncEvaluations: 150}, &optimize.NelderMead{})
					if err != nil {
						t.Fatal(err)
					}
					worst = math.Max(worst, -res.F)
				}
				t.Logf("claimed %.4f, found %.4f", claimed, worst)
				if worst > claimed {
					t.Errorf("weights %g apart, claimed %g", worst, claimed)
				}
			})
		}
	}
}

// The bound is nearly attained by short steps from 0 towards opposite rows.
func TestDescentStabilityIsNearlyAttained(t *testing.T) {
	config := DescentConfig{Steps: 5, StepSize: 1e-3}
	descend := func(y float64) ([]float64, float64) {
		d, err := NewDataset(mat.NewDense(1, 2, []float64{1, 0}), []float64{y}, Bounds{Feature: 1, Label: 1})
		if err != nil {
			t.Fatal(err)
		}
		return descended(t, d, losses.Squared{}, 0.01, config)
	}
	a, claimed := descend(1)
	b, _ := descend(-1)
	if d := floats.Distance(a, b, 2); d < 0.95*claimed || d > claimed {
		t.Errorf("found %g of %g", d, claimed)
	}
}

// Both predictors learn: with an ample budget their answers are those of the
// minimiser, in the terms of each kind of label.
func TestStableAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n, ample = 500, 1e6
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{r.Float64() - 0.5, r.Float64() - 0.5})
	}
	for _, c := range []struct {
		loss    losses.Loss
		truth   func(z float64) float64
		query   []float64
		want    float64
		within  float64
		queries int
	}{
		{losses.Squared{}, func(z float64) float64 { return z }, []float64{0.5, 0.1}, 0.8, 0.02, 3},
		{losses.Logistic{}, func(z float64) float64 { return (math.Copysign(1, z) + 1) / 2 }, []float64{0.5, 0.1}, 1, 0, 3},
		{losses.Logistic{}, func(z float64) float64 { return (math.Copysign(1, z) + 1) / 2 }, []float64{-0.5, 0.1}, 0, 0, 3},
		{losses.Poisson{}, math.Exp, []float64{0.5, 0.1}, math.Exp(0.8), 0.05, 3},
	} {
		for i := range n {
			y[i] = c.truth(2*x.At(i, 0) - 2*x.At(i, 1))
		}
		d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 8})
		if err != nil {
			t.Fatal(err)
		}
		p := Problem{Loss: c.loss, Radius: 3}
		stable, errStable := serve(d, p, PureDP(ample), StableConfig{Queries: c.queries}, nil)
		descent, errDescent := serve(d, p, PureDP(ample), DescentConfig{Queries: c.queries}, nil)
		if errStable != nil || errDescent != nil {
			t.Fatal(errStable, errDescent)
		}
		for kind, q := range map[string]*Predictor{"stable": stable, "descent": descent} {
			if v := ask(t, q, c.query...); math.Abs(v-c.want) > c.within {
				t.Errorf("%s, %s: %g, want %g", kind, c.loss.Name(), v, c.want)
			}
		}
	}
}
