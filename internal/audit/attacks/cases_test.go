package attacks_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

const (
	mu   = 3.0 // what all Gaussian budgets allow
	many = 100 // rows
	far  = 4.0 // bound on a row
	end  = 5.0 // bound on a label
)

// canary is the row that the two data sets don't share.
type canary struct {
	x []float64
	y float64
}

// crowd says what lies beside the canary.
type crowd struct {
	label    func(i int) float64
	copies   int  // rows of the canary's person; 0 where rows are nobody's
	alike    bool // whether persons count alike
	addition bool // whether the neighbour has no canary
}

// public is what is known of all rows.
var public = dpglm.Bounds{Feature: far, Label: end, Intercept: true}

// data are the two data sets: the same rows, and the one or the other canary, which comes last so
// that the same coins order both alike.
func (c crowd) data(t *testing.T, pair [2]canary) (data [2]*dpglm.Dataset) {
	t.Helper()
	for side, last := range pair {
		var flat, y []float64
		var of []int
		for i := range many - 1 {
			for j := range last.x {
				flat = append(flat, math.Sin(float64(1+3*i+7*j)))
			}
			y, of = append(y, c.label(i)), append(of, i)
		}
		times := max(c.copies, 1)
		if c.addition && side == 1 {
			times = 0
		}
		for k := range times {
			flat, y, of = append(flat, turnedBy(last.x, angle*float64(k))...), append(y, last.y), append(of, many-1)
		}
		var more []dpglm.RowDetail
		if c.copies > 0 {
			p := dpglm.Persons{Of: of, Count: many, MaxRows: c.copies, Alike: c.alike}
			if c.addition {
				p.Count = 0
			}
			more = append(more, p)
		}
		if c.addition {
			more = append(more, dpglm.AddRemove{AtMost: many})
		}
		if len(more) > 0 {
			more = append(more, given.Ordered(1))
		}
		data[side] = given.Dataset(t, mat.NewDense(len(y), len(last.x), flat), y, public, more...)
	}
	return data
}

// angle is that between rows of a person: no two are the same, so that it matters how they are put together, and all are as long and move sums
// nearly as far as one row three times over.
const angle = 0.25

// turnedBy is a point that is turned in the plane.
func turnedBy(x []float64, angle float64) []float64 {
	sin, cos := math.Sincos(angle)
	return []float64{float64(cos*x[0]) - float64(sin*x[1]), float64(sin*x[0]) + float64(cos*x[1])}
}

var (
	ctx      = context.Background()
	logistic = dpglm.Problem{Loss: losses.Logistic{}}
	squared  = dpglm.Problem{Loss: losses.Squared{}}
	poisson  = dpglm.Problem{Loss: losses.Poisson{}}

	two    = crowd{label: func(i int) float64 { return float64(i % 2) }}
	three  = crowd{label: func(i int) float64 { return float64(i % 3) }} // or counts
	reals  = crowd{label: func(i int) float64 { return math.Sin(float64(3 * i)) }}
	person = crowd{label: two.label, copies: 3}
	people = crowd{label: two.label, copies: 3, alike: true}
	places = crowd{label: two.label, addition: true}
	family = crowd{label: two.label, copies: 3, addition: true}
)

// turned is a pair of canaries at one place with two labels.
func turned(x, y, first, second float64) [2]canary {
	return [2]canary{{[]float64{x, y}, first}, {[]float64{x, y}, second}}
}

// opposite is a pair of canaries with one label in opposite places.
func opposite(x, y, label float64) [2]canary {
	return [2]canary{{[]float64{x, y}, label}, {[]float64{-x, -y}, label}}
}

// fits is an attack on a model of some learner.
func fits(t *testing.T, name string, c crowd, pair [2]canary, fit func(*dpglm.Dataset, *dpglm.Env) (*dpglm.Model, error)) *attack {
	t.Helper()
	return &attack{name: name, data: c.data(t, pair), run: func(d *dpglm.Dataset, env *dpglm.Env) (published, error) {
		m, err := fit(d, env)
		if err != nil {
			return published{}, err
		}
		return published{slices.Concat(m.Weights()...), m.Ledger()}, nil
	}}
}

// by is a fit of a learner.
func by(l dpglm.Learner, p dpglm.Problem, b dpglm.Budget) func(*dpglm.Dataset, *dpglm.Env) (*dpglm.Model, error) {
	return func(d *dpglm.Dataset, env *dpglm.Env) (*dpglm.Model, error) {
		plan, err := l.Plan(d.Shape(), p, b)
		if err != nil {
			return nil, err
		}
		return plan.Run(ctx, d, env)
	}
}

// attacks are all of them. Canaries are the best of some hundred random pairs: far out, where histograms and
// moments move most, and with opposite labels, where gradients do; no pair has all.
func attacks(t *testing.T) []*attack {
	t.Helper()
	return slices.Concat(attackedAuto(t), attackedClasses(t), attackedMethods(t), attackedStatistics(t), attackedPredictors(t))
}

