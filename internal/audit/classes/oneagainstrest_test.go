package classes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func against(t *testing.T, n int, p dpglm.Problem, b dpglm.Budget, l dpglm.Learner, more ...dpglm.RowDetail) *dpglm.Model {
	t.Helper()
	x, y := classified(n, 1)
	d, err := dpglm.NewDataset(x, y, inBall, more...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.OneAgainstRest(t.Context(), d, given.OfClasses(p, 4), b, dpglm.OneAgainstRestConfig{Learner: l}, seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each class's weights are those of the learner on rows that are labelled by hand, with half
// of μ for one of four; probabilities are the models' own, over their sum.
func TestOneAgainstRestIsTheLearner(t *testing.T) {
	x, y := classified(20000, 1)
	m := against(t, 20000, logistic, dpglm.GDP(300), nil)
	var means [][]float64
	for k, weights := range m.Weights() {
		labels := make([]float64, len(y))
		for i, c := range y {
			if int(c) == k {
				labels[i] = 1
			}
		}
		one, err := dpglm.Auto(t.Context(), dataset(t, x, labels, inBall), logistic, dpglm.GDP(150), seeded(3))
		if err != nil {
			t.Fatal(err)
		}
		if !(floats.Distance(weights, one.Weights()[0], math.Inf(1)) < 0.02) {
			t.Errorf("class %d: %.4f, by itself %.4f", k, weights, one.Weights())
		}
		if !(math.Abs(m.Ledger().Mu()/2-one.Ledger().Mu()) < 1e-6) {
			t.Errorf("μ is %g for all, %g for one of four", m.Ledger().Mu(), one.Ledger().Mu())
		}
	}
	p, err := m.Probabilities(x)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Scores(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		row := make([]float64, 4)
		for k, v := range z.RawRowView(i) {
			row[k] = losses.Logit.Mean(v)
		}
		floats.Scale(1/floats.Sum(row), row)
		if !floats.EqualApprox(row, p.RawRowView(i), 1e-12) {
			t.Fatalf("row %d: %v of %v", i, p.RawRowView(i), means)
		}
	}
	constant := math.Log(4)
	if loss, right := classLoss(t, m, x, y); !(loss < constant-0.2 && right > 0.5) {
		t.Errorf("log-loss %.4f, %.3f right", loss, right)
	}
}

// Any learner and any loss with binary labels will do, within the budget as the ledger of
// all trainings has it, and using most of it: of noise that isn't Gaussian, of one that
// splits the rows, for groups and for persons.
func TestOneAgainstRestOfLearners(t *testing.T) {
	grid := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, Radii: []float64{1, 4}}
	approx := dpglm.ApproxDP(1, 1e-6)
	for name, c := range map[string]struct {
		loss    losses.Loss
		learner dpglm.Learner
		budget  dpglm.Budget
		rows    int // of a group
		least   float64
	}{
		"hinge":                   {losses.Hinge{}, nil, approx, 1, 0.99},
		"probit":                  {losses.Probit{}, nil, approx, 1, 0.99},
		"groups":                  {losses.Logistic{}, nil, approx.ForGroups(3), 3, 0.9},
		"objective perturbation":  {losses.Logistic{}, dpglm.ObjectivePerturbationConfig{}, approx, 1, 0.95},
		"pure":                    {losses.Logistic{}, nil, dpglm.PureDP(1), 1, 0.99},
		"grid search":             {losses.Logistic{}, grid, approx, 1, 0.5},
		"boosting, a pure budget": {losses.Logistic{}, dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}, Chunks: 3}, dpglm.PureDP(1), 1, 0.99},
	} {
		m := against(t, 300, dpglm.Problem{Loss: c.loss}, c.budget, c.learner)
		delta := 1e-6
		if strings.Contains(name, "pure") {
			delta = 0
		}
		if l := m.Ledger(); !l.GroupWithin(c.rows, 1, delta) || l.GroupWithin(c.rows, c.least, delta) {
			t.Errorf("%s: spent is not between %g and 1:\n%v", name, c.least, l)
		}
	}
	persons := make([]int, 20000)
	for i := range persons {
		persons[i] = i / 2
	}
	m := against(t, 20000, logistic, approx, nil, dpglm.Persons{Of: persons, Count: 10000, MaxRows: 2})
	x, y := classified(20000, 5)
	if loss, _ := classLoss(t, m, x, y); !(loss < 1.2) || !strings.Contains(fmt.Sprint(m), "person") {
		t.Errorf("log-loss %.3f of\n%v", loss, m)
	}
}

