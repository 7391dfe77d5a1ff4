package dpglm

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// auditedClasses are Softmax and OneAgainstRest where they end with a constant model, and the
// releases that only models of several classes have, each alone, with all of μ.
func auditedClasses(t *testing.T) []audited {
	t.Helper()
	between := func(weights [][]float64) float64 { return weights[0][2] - weights[1][2] }
	step := func(c *curator.ClassFramed) (release.Answer, error) {
		at := curator.ClassPoint{U: [][]float64{{0, 0}, {0, 0}, {0, 0}}, B: make([]float64, 3)}
		return c.Gradient(context.Background(), at, curator.ClassSlope{Clip: 0.3})
	}
	at := curator.ClassPoint{U: [][]float64{{1, 0}, {-1, 0}, {0, 1}}, B: make([]float64, 3)}
	edges := [][]float64{{-1.5}, {-1.5}, {-1.5}}
	ranks := func(c *curator.ClassFramed) (release.Answer, error) {
		return c.LogOdds(context.Background(), curator.Others, edges, at, nil)
	}
	factor := func(c *curator.ClassFramed) (release.Answer, error) {
		from := curator.ClassPoint{U: [][]float64{{0.5, 0}, {0, 0.5}, {0, 0}}, B: make([]float64, 3)}
		return c.ScaleSlope(context.Background(), at, from, 0.2)
	}
	confusion := func(c *curator.ClassFramed) (release.Answer, error) { return c.Confusion(context.Background(), at) }
	opposite, turned := [2][]float64{{2, 0}, {-2, 0}}, [2][]float64{{2, 0}, {-2, 3}}
	labels := [2]float64{0, 0}
	// A row that goes from one class to another changes two of the three models'.
	return []audited{
		{"Softmax, constant model", evidence.Mu, 1, 1, 100_000, modelled(t, between, func(d *Dataset, env *Env) (*Model, error) {
			return Softmax(context.Background(), d, Problem{Loss: losses.Logistic{}, Classes: 3}, GDP(1), SoftmaxConfig{}, env)
		})},
		{"OneAgainstRest, constant models", evidence.Mu, 1, math.Sqrt(2.0 / 3), 100_000, modelled(t, between, func(d *Dataset, env *Env) (*Model, error) {
			cfg := OneAgainstRestConfig{Learner: StandardisedGDConfig{}}
			return OneAgainstRest(context.Background(), d, Problem{Loss: losses.Logistic{}, Classes: 3}, GDP(1), cfg, env)
		})},
		{"Softmax, a step", evidence.Mu, 1, 1, 100_000, classesDrawn(t, opposite, labels, step, -2, 0, 1, 0, 1, 0)},
		// A row that is far on the wrong side asks for smaller scores, one that is right for larger.
		{"Softmax, a look at a factor", evidence.Mu, 1, 1, 100_000, classesDrawn(t, [2][]float64{{-2, 0}, {0.7, 0}}, labels, factor, 1)},
		{"Evaluate, ranks among others", evidence.Mu, 1, 1, 100_000, classesDrawn(t, turned, labels, ranks, 0, 0, 1, -1, 1, -1)},
		{"Evaluate, confusion of classes", evidence.Mu, 1, 1, 100_000, classesDrawn(t, turned, [2]float64{0, 1}, confusion, 1, 0, 0, 0, 0, -1, 0, 0, 0)},
	}
}

// threeClasses are 39 rows of zeros, as many of each class, and one that differs.
func threeClasses(t *testing.T, row []float64, y float64) *Dataset {
	t.Helper()
	const n = 40
	x, labels := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range labels {
		labels[i] = float64(i % 3)
	}
	x.SetRow(n-1, row)
	labels[n-1] = y
	d, err := NewDataset(x, labels, Bounds{Feature: 4, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// modelled samples a statistic of the weights of a model, where one row is of class 0 or 1.
func modelled(t *testing.T, statistic func(weights [][]float64) float64, fit func(*Dataset, *Env) (*Model, error)) stream {
	t.Helper()
	data := [2]*Dataset{threeClasses(t, []float64{0, 0}, 0), threeClasses(t, []float64{0, 0}, 1)}
	return repeated(func(side int, src mechanisms.Source) (float64, error) {
		m, err := fit(data[side], &Env{NoiseForTests: src})
		if err != nil {
			return 0, err
		}
		return statistic(m.weights), nil
	})
}

// classesDrawn samples a release about three classes by a pool of μ = 1, seen along a direction.
func classesDrawn(t *testing.T, last [2][]float64, y [2]float64, ask func(*curator.ClassFramed) (release.Answer, error), along ...float64) stream {
	t.Helper()
	schedule, err := release.Pool("classes", 1, 1, 16)
	if err != nil {
		t.Fatal(err)
	}
	var data [2]*Dataset
	var answers [2]release.Answer
	for side := range data {
		data[side] = threeClasses(t, last[side], y[side])
		classes, err := data[side].data.Classes(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		framed, err := classes.Frame(t.Context(), curator.Frame{})
		if err != nil {
			t.Fatal(err)
		}
		if answers[side], err = ask(framed); err != nil {
			t.Fatal(err)
		}
	}
	return repeated(func(side int, src mechanisms.Source) (float64, error) {
		v, err := alone(data[side], schedule, src).allow.Draw(1, answers[side])
		if err != nil {
			return 0, err
		}
		return floats.Dot(v, along), nil
	})
}
