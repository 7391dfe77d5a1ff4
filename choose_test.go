package dpglm

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// A small data set of absolute losses that are easy to add up: with weight w, row
// (x, y) loses |wx − y|.
func fourRows(t *testing.T, last float64) *Dataset {
	t.Helper()
	d, err := NewDataset(mat.NewDense(4, 1, []float64{1, 1, 1, 1}), []float64{1, 1, 0, last}, Bounds{Feature: 1, Label: 2})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// [W21, the exponential mechanism over a finite class]: model j is chosen with
// probability ∝ exp(−ε·q_j/(2·limit)), q_j its clipped losses' sum, counted by
// hand. One replaced row changes no such probability by more than e^ε.
func TestSelectModelLaw(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	const epsilon, limit, draws = 2.0, 1.5, 20_000
	models := [][][]float64{{{0}}, {{1}}, {{-1}}}
	law := func(last float64) []float64 {
		q := []float64{2 + math.Min(math.Abs(last), limit), 1 + math.Min(math.Abs(1-last), limit), 2*limit + 1 + math.Min(math.Abs(-1-last), limit)}
		p, total := make([]float64, 3), 0.0
		for j := range q {
			p[j] = math.Exp(-epsilon * q[j] / (2 * limit))
			total += p[j]
		}
		for j := range p {
			p[j] /= total
		}
		return p
	}
	env := &Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	for _, last := range []float64{-2, 2} {
		counts := make([]float64, 3)
		for range draws {
			j, ledger, err := SelectModel(context.Background(), fourRows(t, last), Problem{Loss: losses.Absolute{}}, PureDP(epsilon), models, limit, env)
			if err != nil {
				t.Fatal(err)
			}
			if !ledger.Within(epsilon, 0) || !ledger.CallerNoise() {
				t.Fatalf("ledger %v", ledger)
			}
			counts[j]++
		}
		for j, p := range law(last) {
			// Hoeffding's inequality at α = 1e-6, seed 1.
			if math.Abs(counts[j]-draws*p) > math.Sqrt(draws*math.Log(2e6)/2) {
				t.Errorf("label %g: model %d is chosen %g times of %d, want about %g", last, j, counts[j], draws, draws*p)
			}
		}
	}
	for a := -2.0; a <= 2; a += 0.25 {
		for b := -2.0; b <= 2; b += 0.25 {
			p, q := law(a), law(b)
			for j := range p {
				if math.Abs(math.Log(p[j]/q[j])) > epsilon {
					t.Errorf("labels %g and %g: ratio %g", a, b, p[j]/q[j])
				}
			}
		}
	}
}

// Without a limit nothing is clipped; an approximate budget allows a little more
// than its ε.
func TestSelectModelDefaults(t *testing.T) {
	s := fourRows(t, 0).Shape()
	limit, err := Problem{Loss: losses.Absolute{}}.lossLimit(s, []*fitted{{weights: [][]float64{{0.5}}}, {weights: [][]float64{{-3}}}}, 0)
	if err != nil || limit != 5 {
		t.Errorf("limit %g, %v", limit, err)
	}
	for _, b := range []Budget{PureDP(1), ApproxDP(1, 1e-3), GDP(0.4)} {
		j, ledger, err := SelectModel(context.Background(), fourRows(t, 0), Problem{Loss: losses.Absolute{}}, b, [][][]float64{{{1}}}, 0, nil)
		if err != nil || j != 0 {
			t.Fatal(j, err)
		}
		if err := b.covers(ledger); err != nil {
			t.Error(err)
		}
	}
}

func TestSelectModelRefuses(t *testing.T) {
	d, loss, models := fourRows(t, 0), Problem{Loss: losses.Absolute{}}, [][][]float64{{{1}}, {{2}}}
	for name, c := range map[string]struct {
		data    *Dataset
		problem Problem
		budget  Budget
		models  [][][]float64
		limit   float64
		want    error
	}{
		"no data":        {nil, loss, PureDP(1), models, 1, ErrConfig},
		"no loss":        {d, Problem{}, PureDP(1), models, 1, ErrConfig},
		"no budget":      {d, loss, Budget{}, models, 1, ErrBudget},
		"tiny ε":         {d, loss, PureDP(1e-9), models, 1, ErrBudget},
		"no models":      {d, loss, PureDP(1), nil, 1, ErrShape},
		"wrong length":   {d, loss, PureDP(1), [][][]float64{{{1}}, {{1, 2}}}, 1, ErrShape},
		"two scores":     {d, loss, PureDP(1), [][][]float64{{{1}, {2}}}, 1, ErrShape},
		"two classes":    {d, Problem{Loss: losses.Logistic{}, Classes: 2}, PureDP(1), models, 1, ErrShape},
		"one class":      {d, Problem{Loss: losses.Logistic{}, Classes: 1}, PureDP(1), models, 1, ErrConfig},
		"real classes":   {d, Problem{Loss: losses.Absolute{}, Classes: 2}, PureDP(1), [][][]float64{{{1}, {2}}}, 1, ErrConfig},
		"no classes":     {fourRows(t, 0.5), Problem{Loss: losses.Logistic{}, Classes: 2}, PureDP(1), [][][]float64{{{1}, {2}}}, 1, ErrLabel},
		"not a number":   {d, loss, PureDP(1), [][][]float64{{{math.NaN()}}}, 1, ErrValue},
		"infinite":       {d, loss, PureDP(1), [][][]float64{{{math.Inf(1)}}}, 1, ErrValue},
		"overflow":       {d, Problem{Loss: losses.Poisson{}}, PureDP(1), [][][]float64{{{1e5}}}, 1, ErrBound},
		"negative limit": {d, loss, PureDP(1), models, -1, ErrConfig},
		"no limit":       {d, loss, PureDP(1), models, math.Inf(1), ErrConfig},
		"labels":         {fourRows(t, 0.5), Problem{Loss: losses.Hinge{}}, PureDP(1), models, 1, ErrLabel},
	} {
		if _, l, err := SelectModel(context.Background(), c.data, c.problem, c.budget, c.models, c.limit, nil); l != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := SelectModel(ctx, d, loss, PureDP(1), models, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
