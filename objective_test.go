package dpglm

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// What Auto plans fits its budget when the ledger composes it again, in another
// order and with other roundings than the calibration.
func TestAutoFitsEveryBudget(t *testing.T) {
	for k := range 150 {
		u := float64(k)
		epsilon, delta := 0.05*math.Pow(1.05, u), math.Pow(10, -3-math.Mod(u*0.61, 12))
		s := Shape{Rows: 2000 + 500*k, Dim: 1 + k%20, FeatureBound: 1, LabelBound: 1}
		p := Problem{Loss: []losses.Loss{losses.Logistic{}, losses.Squared{}}[k%2]}
		if _, err := (AutoConfig{}).Plan(s, p, ApproxDP(epsilon, delta)); err != nil {
			t.Errorf("ε = %g, δ = %g, n = %d: %v", epsilon, delta, s.Rows, err)
		}
	}
}

// Rows and labels far below legal bounds at the ends of their ranges are no reason
// to fail once the scales are released.
func TestAutoAtTheEndsOfBounds(t *testing.T) {
	for _, c := range []struct {
		feature, label, radius float64
		intercept              bool
		loss                   losses.Loss
	}{
		{1e-60, 1e-60, 0, false, losses.Squared{}},
		{1e60, 1e60, 0, true, losses.Squared{}},
		{1, 1e-60, 0, true, losses.Absolute{}},
		{1e-30, 2e29, 0, false, losses.Squared{}},
		{1e-60, 0, 0, true, losses.Logistic{}},
		{1e-60, 0, 1e-60, false, losses.Logistic{}},
		{1, 1e60, 0, true, losses.Poisson{}},
	} {
		const n = 400
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range n {
			x.SetRow(i, []float64{1e-4 * c.feature, -1e-5 * c.feature})
		}
		d, err := NewDataset(x, y, Bounds{Feature: c.feature, Label: c.label, Intercept: c.intercept})
		if err != nil {
			t.Fatal(err)
		}
		env := &Env{NoiseForTests: mechanisms.NewSeededSource(1)}
		if _, err := Auto(context.Background(), d, Problem{Loss: c.loss, Radius: c.radius}, ApproxDP(1, 1e-6), env); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A loss without a slope at zero, for which the default clip is none, and one
// without curvature are refused before anything is spent.
func TestObjectiveRefusesFlatLosses(t *testing.T) {
	flat := losses.Custom{
		Label: "flat", Domain: losses.Binary,
		Phi:              func(z, y float64) float64 { m := max(0, -y*z-1); return m * m / 2 },
		DPhi:             func(z, y float64) float64 { return -y * max(0, -y*z-1) },
		AtZero:           func(float64) float64 { return 0 },
		SlopeAtZero:      func(float64) float64 { return 0 },
		SmoothnessWithin: func(z, _ float64) float64 { return min(1, max(0, z-1)) },
	}
	s := Shape{Rows: 1000, Dim: 3, FeatureBound: 1}
	for radius, want := range map[float64]error{5: ErrBound, 0.5: ErrConfig} {
		if _, err := (ObjectivePerturbationConfig{}).Plan(s, Problem{Loss: flat, Radius: radius}, ApproxDP(1, 1e-6)); !errors.Is(err, want) {
			t.Errorf("radius %g: %v, want %v", radius, err, want)
		}
	}
}

// The minimiser lies within the bound that its certificate assumes, also where a
// loss that is continued linearly falls below zero for all rows alike: labels far from
// the scores up to which the loss is kept.
func TestMinimiserIsWithinWeightBound(t *testing.T) {
	const n = 200_000
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		x.Set(i, 0, 1)
		y[i] = 10
	}
	d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 10})
	if err != nil {
		t.Fatal(err)
	}
	o := newObjective(d.Shape(), Problem{Loss: losses.Squared{}, Radius: 1}, NoClip)
	if err := o.calibrate(0, ApproxDP(1, 1e-6)); err != nil {
		t.Fatal(err)
	}
	plan, err := ObjectivePerturbationConfig{Clip: NoClip}.Plan(d.Shape(), Problem{Loss: losses.Squared{}, Radius: 1}, ApproxDP(1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	theta := math.NaN()
	src := listener{mechanisms.NewSeededSource(1), func(e *release.Event) {
		switch e.Mechanism {
		case "linear term":
			e.Values[0] = 0
		case "minimiser":
			theta = e.Values[0]
		}
	}}
	if _, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src}); err != nil {
		t.Fatal(err)
	}
	_, norm, err := o.law.noise(o.clip*o.room(), 1)
	if err != nil {
		t.Fatal(err)
	}
	zero := math.Sqrt(2*n*o.trained.Constants(0, 10).AtZero/o.lambda) * 1.1
	if bound := curator.WeightBound(o.trained, 10, 0, d.Shape().Rows, 1, o.clip, o.lambda, norm); !(math.Abs(theta) >= zero && math.Abs(theta) <= bound/1.05) {
		t.Errorf("|θ| = %g: beyond %g if the loss were positive, bound %g", theta, zero, bound)
	}
}

