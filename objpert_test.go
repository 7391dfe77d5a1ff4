package dpglm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// objData is a small data set with labels for any loss.
func objData(t *testing.T, n, d int, loss losses.Loss, facts Facts) *Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.NormFloat64()/math.Sqrt(float64(d)))
		}
		y[i] = label(loss, x.At(i, 0)+0.1*r.NormFloat64())
	}
	data, err := NewDataset(x, y, facts)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The plan spends the budget, alone and as a share inside the learners that nest.
func TestObjectivePerturbationBudget(t *testing.T) {
	d := objData(t, 3000, 4, losses.Logistic{}, Bounds{Feature: 2, Intercept: true})
	p := Problem{Loss: losses.Logistic{}}
	obj := ObjectivePerturbationConfig{}
	for name, l := range map[string]Learner{
		"alone":       obj,
		"grid search": GridSearchConfig{Candidates: []Candidate{{Learner: obj}, {Learner: ObjectivePerturbationConfig{Clip: 0.1}}, {Learner: NoisyGDConfig{}}}},
		"boosting":    BoostConfig{Learner: obj, Chunks: 2},
		"JL":          JLConfig{K: 2, Learner: obj},
	} {
		for _, b := range []Budget{ApproxDP(0.1, 1e-8), ApproxDP(1, 1e-6), ApproxDP(8, 1e-6), GDP(0.4)} {
			plan, err := l.Plan(d.Shape(), p, b)
			if err != nil {
				t.Errorf("%s, %v: %v", name, b, err)
				continue
			}
			if err := b.covers(plan.Ledger); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if name == "alone" && b.mu == 0 {
				if e, err := plan.Ledger.Epsilon(b.delta); err != nil || e < b.epsilon*(1-1e-6) {
					t.Errorf("%v: spends only ε = %g (%v)", b, e, err)
				}
			}
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
			if err != nil {
				t.Fatalf("%s, %v: %v", name, b, err)
			}
			if r := vector.Norm(m.Weights()[0]); math.IsNaN(r) || math.IsInf(r, 0) {
				t.Errorf("%s, %v: weights of norm %g", name, b, r)
			}
		}
	}
}

// Every loss trains, and at a generous budget comes close to the minimiser of the
// regularised sum.
func TestObjectivePerturbationMinimises(t *testing.T) {
	for _, loss := range trainable() {
		d := objData(t, 2000, 3, loss, Bounds{Feature: 1.5, Label: 2})
		p := Problem{Loss: loss, Radius: 2}
		c := ObjectivePerturbationConfig{Clip: NoClip, Lambda: 20}
		m, err := ObjectivePerturbation(context.Background(), d, p, ApproxDP(60, 1e-6), c, &Env{NoiseForTests: mechanisms.NewSeededSource(2)})
		if err != nil {
			t.Errorf("%s: %v", loss.Name(), err)
			continue
		}
		want, _ := minimiser(t, d, smooth.Kinks(loss, 3, 2), 1e3, 20.0/2000)
		if dist := floats.Distance(m.Weights()[0], want, 2); dist > 0.25 {
			t.Errorf("%s: weights %v, minimiser %v", loss.Name(), m.Weights()[0], want)
		}
	}
}

// What the privacy proof asks of each row holds for any row: the gradient is at
// most C long, wherever it is taken, for rows beyond the bound too.
func TestObjectivePerturbationClips(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, loss := range trainable() {
		for range 200 {
			row := []float64{3 * r.NormFloat64(), 3 * r.NormFloat64()}
			x := mat.NewDense(1, 2, row)
			d, err := NewDataset(x, []float64{label(loss, 3*r.NormFloat64())}, Bounds{Feature: 1, Label: 2, Intercept: true})
			if err != nil {
				t.Fatal(err)
			}
			clip := newObjective(d.Shape(), Problem{Loss: loss, Radius: 3}, 0.3).clip
			w := []float64{20 * r.NormFloat64(), 20 * r.NormFloat64(), 20 * r.NormFloat64()}
			g, _ := gradient(t, d, smooth.Everywhere(loss, 3*d.Shape().FeatureBound, 2, false), w, clip)
			if n := vector.Norm(g); n > clip*(1+1e-12) {
				t.Fatalf("%s: gradient of norm %g, clip %g", loss.Name(), n, clip)
			}
		}
	}
}

