package dpglm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// trainable are the losses that output perturbation can meet, one of each route.
func trainable() []losses.Loss {
	return []losses.Loss{
		losses.Logistic{}, losses.Squared{}, losses.SquaredHinge{}, losses.SmoothedHinge{Width: 0.5},
		losses.Huber{Kappa: 0.7}, losses.Poisson{}, losses.Hinge{}, losses.Absolute{}, losses.Quantile{Tau: 0.3},
		losses.Custom{Label: "mine", Domain: losses.Real, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv,
			AtZero: func(y float64) float64 { return y * y / 2 }, Smoothness: 1},
	}
}

// [AB+22, Theorem 5]'s stability claim, and its smooth counterpart: minimisers
// over the ball of neighbouring data sets are at most Δ + 2τ apart. The replaced
// row and its label are searched by optimisation, at small n, where the bound is
// nearest to being attained.
func TestMinimiserStability(t *testing.T) {
	for _, loss := range trainable() {
		for _, radius := range []float64{0.3, 2} {
			t.Run(fmt.Sprintf("%s, radius %g", loss.Name(), radius), func(t *testing.T) {
				const n, lambda = 3, 0.5
				r := rand.New(rand.NewPCG(1, 2))
				trained := smooth.Kinks(loss, radius, 1.5)
				x, y := mat.NewDense(n, 2, nil), make([]float64, n)
				for i := range n {
					x.SetRow(i, []float64{0.3 * r.NormFloat64(), 0.3 * r.NormFloat64()})
				}
				minimise := func(row []float64) ([]float64, float64) {
					x.SetRow(0, row[:2])
					y[0] = label(loss, row[2])
					d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 1.5})
					if err != nil {
						t.Fatal(err)
					}
					return minimiser(t, d, trained, radius, lambda)
				}
				_, claimed := minimise([]float64{0, 0, 0})
				apart := func(p []float64) float64 {
					a, _ := minimise(p[:3])
					b, _ := minimise(p[3:])
					return floats.Distance(a, b, 2)
				}
				worst := 0.0
				for range 3 {
					start := make([]float64, 6)
					for j := range start {
						start[j] = 2 * r.NormFloat64()
					}
					res, err := optimize.Minimize(optimize.Problem{Func: func(p []float64) float64 { return -apart(p) }},
						start, &optimize.Settings{FuncEvaluations: 150}, &optimize.NelderMead{})
					if err != nil {
						t.Fatal(err)
					}
					worst = math.Max(worst, -res.F)
				}
				t.Logf("claimed %.4f, found %.4f", claimed, worst)
				if worst > claimed {
					t.Errorf("minimisers %g apart, claimed %g", worst, claimed)
				}
			})
		}
	}
}

// The same for sparse and projected rows, and with an intercept.
func TestMinimiserStabilityOfForms(t *testing.T) {
	const radius, lambda = 0.5, 3.0
	phi := sketch.NewGaussian(2, 3, 4)
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
		for _, form := range []string{"dense", "sparse", "projected"} {
			for _, intercept := range []bool{false, true} {
				minimise := func(p []float64) ([]float64, float64) {
					data := append([]float64{0.3, -0.2, 0.1}, p[:3]...)
					var x mat.Matrix = mat.NewDense(2, 3, data)
					if form == "sparse" {
						x = mustSparse(t, data)
					}
					d, err := NewDataset(x, []float64{1, label(loss, p[3])}, Bounds{Feature: 1, Label: 1.5, Intercept: intercept})
					if err != nil {
						t.Fatal(err)
					}
					if form == "projected" {
						if d.data, err = d.data.Project(context.Background(), phi, 0.8); err != nil {
							t.Fatal(err)
						}
					}
					return minimiser(t, d, loss, radius, lambda)
				}
				_, claimed := minimise(make([]float64, 4))
				apart := func(p []float64) float64 {
					a, _ := minimise(p[:4])
					b, _ := minimise(p[4:])
					return -floats.Distance(a, b, 2)
				}
				start := []float64{1, 1, 1, 1, 1, 0.8, 1.1, -1}
				res, err := optimize.Minimize(optimize.Problem{Func: apart}, start, &optimize.Settings{FuncEvaluations: 300}, &optimize.NelderMead{})
				if err != nil {
					t.Fatal(err)
				}
				if found := -res.F; found > claimed || found < 0.5*claimed {
					t.Errorf("%s, %s, intercept %v: minimisers %g apart, claimed %g", loss.Name(), form, intercept, found, claimed)
				}
			}
		}
	}
}

