package learners_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// rareColumns are n sparse rows of zeros and ones in d columns, of which the first few say
// what the label is.
func rareColumns(t *testing.T, n, d, informative int, seed uint64) (*dpglm.Sparse, []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	starts, indices, y := []int{0}, []int{}, make([]float64, n)
	for i := range n {
		z := -0.3
		for j := range informative {
			if r.Float64() < 0.3 {
				indices = append(indices, j)
				z += 1.5 * float64(1-2*(j%2))
			}
		}
		for j := informative; j < d; j += 1 + r.IntN(40) {
			indices = append(indices, j)
		}
		starts = append(starts, len(indices))
		if 1/(1+math.Exp(-z)) > r.Float64() {
			y[i] = 1
		}
	}
	ones := make([]float64, len(indices))
	for k := range ones {
		ones[k] = 1
	}
	x, err := dpglm.NewSparse(n, d, starts, indices, ones)
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

// rare is a public bound on those rows: 9 entries and d/20, nearly always.
func rare(d int, intercept bool) dpglm.Bounds {
	return dpglm.Bounds{Feature: math.Sqrt(9 + float64(d)/15), Intercept: intercept}
}

// Among a thousand columns the informative ones are found, the others are exactly 0, and
// coefficients are near the truth; within the ball, the norm is at most the radius.
func TestFrankWolfeFindsTheColumns(t *testing.T) {
	const n, d, informative = 8000, 1000, 6
	x, y := rareColumns(t, n, d, informative, 1)
	for _, intercept := range []bool{true, false} {
		data := given.Dataset(t, x, y, rare(d, intercept))
		for _, c := range []dpglm.FrankWolfeConfig{{Steps: 8, EntryBound: 1}, {Output: dpglm.WithinBall, Steps: 24, EntryBound: 1}} {
			p := dpglm.Problem{Loss: losses.Logistic{}, Radius: 9}
			m, err := dpglm.FrankWolfe(ctx, data, p, dpglm.GDP(2), c, given.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			w := m.Weights()[0][:d]
			chosen, sum := 0, 0.0
			for j, v := range w {
				sum += math.Abs(v)
				if v != 0 {
					chosen++
				}
				if sign := float64(1 - 2*(j%2)); j < informative && !(v*sign > 0.5 && v*sign < 2.5) {
					t.Errorf("%+v, intercept %v: column %d has the weight %g", c, intercept, j, v)
				}
			}
			if chosen > c.Steps || c.Output == "" && chosen != 8 || c.Output == dpglm.WithinBall && sum > 9*(1+1e-12) {
				t.Errorf("%+v: %d columns of norm %g", c, chosen, sum)
			}
		}
	}
}

// A step costs one of as many selections, and the whole keeps to its budget, of which little
// is left.
func TestFrankWolfeSpendsItsBudget(t *testing.T) {
	shape := dpglm.Shape{Rows: 10_000, Dim: 5001, Intercept: true, FeatureBound: 8}
	for i, c := range []dpglm.FrankWolfeConfig{{}, {Output: dpglm.WithinBall}, {Output: dpglm.WithinBall, Steps: 300}} {
		for _, epsilon := range []float64{0.1, 1, 10} {
			if !sample.Nth(2, i, epsilon) {
				continue
			}
			plan, err := c.Plan(shape, logistic, dpglm.ApproxDP(epsilon, 1e-6))
			if err != nil {
				t.Fatal(err)
			}
			if spent, err := plan.Ledger.Epsilon(1e-6); err != nil || spent > epsilon || spent < 0.93*epsilon {
				t.Errorf("%+v spends ε = %g of %g (%v)", c, spent, epsilon, err)
			}
			if text := plan.Ledger.String(); !strings.Contains(text, "vertices") || !strings.Contains(text, "intercept") {
				t.Errorf("the ledger is %s", text)
			}
		}
		plan, err := c.Plan(shape, logistic, dpglm.GDP(0.3))
		if err != nil || plan.Ledger.Mu() > 0.3 || plan.Ledger.Mu() < 0.299 {
			t.Errorf("%+v spends μ = %v of 0.3 (%v)", c, plan.Ledger.Mu(), err)
		}
	}
	without := shape
	without.Dim, without.Intercept = 5000, false
	plan, err := dpglm.FrankWolfeConfig{Output: dpglm.WithinBall}.Plan(without, logistic, dpglm.GDP(0.3))
	if err != nil || strings.Contains(plan.Ledger.String(), "intercept") {
		t.Errorf("without intercept: %v, %v", plan, err)
	}
}

// The defaults follow from public numbers: more steps where more is known, a smaller radius
// for larger entries; and a plan says what they are, in JSON too.
func TestFrankWolfeDefaults(t *testing.T) {
	shape := dpglm.Shape{Rows: 10_000, Dim: 5000, FeatureBound: 8, LabelBound: 3}
	steps := 0
	for _, mu := range []float64{0.01, 0.1, 1, 100} {
		plan, err := dpglm.FrankWolfeConfig{}.Plan(shape, logistic, dpglm.GDP(mu))
		if err != nil {
			t.Fatal(err)
		}
		c := plan.Learner.(dpglm.FrankWolfeConfig)
		if c.Steps <= steps || c.Steps > 100 || c.EntryBound != 8 || c.Clip != 0.5 || c.Output != dpglm.Refit || plan.Problem.Radius != float64(c.Steps)/16 {
			t.Errorf("μ = %g: %+v after %d steps, radius %g", mu, c, steps, plan.Problem.Radius)
		}
		steps = c.Steps
		text, err := json.Marshal(c)
		var back dpglm.FrankWolfeConfig
		if err != nil || json.Unmarshal(text, &back) != nil || back != c {
			t.Errorf("%+v is %s in JSON, and %+v again", c, text, back)
		}
	}
	plan, err := dpglm.FrankWolfeConfig{Output: dpglm.WithinBall, EntryBound: 2, Steps: 4}.Plan(shape, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(1))
	if err != nil || plan.Problem.Radius != 4*3./8/2 || plan.Learner.(dpglm.FrankWolfeConfig).Clip != 0.75 {
		t.Errorf("real labels: %+v (%v)", plan, err)
	}
	small, err := dpglm.FrankWolfeConfig{}.Plan(dpglm.Shape{Rows: 100, Dim: 5000, FeatureBound: 8}, logistic, dpglm.GDP(0.1))
	if err != nil || !strings.Contains(small.Note, "constant model") {
		t.Errorf("a hopeless plan's note: %q (%v)", small.Note, err)
	}
}

func TestFrankWolfeRefuses(t *testing.T) {
	shape := dpglm.Shape{Rows: 100, Dim: 6, Intercept: true, FeatureBound: 2}
	for name, c := range map[string]struct {
		config dpglm.FrankWolfeConfig
		b      dpglm.Budget
		want   error
		says   string
	}{
		"output":         {dpglm.FrankWolfeConfig{Output: "best"}, dpglm.GDP(1), dpglm.ErrConfig, "Output"},
		"negative steps": {dpglm.FrankWolfeConfig{Steps: -1}, dpglm.GDP(1), dpglm.ErrConfig, "Steps"},
		"more columns":   {dpglm.FrankWolfeConfig{Steps: 6}, dpglm.GDP(1), dpglm.ErrConfig, "between 1 and 5"},
		"too many steps": {dpglm.FrankWolfeConfig{Steps: 10_001, Output: dpglm.WithinBall}, dpglm.GDP(1), dpglm.ErrConfig, "10000"},
		"entry bound":    {dpglm.FrankWolfeConfig{EntryBound: -1}, dpglm.GDP(1), dpglm.ErrConfig, "EntryBound"},
		"clip":           {dpglm.FrankWolfeConfig{Clip: math.Inf(1)}, dpglm.GDP(1), dpglm.ErrConfig, "Clip"},
		"pure budget":    {dpglm.FrankWolfeConfig{}, dpglm.PureDP(1), dpglm.ErrBudget, "ApproxDP"},
		"no budget":      {dpglm.FrankWolfeConfig{}, dpglm.Budget{}, dpglm.ErrBudget, "budget"},
		"small budget":   {dpglm.FrankWolfeConfig{}, dpglm.GDP(1e-7), dpglm.ErrBudget, "to select"},
	} {
		_, err := c.config.Plan(shape, logistic, c.b)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Dense rows and sparse ones select the same columns, on any number of goroutines.
func TestFrankWolfeInAnyForm(t *testing.T) {
	const n, d = 3000, 40
	x, y := rareColumns(t, n, d, 4, 2)
	for _, c := range []dpglm.FrankWolfeConfig{{Steps: 6, EntryBound: 1}, {Output: dpglm.WithinBall, Steps: 9, EntryBound: 1}} {
		var first []float64
		for _, procs := range []int{1, 2, 5} {
			for name, m := range map[string]mat.Matrix{"sparse": x, "dense": mat.DenseCopyOf(x)} {
				before := runtime.GOMAXPROCS(procs)
				model, err := dpglm.FrankWolfe(ctx, given.Dataset(t, m, y, rare(d, true)), logistic, dpglm.GDP(3), c, given.Seeded(4))
				runtime.GOMAXPROCS(before)
				if err != nil {
					t.Fatal(err)
				}
				w := model.Weights()[0]
				if c.Output == dpglm.Refit || c.Output == "" { // whose sums are rounded in the order of each form
					for j := range w {
						w[j] = math.Round(w[j] * 1e6)
					}
				}
				if first == nil {
					first = w
				} else if !slices.Equal(w, first) {
					t.Errorf("%+v, %s, GOMAXPROCS=%d: %v, not %v", c, name, procs, w, first)
				}
			}
		}
	}
}

// Inside other learners it keeps to their budgets.
func TestFrankWolfeInsideOthers(t *testing.T) {
	x, y := rareColumns(t, 1200, 30, 3, 5)
	data := given.Dataset(t, x, y, rare(30, true))
	inner := dpglm.FrankWolfeConfig{Steps: 3, EntryBound: 1}
	for _, l := range []dpglm.Learner{dpglm.BoostConfig{Learner: inner, Chunks: 3}, dpglm.GridSearchConfig{Learner: inner, Radii: []float64{1, 3}}} {
		for _, b := range []dpglm.Budget{dpglm.ApproxDP(4, 1e-6), dpglm.GDP(1), dpglm.ApproxDP(4, 1e-6).ForGroups(3)} {
			plan, err := l.Plan(data.Shape(), logistic, b)
			if err != nil {
				t.Fatalf("%T, %v: %v", l, b, err)
			}
			if _, err := plan.Run(ctx, data, given.Seeded(1)); err != nil {
				t.Errorf("%T, %v: %v", l, b, err)
			}
		}
	}
}
