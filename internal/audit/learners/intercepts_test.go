package learners_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// predicted is the mean of a model's predictions at the rows of x.
func predicted(t *testing.T, m *dpglm.Model, x *mat.Dense) float64 {
	t.Helper()
	means, err := m.Means(x)
	if err != nil {
		t.Fatal(err)
	}
	return stat.Mean(means, nil)
}

// uniform is a matrix of numbers from low to high, over the root of how many are in a row.
func uniform(r *rand.Rand, n, d int, low, high float64) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return (low + (high-low)*r.Float64()) / math.Sqrt(float64(d)) }, x)
	return x
}

// Where a class or a count is rare and rows are far shorter than their bound, the regulariser of objective perturbation draws the intercept to 0, at which half of the
// rows are of the class, or the rate is 1; predictions have the mean of the labels all the same, but for noise of both means. Without their
// release it is .35 to .66.
func TestObjectivePredictsTheMean(t *testing.T) {
	const n, d, rare = 2000, 20, 0.03
	r := rand.New(rand.NewPCG(3, 1))
	x, y := uniform(r, n, d, -1, 1), make([]float64, n)
	for i := range y {
		if r.Float64() < rare {
			y[i] = 1
		}
	}
	for _, l := range []losses.Loss{losses.Logistic{}, losses.Probit{}, losses.Poisson{}} {
		data := given.Dataset(t, x, y, dpglm.Bounds{Feature: 30, Label: 1, Intercept: true})
		m, err := dpglm.ObjectivePerturbation(ctx, data, dpglm.Problem{Loss: l}, dpglm.ApproxDP(1, 1e-6), dpglm.ObjectivePerturbationConfig{}, given.Seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		if got := predicted(t, m, x); !(got > 0.01 && got < 0.1) {
			t.Errorf("%s: predictions have a mean of %.3f, the labels of %.3f", l.Name(), got, stat.Mean(y, nil))
		}
	}
}

// Nor does the mean depend on the unit of amounts, or on how a loss weighs labels: the noise in a score is that of the mean over the slope of the link, not over the loss's curvature.
func TestObjectivePredictsMeansOfAmounts(t *testing.T) {
	const n, d, bound = 4000, 20, 20.0
	r := rand.New(rand.NewPCG(5, 1))
	x, y := uniform(r, n, d, -1, 1), make([]float64, n)
	for _, c := range []struct {
		loss losses.Loss
		unit float64
	}{{losses.Gamma{Least: 1e-5}, 1}, {losses.Gamma{Least: 1e-2}, 1000}, {losses.Gamma{Least: 1e-6}, 0.01}, {losses.NegativeBinomial{Dispersion: 5}, 1}} {
		for i := range y {
			if y[i] = c.unit * -math.Log(1-r.Float64()); c.loss.Labels() == losses.Count {
				y[i] = math.Floor(10 * y[i])
			}
		}
		top := bound * c.unit
		if c.loss.Labels() == losses.Count {
			top = 100
		}
		data := given.Dataset(t, x, y, dpglm.Bounds{Feature: 30, Label: top, Intercept: true})
		m, err := dpglm.ObjectivePerturbation(ctx, data, dpglm.Problem{Loss: c.loss}, dpglm.ApproxDP(1, 1e-6), dpglm.ObjectivePerturbationConfig{}, given.Seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := predicted(t, m, x), stat.Mean(y, nil); !(math.Abs(math.Log(got/want)) < 0.3) {
			t.Errorf("%s in units of %g: predictions have a mean of %.4g, the labels of %.4g", c.loss.Name(), c.unit, got, want)
		}
	}
}

// A λ that is given may leave too little beside the means: then none are released.
func TestObjectiveWithoutMeans(t *testing.T) {
	shape := dpglm.Shape{Rows: 71, Dim: 54, FeatureBound: 10, LabelBound: 1, Intercept: true}
	for lambda, want := range map[float64]bool{0: true, 100: false, 1000: true} {
		plan, err := dpglm.ObjectivePerturbationConfig{Lambda: lambda}.Plan(shape, dpglm.Problem{Loss: losses.Probit{}}, dpglm.ApproxDP(0.876, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(plan.Ledger.String(), "predictions"); got != want {
			t.Errorf("λ = %g: the mean of predictions is released: %v, want %v", lambda, got, want)
		}
	}
}

// Clipped steps of the squared loss lead to the labels' middle, which is 0 where three quarters are; the intercept that they lead to is moved to the mean.
func TestNoisyGDPredictsTheMean(t *testing.T) {
	const n, d, most = 4000, 5, 100.0
	r := rand.New(rand.NewPCG(4, 1))
	x, y := uniform(r, n, d, 0, 1), make([]float64, n)
	for i := range y {
		if i%4 == 0 {
			y[i] = most
		}
	}
	data := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, Label: most, Intercept: true})
	m := noisyGD(t, data, squared, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, given.Seeded(5))
	if got := predicted(t, m, x); !(math.Abs(got-most/4) < 0.05*most) {
		t.Errorf("predictions have a mean of %.3f, the labels of %g", got, most/4)
	}
}

// Rows whose gradients are clipped lead to a middle of the labels. Where most of these are 0 the mean of what is predicted is theirs all the same,
// to a fiftieth of the largest: without the release of the mean of predictions it is .03 to .2 of it below. A quantile is nobody's mean, and is left where it is.
func TestMeansAreHeldWhereMostLabelsAreZero(t *testing.T) {
	const n, most = 8000, 100.0
	r := rand.New(rand.NewPCG(1, 2))
	x, y, mean := mat.NewDense(n, 2, nil), make([]float64, n), 0.0
	for i := range n {
		x.SetRow(i, []float64{r.Float64() - 0.5, r.Float64() - 0.5})
		if r.Float64() < 0.3+0.2*x.At(i, 0) {
			y[i] = most
		}
		mean += y[i] / n
	}
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, LabelRange: [2]float64{0, most}, Intercept: true})
	for name, l := range map[string]dpglm.Learner{
		"NoisyGD": dpglm.NoisyGDConfig{}, "OutputPerturbation": dpglm.OutputPerturbationConfig{},
		"GridSearch": dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}, "Boost": dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}},
	} {
		for loss, held := range map[losses.Loss]bool{losses.Squared{}: true, losses.Quantile{Tau: 0.5}: false} {
			plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: loss}, dpglm.GDP(2))
			if err != nil {
				t.Fatalf("%s, %s: %v", name, loss.Name(), err)
			}
			m, err := plan.Run(ctx, d, given.Seeded(7))
			if err != nil {
				t.Fatalf("%s, %s: %v", name, loss.Name(), err)
			}
			off := (predicted(t, m, x) - mean) / most
			if t.Logf("%s, %s: %.4f of the range off", name, loss.Name(), off); held && math.Abs(off) > 0.02 {
				t.Errorf("%s: the mean of predictions is %.3f of the range off", name, off)
			}
			if again := strings.Contains(m.Ledger().String(), "predictions' sum"); again != held {
				t.Errorf("%s, %s: the mean of predictions is released: %v", name, loss.Name(), again)
			}
		}
	}
}

