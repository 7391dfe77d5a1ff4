package stored_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// counting is a matrix that counts how often an element is read.
type counting struct {
	*mat.Dense
	reads atomic.Int64
}

func (c *counting) At(i, j int) float64 {
	c.reads.Add(1)
	return c.Dense.At(i, j)
}

func (c *counting) T() mat.Matrix { return mat.Transpose{Matrix: c} }

// counted are rows within ±½ with labels, which are drawn after each row's features of which they are told the first.
func counted(t *testing.T, n, d int, seed *rand.PCG, facts dpglm.Facts, label func(r *rand.Rand, first float64) float64) (*counting, *dpglm.Dataset) {
	t.Helper()
	r := rand.New(seed)
	x, y := &counting{Dense: mat.NewDense(n, d, nil)}, make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.Float64()-0.5)
		}
		y[i] = label(r, x.Dense.At(i, 0))
	}
	return x, given.Dataset(t, x, y, facts)
}

// oneOf draws one of so many classes.
func oneOf(classes int) func(*rand.Rand, float64) float64 {
	return func(r *rand.Rand, _ float64) float64 { return float64(r.IntN(classes)) }
}

// No fit goes over the rows more often than its plan says; descents in standardised
// coordinates come near that.
func TestPlansBoundPasses(t *testing.T) {
	const n, d = 1500, 3
	x, data := counted(t, n, d, rand.NewPCG(8, 8), dpglm.Bounds{Feature: 1, Label: 1, Intercept: true}, func(r *rand.Rand, first float64) float64 {
		if first+r.NormFloat64()/4 > 0 {
			return 1
		}
		return 0
	})
	var err error
	gd := dpglm.NoisyGDConfig{Steps: 3}
	for name, c := range map[string]struct {
		learner dpglm.Learner
		b       dpglm.Budget
		least   int // passes made
		none    bool
	}{
		"Auto, small budget":           {dpglm.AutoConfig{}, dpglm.GDP(0.2), 20, false},
		"Auto":                         {dpglm.AutoConfig{}, dpglm.GDP(2), 30, false},
		"Auto, large budget":           {dpglm.AutoConfig{}, dpglm.GDP(20), 30, false},
		"Auto, huge budget":            {dpglm.AutoConfig{}, dpglm.GDP(1e6), 36, false},
		"Auto, prior":                  {dpglm.AutoConfig{}, dpglm.GDP(2), 40, false},
		"Infer, prior":                 {dpglm.InferConfig{}, dpglm.GDP(200), 40, false},
		"Infer":                        {dpglm.InferConfig{}, dpglm.GDP(2), 30, false},
		"Infer, huge budget":           {dpglm.InferConfig{}, dpglm.GDP(1e6), 40, false},
		"Frank–Wolfe":                  {dpglm.FrankWolfeConfig{Steps: 3}, dpglm.GDP(40), 5, false},
		"Noisy GD":                     {gd, dpglm.GDP(1), 2, false},
		"JL":                           {dpglm.JLConfig{K: 2, Learner: gd}, dpglm.GDP(1), 1, false},
		"grid search":                  {dpglm.GridSearchConfig{Learner: gd}, dpglm.GDP(1), 2, false},
		"grid search over JL":          {dpglm.GridSearchConfig{Learner: dpglm.JLConfig{K: 2, Learner: gd}}, dpglm.GDP(1), 1, false},
		"grid search, standardised":    {dpglm.GridSearchConfig{Learner: dpglm.StandardisedGDConfig{}}, dpglm.GDP(2), 30, false},
		"boosting":                     {dpglm.BoostConfig{Learner: gd}, dpglm.GDP(1), 2, false},
		"objective perturbation":       {dpglm.ObjectivePerturbationConfig{}, dpglm.GDP(1), 1, true},
		"grid search with a solver's":  {dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: gd}, {Learner: dpglm.OutputPerturbationConfig{}}}}, dpglm.GDP(1), 1, true},
		"Noisy GD from second moments": {dpglm.NoisyGDConfig{Steps: 400, Clip: dpglm.NoClip}, dpglm.GDP(1), 1, false},
	} {
		problem := dpglm.Problem{Loss: losses.Logistic{}}
		if name == "Noisy GD from second moments" {
			problem.Loss = losses.Squared{}
		}
		if strings.HasSuffix(name, "prior") {
			if problem.Prior, err = dpglm.Auto(ctx, data, problem, dpglm.GDP(100), given.Seeded(1)); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := c.learner.Plan(data.Shape(), problem, c.b)
		if err != nil {
			t.Fatal(err)
		}
		x.reads.Store(0)
		if _, err := plan.Run(ctx, data, given.Seeded(1)); err != nil {
			t.Fatal(err)
		}
		made := float64(x.reads.Load()) / (n * d)
		if c.none != (plan.Passes == 0) || plan.Passes > 0 && made > float64(plan.Passes) || made < float64(c.least) {
			t.Errorf("%s: %.2f passes of at most %d, and at least %d", name, made, plan.Passes, c.least)
		}
	}
}

