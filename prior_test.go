package dpglm

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// ofClassesAndPriors are rows of two classes, or more by softmax, and a model that little noise is in, of others.
func ofClassesAndPriors(t *testing.T, n, d, classes int) (rows *Dataset, score func(*Model) float64, prior *Model) {
	t.Helper()
	p := Problem{Loss: losses.Logistic{}, Classes: classes}
	draw := func(n int, seed uint64) (*mat.Dense, []float64) {
		r, x, y := rand.New(rand.NewPCG(seed, 9)), mat.NewDense(n, d, nil), make([]float64, n)
		for i := range n {
			row := x.RawRowView(i)
			for j := range row {
				row[j] = r.NormFloat64()
			}
			z := make([]float64, max(2, classes))
			for k := range z {
				z[k] = 1.5*row[k] - 0.5*row[(k+1)%d]
			}
			total, u := floats.LogSumExp(z), r.Float64()
			for k := range z {
				if u -= math.Exp(z[k] - total); u < 0 {
					y[i] = float64(k)
					break
				}
			}
		}
		return x, y
	}
	of := func(n int, seed uint64) *Dataset {
		x, y := draw(n, seed)
		data, err := NewDataset(x, y, Bounds{Feature: 6, Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	prior, err := Auto(t.Context(), of(400, 2), p, GDP(1000).LabelsOnly(), &Env{NoiseForTests: mechanisms.NewSeededSource(4)})
	if err != nil {
		t.Fatal(err)
	}
	x, y := draw(4000, 3)
	return of(n, 1), func(m *Model) (sum float64) {
		q, err := m.Probabilities(x)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range y {
			sum -= math.Log(q.At(i, int(v))) / float64(len(y))
		}
		return sum
	}, prior
}

// times is the model with its weights multiplied.
func times(m *Model, by float64) *Model {
	of := *m
	of.weights = m.Weights()
	for _, w := range of.weights {
		floats.Scale(by, w)
	}
	return &of
}

// shifted is the model with a number added to all weights.
func shifted(m *Model, by float64) *Model {
	of := times(m, 1)
	for _, w := range of.weights {
		floats.AddConst(by, w)
	}
	return of
}

// A prior of the same law is worth much where the budget is small; one that is turned, or too long, costs little more than what weighs
// it, which is nothing where labels alone are private. What all classes share says nothing. Losses are means over seeds, which don't change:
// no chance is left.
func TestPriorIsWeighed(t *testing.T) {
	for i, c := range []struct {
		classes     int
		budget      Budget
		worth, cost float64
		long        float64 // what one that is too long is worth less than the right one
	}{{0, GDP(0.05), 0.01, 0.02, 0.1}, {3, GDP(0.05), 0.01, 0.02, 0.1}, {0, GDP(0.02).LabelsOnly(), 0.01, 0.003, 0.01}, {3, GDP(0.02).LabelsOnly(), 0.01, 0.003, 0.01}} {
		if i%3 != 0 && !sample.All() { // one of two classes, and one of labels alone
			continue
		}
		rows, score, prior := ofClassesAndPriors(t, 3000, 8, c.classes)
		mean := func(prior *Model) (sum float64) {
			seeds := sample.Of(5, 12)
			for seed := range uint64(seeds) {
				m, err := Auto(t.Context(), rows, Problem{Loss: losses.Logistic{}, Classes: c.classes, Prior: prior}, c.budget, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
				if err != nil {
					t.Fatal(err)
				}
				sum += score(m) / float64(seeds)
			}
			return sum
		}
		without, with, turned, long, shared := mean(nil), mean(prior), mean(times(prior, -1)), mean(times(prior, 30)), mean(shifted(prior, 3))
		t.Logf("%v, %d classes: the prior alone %.3f; without it %.4f, with it %.4f, turned %.4f, 30 times as long %.4f, shifted %.4f", c.budget, c.classes, score(prior), without, with, turned, long, shared)
		if !(with < without-c.worth && long < with+c.long && turned < without+c.cost && long < without+c.cost && (c.classes == 0 || math.Abs(shared-with) < 1e-3)) {
			t.Errorf("%v, %d classes: without a prior %.3f, with it %.3f, with it turned %.3f, 30 times as long %.3f, shifted %.3f", c.budget, c.classes, without, with, turned, long, shared)
		}
	}
}

// Where noise vanishes the prior says nothing.
func TestPriorVanishes(t *testing.T) {
	rows, _, prior := ofClassesAndPriors(t, 2000, 4, 0)
	for _, c := range []struct {
		budget Budget
		near   float64
	}{{GDP(1e7), 1e-3}, {GDP(1e7).LabelsOnly(), 0.05}} { // where a law of weights stays that is found from labels, a tenth of a standard error of theirs
		fit := func(prior *Model) []float64 {
			m, err := Auto(t.Context(), rows, Problem{Loss: losses.Logistic{}, Prior: prior}, c.budget, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
			if err != nil {
				t.Fatal(err)
			}
			return m.Weights()[0]
		}
		a := fit(nil)
		for _, by := range []float64{-2, 1000} {
			if b := fit(times(prior, by)); floats.Distance(a, b, math.Inf(1)) > c.near {
				t.Errorf("%v: weights %v with a prior %g times as long, %v without", c.budget, b, by, a)
			}
		}
	}
}

// Where labels alone are private a prior's weight of what no row has is kept, and changes no score of a row's; it is neither turned nor made longer where
// labels say that of others.
func TestPriorOfWhatNoRowHas(t *testing.T) {
	_, _, prior := ofClassesAndPriors(t, 500, 4, 0)
	r, x, y := rand.New(rand.NewPCG(8, 8)), mat.NewDense(500, 4, nil), make([]float64, 500)
	for i := range y {
		x.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 2}) // the last column doesn't vary
		if floats.Dot(x.RawRowView(i)[:3], prior.weights[0][:3])+r.NormFloat64() > 0 {
			y[i] = 1
		}
	}
	still, err := NewDataset(x, y, Bounds{Feature: 6, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	fit := func(last, by float64) []float64 {
		of := times(prior, by)
		of.weights[0][3] = last
		m, err := Auto(t.Context(), still, Problem{Loss: losses.Logistic{}, Prior: of}, GDP(1).LabelsOnly(), &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights()[0]
	}
	a, b := fit(0, 1), fit(6, 1)
	if turned, short := fit(6, -1), fit(6, .2); turned[3] < -1e-12 || short[3] > 6+1e-9 {
		t.Errorf("a weight of 6 that no row tells of is %g with others that are turned, and %g with others that are short", turned[3], short[3])
	}
	if !(b[3] > 0 && math.Abs(a[3]) < 1e-12) {
		t.Errorf("the weight of a column that doesn't vary is %g and %g where a prior's is 0 and 6", a[3], b[3])
	}
	for j := range 3 {
		if math.Abs(a[j]-b[j]) > 1e-12 {
			t.Errorf("weight %d is %g and %g: a column that doesn't vary changes it", j, a[j], b[j])
		}
	}
	if before, after := a[4]+2*a[3], b[4]+2*b[3]; math.Abs(before-after) > 1e-12 {
		t.Errorf("what rows have in common scores %g and %g", before, after)
	}
}

// Priors that don't fit are refused before anything is spent, and by all who don't begin there.
func TestPriorRefused(t *testing.T) {
	rows, _, prior := ofClassesAndPriors(t, 200, 4, 0)
	of3, _, three := ofClassesAndPriors(t, 200, 4, 3)
	against, err := OneAgainstRest(t.Context(), of3, Problem{Loss: losses.Hinge{}, Classes: 3}, GDP(1), OneAgainstRestConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewDataset(mat.NewDense(2, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8}), []float64{0, 1}, Bounds{Feature: 5, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	logistic, gdp := losses.Logistic{}, GDP(1)
	for name, c := range map[string]struct {
		data    *Dataset
		p       Problem
		b       Budget
		l       Learner
		because error
	}{
		"empty model":        {rows, Problem{Loss: logistic, Prior: new(Model)}, gdp, AutoConfig{}, ErrModel},
		"of classes":         {rows, Problem{Loss: logistic, Prior: three}, gdp, AutoConfig{}, ErrConfig},
		"for classes":        {rows, Problem{Loss: logistic, Classes: 3, Prior: prior}, gdp, AutoConfig{}, ErrConfig},
		"another link":       {rows, Problem{Loss: losses.Probit{}, Prior: prior}, gdp, AutoConfig{}, ErrConfig},
		"other facts":        {other, Problem{Loss: logistic, Prior: prior}, gdp, AutoConfig{}, ErrSchema},
		"labels, classes":    {rows, Problem{Loss: logistic, Prior: three}, gdp.LabelsOnly(), AutoConfig{}, ErrConfig},
		"huge":               {rows, Problem{Loss: logistic, Prior: times(prior, 1e15)}, gdp, AutoConfig{}, ErrBound},
		"intercept":          {rows, Problem{Loss: logistic, Prior: shifted(prior, 1e14)}, gdp, AutoConfig{}, ErrBound},
		"one against rest":   {rows, Problem{Loss: logistic, Classes: 3, Prior: against}, gdp, AutoConfig{}, ErrConfig},
		"tiny":               {rows, Problem{Loss: logistic, Prior: times(prior, 1e-20)}, gdp, AutoConfig{}, ErrBound},
		"a pure budget":      {rows, Problem{Loss: logistic, Prior: prior}, PureDP(1), AutoConfig{}, ErrConfig},
		"NoisyGD":            {rows, Problem{Loss: logistic, Prior: prior}, gdp, NoisyGDConfig{}, ErrConfig},
		"GridSearch":         {rows, Problem{Loss: logistic, Prior: prior}, gdp, GridSearchConfig{Learner: AutoConfig{}, Radii: []float64{1, 2}}, ErrConfig},
		"JL":                 {rows, Problem{Loss: logistic, Prior: prior}, gdp, JLConfig{Learner: AutoConfig{}, K: 2}, ErrConfig},
		"FrankWolfe":         {rows, Problem{Loss: logistic, Prior: prior}, gdp, FrankWolfeConfig{}, ErrConfig},
		"OneAgainstRest":     {rows, Problem{Loss: logistic, Classes: 3, Prior: three}, gdp, OneAgainstRestConfig{Learner: AutoConfig{}}, ErrConfig},
		"Infer of 3 classes": {rows, Problem{Loss: logistic, Classes: 3, Prior: three}, gdp, InferConfig{}, ErrConfig},
	} {
		noise := mechanisms.NewSeededSource(1)
		_, err := fit(t.Context(), c.l, c.data, c.p, c.b, &Env{NoiseForTests: noise})
		var spent *Interrupted
		if !errors.Is(err, c.because) || errors.As(err, &spent) {
			t.Errorf("%s: %v, want %v", name, err, c.because)
		}
	}
}

// A journal of a run with one prior isn't resumed with another.
func TestPriorInJournal(t *testing.T) {
	rows, _, prior := ofClassesAndPriors(t, 200, 4, 0)
	identity := func(prior *Model) string {
		plan, err := AutoConfig{}.Plan(rows.Shape(), Problem{Loss: losses.Logistic{}, Prior: prior}, GDP(1))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plan.ledger.String(), "from a prior") != (prior != nil) {
			t.Errorf("the ledger says %v", plan.ledger)
		}
		text, err := rows.identity(plan.ledger, []any{plan.prior.Weights()})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if a, b := identity(prior), identity(times(prior, 2)); a == b || a == identity(nil) {
		t.Error("runs with different priors are one to a journal")
	}
}

// The intercept of counts that noise hides is the labels' mean's, whatever the prior's level is.
func TestPriorOfHiddenIntercept(t *testing.T) {
	const n, runs = 3000, 12
	r, x, y := rand.New(rand.NewPCG(5, 5)), mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.Set(i, 0, r.NormFloat64())
		x.Set(i, 1, r.NormFloat64())
		for limit, p := math.Exp(-math.Exp(0.3*x.At(i, 0)-0.2*x.At(i, 1))), r.Float64(); p > limit; p *= r.Float64() {
			y[i]++
		}
	}
	rows, err := NewDataset(x, y, Bounds{Feature: 4, Label: 1000, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	prior, err := Auto(t.Context(), rows, Problem{Loss: losses.Poisson{}}, GDP(1000), &Env{NoiseForTests: mechanisms.NewSeededSource(4)})
	if err != nil {
		t.Fatal(err)
	}
	prior.weights[0][2] += 1
	off := 0.0
	for seed := range uint64(runs) {
		m, err := Auto(t.Context(), rows, Problem{Loss: losses.Poisson{}, Prior: prior}, GDP(5), &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		if err != nil {
			t.Fatal(err)
		}
		off += (m.weights[0][2] - prior.weights[0][2] + 1) / runs
	}
	if math.Abs(off) > 0.1 {
		t.Errorf("an intercept is off by %g in the mean", off)
	}
}