// The mean of predictions is released for losses that are lowest at the mean of numbers, and where a model is chosen only if both means have the budget
// that they ask for; nowhere where hardly more than the constant model is to be had; and planned passes are with it.
func TestWhoReleasesTheMeanOfPredictions(t *testing.T) {
	plain := dpglm.Shape{Rows: 4000, Dim: 4, FeatureBound: 1, LabelBound: 20, Intercept: true}
	steps, squared := dpglm.NoisyGDConfig{Steps: 3}, losses.Loss(losses.Squared{})
	noClip := steps
	noClip.Clip = dpglm.NoClip
	grid, boost := dpglm.GridSearchConfig{Learner: steps}, dpglm.BoostConfig{Learner: steps}
	for name, c := range map[string]struct {
		learner dpglm.Learner
		loss    losses.Loss
		budget  dpglm.Budget
		want    bool
		passes  int // 0 for any
	}{
		"steps":                 {steps, squared, dpglm.GDP(2), true, 6},
		"steps, little budget":  {steps, squared, dpglm.GDP(0.03), true, 6},
		"steps, no budget":      {steps, squared, dpglm.GDP(0.01), false, 5},
		"steps, weights":        {steps, squared, dpglm.GDP(2), true, 7},
		"steps, counts":         {steps, losses.Poisson{}, dpglm.GDP(2), false, 5},
		"steps, quantiles":      {steps, losses.Quantile{Tau: 0.9}, dpglm.GDP(2), false, 5},
		"steps, no clip":        {noClip, squared, dpglm.GDP(2), false, 0},
		"minimiser":             {dpglm.OutputPerturbationConfig{}, squared, dpglm.GDP(0.03), true, 0},
		"minimiser, counts":     {dpglm.OutputPerturbationConfig{}, losses.Poisson{}, dpglm.GDP(2), true, 0},
		"minimiser, Huber":      {dpglm.OutputPerturbationConfig{}, losses.Huber{Kappa: 1}, dpglm.GDP(2), false, 0},
		"minimiser, pure":       {dpglm.OutputPerturbationConfig{}, squared, dpglm.PureDP(2), false, 0},
		"search":                {grid, squared, dpglm.GDP(2), true, 0},
		"search, counts":        {grid, losses.Poisson{}, dpglm.GDP(2), true, 0},
		"search, little budget": {grid, squared, dpglm.GDP(0.05), false, 0},
		"boost":                 {boost, squared, dpglm.GDP(2), true, 0},
		"boost, little budget":  {boost, squared, dpglm.GDP(0.05), false, 0},
	} {
		s := plain
		s.Weighted = strings.HasSuffix(name, ", weights") // of which the sum is released, too
		plan, err := c.learner.Plan(s, dpglm.Problem{Loss: c.loss}, c.budget)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Contains(plan.Ledger.String(), "predictions' sum"); got != c.want || c.passes > 0 && plan.Passes != c.passes {
			t.Errorf("%s: released %v, %d passes", name, got, plan.Passes)
		}
	}
}