func attackedAuto(t *testing.T) []*attack {
	t.Helper()
	auto, budget := dpglm.AutoConfig{}, dpglm.GDP(mu)
	infer := func(p dpglm.Problem, b dpglm.Budget) func(*dpglm.Dataset, *dpglm.Env) (*dpglm.Model, error) {
		return func(d *dpglm.Dataset, env *dpglm.Env) (*dpglm.Model, error) {
			f, err := dpglm.Infer(ctx, d, p, b, dpglm.InferConfig{}, env)
			if err != nil {
				return nil, err
			}
			return f.Model(), nil
		}
	}
	from := logistic
	var err error
	if from.Prior, err = by(auto, logistic, dpglm.GDP(100))(two.data(t, turned(0, 1, 1, 1))[0], given.Seeded(1)); err != nil { // a public model
		t.Fatal(err)
	}
	return []*attack{
		fits(t, "Auto, two classes", two, [2]canary{{[]float64{1.4, -3.7}, 0}, {[]float64{3.7, 1.4}, 1}}, by(auto, logistic, budget)),
		fits(t, "Auto, real labels", reals, turned(0.7, -0.7, end, -end), by(auto, squared, budget)),
		fits(t, "Auto, counts", three, [2]canary{{[]float64{0.2, 4}, end}, {[]float64{-3.9, 0.9}, 0}}, by(auto, poisson, budget)),
		fits(t, "Auto, persons whose rows count", person, turned(-0.6, -0.8, 0, 1), by(auto, logistic, budget)),
		fits(t, "Auto, persons who count alike", people, [2]canary{{[]float64{1.4, -3.7}, 0}, {[]float64{3.7, 1.4}, 1}}, by(auto, logistic, budget)),
		fits(t, "Auto, a row more or less", places, turned(-1.6, 3.7, 1, 0), by(auto, logistic, budget.AddRemove())),
		fits(t, "Auto, a person more or less", family, turned(-1.6, 3.7, 1, 0), by(auto, logistic, budget.AddRemove())),
		fits(t, "Auto, labels alone, two classes", two, turned(3.5, 1.9, 0, 1), by(auto, logistic, budget.LabelsOnly())),
		fits(t, "Auto, labels alone, real labels", reals, turned(-0.4, 0.9, end, -end), by(auto, squared, budget.LabelsOnly())),
		fits(t, "Auto, labels alone, counts", three, turned(0.4, 0.9, end, 0), by(auto, poisson, budget.LabelsOnly())),
		fits(t, "Auto, labels alone, two classes, from a prior", two, turned(3.5, 1.9, 0, 1), by(auto, from, budget.LabelsOnly())),
		fits(t, "Infer, two classes", two, [2]canary{{[]float64{-2.4, 3.2}, 1}, {[]float64{-3.2, -2.4}, 0}}, infer(logistic, budget)),
		fits(t, "Infer, real labels", reals, turned(-0.3, -0.9, end, -end), infer(squared, budget)),
	}
}

func attackedClasses(t *testing.T) []*attack {
	t.Helper()
	inferred := func(p dpglm.Problem, b dpglm.Budget) func(*dpglm.Dataset, *dpglm.Env) (*dpglm.Model, error) {
		return func(d *dpglm.Dataset, env *dpglm.Env) (*dpglm.Model, error) {
			f, err := dpglm.InferClasses(ctx, d, p, b, dpglm.InferConfig{}, env)
			if err != nil {
				return nil, err
			}
			return f.Model(), nil
		}
	}
	classes, budget := logistic, dpglm.GDP(mu)
	classes.Classes = 3
	return []*attack{
		fits(t, "Softmax", three, opposite(-3.2, -2.4, 1), by(dpglm.AutoConfig{}, classes, budget)),
		fits(t, "OneAgainstRest, Auto", three, opposite(1.8, 3.5, 2), func(d *dpglm.Dataset, env *dpglm.Env) (*dpglm.Model, error) {
			return dpglm.OneAgainstRest(ctx, d, classes, budget, dpglm.OneAgainstRestConfig{Learner: dpglm.AutoConfig{}}, env)
		}),
		fits(t, "InferClasses", three, [2]canary{{[]float64{-3.7, 1.6}, 0}, {[]float64{-1.6, -3.7}, 0}}, inferred(classes, budget)),
		fits(t, "InferClasses, labels alone", three, turned(3.5, 1.9, 0, 2), inferred(classes, budget.LabelsOnly())),
	}
}

func attackedMethods(t *testing.T) []*attack {
	t.Helper()
	steps, budget := dpglm.NoisyGDConfig{}, dpglm.GDP(mu)
	few := dpglm.NoisyGDConfig{Steps: 8}
	ends, flip := turned(3.2, -2.4, end, -end), turned(3.9, 0.9, 1, 0)
	return []*attack{
		fits(t, "NoisyGD, two classes", two, flip, by(steps, logistic, budget)),
		fits(t, "NoisyGD, real labels", reals, ends, by(steps, squared, budget)),
		fits(t, "NoisyGD, persons who count alike", people, flip, by(steps, logistic, budget)),
		fits(t, "JL to 1 dimension, NoisyGD", reals, ends, by(dpglm.JLConfig{K: 1, Learner: steps}, squared, budget)),
		fits(t, "OutputPerturbation, real labels", reals, ends, by(dpglm.OutputPerturbationConfig{}, squared, budget)),
		// The canary is one of those that train, and of those that are trained first.
		fits(t, "GridSearch, NoisyGD", reals, ends, by(dpglm.GridSearchConfig{Learner: few, Seed: 2}, squared, budget)),
		fits(t, "Boost, NoisyGD", reals, ends, by(dpglm.BoostConfig{Learner: few, Seed: 2}, squared, budget)),
		fits(t, "FrankWolfe", two, turned(3.7, -1.4, 1, 0), by(dpglm.FrankWolfeConfig{}, logistic, budget)),
	}
}

