package dpglm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// The plan spends the budget, alone and as a share inside the learners that nest,
// with and without second moments and counts.
func TestPreconditionedGDBudget(t *testing.T) {
	d := objData(t, 3000, 4, losses.Squared{}, Bounds{Feature: 2, Label: 2, Intercept: true})
	p := Problem{Loss: losses.Squared{}}
	pre := PreconditionedGDConfig{}
	for name, l := range map[string]Learner{
		"alone":       pre,
		"clip":        PreconditionedGDConfig{Clip: 0.1, Steps: 7},
		"grid search": GridSearchConfig{Candidates: []Candidate{{Learner: pre}, {Learner: ObjectivePerturbationConfig{}}}},
		"boosting":    BoostConfig{Learner: pre, Chunks: 2},
		"JL":          JLConfig{K: 2, Learner: pre},
	} {
		for _, b := range []Budget{ApproxDP(0.01, 1e-8), ApproxDP(1, 1e-6), ApproxDP(8, 1e-6), GDP(0.4)} {
			plan, err := l.Plan(d.Shape(), p, b)
			if err != nil {
				t.Errorf("%s, %v: %v", name, b, err)
				continue
			}
			if err := b.covers(plan.Ledger); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if e, err := plan.Ledger.Epsilon(b.delta); name != "grid search" && b.mu == 0 && (err != nil || e < b.epsilon*(1-1e-4)) {
				t.Errorf("%s, %v: spends only ε = %g (%v)", name, b, e, err)
			}
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
			if err != nil {
				t.Fatalf("%s, %v: %v", name, b, err)
			}
			if r := vector.Norm(m.Weights()); math.IsNaN(r) || math.IsInf(r, 0) {
				t.Errorf("%s, %v: weights of norm %g", name, b, r)
			}
		}
	}
}

// Next to no noise and a clip above all gradients leave the minimiser of the sum,
// for every loss, among columns whose scales differ by a factor of 30: a further
// step would gain next to nothing.
func TestPreconditionedGDMinimises(t *testing.T) {
	ctx := context.Background()
	for _, loss := range trainable() {
		r := rand.New(rand.NewPCG(3, 4))
		const n = 2000
		x, y := mat.NewDense(n, 3, nil), make([]float64, n)
		for i := range n {
			x.SetRow(i, []float64{0.4 * r.NormFloat64(), 0.1 * r.NormFloat64(), 0.4 / 30 * r.NormFloat64()})
			y[i] = label(loss, x.At(i, 0)+3*x.At(i, 1)-20*x.At(i, 2)+r.NormFloat64())
		}
		d, err := NewDataset(x, y, Bounds{Feature: 1.5, Label: 2})
		if err != nil {
			t.Fatal(err)
		}
		c := PreconditionedGDConfig{Clip: 1e3, Steps: 200}
		m, err := PreconditionedGD(ctx, d, Problem{Loss: loss, Radius: 30}, GDP(1e7), c, &Env{NoiseForTests: mechanisms.NewSeededSource(2)})
		if err != nil {
			t.Errorf("%s: %v", loss.Name(), err)
			continue
		}
		trained := smoothed(loss, 45, 2)
		g, _ := gradient(t, d, trained, m.weights, math.Inf(1))
		sums, err := d.data.Under(trained)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := sums.Moments(ctx, d.Shape().FeatureBound)
		if err != nil {
			t.Fatal(err)
		}
		packed, _ := overheard(t, d.data.Rows(), answer, 6)
		var chol mat.Cholesky
		chol.Factorize(curator.Unpack(packed, 3))
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, mat.NewVecDense(3, g)); err != nil {
			t.Fatal(err)
		}
		gain := floats.Dot(g, step.RawVector().Data) / trained.Constants(45, 2).Smoothness / n
		if gain > 1e-4 {
			t.Errorf("%s: a further step gains %g at %v", loss.Name(), gain, m.weights)
		}
	}
}

