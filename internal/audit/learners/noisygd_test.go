package learners_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func noisyGD(t *testing.T, d *dpglm.Dataset, p dpglm.Problem, b dpglm.Budget, c dpglm.NoisyGDConfig, env *dpglm.Env) *dpglm.Model {
	t.Helper()
	m, err := dpglm.NoisyGD(ctx, d, p, b, c, env)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A seeded fit is frozen, bit by bit, for any number of processors.
func TestNoisyGDGolden(t *testing.T) {
	x, y := given.Separable(3000, 3, 7)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1})
	want := []float64{10.801785794864664, -0.024221321576915925, 0.263215109445915}
	for _, procs := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(procs)
		m := noisyGD(t, d, logistic, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{Steps: 50}, given.Seeded(11))
		runtime.GOMAXPROCS(old)
		got := m.Weights()[0]
		if runtime.GOARCH == "amd64" && !slices.Equal(got, want) {
			t.Errorf("GOMAXPROCS=%d: weights %v, want %v", procs, got, want)
		}
		for j := range got { // other machines may fuse multiply and add
			if math.Abs(got[j]-want[j]) > 1e-9 {
				t.Errorf("GOMAXPROCS=%d: weights %v, want %v", procs, got, want)
			}
		}
	}
}

// The plan's ledger spends the budget, no more and hardly less.
func TestNoisyGDSpendsItsBudget(t *testing.T) {
	shape := dpglm.Shape{Rows: 5000, Dim: 20, FeatureBound: 3, LabelBound: 2}
	for _, eps := range []float64{0.1, 1, 8} {
		for _, schedule := range []dpglm.Schedule{dpglm.Practical, dpglm.Theorem1} {
			for _, p := range []dpglm.Problem{logistic, squared} {
				plan, err := dpglm.NoisyGDConfig{Schedule: schedule}.Plan(shape, p, dpglm.ApproxDP(eps, 1e-6))
				if err != nil {
					t.Fatal(err)
				}
				got, err := plan.Ledger.Epsilon(1e-6)
				if err != nil {
					t.Fatal(err)
				}
				if got > eps*(1+1e-9) || got < eps*(1-1e-6) {
					t.Errorf("%s, %s: asked ε = %g, spends %g", schedule, p.Loss.Name(), eps, got)
				}
			}
		}
	}
}

// [AB+22, Theorem 1]: with its schedule, a radius B ≥ ‖w*‖ and n ≥ H̃B²/‖Y‖², the
// expected excess risk is O(√H̃·B·‖Y‖/√n + G·B·√d·s/n); here for the empirical
// risk of the squared loss, with constant 2, and vanishing noise as one case.
func TestTheorem1(t *testing.T) {
	const n, d, radius = 2000, 4, 1.0
	r := rand.New(rand.NewPCG(1, 1))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, (2*r.Float64()-1)/2) // norm at most 1
		}
		y[i] = 0.6*x.At(i, 0) - 0.5*x.At(i, 1) + 0.05*r.NormFloat64()
	}
	data := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, Label: 1})
	p := dpglm.Problem{Loss: losses.Squared{}, Radius: radius}
	best := risk(x, y, []float64{0.6, -0.5, 0, 0})
	for _, eps := range []float64{1, 100} {
		mu, err := mechanisms.GaussianMu(eps, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		bound := 2 * (radius*math.Sqrt(0.5)/math.Sqrt(n) + 2*radius*math.Sqrt(d)/mu/n)
		m := noisyGD(t, data, p, dpglm.ApproxDP(eps, 1e-6), dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1}, given.Seeded(2))
		if excess := risk(x, y, m.Weights()[0]) - best; excess > bound {
			t.Errorf("ε = %g: excess risk %g above %g", eps, excess, bound)
		}
	}
}

func risk(x *mat.Dense, y, w []float64) float64 {
	var sum float64
	for i, v := range y {
		sum += losses.Squared{}.Value(mat.Dot(x.RowView(i), mat.NewVecDense(len(w), w)), v)
	}
	return sum / float64(len(y))
}

// With next to no noise each output is close to the same minimiser.
func TestNoisyGDOutputs(t *testing.T) {
	x, y := given.Separable(500, 2, 3)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1})
	p := dpglm.Problem{Loss: losses.Logistic{}, Radius: 1}
	budget := dpglm.GDP(1e6)
	var all [][]float64
	for _, out := range []dpglm.NoisyGDOutput{dpglm.TailAverage, dpglm.LastIterate, dpglm.FullAverage} {
		c := dpglm.NoisyGDConfig{Output: out, Steps: 4000, StepSize: 4, Clip: inf}
		all = append(all, noisyGD(t, d, p, budget, c, given.Seeded(1)).Weights()[0])
	}
	for i, tolerance := range []float64{1e-3, 1e-3, 2e-2} {
		for j := range all[i] {
			if math.Abs(all[i][j]-all[0][j]) > tolerance {
				t.Errorf("output %d gives %v, the tail average %v", i, all[i], all[0])
			}
		}
	}
	if r := math.Hypot(all[1][0], all[1][1]); r > 1+1e-9 {
		t.Errorf("last iterate has norm %g outside the ball", r)
	}
}