// comesNear fails unless a fit goes over the rows at least so often, and no more often than its
// plan says.
func (c *counting) comesNear(t *testing.T, data *dpglm.Dataset, l dpglm.Learner, p dpglm.Problem, b dpglm.Budget, least float64) {
	t.Helper()
	plan, err := l.Plan(data.Shape(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	c.reads.Store(0)
	if _, err := plan.Run(ctx, data, given.Seeded(1)); err != nil {
		t.Fatal(err)
	}
	n, d := c.Dims()
	if made := float64(c.reads.Load()) / float64(n*d); made > float64(plan.Passes) || made < least {
		t.Errorf("%T: %.2f passes of at most %d, and at least %g", l, made, plan.Passes, least)
	}
}

// Inference reads most often where rows have weights and all is determined.
func TestPlansBoundPassesOfInference(t *testing.T) {
	const n, d = 20_000, 5
	r := rand.New(rand.NewPCG(8, 10))
	x, y, w := &counting{Dense: mat.NewDense(n, d, nil)}, make([]float64, n), dpglm.Weights{Of: make([]float64, n), Max: 1}
	for i := range n {
		for j := range d {
			x.Set(i, j, r.Float64()-0.5)
		}
		y[i], w.Of[i] = float64(r.IntN(2)), r.Float64()
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 2, Intercept: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	x.comesNear(t, data, dpglm.InferConfig{}, dpglm.Problem{Loss: losses.Probit{}}, dpglm.GDP(5), 50)
}

// Where labels are nearly told, gradients' norms are read twice.
func TestPlansBoundPassesOfInferenceOfShortGradients(t *testing.T) {
	const n = 4000
	r := rand.New(rand.NewPCG(31, 32))
	x, y, w := &counting{Dense: mat.NewDense(n, 2, nil)}, make([]float64, n), dpglm.Weights{Of: make([]float64, n), Max: 1}
	for i := range n {
		a, b := 2*r.Float64()-1, 2*r.Float64()-1
		x.Set(i, 0, a)
		x.Set(i, 1, b)
		y[i], w.Of[i] = math.Exp(1+a/4+b/2+.00003*r.NormFloat64()), 1-r.Float64()/10
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: math.Sqrt2, LabelRange: [2]float64{0, 400}, Intercept: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	for _, mu := range []float64{300, 1e4} {
		x.comesNear(t, data, dpglm.InferConfig{}, dpglm.Problem{Loss: losses.Gamma{Least: 1e-3}}, dpglm.GDP(mu), 30)
	}
}

// Rare levels take frames of their own.
func TestPlansBoundPassesOfInferenceWithLevels(t *testing.T) {
	const n = 2254
	r := rand.New(rand.NewPCG(9, 1))
	x, y, w := &counting{Dense: mat.NewDense(n, 4, nil)}, make([]float64, n), dpglm.Weights{Of: make([]float64, n), Max: 1}
	for i := range n {
		x.Set(i, 0, r.Float64())
		switch u := r.Float64(); {
		case u < 0.02:
			x.Set(i, 1, 1)
		case u < 0.025:
			x.Set(i, 2, 1)
		case u < 0.525:
			x.Set(i, 3, 1)
		}
		y[i], w.Of[i] = x.Dense.At(i, 0)+r.NormFloat64()+float64(3*r.ExpFloat64()*r.ExpFloat64()), 1-r.Float64()/10
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Schema{Columns: []string{"x", "a", "b", "c"}, Numeric: map[string][2]float64{"x": {0, 1}},
		OneHot: map[string][]string{"g": {"a", "b", "c"}}, LabelRange: [2]float64{-4, 15}, Intercept: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	x.comesNear(t, data, dpglm.InferConfig{}, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(20), 51)
}

// Where the rows' weights turn out to be too small for an inference, a descent follows the
// first releases of the pilot.
func TestPlansBoundPassesOfInferenceThatTurnsBack(t *testing.T) {
	const n, d = 4000, 60
	r := rand.New(rand.NewPCG(8, 15))
	x, y, w := &counting{Dense: mat.NewDense(n, d, nil)}, make([]float64, n), dpglm.Weights{Of: make([]float64, n), Max: 1}
	for i := range n {
		for j := range d {
			x.Set(i, j, r.Float64()-0.5)
		}
		y[i], w.Of[i] = x.Dense.At(i, 0)+r.NormFloat64(), 0.7
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 2, Label: 3, Intercept: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	x.comesNear(t, data, dpglm.InferConfig{}, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(0.175), 33)
}

// The longest descent is one that second moments serve, and a Hessian can't yet.
func TestPlansBoundPassesOfRealLabels(t *testing.T) {
	const n, d = 1500, 17
	r := rand.New(rand.NewPCG(8, 9))
	x, y := &counting{Dense: mat.NewDense(n, d, nil)}, make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, (r.Float64()-0.5)/4)
		}
		y[i] = x.Dense.At(i, 0)
	}
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1, Label: 1, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	x.comesNear(t, data, dpglm.AutoConfig{}, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(8), 42)
}

// A search reads the rows as often for many candidates as for one: their questions are
// answered in one reading, and so are those of the selection.
func TestCandidatesShareReadings(t *testing.T) {
	const n, d = 500, 3
	x, data := counted(t, n, d, rand.NewPCG(9, 9), dpglm.Bounds{Feature: 1}, oneOf(2))
	for _, candidates := range []int{1, 2, 8} {
		search := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}}
		for k := range candidates {
			search.Radii = append(search.Radii, float64(k+1))
		}
		x.reads.Store(0)
		if _, err := dpglm.GridSearch(ctx, data, logistic, dpglm.GDP(1), search, given.Seeded(1)); err != nil {
			t.Fatal(err)
		}
		if got := x.reads.Load(); got != (5*400+100)*d {
			t.Errorf("%d candidates: %d numbers read, want 5 times those of 400 rows and once those of 100, %d", candidates, got, (5*400+100)*d)
		}
	}
}

// Of more features than have moments of pairs there are more steps, and with a prior a few before them.
func TestPlansBoundPassesOfManyColumns(t *testing.T) {
	x, data := counted(t, 40, 1001, rand.NewPCG(8, 12), dpglm.Bounds{Feature: 12, Intercept: true}, oneOf(2))
	var err error
	p := dpglm.Problem{Loss: losses.Logistic{}}
	x.comesNear(t, data, dpglm.AutoConfig{}, p, dpglm.GDP(40), 60)
	if p.Prior, err = dpglm.Auto(ctx, data, p, dpglm.GDP(40), given.Seeded(1)); err != nil {
		t.Fatal(err)
	}
	x.comesNear(t, data, dpglm.AutoConfig{}, p, dpglm.GDP(40), 70)
}