// The public rules of the doc comment: where second moments and counts are
// released, and how many steps there are.
func TestPreconditionedGDDefaults(t *testing.T) {
	for _, c := range []struct {
		rows, dim       int
		mu              float64
		moments, counts bool
		steps           int
	}{
		{20_000, 14, 0.2, true, true, 200},
		{2000, 14, 0.15, true, false, 200},
		{1000, 100, 0.5, false, true, 200},
		{1000, 14, 0.04, false, false, 43},
		{100, 14, 0.04, false, false, 10},
		{20_000, 1001, 5, false, true, 1000},
		{20_000, 1000, 5, true, true, 200},
	} {
		s := Shape{Rows: c.rows, Dim: c.dim, FeatureBound: 3, LabelBound: 2}
		o := newPreconditioned(s, Problem{losses.Squared{}, 4 * 2. / 3})
		config := PreconditionedGDConfig{}
		if _, err := o.calibrate(&config, GDP(c.mu)); err != nil {
			t.Fatal(err)
		}
		if got := (o.moments > 0); got != c.moments {
			t.Errorf("%+v: second moments %v", c, got)
		}
		if got := len(o.choose) > 0; got != c.counts {
			t.Errorf("%+v: counts %v", c, got)
		}
		if config.Steps != c.steps {
			t.Errorf("%+v: %d steps", c, config.Steps)
		}
	}
	large := newPreconditioned(Shape{Rows: 20_000, Dim: 9, FeatureBound: 2}, Problem{losses.Logistic{}, 5})
	if few, many := large.defaultSteps(0.04, true), large.defaultSteps(0.05, true); few != 100 || many != 200 { // 300√d/n = 0.045
		t.Errorf("%d and %d steps for classes, not 100 and 200", few, many)
	}
	classes := newPreconditioned(Shape{Rows: 1000, Dim: 100, FeatureBound: 2}, Problem{losses.Logistic{}, 5})
	if got := classes.balanced(0.5); got != 75 {
		t.Errorf("%d steps for classes, not 0.3·HXB/S·n·μ/√d = 0.3·5·50", got)
	}
}

// The clip is the smallest edge below which all but the allowed share of the
// gradients lie; at μ = 100 the counts have next to no noise. Here a fraction of
// rows have labels 1 and the others 0.1, so that gradients at w = 0 are that long.
func TestPreconditionedGDClip(t *testing.T) {
	const n = 4000
	for _, c := range []struct {
		long      int
		cut, want float64
	}{
		{0, 0.5, math.Pow(2, -3)},           // the edge above 0.1
		{400, 0.5, math.Pow(2, -3)},         // fewer than allowed
		{3900, 0.5, 1},                      // more than half
		{n, 0.5, 1},                         // all
		{1600 - 100, 0.5, math.Pow(2, -3)},  // fewer than 80/μ = 1600
		{1600 + 100, 0.5, 1},                // more
		{1000 - 100, 0.25, math.Pow(2, -3)}, // fewer than a quarter
		{1000 + 100, 0.25, 1},               // more
	} {
		x, y := mat.NewDense(n, 1, nil), make([]float64, n)
		for i := range n {
			x.Set(i, 0, 1)
			if y[i] = 0.1; i < c.long {
				y[i] = 0.99
			}
		}
		d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 2})
		if err != nil {
			t.Fatal(err)
		}
		o := &preconditioned{trained: losses.Squared{}, shape: d.Shape(), largest: 2, cut: c.cut, mu: 0.05, counts: 100, choose: []int{0}}
		run, err := o.starting(d, mechanisms.NewSeededSource(1))
		if err != nil {
			t.Fatal(err)
		}
		clip, err := run.chooseClip([]float64{0})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(clip-c.want) > 1e-15 {
			t.Errorf("%d long gradients: clip %g, want %g", c.long, clip, c.want)
		}
	}
}