func TestProgressAndCancellation(t *testing.T) {
	x, y := given.Separable(300, 2, 4)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1})
	config := dpglm.NoisyGDConfig{Steps: 10}
	var seen []int
	env := given.Seeded(1)
	env.Progress = func(done, total int) {
		if total != 10 {
			t.Errorf("total %d", total)
		}
		seen = append(seen, done)
	}
	noisyGD(t, d, logistic, dpglm.ApproxDP(1, 1e-6), config, env)
	if !slices.Equal(seen, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("progress %v", seen)
	}

	cause := errors.New("a caller's cause")
	cancelled, cancel := context.WithCancelCause(ctx)
	env.Progress = func(done, _ int) {
		if done == 3 {
			cancel(cause)
		}
	}
	m, err := dpglm.NoisyGD(cancelled, d, logistic, dpglm.ApproxDP(1, 1e-6), config, env)
	var stopped *dpglm.Interrupted
	if m != nil || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) || !errors.As(err, &stopped) {
		t.Fatalf("cancelled in step 4: %v, %v", m, err)
	}
	if e, err := stopped.Ledger.Epsilon(1e-6); err != nil || math.Abs(e-1) > 1e-6 {
		t.Errorf("a stopped run reports ε = %g, not the full plan", e)
	}
	if !stopped.Ledger.CallerNoise() {
		t.Error("the ledger of a stopped run doesn't say that its noise was the caller's")
	}
	_, err = dpglm.NoisyGD(cancelled, d, logistic, dpglm.ApproxDP(1, 1e-6), config, nil)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) || errors.As(err, &stopped) {
		t.Errorf("cancelled before the start: %v", err)
	}
}

func TestPlanBelongsToItsShape(t *testing.T) {
	x, y := given.Separable(300, 2, 4)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1})
	other := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2})
	plan, err := dpglm.NoisyGDConfig{}.Plan(d.Shape(), logistic, dpglm.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(ctx, other, nil); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("another shape gives %v", err)
	}
	if _, err := plan.Run(ctx, nil, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("no data gives %v", err)
	}
}

// The same data in any form gives the same model, bit by bit.
func TestNoisyGDForms(t *testing.T) {
	x, y := given.Separable(400, 4, 8)
	var want []float64
	for name, m := range map[string]mat.Matrix{"dense": x, "transposed": mat.DenseCopyOf(x.T()).T(), "opaque": struct{ mat.Matrix }{x}} {
		got := noisyGD(t, given.Dataset(t, m, y, dpglm.Bounds{Feature: 1}), logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{}, given.Seeded(3)).Weights()[0]
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Steps suit counts' mean as it was released, whether all have one far above 1 or exposures differ: those for a mean of 1 overshoot, so that coefficients
// come to less than .1. They are .5 and −.25 up to a standard error of .013 at most, and labels that are held at 0 bring them .05 nearer to 0.
func TestNoisyGDSettlesOnLargeCounts(t *testing.T) {
	const n, most = 4000, 200
	for _, c := range []struct{ mean, exposures float64 }{{1, 0}, {20, 0}, {100, 0}, {1, 5}} {
		r := rand.New(rand.NewPCG(1, 2))
		x, y, offsets := mat.NewDense(n, 2, nil), make([]float64, n), make([]float64, n)
		for i := range n {
			a, b := 2*r.Float64()-1, 2*r.Float64()-1
			x.SetRow(i, []float64{a, b})
			offsets[i] = c.exposures * (2*r.Float64() - 1)
			mean := math.Exp(math.Log(c.mean) + a/2 - b/4 + offsets[i])
			y[i] = math.Round(math.Min(math.Max(0, mean+float64(math.Sqrt(mean)*r.NormFloat64())), most))
		}
		var more []dpglm.RowDetail
		if c.exposures > 0 {
			more = append(more, dpglm.Offsets{Of: offsets, Range: [2]float64{-c.exposures, c.exposures}})
		}
		d := given.Dataset(t, x, y, dpglm.Bounds{Feature: math.Sqrt2, Label: most, Intercept: true}, more...)
		for _, l := range []dpglm.Learner{dpglm.NoisyGDConfig{}, dpglm.JLConfig{}} {
			m, _ := given.Fit(t, l, d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(100), 1)
			for j, want := range []float64{0.5, -0.25} {
				if got := m.Weights()[0][j]; math.Abs(got-want) > 0.07 {
					t.Errorf("%T, a mean of %g, exposures of e^±%g: weight %d is %.3f, want %g", l, c.mean, c.exposures, j+1, got, want)
				}
			}
		}
	}
}
