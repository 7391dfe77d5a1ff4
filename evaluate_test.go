package dpglm

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// population draws rows of two normal features, and labels; the model's weights are fixed.
type population struct {
	loss  losses.Loss
	facts Bounds
	model []float64 // the intercept last
	label func(r *rand.Rand, x [2]float64) float64
}

func (p population) draw(t *testing.T, n int, r *rand.Rand) (d *Dataset, m *Model, z, y []float64) {
	t.Helper()
	x, z, y := p.rows(n, r)
	d = p.dataset(t, x, y)
	return d, modelOf(d, p.loss, p.model), z, y
}

func (p population) dataset(t *testing.T, x *mat.Dense, y []float64) *Dataset {
	t.Helper()
	d, err := NewDataset(x, y, p.facts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (p population) rows(n int, r *rand.Rand) (x *mat.Dense, z, y []float64) {
	x = mat.NewDense(n, 2, nil)
	y, z = make([]float64, n), make([]float64, n)
	for i := range n {
		u := [2]float64{r.NormFloat64(), r.NormFloat64()}
		if s := 6 / math.Hypot(u[0], u[1]); s < 1 {
			u[0], u[1] = u[0]*s, u[1]*s
		}
		x.SetRow(i, u[:])
		y[i] = p.label(r, u)
		z[i] = p.model[0]*u[0] + p.model[1]*u[1] + p.model[2]
	}
	return x, z, y
}

// modelOf is a model of given weights, on the labels' own scale.
func modelOf(d *Dataset, loss losses.Loss, w []float64) *Model {
	w = slices.Clone(w)
	w[len(w)-1] -= d.Shape().shift(loss.Labels())
	return newModel(Problem{}.response(&fitted{loss: loss}), [][]float64{w}, d, nil)
}

func auc(z, y []float64) float64 {
	order := make([]int, len(z))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return z[order[i]] < z[order[j]] })
	var zeros, ones, pairs float64
	for _, i := range order {
		if y[i] > 0 {
			ones++
			pairs += zeros
		} else {
			zeros++
		}
	}
	return pairs / (zeros * ones)
}

func coin(r *rand.Rand, p float64) float64 {
	if r.Float64() < p {
		return 1
	}
	return 0
}

// classes of a model that is off in slope and intercept.
func classesOf(shift float64) population {
	return population{
		loss: losses.Logistic{}, facts: Bounds{Feature: 6, Intercept: true}, model: []float64{1.5, -1, shift + 0.3},
		label: func(r *rand.Rand, x [2]float64) float64 {
			return coin(r, losses.Logit.Mean(1.2*x[0]-0.8*x[1]+shift))
		},
	}
}

// probitOf are classes of a probit model that is off.
func probitOf() population {
	return population{
		loss: losses.Probit{}, facts: Bounds{Feature: 6, Intercept: true}, model: []float64{1, -0.7, 0.3},
		label: func(r *rand.Rand, x [2]float64) float64 {
			return coin(r, losses.ProbitLink.Mean(0.8*x[0]-0.56*x[1]))
		},
	}
}

// amountsOf are of a gamma law of shape 4, of a model that is off.
func amountsOf() population {
	p := countsOf()
	p.loss = losses.Gamma{Least: 0.01}
	p.label = func(r *rand.Rand, x [2]float64) float64 {
		return math.Min(50, math.Exp(0.5+0.4*x[0]-0.3*x[1])*(r.ExpFloat64()+r.ExpFloat64()+r.ExpFloat64()+r.ExpFloat64())/4)
	}
	return p
}

func realsOf() population {
	return population{
		loss: losses.Squared{}, facts: Bounds{Feature: 6, LabelRange: [2]float64{-20, 40}, Intercept: true}, model: []float64{1.5, -1, 3.2},
		label: func(r *rand.Rand, x [2]float64) float64 { return 3 + 2*x[0] - x[1] + r.NormFloat64() },
	}
}

func countsOf() population {
	return population{
		loss: losses.Poisson{}, facts: Bounds{Feature: 6, Label: 50, Intercept: true}, model: []float64{0.5, -0.3, 0.6},
		label: func(r *rand.Rand, x [2]float64) (k float64) {
			least := math.Exp(-math.Exp(0.5 + 0.4*x[0] - 0.3*x[1]))
			for q := r.Float64(); q > least; q *= r.Float64() {
				k++
			}
			return k
		},
	}
}

