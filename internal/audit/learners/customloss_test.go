package learners_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// A custom loss whose statement is false at a point that the check visits is refused by whatever
// takes a problem, before anything is spent, with the constant that fails.
func TestFalseCustomLossesAreRefused(t *testing.T) {
	honest := losses.Custom{Label: "mine", Domain: losses.Binary, Phi: losses.Logistic{}.Value, DPhi: losses.Logistic{}.Deriv,
		AtZero: func(float64) float64 { return math.Ln2 }, Smoothness: 0.25, Lipschitz: 1}
	s := dpglm.Shape{Rows: 1000, Dim: 3, FeatureBound: 1}
	few := given.Dataset(t, mat.NewDense(3, 1, []float64{1, 0, -1}), []float64{1, 0, 1}, dpglm.Bounds{Feature: 1})
	learners := []dpglm.Learner{dpglm.AutoConfig{}, dpglm.OutputPerturbationConfig{}, dpglm.ObjectivePerturbationConfig{}, dpglm.NoisyGDConfig{},
		dpglm.StandardisedGDConfig{}, dpglm.FrankWolfeConfig{}, dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}, dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}}, dpglm.JLConfig{K: 2, Seed: 1}}
	plans := func(l losses.Loss) (errs []error) {
		for _, c := range learners {
			_, err := c.Plan(s, dpglm.Problem{Loss: l}, dpglm.ApproxDP(1, 1e-6))
			errs = append(errs, err)
		}
		_, err := dpglm.OneAgainstRest(ctx, few, dpglm.Problem{Loss: l, Classes: 2}, dpglm.ApproxDP(1, 1e-6), dpglm.OneAgainstRestConfig{}, given.Seeded(1))
		_, _, chosen := dpglm.SelectModel(ctx, few, dpglm.Problem{Loss: l}, dpglm.GDP(1), [][][]float64{{{1}}, {{2}}}, 0, given.Seeded(1))
		errs = append(errs, err, chosen)
		for _, c := range []dpglm.PredictorConfig{dpglm.AverageConfig{Queries: 1}, dpglm.StableConfig{Queries: 1}, dpglm.DescentConfig{Queries: 1}, dpglm.VoteConfig{Queries: 1}} {
			_, err := c.Plan(s, dpglm.Problem{Loss: l}, dpglm.ApproxDP(1, 1e-6))
			errs = append(errs, err)
		}
		return errs
	}
	for k, err := range plans(honest) {
		if err != nil {
			t.Fatalf("%d refuses a true statement: %v", k, err)
		}
	}
	for name, lie := range map[string]func(*losses.Custom){
		": convexity, φ' before": func(c *losses.Custom) {
			c.DPhi = func(z, y float64) float64 { return -losses.Logistic{}.Deriv(z, y) }
		},
		": derivative, the least rise of φ by φ'": func(c *losses.Custom) {
			c.Phi = func(z, y float64) float64 { return losses.Logistic{}.Value(-z, y) }
		},
		": Smoothness": func(c *losses.Custom) { c.Smoothness = 0.2 },
		": Lipschitz": func(c *losses.Custom) {
			c.DPhi = func(z, y float64) float64 {
				return max(-1.001, min(losses.Logistic{}.Deriv(z, y)-max(0, -y*z-200)*y, 1.001))
			}
		},
		": AtZero":               func(c *losses.Custom) { c.AtZero = func(float64) float64 { return 0.6 } },
		": Slope":                func(c *losses.Custom) { c.SlopeAtZero = func(float64) float64 { return 0.1 } },
		": value and derivative": func(c *losses.Custom) { c.DPhi = func(z, y float64) float64 { return math.NaN() } },
	} {
		c := honest
		lie(&c)
		for k, err := range plans(c) {
			var e dpglm.ArgumentError
			if !errors.Is(err, dpglm.ErrConfig) || !errors.As(err, &e) || !strings.HasPrefix(e.Param(), "mine: ") || k == 0 && !strings.HasSuffix(e.Param(), name) {
				t.Errorf("entry %d, want %s refused: %v", k, name, err)
			}
		}
	}
}