// attackedStatistics are what is released of rows beside estimates. What is published are the figures.
func attackedStatistics(t *testing.T) []*attack {
	t.Helper()
	budget := dpglm.GDP(mu)
	evaluated := func(name string, c crowd, pair [2]canary, p dpglm.Problem, figures ...string) *attack {
		data := c.data(t, pair)
		m, err := by(dpglm.AutoConfig{}, p, dpglm.GDP(100))(data[0], given.Seeded(1)) // a public model
		if err != nil {
			t.Fatal(err)
		}
		return &attack{name: name, data: data, slow: true, run: func(d *dpglm.Dataset, env *dpglm.Env) (published, error) {
			e, err := dpglm.Evaluate(ctx, d, m, budget, dpglm.EvaluateConfig{}, env)
			if err != nil {
				return published{}, err
			}
			out := published{ledger: e.Ledger}
			for _, f := range figures {
				out.numbers = append(out.numbers, given.FigureOf(e, f).Value)
			}
			return out, nil
		}}
	}
	classes := logistic
	classes.Classes = 3
	moments := &attack{name: "moments of all columns", data: reals.data(t, [2]canary{{[]float64{-3.4, -2.2}, 0}, {[]float64{0.3, 4}, end}})}
	moments.run = func(d *dpglm.Dataset, env *dpglm.Env) (published, error) {
		m, err := d.Moments(ctx, budget, env)
		if err != nil {
			return published{}, err
		}
		var written struct{ Second [][]float64 }
		text, err := json.Marshal(m)
		if err == nil {
			err = json.Unmarshal(text, &written)
		}
		return published{slices.Concat(written.Second...), m.Ledger()}, err
	}
	several := evaluated("Evaluate, three classes", three, turned(3.5, 1.9, 0, 1), classes, "accuracy", "log-loss", "Brier score", "mean AUC")
	several.lengthy = true
	return []*attack{
		moments,
		evaluated("Evaluate, two classes", two, turned(3.5, 1.9, 0, 1), logistic, "accuracy", "AUC", "rate of ones", "log-loss", "Brier score"),
		several,
		evaluated("Evaluate, real labels", reals, turned(3.5, 1.9, end, -end), squared, "mean error", "RMSE", "R²"),
	}
}

// attackedPredictors answer queries at the canary's place; what is published are the answers. A vote is in most danger where the canary
// makes a large majority less large.
func attackedPredictors(t *testing.T) []*attack {
	t.Helper()
	const queries, line = 4, 2.0
	predicted := func(name string, c dpglm.PredictorConfig, p dpglm.Problem, b dpglm.Budget, labels [2]float64, asked, others int) *attack {
		var data [2]*dpglm.Dataset
		for side := range data {
			x, y := mat.NewDense(1+others, 1, nil), make([]float64, 1+others)
			for i := range y {
				x.Set(i, 0, line)
				y[i] = 1
			}
			y[0] = labels[side]
			data[side] = given.Dataset(t, x, y, dpglm.Bounds{Feature: line, Label: 1})
		}
		return &attack{name: name, data: data, direct: true, run: func(d *dpglm.Dataset, env *dpglm.Env) (published, error) {
			p, err := dpglm.NewPredictor(ctx, d, p, b, c, env)
			if err != nil {
				return published{}, err
			}
			var sum float64
			for range asked {
				v, err := p.Answer(ctx, []float64{line})
				if err != nil {
					return published{}, err
				}
				sum += v
			}
			return published{[]float64{sum}, p.Planned()}, nil
		}}
	}
	signs, narrow, wide := [2]float64{1, -1}, squared, squared
	narrow.Radius, wide.Radius = 0.01, 1
	vote := predicted("predictor by votes", dpglm.VoteConfig{Queries: 1, Parts: 3}, logistic, dpglm.PureDP(mu), [2]float64{1, 0}, 1, 2)
	vote.pure = mu
	return []*attack{
		predicted("predictor by means", dpglm.AverageConfig{Queries: queries, Parts: 1, Lambda: 1e-3}, wide, dpglm.GDP(mu), signs, queries, 0),
		predicted("predictor by a stable minimiser", dpglm.StableConfig{Queries: queries, Lambda: 100}, narrow, dpglm.GDP(mu), signs, queries, 0),
		predicted("predictor by descent", dpglm.DescentConfig{Queries: queries, Steps: 5, StepSize: 1e-3}, narrow, dpglm.GDP(mu), signs, queries, 0),
		vote,
	}
}