// exact are the figures of scores and labels, without noise, in figuresOf's order.
func (p population) exact(z, y []float64) []float64 {
	n := float64(len(z))
	var right, rate, loss, square, off, label, labels float64
	for i, v := range z {
		m := losses.LinkOf(p.loss).Mean(v) - y[i]
		square += m * m / n
		off += m / n
		label += y[i] / n
		labels += y[i] * y[i] / n
		if (v > 0) == (y[i] > 0) {
			right += 1 / n
		}
		rate += y[i] / n
		if p.loss.Labels() == losses.Binary {
			loss += p.loss.Value(v, 2*y[i]-1) / n
		}
	}
	if p.loss.Labels() == losses.Binary {
		return []float64{right, auc(z, y), rate, loss, square}
	}
	return []float64{off, math.Sqrt(square), 1 - square/(labels-label*label)}
}

func (p population) figuresOf(e *Evaluation) []Interval {
	if p.loss.Labels() == losses.Binary {
		return []Interval{figureOf(e, "accuracy"), figureOf(e, "AUC"), figureOf(e, "rate of ones"), figureOf(e, "log-loss"), figureOf(e, "Brier score")}
	}
	return []Interval{figureOf(e, "mean error"), figureOf(e, "RMSE"), figureOf(e, "R²")}
}

// figureOf is a figure of all rows, zero where there is none.
func figureOf(e *Evaluation, name string) Interval {
	f, _ := e.Figure(name)
	return f.Interval
}

func evaluatedBy(t *testing.T, d *Dataset, m *Model, mu float64, seed uint64) *Evaluation {
	t.Helper()
	e, err := Evaluate(context.Background(), d, m, GDP(mu), EvaluateConfig{}, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Nearly without noise the figures are those of loops over the rows: a wrong cell, edge,
// class or centre shows.
func TestEvaluationByLoops(t *testing.T) {
	for name, c := range map[string]struct {
		p         population
		tolerance []float64
	}{
		"classes": {classesOf(0), []float64{1e-4, 1e-3, 1e-4, 2e-3, 1e-3}},
		"rare":    {classesOf(-3), []float64{1e-4, 2e-3, 1e-4, 2e-3, 1e-3}},
		"reals":   {realsOf(), []float64{0.01, 0.01, 0.005}},
		"counts":  {countsOf(), []float64{0.02, 0.02, 0.03}},
		"probit":  {probitOf(), []float64{1e-4, 1e-3, 1e-4, 2e-3, 1e-3}},
		"amounts": {amountsOf(), []float64{0.02, 0.03, 0.03}},
	} {
		d, m, z, y := c.p.draw(t, 4000, rand.New(rand.NewPCG(1, 2)))
		e := evaluatedBy(t, d, m, 100, 1)
		want := c.p.exact(z, y)
		for k, v := range c.p.figuresOf(e) {
			if math.Abs(v.Value-want[k]) > c.tolerance[k] {
				t.Errorf("%s: figure %d is %.5f, by loops %.5f", name, k, v.Value, want[k])
			}
		}
		if e.Calibration == nil {
			continue
		}
		// The classes' score is 0.8·(z − 0.3 − shift) + shift, by construction; five
		// standard errors. Log-odds of a probit model are about 1.7 times its score.
		shift := c.p.model[2] - 0.3
		if figureOf(e, "calibration slope").Value < 0.65 || figureOf(e, "calibration slope").Value > 0.95 || math.Abs(figureOf(e, "calibration intercept").Value-(shift-0.8*(shift+0.3))) > 0.35 {
			t.Errorf("%s: calibration %v, %v", name, figureOf(e, "calibration intercept"), figureOf(e, "calibration slope"))
		}
		for _, v := range e.ROC {
			if v.Across.Value > v.Up.Value+0.01 {
				t.Errorf("%s: the curve lies below the diagonal at %v", name, v)
			}
		}
	}
}

// A prediction of a real label is held to the range of labels: that of the model's facts, in figures as in means.
func TestMeansOfRealLabelsAreHeld(t *testing.T) {
	p := realsOf()
	p.facts.LabelRange, p.facts.Label = [2]float64{2, 6}, 0
	far := p
	far.model = []float64{2, -1, 4}
	far.label = func(r *rand.Rand, x [2]float64) float64 { return 4 + 2*math.Tanh(p.label(r, x)/2-1.5) }
	x, z, y := far.rows(4000, rand.New(rand.NewPCG(1, 2)))
	d := far.dataset(t, x, y)
	m := modelOf(d, far.loss, far.model)
	held, beyond := slices.Clone(z), [2]int{}
	for i, v := range z {
		if held[i] = math.Max(2, math.Min(6, v)); v < 2 {
			beyond[0]++
		} else if v > 6 {
			beyond[1]++
		}
	}
	if beyond[0] < 100 || beyond[1] < 100 {
		t.Fatalf("%v scores are beyond the labels", beyond)
	}
	for name, ask := range map[string]func(mat.Matrix) ([]float64, error){"Means": m.Means, "Predict": m.Predict} {
		if got, err := ask(x); err != nil || floats.Distance(got, held, math.Inf(1)) > 1e-12 {
			t.Errorf("%s: %v, %v", name, got[:3], err)
		}
	}
	// Rows may be evaluated whose labels have another range.
	far.facts.LabelRange = [2]float64{-50, 12}
	want := far.exact(held, y)
	for name, of := range map[string]*Dataset{"the model's range": d, "another": far.dataset(t, x, y)} {
		for k, v := range far.figuresOf(evaluatedBy(t, of, m, 1000, 1)) {
			if math.Abs(v.Value-want[k]) > 0.02 {
				t.Errorf("%s: figure %d is %.5f, by loops %.5f", name, k, v.Value, want[k])
			}
		}
	}
}

// Scores so large that their exponentials vanish keep their order and their classes.
func TestEvaluationOfLargeScores(t *testing.T) {
	p := classesOf(0)
	for j := range p.model {
		p.model[j] *= 1e4
	}
	d, m, z, y := p.draw(t, 2000, rand.New(rand.NewPCG(3, 2)))
	e, want := evaluatedBy(t, d, m, 100, 1), p.exact(z, y)
	if math.Abs(figureOf(e, "accuracy").Value-want[0]) > 1e-3 || math.Abs(figureOf(e, "AUC").Value-want[1]) > 2e-3 {
		t.Errorf("accuracy %v and AUC %v, by loops %v", figureOf(e, "accuracy"), figureOf(e, "AUC"), want[:2])
	}
}

// At n = 10,000 and μ = 0.2 AUC is within 0.01 of the rows' own. Its error has a standard
// deviation of 0.004, so that three of 25 are beyond with probability 1e-3 at most.
func TestAUCIsNearTheRows(t *testing.T) {
	p, r, far := classesOf(0), rand.New(rand.NewPCG(5, 6)), 0
	for seed := range uint64(25) {
		d, m, z, y := p.draw(t, 10_000, r)
		if got, want := figureOf(evaluatedBy(t, d, m, 0.2, seed+1), "AUC").Value, auc(z, y); math.Abs(got-want) > 0.01 {
			far++
		}
	}
	if far > 2 {
		t.Errorf("%d of 25 are off by more than 0.01", far)
	}
}

// Intervals of 95 % hold the population's figures, and the rows' own of labels of few values.
// The long form, with -audit, draws more of each.
func TestEvaluationCovers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	for name, p := range map[string]population{"classes": classesOf(0), "reals": realsOf(), "counts": countsOf(), "probit": probitOf(), "amounts": amountsOf()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.isCovered(t)
		})
	}
	t.Run("whole labels", wholeLabelsAreCovered)
}