// mustSparse is a 2×3 matrix in sparse form.
func mustSparse(t *testing.T, data []float64) *Sparse {
	t.Helper()
	s, err := NewSparse(2, 3, []int{0, 3, 6}, []int{0, 1, 2, 0, 1, 2}, data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// label maps any number to a label of the loss.
func label(l losses.Loss, v float64) float64 {
	switch l.Labels() {
	case losses.Binary:
		if v > 0 {
			return 1
		}
		return 0
	case losses.Count:
		return math.Abs(v)
	}
	return v
}

// The bound is nearly attained where theory says so: one row, the squared loss
// without curvature from others, λ large.
func TestMinimiserStabilityIsNearlyAttained(t *testing.T) {
	const lambda = 50.0
	x := mat.NewDense(1, 2, []float64{1, 0})
	solve := func(y float64) ([]float64, float64) {
		d, err := NewDataset(x, []float64{y}, Bounds{Feature: 1, Label: 1})
		if err != nil {
			t.Fatal(err)
		}
		return minimiser(t, d, losses.Squared{}, 0.03, lambda)
	}
	a, claimed := solve(1)
	b, _ := solve(-1)
	if d := floats.Distance(a, b, 2); d < 0.95*claimed {
		t.Errorf("found %g of %g", d, claimed)
	}
}

// The λ of Theorems 3 and 5 minimises the predicted risk: no other λ predicts
// less by more than rounding, for either route.
func TestRegularisationIsOptimal(t *testing.T) {
	s := Shape{Rows: 5000, Dim: 30, FeatureBound: 2, LabelBound: 1.5}
	for _, l := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Huber{Kappa: 0.3}} {
		const radius, noise = 3.0, 4.2
		k := l.Constants(s.FeatureBound*radius, s.LabelBound)
		d := s.FeatureBound * l.Diameter(s.FeatureBound*radius, s.LabelBound)
		predicted := func(lambda float64) float64 {
			sigma := d * noise / (lambda * float64(s.Rows))
			smooth := k.Smoothness * s.FeatureBound * s.FeatureBound * sigma * sigma / 2
			lipschitz := k.Lipschitz * s.FeatureBound * sigma * math.Sqrt(2/math.Pi)
			return lambda*radius*radius/2 + math.Min(smooth, lipschitz)
		}
		best := predicted(regularisation(s, l, radius, noise, NoClip))
		for e := -6.0; e < 4; e += 0.01 {
			if p := predicted(math.Exp(e)); p < best*(1-1e-9) {
				t.Errorf("%s: λ = %g predicts %g, the default %g", l.Name(), math.Exp(e), p, best)
				break
			}
		}
	}
}

// Pure budgets give pure guarantees and noise on every coordinate; projected
// output lies in the ball.
func TestOutputPerturbationBudgets(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(200, 3, nil), make([]float64, 200)
	for i := range y {
		x.SetRow(i, []float64{r.NormFloat64() / 2, r.NormFloat64() / 2, r.NormFloat64() / 2})
		if x.At(i, 0) > 0 {
			y[i] = 1
		}
	}
	d, err := NewDataset(x, y, Bounds{Feature: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Loss: losses.Logistic{}, Radius: 2}
	for _, b := range []Budget{PureDP(1), ApproxDP(1, 1e-6), GDP(0.3)} {
		m, err := OutputPerturbation(ctx, d, p, b, OutputPerturbationConfig{Project: true}, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Fatal(err)
		}
		if r := floats.Norm(m.Weights()[0], 2); r > 2*(1+1e-12) || r == 0 {
			t.Errorf("%v: norm %g", b, r)
		}
		if err := b.covers(m.Ledger()); err != nil {
			t.Errorf("%v: %v", b, err)
		}
	}
	if _, err := (NoisyGDConfig{}).Plan(d.Shape(), p, PureDP(1)); !errors.Is(err, ErrBudget) {
		t.Errorf("Gaussian noise under a pure budget gives %v", err)
	}
	for _, lambda := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := (OutputPerturbationConfig{Lambda: lambda}).Plan(d.Shape(), p, PureDP(1)); !errors.Is(err, ErrConfig) {
			t.Errorf("λ = %g gives %v", lambda, err)
		}
	}
}

// The noise of each of d coordinates, the intercept's included: Δ/μ in root mean
// square, or √d·Δ/ε in the mean of absolute values, as an L2 ball of radius Δ reaches
// √d·Δ in L1 norm. What is released without noise, and Δ, come from the door. The
// bounds are five and a half standard errors: a false alarm has a probability below
// 10⁻⁶ in all.
func TestOutputPerturbationNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	const n, dim, runs = 10, 5, 4000
	d := objData(t, n, dim-1, losses.Logistic{}, Bounds{Feature: 1, Intercept: true})
	c, p := OutputPerturbationConfig{Lambda: 2}, Problem{Loss: losses.Logistic{}, Radius: 3}
	want, sensitivity := minimiser(t, d, p.Loss, p.Radius, c.Lambda)
	src := mechanisms.NewSeededSource(5)
	means := func(b Budget, power float64) []float64 {
		plan, err := c.Plan(d.Shape(), p, b)
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]float64, dim)
		for range runs {
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src})
			if err != nil {
				t.Fatal(err)
			}
			for j, w := range m.weights[0] {
				sums[j] += math.Pow(math.Abs(w-want[j]), power) / runs
			}
		}
		return sums
	}
	const room = 5.5 / 63.2 // over √runs
	for j, v := range means(GDP(0.7), 2) {
		if got := math.Sqrt(v) / (sensitivity / 0.7); math.Abs(got-1) > room/math.Sqrt2 {
			t.Errorf("coordinate %d: Gaussian noise of %.3f times Δ/μ", j, got)
		}
	}
	for j, v := range means(PureDP(0.7), 1) {
		if got := v / (math.Sqrt(dim) * sensitivity / 0.7); math.Abs(got-1) > room {
			t.Errorf("coordinate %d: Laplace noise of %.3f times √d·Δ/ε", j, got)
		}
	}
}