// The output noise, far too small to show beside b in an audit: what separates the
// released weights from the computed minimiser has the planned standard deviation, the
// declared distance over μ, and the computed minimiser lies within half that distance
// of the closed form for the same b. The bounds are five standard errors: a false
// alarm has a probability below 10⁻⁶.
func TestObjectiveOutputNoise(t *testing.T) {
	const lambda, y, runs = 1000.0, 0.5, 2000
	p := lone(ObjectivePerturbationConfig{Lambda: lambda, Clip: NoClip}, Problem{Loss: losses.Squared{}, Radius: 1}, GDP(1), y, y)
	plan, d := p.plan(t), p.data(t, 0)
	outputMu := leaves(t, plan.Ledger)[0].Mu
	var b, theta, moves, sum float64
	src := listener{mechanisms.NewSeededSource(1), func(e *release.Event) {
		switch e.Mechanism {
		case "linear term":
			b = e.Values[0]
		case "minimiser":
			theta, moves = e.Values[0], e.L2
		}
	}}
	for range runs {
		m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src})
		if err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(theta - (y-b)/(1+lambda)); off > moves/2 {
			t.Fatalf("minimiser is off by %g, declared distance %g", off, moves)
		}
		sum += math.Pow((m.weights[0][0]-theta)/(moves/outputMu), 2)
	}
	got, room := math.Sqrt(sum/runs), 5/math.Sqrt(2*runs)
	if math.Abs(got-1) > room {
		t.Errorf("output noise of %.3f times the planned standard deviation", got)
	}
}

// For every kind of budget and share the λ that is chosen has a predicted risk close
// to the least of all λ, each with the ratio that the accounting finds for it.
func TestObjectiveLambdaIsBest(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	s := Shape{Rows: 20_000, Dim: 30, FeatureBound: 1, LabelBound: 1}
	for _, b := range []Budget{
		GDP(0.05), GDP(0.5), GDP(4), GDP(0.5).share(3), ApproxDP(1, 1e-6).shareByMu(3),
		ApproxDP(0.1, 1e-6), ApproxDP(1, 1e-6), ApproxDP(8, 1e-6), ApproxDP(1, 1e-6).share(3), ApproxDP(8, 1e-6).share(3), PureDP(0.1), PureDP(1), PureDP(8), PureDP(1).share(3),
	} {
		p, err := Problem{Loss: losses.Logistic{}, Radius: 10}.resolve(s, nearScore)
		if err != nil {
			t.Fatal(err)
		}
		risk := func(lambda float64) (risk, chosen float64) {
			o := newObjective(s, p, 0)
			if err := o.calibrate(lambda, b); err != nil {
				return math.Inf(1), 0
			}
			sd, norm, err := o.law.noise(o.clip, s.Dim)
			if err != nil {
				t.Fatal(err)
			}
			return o.risk(o.curvature(), o.lambda, sd, o.outputNoise(o.law, o.lambda, norm)), o.lambda
		}
		got, lambda := risk(0)
		least, best := got, lambda
		for factor := 1.0 / 8; factor <= 8; factor *= 2 {
			if r, l := risk(lambda * factor); r < least {
				least, best = r, l
			}
		}
		t.Logf("%v: λ = %.3g, risk %.3g; at most %.3f times the least, at %.3g", b, lambda, got, got/least, best)
		if got > 1.05*least {
			t.Errorf("%v: λ = %g has %.3f times the least risk", b, lambda, got/least)
		}
	}
}