// isCovered evaluates rows of a population where noise and sampling matter alike. At a
// coverage of 94 % more than 8 of 25 miss with probability 9e-6 for each of the 11 figures,
// more than 20 of 120 with 3e-5.
func (p population) isCovered(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	_, _, z, y := p.draw(t, 100_000, r) // a seventh of the sampling error of 2000
	truth := p.exact(z, y)
	missed, hidden := make([]int, len(truth)), make([]int, len(truth))
	trials, most := uint64(25), 8
	if *longAudit {
		trials, most = 120, 20
	}
	for seed := range trials {
		d, m, _, _ := p.draw(t, 2000, r)
		for k, v := range p.figuresOf(evaluatedBy(t, d, m, 0.7, seed+1)) {
			switch {
			case v == (Interval{}):
				hidden[k]++
			case !(v.Low <= truth[k] && truth[k] <= v.High):
				missed[k]++
			}
		}
	}
	t.Log(missed, hidden)
	for k, n := range missed {
		if hidden[k] > int(trials)*3/4 {
			t.Errorf("figure %d is hidden in %d of %d", k, hidden[k], trials)
		}
		if n > most {
			t.Errorf("%d of %d intervals miss figure %d, %.4f", n, trials, k, truth[k])
		}
	}
}

// A dry run has the ledger of the run; an evaluation prints and marshals what it has.
func TestEvaluationPrints(t *testing.T) {
	d, m, _, _ := classesOf(0).draw(t, 500, rand.New(rand.NewPCG(1, 1)))
	b := ApproxDP(1, 1e-6)
	planned, err := EvaluateConfig{}.Ledger(d.Shape(), Problem{Loss: losses.Logistic{}}, b)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Evaluate(context.Background(), d, m, b, EvaluateConfig{}, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	if e.Ledger.String() != planned.WithCallerNoise().String() || !e.Ledger.Within(1, 1e-6) {
		t.Errorf("spent\n%v\nplanned\n%v", e.Ledger, planned)
	}
	if _, err := (EvaluateConfig{}).Ledger(d.Shape(), Problem{}, b); !errors.Is(err, ErrConfig) {
		t.Errorf("without a loss: %v", err)
	}
	if s := e.String(); !strings.Contains(s, "AUC") || strings.Contains(s, "RMSE") {
		t.Errorf("printed as\n%s", s)
	}
	text, err := json.Marshal(e)
	if err != nil || strings.Contains(string(text), "RMSE") {
		t.Errorf("%s (%v)", text, err)
	}
	var back Evaluation
	if err := json.Unmarshal(text, &back); err != nil || back.String() != e.String() {
		t.Errorf("read back as\n%v (%v)", &back, err)
	}
}

// However few the rows, rates are rates.
func TestRatesStayRates(t *testing.T) {
	d, m, _, _ := classesOf(0).draw(t, 20, rand.New(rand.NewPCG(1, 1)))
	for seed := range uint64(10) {
		e := evaluatedBy(t, d, m, 0.1, seed+1)
		for k, v := range []Interval{figureOf(e, "accuracy"), figureOf(e, "AUC"), figureOf(e, "rate of ones"), figureOf(e, "Brier score"), e.ROC[3].Across, e.ROC[3].Up, {Value: math.Min(1, figureOf(e, "log-loss").Value)}} {
			if math.Min(v.Value, v.Low) < 0 || math.Max(v.Value, v.High) > 1 {
				t.Errorf("figure %d is %+v", k, v)
			}
		}
	}
}

func TestEvaluateRefuses(t *testing.T) {
	p := classesOf(0)
	d, m, _, _ := p.draw(t, 50, rand.New(rand.NewPCG(1, 1)))
	other := p
	other.facts.Feature = 5
	wide, _, _, _ := other.draw(t, 50, rand.New(rand.NewPCG(1, 1)))
	real, _, _, _ := realsOf().draw(t, 50, rand.New(rand.NewPCG(1, 1)))
	for name, c := range map[string]struct {
		data   *Dataset
		model  *Model
		budget Budget
		cfg    EvaluateConfig
		want   error
	}{
		"no data":      {nil, m, GDP(1), EvaluateConfig{}, ErrConfig},
		"no model":     {d, nil, GDP(1), EvaluateConfig{}, ErrModel},
		"empty model":  {d, new(Model), GDP(1), EvaluateConfig{}, ErrModel},
		"no budget":    {d, m, Budget{}, EvaluateConfig{}, ErrBudget},
		"pure":         {d, m, PureDP(1), EvaluateConfig{}, ErrBudget},
		"threshold":    {d, m, GDP(1), EvaluateConfig{Threshold: 1}, ErrConfig},
		"level":        {d, m, GDP(1), EvaluateConfig{Confidence: -0.5}, ErrConfig},
		"other bounds": {wide, m, GDP(1), EvaluateConfig{}, ErrShape},
		"huge weights": {d, modelOf(d, losses.Logistic{}, []float64{1e300, 1e300, 0}), GDP(1), EvaluateConfig{}, ErrModel},
		"other labels": {real, m, GDP(1), EvaluateConfig{}, ErrLabel},
	} {
		if e, err := Evaluate(context.Background(), c.data, c.model, c.budget, c.cfg, nil); e != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Evaluate(ctx, d, m, GDP(1), EvaluateConfig{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, fraction := range []float64{0, 1, -1, math.NaN()} {
		if _, _, err := d.Split(fraction, 1); !errors.Is(err, ErrConfig) {
			t.Errorf("a part of %g: %v", fraction, err)
		}
	}
	if _, _, err := (*Dataset)(nil).Split(0.5, 1); !errors.Is(err, ErrConfig) {
		t.Errorf("no data: %v", err)
	}
	train, held, err := d.Split(0.25, 1)
	if err != nil || train.Shape().Rows != 37 || held.Shape().Rows != 13 {
		t.Errorf("parts %v and %v (%v)", train, held, err)
	}
}
