package dpglm

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// looseData is a data set of rows of norm at most row under the bound feature, and the
// best weights' scores.
func looseData(t *testing.T, n, d int, row, feature float64, loss losses.Loss, size float64) (*Dataset, *mat.Dense, []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(71, 72))
	x, y, scores := mat.NewDense(n, d, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		u := make([]float64, d)
		for j := range u {
			u[j] = r.NormFloat64()
		}
		floats.Scale(row*math.Pow(r.Float64(), 0.2)/floats.Norm(u, 2), u)
		x.SetRow(i, u)
		scores[i] = size * math.Sqrt(float64(d)) * (u[0] - u[1]) / row
		y[i] = label(loss, scores[i]+0.3*size*r.NormFloat64())
	}
	data, err := NewDataset(x, y, Bounds{Feature: feature, Label: 20 * size})
	if err != nil {
		t.Fatal(err)
	}
	return data, x, scores
}

// relativeError is the mean squared difference of a model's scores to the given ones,
// over their mean square.
func relativeError(got, scores []float64) float64 {
	return math.Pow(floats.Distance(got, scores, 2)/floats.Norm(scores, 2), 2)
}

// wrongSigns is the fraction of rows whose score has another sign than the given one.
func wrongSigns(got, scores []float64) float64 {
	wrong := 0.0
	for i, z := range got {
		if (z > 0) != (scores[i] > 0) {
			wrong++
		}
	}
	return wrong / float64(len(got))
}