// starting is a descent before its first step, by a schedule of its own.
func (o *preconditioned) starting(d *Dataset, src mechanisms.Source) (*descent, error) {
	schedule, err := o.schedule()
	if err != nil {
		return nil, err
	}
	sums, err := d.data.Under(o.trained)
	if err != nil {
		return nil, err
	}
	x := &descent{preconditioned: o, run: alone(d, schedule, src), sums: sums}
	for part, i := range o.parts {
		if i >= 0 {
			if x.allow[part], err = x.run.allow.Part(i); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// With small residuals and columns of different scales it comes closer to the
// minimiser than the other learners, here in explained variance by .05 or more.
func TestPreconditionedGDWins(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, dim = 8000, 6
	x, y := mat.NewDense(n, dim, nil), make([]float64, n)
	for i := range n {
		for j := range dim {
			v := r.NormFloat64()
			x.Set(i, j, v/3*math.Pow(0.5, float64(j)))
			y[i] += v / 3
		}
		y[i] += 0.1 * r.NormFloat64()
	}
	d, err := NewDataset(x, y, Bounds{Feature: 3, Label: 3})
	if err != nil {
		t.Fatal(err)
	}
	explained := func(l Learner) float64 {
		m, err := fit(context.Background(), l, d, Problem{Loss: losses.Squared{}}, ApproxDP(1, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(7)})
		if err != nil {
			t.Fatal(err)
		}
		z, err := m.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		return 1 - math.Pow(floats.Distance(y, z, 2)/floats.Norm(y, 2), 2)
	}
	best := explained(PreconditionedGDConfig{})
	for _, l := range []Learner{NoisyGDConfig{}, ObjectivePerturbationConfig{}, OutputPerturbationConfig{}} {
		other := explained(l)
		t.Logf("%T: %.3f, against %.3f", l, other, best)
		if best < other+0.05 {
			t.Errorf("%T explains %.3f, preconditioned gradient descent %.3f", l, other, best)
		}
	}
}

func TestPreconditionedGDBadArguments(t *testing.T) {
	s := Shape{Rows: 100, Dim: 2, FeatureBound: 1, LabelBound: 1}
	squared := Problem{Loss: losses.Squared{}}
	kinked := losses.Custom{Label: "mine", Domain: losses.Real, Phi: losses.Absolute{}.Value, DPhi: losses.Absolute{}.Deriv, AtZero: math.Abs, Smoothness: math.Inf(1), Lipschitz: 1}
	for _, c := range []struct {
		name   string
		config PreconditionedGDConfig
		s      Shape
		p      Problem
		b      Budget
		kind   error
	}{
		{"negative steps", PreconditionedGDConfig{Steps: -1}, s, squared, GDP(1), ErrConfig},
		{"too many steps", PreconditionedGDConfig{Steps: 2e9}, s, squared, GDP(1), ErrConfig},
		{"negative clip", PreconditionedGDConfig{Clip: -1}, s, squared, GDP(1), ErrConfig},
		{"no clip", PreconditionedGDConfig{Clip: NoClip}, s, squared, GDP(1), ErrConfig},
		{"NaN clip", PreconditionedGDConfig{Clip: math.NaN()}, s, squared, GDP(1), ErrConfig},
		{"pure budget", PreconditionedGDConfig{}, s, squared, PureDP(1), ErrBudget},
		{"no budget", PreconditionedGDConfig{}, s, squared, Budget{}, ErrBudget},
		{"no rows", PreconditionedGDConfig{}, Shape{Dim: 1, FeatureBound: 1}, squared, GDP(1), ErrShape},
		{"no loss", PreconditionedGDConfig{}, s, Problem{}, GDP(1), ErrConfig},
		{"kinks", PreconditionedGDConfig{}, s, Problem{Loss: kinked}, GDP(1), ErrConfig},
		{"overflow", PreconditionedGDConfig{}, Shape{Rows: 100, Dim: 2, FeatureBound: 1e-60, LabelBound: 1e60}, Problem{Loss: losses.Squared{}, Radius: 1e60}, GDP(1e-9), ErrBound},
	} {
		plan, err := c.config.Plan(c.s, c.p, c.b)
		if !errors.Is(err, c.kind) || plan != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.kind)
		}
	}
}

// auditedPreconditioned are the four kinds of releases, each on its own worst
// pair: what is planned for it against what it does.
func auditedPreconditioned(t *testing.T) []audited {
	t.Helper()
	gradient := lone(PreconditionedGDConfig{Steps: 1, Clip: 0.1}, Problem{losses.Squared{}, 1}, GDP(1), -2, 2)
	list := []audited{{"PreconditionedGD, gradient", inMu, 1, 1, 100_000, gradient.sample(firstWeight)}}

	for _, part := range []struct {
		name string
		last float64 // the last row is (1, 0) on one side and (0, last) on the other
		of   func(o *preconditioned) float64
		run  func(x *descent) (float64, error)
	}{
		{"second moments", 1, func(o *preconditioned) float64 { return o.moments }, func(x *descent) (float64, error) {
			m, err := x.metric()
			if err != nil {
				return 0, err
			}
			first, second := []float64{0, 0}, []float64{0, 0} // columns of −V⁻¹
			m.step(first, []float64{1, 0}, 0)
			m.step(second, []float64{0, 1}, 0)
			det := first[0]*second[1] - first[1]*second[0]
			return (first[0] - second[1]) / det, nil // V₀₀ − V₁₁
		}},
		{"gradient norms", 1, func(o *preconditioned) float64 { return o.counts }, func(x *descent) (float64, error) {
			counts, err := x.allow[partCounts].AddNoise(x.sums.GradientNorms(halvings(x.largest), []float64{0, 0}))
			if err != nil {
				return 0, err
			}
			return counts[0] - counts[clipChoices-5], nil // above √2 and in (2^-7, 2^-6.5]
		}},
		{"row norms", 0.3, func(o *preconditioned) float64 { return o.lengths }, func(x *descent) (float64, error) {
			counts, err := x.allow[partLengths].AddNoise(x.sums.RowNorms(halvings(x.shape.FeatureBound)))
			if err != nil {
				return 0, err
			}
			return counts[0] - counts[3], nil // in (2^-0.5, 1] and (2^-2, 2^-1.5]
		}},
	} {
		data := lastRows(t, part.last)
		o := newPreconditioned(data[0].Shape(), Problem{losses.Squared{}, 1})
		if _, err := o.calibrate(&PreconditionedGDConfig{Steps: 1}, GDP(4)); err != nil {
			t.Fatal(err)
		}
		mu := part.of(o)
		list = append(list, audited{fmt.Sprintf("PreconditionedGD, %s", part.name), inMu, mu, mu * (1 - 1e-9), 200_000,
			repeated(func(side int, src mechanisms.Source) (float64, error) {
				x, err := o.starting(data[side], src)
				if err != nil {
					return 0, err
				}
				return part.run(x)
			})})
	}
	return list
}

// lastRows are two data sets of 400 rows of norm 1. The last one is (1, 0) with a
// tiny label or (0, last) with the largest.
func lastRows(t *testing.T, last float64) (data [2]*Dataset) {
	t.Helper()
	const n = 400
	for side, row := range [][]float64{{1, 0}, {0, last}} {
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range n {
			x.SetRow(i, []float64{0.6, 0.8 * float64(2*(i%2)-1)})
		}
		x.SetRow(n-1, row)
		y[n-1] = []float64{0.01, 2}[side]
		d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 2})
		if err != nil {
			t.Fatal(err)
		}
		data[side] = d
	}
	return data
}

// A plan that runs on several data sets at once gives each what it gives it alone:
// nothing of a run stays in the plan.
func TestPreconditionedGDPlanKeepsNothing(t *testing.T) {
	const n = 3000
	data := [2]*Dataset{objData(t, n, 4, losses.Squared{}, Bounds{Feature: 2, Label: 2})}
	var err error
	if data[1], err = NewDataset(mat.NewDense(n, 4, nil), make([]float64, n), Bounds{Feature: 2, Label: 2}); err != nil {
		t.Fatal(err)
	}
	plan, err := PreconditionedGDConfig{}.Plan(data[0].Shape(), Problem{Loss: losses.Squared{}}, GDP(0.5))
	if err != nil {
		t.Fatal(err)
	}
	run := func(d *Dataset) []float64 {
		m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Error(err)
			return nil
		}
		return m.weights
	}
	alone := [2][]float64{run(data[0]), run(data[1])}
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if w := run(data[k%2]); !floats.Equal(w, alone[k%2]) {
				t.Errorf("data set %d: weights %v, alone %v", k%2, w, alone[k%2])
			}
		}()
	}
	wg.Wait()
}