// A stored model predicts as before and says what it is. One of a loss without probabilities
// has none, and is evaluated by its classes and ranks.
func TestOneAgainstRestModels(t *testing.T) {
	x, y := classified(3000, 7)
	d := dataset(t, x, y, inBall)
	for _, c := range []struct {
		loss losses.Loss
		says string
	}{{losses.Hinge{}, "one-against-rest hinge model of 4 classes"}, {losses.Probit{}, "one-against-rest probit model of 4 classes"}, {losses.Logistic{}, "one-against-rest logistic model"}} {
		m := against(t, 3000, dpglm.Problem{Loss: c.loss}, dpglm.GDP(20), nil)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		back := new(dpglm.Model)
		if err := json.Unmarshal(text, back); err != nil || fmt.Sprint(back) != fmt.Sprint(m) || !strings.HasPrefix(fmt.Sprint(m), c.says) {
			t.Errorf("%v\n%v (%v)", back, m, err)
		}
		e, err := dpglm.Evaluate(t.Context(), d, back, dpglm.GDP(300), dpglm.EvaluateConfig{}, seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := back.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for i, k := range predicted {
			if float64(k) == y[i] {
				right += 1.0 / 3000
			}
		}
		if !(math.Abs(figureOf(e, "accuracy").Value-right) < 1e-3 && figureOf(e, "mean AUC").Value > 0.6) {
			t.Errorf("%s: accuracy %.4f, by a loop %.4f; AUC %.4f", c.says, figureOf(e, "accuracy"), right, figureOf(e, "mean AUC"))
		}
		if _, err = back.Probabilities(x); losses.LinkOf(c.loss).Probability() {
			if err != nil {
				t.Fatal(err)
			}
			want := classFigures(t, back, x, y)
			for k, v := range intervalsOf(e) {
				if !(math.IsNaN(want[k]) || math.Abs(v.Value-want[k]) < 5e-3) {
					t.Errorf("%s: figure %d is %.4f, by loops %.4f", c.says, k, v, want[k])
				}
			}
		} else if !errors.Is(err, dpglm.ErrConfig) || figureOf(e, "log-loss") != (dpglm.Interval{}) || figureOf(e, "Brier score") != (dpglm.Interval{}) {
			t.Errorf("%s: %v, log-loss %v", c.says, err, figureOf(e, "log-loss"))
		}
		for _, change := range [][2]string{{`"loss":"`, `"lost":"`}, {`"link":"`, `"link":"log`}, {`"loss":"` + c.loss.Name() + `",`, ``},
			{`"loss":"`, `"labels":"binary","loss":"`}, {`"loss":"`, `"thresholds":[1],"loss":"`}} {
			changed := strings.Replace(string(text), change[0], change[1], 1)
			if err := json.Unmarshal(resealed.JSON([]byte(changed)), back); changed == string(text) || !errors.Is(err, dpglm.ErrModel) {
				t.Errorf("%s: %s read as %s: %v", c.says, change[0], change[1], err)
			}
		}
	}
}

// What can't be is refused before anything is spent; what stops afterwards is spent.
func TestOneAgainstRestRefuses(t *testing.T) {
	x, y := classified(50, 1)
	d, b, auto := dataset(t, x, y, inBall), dpglm.GDP(1), dpglm.AutoConfig{}
	other := slices.Clone(y)
	other[7] = 4
	shifted, err := dpglm.NewDataset(x, y, inBall, dpglm.Offsets{Of: make([]float64, 50), Range: [2]float64{-1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		d       *dpglm.Dataset
		p       dpglm.Problem
		b       dpglm.Budget
		classes int
		l       dpglm.Learner
		kind    error
	}{
		"one class":     {d, logistic, b, 1, auto, dpglm.ErrConfig},
		"many classes":  {d, logistic, b, 1e6, auto, dpglm.ErrConfig},
		"labels beyond": {dataset(t, x, other, inBall), logistic, b, 4, auto, dpglm.ErrLabel},
		"no data":       {nil, logistic, b, 4, auto, dpglm.ErrConfig},
		"no loss":       {d, dpglm.Problem{}, b, 4, auto, dpglm.ErrConfig},
		"real labels":   {d, squared, b, 4, auto, dpglm.ErrConfig},
		"offsets":       {shifted, logistic, b, 4, auto, dpglm.ErrConfig},
		"no budget":     {d, logistic, dpglm.Budget{}, 4, auto, dpglm.ErrBudget},
		"greedy":        {d, logistic, b, 4, given.Greedy{}, dpglm.ErrBudget},
	} {
		var spent *dpglm.Interrupted
		_, err := dpglm.OneAgainstRest(t.Context(), c.d, given.OfClasses(c.p, c.classes), c.b, dpglm.OneAgainstRestConfig{Learner: c.l}, nil)
		if !errors.Is(err, c.kind) || errors.As(err, &spent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	planned, err := dpglm.OneAgainstRestConfig{}.Plan(d.Shape(), given.OfClasses(logistic, 4), b)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.OneAgainstRest(t.Context(), d, given.OfClasses(logistic, 4), b, dpglm.OneAgainstRestConfig{}, nil)
	if err != nil || fmt.Sprint(m.Ledger()) != fmt.Sprint(planned.Ledger) {
		t.Errorf("planned\n%v\nspent\n%v (%v)", planned, m.Ledger(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stopped *dpglm.Interrupted
	_, err = dpglm.OneAgainstRest(ctx, d, given.OfClasses(logistic, 4), b, dpglm.OneAgainstRestConfig{}, &dpglm.Env{NoiseForTests: stopping{mechanisms.NewSeededSource(1), cancel}})
	if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || !stopped.Ledger.CallerNoise() {
		t.Errorf("stopped after the first noise: %v", err)
	}
}