// Where rows are 20 times shorter than their bound, Auto errs far less than
// ObjectivePerturbation; where they are as long, about as much.
func TestAutoFindsScales(t *testing.T) {
	const n, d, seeds = 4000, 10, 6
	for _, c := range []struct {
		name    string
		loss    losses.Loss
		feature float64
		fault   func(got, scores []float64) float64
		atMost  float64 // Auto's error over ObjectivePerturbation's
	}{
		{"loose, logistic", losses.Logistic{}, 20, wrongSigns, 0.3},
		{"loose, squared", losses.Squared{}, 20, relativeError, 0.1},
		{"tight, logistic", losses.Logistic{}, 1, wrongSigns, 1.3},
		{"tight, squared", losses.Squared{}, 1, relativeError, 1.3},
	} {
		data, x, scores := looseData(t, n, d, 1, c.feature, c.loss, 1)
		var faults [2]float64
		for k, l := range []Learner{AutoConfig{}, ObjectivePerturbationConfig{}} {
			for seed := range uint64(seeds) {
				m, err := fit(context.Background(), l, data, Problem{Loss: c.loss}, ApproxDP(1, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Scores(x)
				if err != nil {
					t.Fatal(err)
				}
				faults[k] += c.fault(mat.Col(nil, 0, got), scores) / seeds
			}
		}
		t.Logf("%s: error %.3f, of ObjectivePerturbation %.3f", c.name, faults[0], faults[1])
		if faults[0] > c.atMost*faults[1] {
			t.Errorf("%s: error %.3f, of ObjectivePerturbation %.3f", c.name, faults[0], faults[1])
		}
	}
}

// The weights are for rows as the user gives them, with the constant 1: nearly
// without noise Auto finds weights that made the labels, and the intercept too,
// though it trained with another constant on rows held to a smaller bound, which are
// 30 times shorter than the public one. The clip holds a row that the best weights
// get wrong, which makes logistic scores larger.
func TestAutoWeightsAreForTheOriginalRows(t *testing.T) {
	const n, d = 20_000, 2
	r := rand.New(rand.NewPCG(73, 74))
	x, y := mat.NewDense(n, d, nil), map[losses.Labels][]float64{}
	truth := map[losses.Labels][]float64{losses.Binary: {30, -20, 1.5}, losses.Real: {10, -20, 5}, losses.Count: {10, -20, 1}}
	kinds := []losses.Labels{losses.Binary, losses.Real, losses.Count} // the order in which they draw
	for _, kind := range kinds {
		y[kind] = make([]float64, n)
	}
	for i := range n {
		u := []float64{0.05 * (2*r.Float64() - 1), 0.05 * (2*r.Float64() - 1)}
		x.SetRow(i, u)
		for _, kind := range kinds {
			w := truth[kind]
			z := floats.Dot(u, w[:d]) + w[d]
			switch kind {
			case losses.Real:
				y[kind][i] = z + 0.1*r.NormFloat64()
			case losses.Count:
				y[kind][i] = math.Round(math.Exp(z) + r.Float64() - 0.5)
			default:
				if r.Float64() < 1/(1+math.Exp(-z)) {
					y[kind][i] = 1
				}
			}
		}
	}
	schema := Schema{Columns: []string{"a", "b"}, Numeric: map[string][2]float64{"a": {-2, 2}, "b": {-2, 2}}, Label: 30, Intercept: true}
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		w, off := truth[loss.Labels()], 0.1
		if loss.Labels() == losses.Binary {
			off = 0.6
		}
		for _, facts := range []Facts{Bounds{Feature: 2, Label: 30, Intercept: true}, schema} {
			data, err := NewDataset(x, y[loss.Labels()], facts)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Auto(context.Background(), data, Problem{Loss: loss}, ApproxDP(300, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Scores(mat.NewDense(3, d, []float64{0, 0, 0.04, 0, 0, 0.04}))
			if err != nil {
				t.Fatal(err)
			}
			for k, want := range []float64{w[2], w[2] + 0.04*w[0], w[2] + 0.04*w[1]} {
				if math.Abs(got.At(k, 0)-want) > off {
					t.Errorf("%s, %T: score %g, want %g", loss.Name(), facts, got.At(k, 0), want)
				}
			}
		}
	}
}

// The plan spends the budget and no more, of any loss, alone and as a share inside
// the learners that nest, where something is measured and where rows are too few.
func TestAutoBudget(t *testing.T) {
	for _, loss := range trainable() {
		for _, n := range []int{20, 1000, 1_000_000} {
			s := Shape{Rows: n, Dim: 8, FeatureBound: 3, Intercept: true, LabelBound: 2}
			for _, b := range []Budget{ApproxDP(0.1, 1e-8), ApproxDP(1, 1e-6), ApproxDP(8, 1e-3), ApproxDP(40, 1e-10), GDP(0.4), PureDP(1)} {
				plan, err := (AutoConfig{}).Plan(s, Problem{Loss: loss}, b)
				if err != nil {
					t.Errorf("%s, n = %d, %v: %v", loss.Name(), n, b, err)
					continue
				}
				if err := b.covers(plan.Ledger); err != nil {
					t.Errorf("%s, n = %d: %v", loss.Name(), n, err)
				}
				switch {
				case b.mu > 0 && plan.Ledger.Mu() < b.mu*(1-1e-3):
					t.Errorf("%s, n = %d, %v: spends only μ = %g", loss.Name(), n, b, plan.Ledger.Mu())
				case b.delta > 0:
					if e, err := plan.Ledger.Epsilon(b.delta); err != nil || e < b.epsilon*(1-1e-4) {
						t.Errorf("%s, n = %d, %v: spends only ε = %g (%v)", loss.Name(), n, b, e, err)
					}
				}
			}
		}
	}
}

func TestAutoNests(t *testing.T) {
	p := Problem{Loss: losses.Logistic{}}
	d := objData(t, 3000, 4, p.Loss, Bounds{Feature: 20, Intercept: true})
	for name, l := range map[string]Learner{
		"candidate": GridSearchConfig{Candidates: []Candidate{{Learner: AutoConfig{}}, {Learner: AutoConfig{}, Radius: 0.5}, {Learner: NoisyGDConfig{}}}},
		"boosting":  BoostConfig{Learner: AutoConfig{}, Chunks: 2},
		"JL":        JLConfig{K: 2, Learner: AutoConfig{}},
	} {
		for _, b := range []Budget{ApproxDP(1, 1e-6), GDP(0.4), PureDP(1)} {
			plan, err := l.Plan(d.Shape(), p, b)
			if name == "candidate" && b.pure {
				if !errors.Is(err, ErrBudget) {
					t.Errorf("Noisy GD under a pure budget: %v", err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %v: %v", name, b, err)
				continue
			}
			if err := b.covers(plan.Ledger); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
			if err != nil || len(m.Weights()[0]) != d.Shape().Dim && name != "JL" {
				t.Errorf("%s, %v: %v", name, b, err)
			}
		}
	}
}

// Under a pure budget Auto is ObjectivePerturbation, to the last bit.
func TestAutoPure(t *testing.T) {
	d := objData(t, 500, 3, losses.Logistic{}, Bounds{Feature: 2})
	var w [2][]float64
	for k, l := range []Learner{AutoConfig{}, ObjectivePerturbationConfig{}} {
		m, err := fit(context.Background(), l, d, Problem{Loss: losses.Logistic{}}, PureDP(1), &Env{NoiseForTests: mechanisms.NewSeededSource(3)})
		if err != nil {
			t.Fatal(err)
		}
		if w[k] = m.Weights()[0]; !m.Ledger().Within(1, 0) {
			t.Errorf("%T: spends %v", l, m.Ledger())
		}
	}
	if !slices.Equal(w[0], w[1]) {
		t.Errorf("weights %v, ObjectivePerturbation's are %v", w[0], w[1])
	}
}

// One seed gives one model, another another; a model keeps its predictions in JSON.
func TestAutoReproduces(t *testing.T) {
	p := Problem{Loss: losses.Squared{}}
	d := objData(t, 2000, 3, p.Loss, Bounds{Feature: 30, Label: 2, Intercept: true})
	var models []*Model
	for _, seed := range []uint64{1, 1, 2} {
		m, err := Auto(context.Background(), d, p, ApproxDP(1, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	if a, b := models[0].Weights()[0], models[1].Weights()[0]; !slices.Equal(a, b) {
		t.Errorf("one seed gives %v and %v", a, b)
	}
	if a, b := models[0].Weights()[0], models[2].Weights()[0]; slices.Equal(a, b) {
		t.Errorf("two seeds give %v", a)
	}
	data, err := json.Marshal(models[0])
	if err != nil {
		t.Fatal(err)
	}
	var back Model
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(2, 3, []float64{1, 2, 3, -0.5, 0, 0.1})
	want, errWant := models[0].Predict(x)
	got, errGot := back.Predict(x)
	if errWant != nil || errGot != nil || !slices.Equal(got, want) || back.Ledger().String() != models[0].Ledger().String() {
		t.Errorf("decoded: %v, %v, want %v, %v\n%v", got, errGot, want, errWant, back.Ledger())
	}
}

func TestAutoBadArguments(t *testing.T) {
	s := Shape{Rows: 100, Dim: 3, FeatureBound: 1, LabelBound: 1}
	p, b := Problem{Loss: losses.Squared{}}, ApproxDP(1, 1e-6)
	unsmooth := losses.Custom{Label: "mine", Domain: losses.Real, Phi: losses.Absolute{}.Value, DPhi: losses.Absolute{}.Deriv,
		AtZero: func(y float64) float64 { return y }, SlopeAtZero: func(float64) float64 { return 1 },
		SmoothnessWithin: func(_, _ float64) float64 { return math.Inf(1) }, Lipschitz: 1}
	for name, c := range map[string]struct {
		s    Shape
		p    Problem
		b    Budget
		want error
	}{
		"no shape":       {Shape{}, p, b, ErrShape},
		"no loss":        {s, Problem{}, b, ErrConfig},
		"no smoothness":  {s, Problem{Loss: unsmooth}, b, ErrConfig},
		"no label bound": {Shape{Rows: 100, Dim: 3, FeatureBound: 1}, p, b, ErrBound},
		"radius":         {s, Problem{Loss: p.Loss, Radius: -1}, b, ErrBound},
		"no budget":      {s, p, Budget{}, ErrBudget},
		"epsilon":        {s, p, ApproxDP(-1, 1e-6), ErrBudget},
		"delta":          {s, p, ApproxDP(1, 1), ErrBudget},
		"pure epsilon":   {s, p, PureDP(math.NaN()), ErrBudget},
		"μ":              {s, p, GDP(math.Inf(1)), ErrBudget},
	} {
		if plan, err := (AutoConfig{}).Plan(c.s, c.p, c.b); !errors.Is(err, c.want) || plan != nil {
			t.Errorf("%s: got %v and the plan %v", name, err, plan)
		}
	}
	if _, err := Auto(context.Background(), nil, p, b, nil); !errors.Is(err, ErrConfig) {
		t.Errorf("no data: %v", err)
	}
	d, err := NewDataset(mat.NewDense(2, 1, nil), []float64{0, 2}, Bounds{Feature: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Auto(context.Background(), d, Problem{Loss: losses.Logistic{}}, b, nil); !errors.Is(err, ErrLabel) {
		t.Errorf("a label of 2 for a binary loss: %v", err)
	}
}

// canceller is a source that cancels when it is first drawn from.
type canceller struct {
	mechanisms.Source
	cancel func()
}

func (c canceller) Uint64() uint64 {
	c.cancel()
	return c.Source.Uint64()
}

// Cancelled before the histograms have noise, Auto has spent nothing; afterwards
// all of the budget counts as spent.
func TestAutoCancelled(t *testing.T) {
	p := Problem{Loss: losses.Logistic{}}
	d := objData(t, 2000, 3, p.Loss, Bounds{Feature: 5})
	ctx, cancel := context.WithCancel(context.Background())
	var stopped *Interrupted
	m, err := Auto(ctx, d, p, ApproxDP(1, 1e-6), &Env{NoiseForTests: canceller{mechanisms.NewSeededSource(1), cancel}})
	if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || m != nil {
		t.Fatalf("cancelled at the first draw: %v", err)
	}
	if e, err := stopped.Ledger.Epsilon(1e-6); err != nil || e < 1-1e-6 {
		t.Errorf("ε = %g counts as spent (%v)", e, err)
	}
	if m, err := Auto(ctx, d, p, ApproxDP(1, 1e-6), nil); errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || m != nil {
		t.Errorf("cancelled beforehand: %v", err)
	}
}

// With few rows the model is the constant one.
func TestAutoOfFewRows(t *testing.T) {
	for _, n := range []int{1, 2, 30} {
		for _, loss := range trainable() {
			d := objData(t, n, 2, loss, Bounds{Feature: 2, Label: 3, Intercept: true})
			m, err := Auto(context.Background(), d, Problem{Loss: loss}, ApproxDP(1, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(4)})
			if err != nil {
				t.Fatal(err)
			}
			if w := m.Weights()[0]; w[0] != 0 || w[1] != 0 || math.IsNaN(w[2]) || math.IsInf(w[2], 0) {
				t.Errorf("%d rows, %s: weights %v", n, loss.Name(), w)
			}
		}
	}
}