// A custom loss whose statement is false where no check looks has no privacy guarantee, but
// training with it ends: with an error where a solver can't keep its promise or a slope isn't a
// number, and never with weights that aren't.
func TestFalseCustomLosses(t *testing.T) {
	x, y := mat.NewDense(500, 3, nil), make([]float64, 500)
	for i := range y {
		for j := range 3 {
			x.Set(i, j, math.Sin(float64(7*i+3*j)))
		}
		y[i] = math.Cos(float64(i))
	}
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, Label: 1})
	for name, c := range map[string]struct {
		smoothness float64
		slope      func(z, y float64) float64
		fails      bool // for every learner
	}{
		"too smooth":     {1, func(z, y float64) float64 { return 1e4 * (z - y) }, false},
		"NaN":            {1, func(z, y float64) float64 { return math.NaN() }, true},
		"NaN for some":   {1, func(z, y float64) float64 { return math.Sqrt(0.8-y) * 0 }, true},
		"infinite slope": {1, func(z, y float64) float64 { return math.Inf(1) }, false},
	} {
		p := dpglm.Problem{Radius: 2, Loss: losses.Custom{Label: name, Domain: losses.Real,
			Phi: func(z, y float64) float64 { return (z - y) * (z - y) / 2 },
			DPhi: func(z, y float64) float64 {
				if 0.6 < y && y < 0.9 { // between labels that are checked
					return c.slope(z, y)
				}
				return z - y
			},
			AtZero: func(y float64) float64 { return y * y / 2 }, SlopeAtZero: func(y float64) float64 { return y }, Smoothness: c.smoothness}}
		for _, l := range []dpglm.Learner{dpglm.OutputPerturbationConfig{}, dpglm.ObjectivePerturbationConfig{}, dpglm.NoisyGDConfig{}, dpglm.StandardisedGDConfig{}, dpglm.FrankWolfeConfig{}} {
			plan, err := l.Plan(d.Shape(), p, dpglm.ApproxDP(1, 1e-6))
			if err != nil {
				t.Fatal(err)
			}
			m, err := plan.Run(ctx, d, given.Seeded(1))
			if (m == nil) != (err != nil) || c.fails && err == nil {
				t.Errorf("%s, %T: error %v", name, l, err)
			}
			if m != nil {
				for _, w := range m.Weights()[0] {
					if math.IsNaN(w) || math.IsInf(w, 0) {
						t.Errorf("%s, %T: weights %v", name, l, m.Weights()[0])
					}
				}
			}
		}
	}
}

// A custom loss of amounts is trained, as one of counts is.
func TestCustomLossOfAmounts(t *testing.T) {
	x, y := mat.NewDense(500, 1, nil), make([]float64, 500)
	for i := range y {
		x.Set(i, 0, math.Sin(float64(7*i)))
		y[i] = 6 + 3*x.At(i, 0)
	}
	loss := losses.Custom{Label: "squared", Domain: losses.Amount, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv, Smoothness: 1,
		AtZero: func(y float64) float64 { return y * y / 2 }}
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, LabelRange: [2]float64{0, 9}, Intercept: true})
	m, err := dpglm.StandardisedGD(ctx, d, dpglm.Problem{Loss: loss}, dpglm.GDP(100), dpglm.StandardisedGDConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Weights()[0]; math.Abs(w[0]-3) > 0.3 || math.Abs(w[1]-6) > 0.3 {
		t.Errorf("weights %v, want 3 and 6", w)
	}
}

// What objective perturbation takes for its clip follows from the range of amounts, too, where
// the score is the amount.
func TestObjectivePerturbationOfAmounts(t *testing.T) {
	x, y := mat.NewDense(5000, 1, nil), make([]float64, 5000)
	for i := range y {
		x.Set(i, 0, math.Sin(float64(7*i)))
		y[i] = 3e4 + 2e4*x.At(i, 0) + 1e4*math.Cos(float64(11*i))
	}
	loss := losses.Custom{Label: "squared", Domain: losses.Amount, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv, Smoothness: 1,
		AtZero: func(y float64) float64 { return y * y / 2 }}
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: math.Sqrt2, LabelRange: [2]float64{0, 1e5}, Intercept: true})
	m, err := dpglm.ObjectivePerturbation(ctx, d, dpglm.Problem{Loss: loss}, dpglm.ApproxDP(4, 1e-6), dpglm.ObjectivePerturbationConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Weights()[0]; math.Abs(w[0]-2e4) > 2e3 || math.Abs(w[1]-3e4) > 2e3 {
		t.Errorf("weights %v, want 20,000 and 30,000", w)
	}
}