// Counts whose mean is far below their range have less curvature than was planned for: λ is then the one with the least risk at the curvature
// that the released mean tells. It stays as it is where the caller gave it, for classes, and where nothing was released.
func TestObjectiveLambdaFollowsTheMeanOfCounts(t *testing.T) {
	s := Shape{Rows: 2000, Dim: 60, FeatureBound: 1, LabelBound: 20, Intercept: true}
	planned := func(l losses.Loss, lambda float64) *objective {
		p, err := Problem{Loss: l}.resolve(s, nearScore)
		if err != nil {
			t.Fatal(err)
		}
		o := newObjective(s, p, 0)
		if err := o.calibrate(lambda, GDP(1)); err != nil {
			t.Fatal(err)
		}
		return o
	}
	released := func(score float64) *run { return &run{start: &begun{score: score}} }
	o, low := planned(losses.Poisson{}, 0), math.Log(0.1)
	sd, norm, err := o.law.noise(o.clip*o.room(), s.Dim)
	if err != nil {
		t.Fatal(err)
	}
	risk := func(lambda float64) float64 { return o.risk(0.1, lambda, sd, o.outputNoise(o.law, lambda, norm)) }
	got := o.lambdaAt(released(low))
	if got < 2*o.lambda || risk(got) > risk(1.2*got) || risk(got) > risk(got/1.2) {
		t.Errorf("counts of mean 0.1: λ = %g where %g was planned, with a risk of %g beside %g and %g", got, o.lambda, risk(got), risk(got/1.2), risk(1.2*got))
	}
	for name, c := range map[string]struct {
		o *objective
		r *run
	}{
		"a mean at the largest label": {o, released(math.Log(s.LabelBound))},
		"no mean":                     {o, &run{}},
		"a λ that was given":          {planned(losses.Poisson{}, o.lambda), released(low)},
		"offsets":                     {o, &run{start: &begun{score: low, shifted: -low + math.Log(s.LabelBound)}}},
		"classes":                     {planned(losses.Logistic{}, 0), released(math.Log(0.02))},
	} {
		if got := c.o.lambdaAt(c.r); got != c.o.lambda {
			t.Errorf("%s: λ = %g, want %g as planned", name, got, c.o.lambda)
		}
	}
}

// The means that are released beside a minimiser take of the budget, which is counted when λ is chosen: else there is a budget, here of ε = 2, at which hardly
// anything is left to the minimiser beside the λ that would be best without them.
func TestObjectiveLambdaCountsTheMeans(t *testing.T) {
	for _, l := range []losses.Loss{losses.Poisson{}, losses.Logistic{}} {
		last := math.Inf(1)
		for epsilon := 0.1; epsilon < 16; epsilon *= 1.1 {
			s, b := Shape{Rows: 2000, Dim: 10, FeatureBound: 1, LabelBound: 5, Intercept: true}, ApproxDP(epsilon, 1e-6)
			p, err := Problem{Loss: l}.resolve(s, nearScore)
			if err != nil {
				t.Fatal(err)
			}
			o := newObjective(s, p, 0)
			if _, err := o.schedule(0, l, b, true); err != nil {
				t.Fatal(err)
			}
			sd, norm, err := o.law.noise(o.clip*o.room(), s.Dim)
			if err != nil {
				t.Fatal(err)
			}
			risk := o.risk(o.curvature(), o.lambda, sd, o.outputNoise(o.law, o.lambda, norm))
			if risk > last {
				t.Errorf("%s, ε = %.3g: a risk of %.3g where less budget has %.3g", l.Name(), epsilon, risk, last)
			}
			last = risk
		}
	}
}