// Where each row of a person counts both means are those of rows, whoever has many; and labels of any size have theirs.
func TestChosenModelsPredictTheMeanOfRows(t *testing.T) {
	const n = 6000
	r := rand.New(rand.NewPCG(5, 2))
	for _, most := range []float64{100, 1e13} {
		x, y, of := uniform(r, n, 2, -0.5, 0.5), make([]float64, n), make([]int, n)
		for i, person := 0, 0; i < n; person++ {
			label, rows := 0.0, 3
			if r.Float64() < 0.4 {
				label, rows = most, 1
			}
			for ; rows > 0 && i < n; rows, i = rows-1, i+1 {
				y[i], of[i] = label, person
			}
		}
		persons := 1 + slices.Max(of)
		d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1, LabelRange: [2]float64{0, most}, Intercept: true}, dpglm.Persons{Of: of, Count: persons, MaxRows: 3})
		if err != nil {
			t.Fatal(err)
		}
		for name, l := range map[string]dpglm.Learner{"GridSearch": dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}, "Boost": dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}}} {
			m, _ := given.Fit(t, l, d, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(20), 3)
			off := (predicted(t, m, x) - stat.Mean(y, nil)) / most
			if t.Logf("%s, labels to %g: %.4f of the range off", name, most, off); math.Abs(off) > 0.02 {
				t.Errorf("%s, labels to %g: the mean of predictions is %.3f of the range off", name, most, off)
			}
		}
	}
}

// Where what follows the labels' mean has so little of n·μ that no more than the constant model is to be had, which is below 45, the mean has all of μ² but a hundredth,
// and less as the square of that n·μ grows: where one of chunks' or candidates' models is chosen, μ counts over the root of their number. From twice the budget on it has its usual share.
func TestMeansHaveAllWhereNothingElseIsToBeHad(t *testing.T) {
	const least = 45.0
	steps := dpglm.NoisyGDConfig{Steps: 3}
	s := dpglm.Shape{Rows: 4000, Dim: 4, FeatureBound: 1, LabelBound: 1, Intercept: true}
	for name, c := range map[string]struct {
		learner dpglm.Learner
		nmu     float64 // over that of what follows
	}{
		"steps":     {steps, 1},
		"minimiser": {dpglm.OutputPerturbationConfig{}, 1},
		"search":    {dpglm.GridSearchConfig{Learner: steps, Validation: 0.5}, 2 * math.Sqrt(3)},
		"boost":     {dpglm.BoostConfig{Learner: steps, Chunks: 3}, 4 / math.Sqrt(3)},
	} {
		for times, want := range map[float64]float64{0.9: 0.99, 1.5: 1 / (1.5 * 1.5), 2: 0.25} {
			mu := times * least * c.nmu / float64(s.Rows)
			plan, err := c.learner.Plan(s, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(mu))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := meansShare(t, plan.Ledger, mu); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s, %g of the least budget: the mean has %.4f of μ², want %g", name, times, got, want)
			}
		}
	}
}

// meansShare is the part of μ² that a ledger's labels' sum has.
func meansShare(t *testing.T, l *dpglm.Ledger, mu float64) float64 {
	t.Helper()
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Label string
		Mu    float64
		Parts []entry
	}
	var all entry
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for rest := []entry{all}; len(rest) > 0; {
		of := rest[0]
		if rest = append(rest[1:], of.Parts...); of.Label == "labels' sum" {
			return of.Mu * of.Mu / (mu * mu)
		}
	}
	t.Fatal("no labels' sum")
	return 0
}
