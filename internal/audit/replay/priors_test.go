package replay_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// priorOf is a model of other rows of the design, with so little noise that it is far from the constant one.
func priorOf(t *testing.T, d design, p dpglm.Problem) *dpglm.Model {
	t.Helper()
	d.form = "dense"
	d.n = 60
	rows, err := d.base(77).dataset(d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Auto(t.Context(), rows, p, dpglm.GDP(1e3), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(3)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// budgeted is a problem with the values of μ that it is tried with.
type budgeted struct {
	labels losses.Labels
	of     dpglm.Problem
	mu     []float64
}

// autoRun is Auto of a problem, for a design's trial.
func autoRun(p dpglm.Problem, d design, mu float64) func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error) {
	return func(ctx context.Context, rows *dpglm.Dataset, env *dpglm.Env) (any, error) {
		return dpglm.Auto(ctx, rows, p, d.budget(dpglm.GDP(mu)), env)
	}
}

// priors are trials of descents that begin at a public model: a histogram of its scores and steps along its line are released then, and
// every line that follows has scores beside its own.
func priors(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	for _, c := range []budgeted{
		{losses.Binary, dpglm.Problem{Loss: losses.Logistic{}}, []float64{3, 25, 3000}},
		{losses.Binary, dpglm.Problem{Loss: losses.Hinge{}}, []float64{20}},
		{losses.Real, dpglm.Problem{Loss: losses.Squared{}}, []float64{20}},
		{losses.Real, dpglm.Problem{Loss: losses.Absolute{}}, []float64{20}},
		{losses.Count, dpglm.Problem{Loss: losses.Poisson{}}, []float64{20}},
		{classLabels, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, []float64{12, 60}},
	} {
		for _, mu := range c.mu {
			for _, form := range []string{"dense", "dense, intercept", "schema", "sparse schema, intercept", "persons", "places"} {
				d := designs(24, c.labels)[form]
				p := c.of
				p.Prior = priorOf(t, d, p)
				name := fmt.Sprintf("prior, %s, %d classes, μ = %g, %s", p.Loss.Name(), p.Classes, mu, form)
				all = append(all, &trial{name: name, design: d, run: autoRun(p, d, mu)})
			}
		}
	}
	d := designs(24, losses.Binary)["dense, intercept"]
	p := dpglm.Problem{Loss: losses.Logistic{}}
	p.Prior = priorOf(t, d, p)
	return append(all, &trial{name: "prior, Infer", design: d, run: func(ctx context.Context, rows *dpglm.Dataset, env *dpglm.Env) (any, error) {
		return dpglm.Infer(ctx, rows, p, dpglm.GDP(400), dpglm.InferConfig{}, env)
	}})
}

// labelPriors are trials of estimates where labels alone are private, by which a public model is weighed without a release of its own; counts
// go by a descent. Of classes, those without one and their inferences are among them.
func labelPriors(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	for _, c := range []budgeted{
		{losses.Binary, dpglm.Problem{Loss: losses.Logistic{}}, []float64{3, 25, 3000}},
		{losses.Real, dpglm.Problem{Loss: losses.Squared{}}, []float64{20, 3000}},
		{losses.Count, dpglm.Problem{Loss: losses.Poisson{}}, []float64{20}},
		{classLabels, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, []float64{12, 60}},
	} {
		for _, mu := range c.mu {
			for _, base := range []string{"dense", "dense, intercept", "sparse schema, intercept"} {
				d, p := designs(24, c.labels)[base], c.of
				d.form = "labels"
				name := fmt.Sprintf("%s, %d classes, μ = %g, labels, %s", p.Loss.Name(), p.Classes, mu, base)
				if p.Classes > 0 {
					all = append(all, &trial{name: name, design: d, run: autoRun(p, d, mu)})
					all = append(all, &trial{name: "InferClasses, " + name, design: d, run: func(ctx context.Context, rows *dpglm.Dataset, env *dpglm.Env) (any, error) {
						return dpglm.InferClasses(ctx, rows, c.of, d.budget(dpglm.GDP(mu)), dpglm.InferConfig{}, env)
					}})
				}
				p.Prior = priorOf(t, d, p)
				all = append(all, &trial{name: "prior, " + name, design: d, run: autoRun(p, d, mu)})
			}
		}
	}
	return all
}

// Where labels alone are private a prior changes nothing that is asked before labels were: of classes no release at all, of real labels but those
// that follow the first estimate, of which there are as many.
func TestPriorsOfLabelsReleaseNothing(t *testing.T) {
	for _, c := range []struct {
		labels losses.Labels
		of     dpglm.Problem
		same   int // releases; 0 for all
	}{
		{losses.Binary, dpglm.Problem{Loss: losses.Logistic{}}, 0},
		{classLabels, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, 0},
		{losses.Real, dpglm.Problem{Loss: losses.Squared{}}, 3}, // the mean, a histogram and a sum
	} {
		d := designs(24, c.labels)["dense, intercept"]
		d.form = "labels"
		prior := priorOf(t, d, c.of)
		tape := func(p dpglm.Problem) given.Ran {
			one := &trial{name: "prior", design: d, run: func(ctx context.Context, rows *dpglm.Dataset, env *dpglm.Env) (any, error) {
				m, err := dpglm.Auto(ctx, rows, p, d.budget(dpglm.GDP(25)), env)
				if err != nil {
					return nil, err
				}
				return m.Weights(), nil
			}}
			rows := d.base(5)
			for i := range rows.rows { // labels as the prior says, lest it be left out
				z, err := prior.Scores(mat.NewDense(1, d.columns, rows.rows[i].X))
				if err != nil {
					t.Fatal(err)
				}
				switch scores := z.RawRowView(0); {
				case c.of.Classes > 0:
					rows.rows[i].Y = float64(floats.MaxIdx(scores))
				case c.labels == losses.Real:
					rows.rows[i].Y = math.Min(math.Max(scores[0], -1), 1)
				case scores[0] > 0:
					rows.rows[i].Y = 1
				default:
					rows.rows[i].Y = 0
				}
			}
			ran := one.play(t, rows, 5, nil)
			if ran.Err != nil {
				t.Fatal(ran.Err)
			}
			return ran
		}
		with := c.of
		with.Prior = prior
		a, b := tape(c.of), tape(with)
		if a.Out == b.Out {
			t.Errorf("%s, %d classes: a prior changes no weight", c.of.Loss.Name(), c.of.Classes)
		}
		first, second := a.Tape.Heard, b.Tape.Heard
		if len(first) != len(second) || len(first) < 2 {
			t.Fatalf("%s, %d classes: %d releases with a prior, %d without", c.of.Loss.Name(), c.of.Classes, len(second), len(first))
		}
		for k, h := range first {
			g := second[k]
			declared := h.Mechanism == g.Mechanism && h.L2 == g.L2 && h.Mu == g.Mu && slices.Equal(h.Each, g.Each) && h.Noise == g.Noise
			if (c.same == 0 || k < c.same) && !(declared && slices.Equal(h.Values, g.Values)) {
				t.Errorf("%s, %d classes: release %d is %v with a prior, %v without", c.of.Loss.Name(), c.of.Classes, k, g, h)
			}
			if h.Mu != g.Mu || len(h.Values) != len(g.Values) {
				t.Errorf("%s, %d classes: release %d is of another size with a prior", c.of.Loss.Name(), c.of.Classes, k)
			}
		}
	}
}