func TestObjectivePerturbationBadArguments(t *testing.T) {
	s := Shape{Rows: 100, Dim: 3, FeatureBound: 1, LabelBound: 1}
	p := Problem{Loss: losses.Logistic{}}
	for name, c := range map[string]struct {
		c    ObjectivePerturbationConfig
		b    Budget
		want error
	}{
		"clip":         {ObjectivePerturbationConfig{Clip: -1}, ApproxDP(1, 1e-6), ErrConfig},
		"clip NaN":     {ObjectivePerturbationConfig{Clip: math.NaN()}, ApproxDP(1, 1e-6), ErrConfig},
		"lambda":       {ObjectivePerturbationConfig{Lambda: -1}, ApproxDP(1, 1e-6), ErrConfig},
		"lambda small": {ObjectivePerturbationConfig{Lambda: 1e-6}, ApproxDP(1, 1e-6), ErrBudget},
		"lambda tiny":  {ObjectivePerturbationConfig{Lambda: 1e-20}, ApproxDP(1, 1e-6), ErrConfig},
		"pure, lambda": {ObjectivePerturbationConfig{Lambda: 1e-6}, PureDP(1), ErrBudget},
		"no budget":    {ObjectivePerturbationConfig{}, Budget{}, ErrBudget},
	} {
		if plan, err := c.c.Plan(s, p, c.b); !errors.Is(err, c.want) || plan != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The smoothness that the guarantee rests on holds at every score: a loss that bends
// more far outside the ball, or only for larger labels, is continued linearly.
func TestSmoothnessHoldsEverywhere(t *testing.T) {
	late := losses.Custom{Label: "late", Domain: losses.Real, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv,
		AtZero: func(y float64) float64 { return y * y / 2 }, SlopeAtZero: func(y float64) float64 { return y },
		SmoothnessWithin: func(z, y float64) float64 {
			if z > 50 && y > 1.5 {
				return 100
			}
			return 1
		}}
	for _, l := range append(trainable(), late) {
		for _, z := range []float64{0.5, 10} {
			s := smooth.Kinks(l, z, 2)
			near, far := s.Constants(z, 2).Smoothness, s.Constants(check.Everywhere, 2).Smoothness
			if !(far <= near) {
				t.Errorf("%s: smoothness %g within %g, %g everywhere", s.Name(), near, z, far)
			}
		}
	}
}

// A user's loss with kinks can't be solved to a certificate: refused, not hung.
func TestKinkedCustomLossIsRefused(t *testing.T) {
	kinked := losses.Custom{Label: "mine", Domain: losses.Real, Phi: losses.Absolute{}.Value, DPhi: losses.Absolute{}.Deriv,
		AtZero: func(y float64) float64 { return y }, SlopeAtZero: func(float64) float64 { return 1 },
		SmoothnessWithin: func(_, _ float64) float64 { return math.Inf(1) }, Lipschitz: 1}
	d := objData(t, 100, 3, kinked, Bounds{Feature: 1, Label: 1})
	s, p, b := d.Shape(), Problem{Loss: kinked}, ApproxDP(1, 1e-6)
	for _, c := range []PredictorConfig{StableConfig{Queries: 1}, DescentConfig{Queries: 1}, AverageConfig{Queries: 1}} {
		if _, err := c.Plan(s, p, b); !errors.Is(err, ErrConfig) {
			t.Errorf("%T: got %v", c, err)
		}
	}
	for _, l := range []Learner{OutputPerturbationConfig{}, ObjectivePerturbationConfig{}} {
		if _, err := l.Plan(s, p, b); !errors.Is(err, ErrConfig) {
			t.Errorf("%T: got %v", l, err)
		}
	}
}

func ExampleObjectivePerturbation() {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(5000, 2, nil), make([]float64, 5000)
	for i := range y {
		x.SetRow(i, []float64{2*r.Float64() - 1, 2*r.Float64() - 1})
		if x.At(i, 0) > x.At(i, 1) {
			y[i] = 1
		}
	}
	data, err := NewDataset(x, y, Bounds{Feature: math.Sqrt2})
	if err != nil {
		fmt.Println(err)
		return
	}
	env := &Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	model, err := ObjectivePerturbation(context.Background(), data, Problem{Loss: losses.Logistic{}},
		ApproxDP(1, 1e-6), ObjectivePerturbationConfig{}, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := model.Weights()[0]
	fmt.Println("signs of the weights:", w[0] > 0, w[1] > 0)
	// Output:
	// signs of the weights: true false
}

// Budgets that are nearly no privacy leave nearly the plain minimiser: neither λ nor the
// output noise grows out of hand where almost anything would fit.
func TestObjectivePerturbationHugeBudgets(t *testing.T) {
	const n, truth = 2000, 4.0
	r := rand.New(rand.NewPCG(81, 82))
	x, y := mat.NewDense(n, 3, nil), make([]float64, n)
	for i := range y {
		x.SetRow(i, []float64{0.05 * (2*r.Float64() - 1), 0.05 * (2*r.Float64() - 1), 0.02 * (2*r.Float64() - 1)})
		y[i] = truth*x.At(i, 0) + 0.05*r.NormFloat64()
	}
	d, err := NewDataset(x, y, Bounds{Feature: 0.1, Label: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range []Budget{GDP(100), GDP(3000), GDP(1e4), GDP(1e5), ApproxDP(300, 1e-6), ApproxDP(3000, 1e-6), ApproxDP(1e4, 1e-6)} {
		if i%3 != 0 && !sample.All() { // the least and most of μ, and the most of ε
			continue
		}
		for _, l := range []Learner{ObjectivePerturbationConfig{Clip: NoClip}, AutoConfig{}} {
			m, err := fit(context.Background(), l, d, Problem{Loss: losses.Squared{}}, b, &Env{NoiseForTests: mechanisms.NewSeededSource(3)})
			if err != nil {
				t.Fatalf("%T, %v: %v", l, b, err)
			}
			if w := m.Weights()[0]; math.Abs(w[0]-truth) > 0.2 || math.Abs(w[1]) > 0.5 || math.Abs(w[2]) > 1 {
				t.Errorf("%T, %v: weights %v", l, b, w)
			}
		}
	}
}

// What a pure plan accepts it releases, at both ends of what bounds may be: the sensitivities of the
// linear term and of the output noise, which the planned noise says little of where ε is
// large or one row more or less has half the slope.
func TestPureObjectiveAtTheEnds(t *testing.T) {
	planned, refused := 0, 0
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Logistic{}} {
		for _, feature := range []float64{1e-60, 3e-60, 1e-59, 1e-30, 1e-20, 1, 1e20} {
			for exponent := -60.0; exponent <= 60; exponent += 2 {
				bounds := Bounds{Feature: feature}
				if loss.Labels() == losses.Real {
					bounds.Label = math.Pow(10, exponent)
				} else if exponent > -60 {
					continue
				}
				for _, removed := range []bool{false, true} {
					for _, epsilon := range []float64{1e-3, 1, 1e9} {
						var details []RowDetail
						budget := PureDP(epsilon)
						if removed {
							details, budget = append(details, AddRemove{AtMost: 3}), budget.AddRemove()
						}
						d, err := NewDataset(mat.NewDense(3, 1, []float64{feature, -feature / 2, feature / 3}), []float64{0, math.Min(1, bounds.Label), 0}, bounds, details...)
						if err != nil {
							t.Fatal(err)
						}
						c := ObjectivePerturbationConfig{}
						if feature == 1e-30 { // whose minimisers are the largest where λ is the least
							c.Lambda = 1e-60
						}
						plan, err := c.Plan(d.Shape(), Problem{Loss: loss}, budget)
						if err != nil {
							refused++
							continue
						}
						planned++
						if _, err := plan.Run(context.Background(), d, &Env{NoiseForTests: mechanisms.NewSeededSource(1)}); err != nil {
							t.Errorf("%s, feature bound %g, label bound %g, removed %v, ε = %g: %v", loss.Name(), feature, bounds.Label, removed, epsilon, err)
						}
					}
				}
			}
		}
	}
	if planned < 300 || refused < 30 {
		t.Errorf("%d plans, %d refused: the ends are elsewhere", planned, refused)
	}
}

// The λ that the labels' mean tells is the one that counts are fitted with: the same noise leads less far than with the one that was planned. An offset that
// all rows have, whose rate is as much higher, changes nothing of that: the mean of rows counts, not the intercept's.
func TestObjectivePerturbationFollowsTheMeanOfCounts(t *testing.T) {
	const n, d = 2000, 40
	r := rand.New(rand.NewPCG(5, 6))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, (2*r.Float64()-1)/math.Sqrt(d))
		}
		if r.Float64() < 0.1 {
			y[i] = 1
		}
	}
	length := func(shift, lambda float64) (length, planned float64) {
		data, err := NewDataset(x, y, Bounds{Feature: 1, Label: 20, Intercept: true}, Offsets{Of: slices.Repeat([]float64{shift}, n), Range: [2]float64{shift - 1, shift + 1}})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := ObjectivePerturbationConfig{Lambda: lambda}.Plan(data.Shape(), Problem{Loss: losses.Poisson{}}, ApproxDP(4, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		m, err := plan.Run(t.Context(), data, &Env{NoiseForTests: mechanisms.NewSeededSource(3)})
		if err != nil {
			t.Fatal(err)
		}
		return floats.Norm(m.Weights()[0][:d], 2), plan.Learner.(ObjectivePerturbationConfig).Lambda
	}
	least, most := math.Inf(1), 0.0
	for _, shift := range []float64{0, 6} {
		got, planned := length(shift, 0)
		as, _ := length(shift, planned)
		if t.Logf("offsets of %g: slopes of length %.3f, %.3f as planned", shift, got, as); got > as/2 {
			t.Errorf("offsets of %g: slopes are %.3f long, which with the planned λ are %.3f", shift, got, as)
		}
		least, most = math.Min(least, got), math.Max(most, got)
	}
	if most > 1.2*least {
		t.Errorf("slopes are %.3f and %.3f long, with and without offsets", least, most)
	}
}

// Objective perturbation's constants are those of the loss that it trains with, also for events over times at risk, whose means go on to 8:
// curvature and slope are bounded at every score, and come near their bounds.
func TestConstantsOfEvents(t *testing.T) {
	for _, offsets := range [][2]float64{{}, {-3, 2}} {
		s := Shape{Rows: 1000, Dim: 3, FeatureBound: 1, LabelBound: 1, OffsetRange: offsets}
		o := newObjective(s, Problem{Loss: losses.Poisson{}, Radius: 5}, NoClip)
		const step = 1e-3
		steepest, largest := 0.0, 0.0
		for z := -10.0; z < 10; z += step {
			for _, y := range []float64{0, 1} {
				steepest = math.Max(steepest, (o.trained.Deriv(z+step, y)-o.trained.Deriv(z, y))/step)
				largest = math.Max(largest, math.Abs(o.trained.Deriv(z, y)))
			}
		}
		most := map[bool]float64{false: 1, true: 8}[s.exposed()]
		if !(steepest <= o.smoothness && steepest > .99*most) || !(largest <= o.clip && largest > .99*most) {
			t.Errorf("offsets %v: a curvature of %g, bounded by %g, a slope of %g, by %g, want about %g", offsets, steepest, o.smoothness, largest, o.clip, most)
		}
	}
}
