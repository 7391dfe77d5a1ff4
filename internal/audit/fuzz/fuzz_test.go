package fuzz_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
)

// planCase is what the fuzzer varies, as bytes: so it reaches numbers of any
// magnitude, infinities and NaN.
type planCase struct {
	Learner, Inner, Loss, Budget, Choice uint8
	Intercept                            bool
	Rows, Dim, N                         int64
	FeatureBound, LabelBound, Radius     float64
	Epsilon, Delta, A, B                 float64
	Seed                                 uint64
	Features                             [24]float64
	Labels                               [8]float64
}

var (
	fuzzLosses = []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.SquaredHinge{}, losses.Poisson{}, losses.Hinge{}, losses.Absolute{}}
	sane       = planCase{Rows: 8, Dim: 3, N: 2, FeatureBound: 1, LabelBound: 2, Epsilon: 1, Delta: 1e-6, A: 0.5, B: 0.3,
		Features: [24]float64{0.5, -3, 0.1, 1e100}, Labels: [8]float64{0, 1, 1, 0}}
)

// pick returns the element of list that an arbitrary byte stands for.
func pick[T any](list []T, i uint8) T { return list[int(i)%len(list)] }

func (c planCase) loss() losses.Loss {
	switch c.Loss {
	case 250:
		return losses.SmoothedHinge{Width: c.B}
	case 251:
		return losses.NegativeBinomial{Dispersion: c.B}
	case 252:
		return losses.Gamma{Least: c.B}
	case 253:
		return losses.Gamma{Least: 0.1, Ratio: c.B}
	case 254:
		return losses.CappedPoisson{Cap: c.B}
	case 255:
		return losses.Ordinal{Thresholds: []float64{-c.B, c.B}}
	}
	switch c.Loss % 9 {
	case 6:
		return losses.Huber{Kappa: c.B}
	case 7:
		return losses.Quantile{Tau: c.B}
	case 8:
		return losses.Extended{Inner: losses.Poisson{}, Limit: c.B}
	}
	return pick(fuzzLosses, c.Loss%9)
}

// simple is a learner that contains no other.
func (c planCase) simple(kind uint8) dpglm.Learner {
	n := int(c.N)
	switch kind % 5 {
	case 1:
		return dpglm.OutputPerturbationConfig{Lambda: c.A, Project: c.Choice%2 == 1}
	case 2:
		return dpglm.ObjectivePerturbationConfig{Lambda: c.A, Clip: c.B}
	case 3:
		return dpglm.AutoConfig{}
	case 4:
		if c.Choice%4 == 3 {
			return dpglm.InferConfig{Confidence: c.A}
		}
		if c.Choice%4 == 2 {
			return dpglm.FrankWolfeConfig{Output: pick([]dpglm.FrankWolfeOutput{"", dpglm.WithinBall}, c.Choice/4), Steps: n, EntryBound: c.A, Clip: c.B}
		}
		return dpglm.StandardisedGDConfig{}
	}
	return dpglm.NoisyGDConfig{
		Schedule: pick([]dpglm.Schedule{"", dpglm.Theorem1}, c.Choice), Steps: n, StepSize: c.A, Clip: c.B,
		Output: pick([]dpglm.NoisyGDOutput{"", dpglm.FullAverage, dpglm.LastIterate}, c.Choice/2),
	}
}

func (c planCase) learner() dpglm.Learner {
	n, inner := int(c.N), c.simple(c.Inner)
	switch c.Learner % 10 {
	case 3:
		return dpglm.JLConfig{Learner: inner, Map: pick([]dpglm.JLMap{"", dpglm.GaussianMap, dpglm.RademacherMap, dpglm.HadamardMap}, c.Choice), K: n, Slack: c.A, Seed: c.Seed}
	case 4:
		return dpglm.GridSearchConfig{Learner: inner, Validation: c.A, Beta: c.B, Criterion: pick([]dpglm.Criterion{"", dpglm.ZeroOneError}, c.Choice), Seed: c.Seed}
	case 5:
		return dpglm.BoostConfig{Learner: inner, Chunks: n, Beta: c.B, NoisyMax: c.Choice%2 == 1, Seed: c.Seed}
	case 6:
		return dpglm.GridSearchConfig{Learner: dpglm.BoostConfig{Learner: inner, Chunks: n, Seed: c.Seed}, Radii: []float64{c.A, c.B}, Seed: c.Seed}
	case 7:
		return dpglm.BoostConfig{Learner: dpglm.JLConfig{Learner: inner, K: n}, Chunks: int(c.Choice), Beta: c.B}
	case 8:
		return c.simple(3)
	case 9:
		return c.simple(4)
	}
	return c.simple(c.Learner % 10)
}

// budget also returns the test of whether a ledger keeps to it.
func (c planCase) budget() (dpglm.Budget, func(*dpglm.Ledger) bool) {
	rows := pick([]int{1, 2, 7, 100, -1}, c.Budget/3)
	switch c.Budget % 3 {
	case 1:
		return dpglm.PureDP(c.Epsilon).ForGroups(rows), func(l *dpglm.Ledger) bool { return l.GroupWithin(rows, c.Epsilon, 0) }
	case 2:
		return dpglm.GDP(c.Epsilon).ForGroups(rows), func(l *dpglm.Ledger) bool { return l.GroupMu(rows) <= c.Epsilon }
	}
	return dpglm.ApproxDP(c.Epsilon, c.Delta).ForGroups(rows), func(l *dpglm.Ledger) bool { return l.GroupWithin(rows, c.Epsilon, c.Delta) }
}

// plan plans the case for a shape and checks what every plan must be.
func (c planCase) plan(t *testing.T, s dpglm.Shape) *dpglm.Plan {
	t.Helper()
	budget, within := c.budget()
	plan, err := c.learner().Plan(s, dpglm.Problem{Loss: c.loss(), Radius: c.Radius}, budget)
	if err != nil {
		if plan != nil {
			t.Errorf("an error and a plan: %v", err)
		}
		given.MustBeArgument(t, err)
		return nil
	}
	if !within(plan.Ledger) {
		t.Errorf("%+v plans to spend more than %v:\n%v", c, budget, plan.Ledger)
	}
	if !(plan.Problem.Radius > 0) || plan.Learner == nil {
		t.Errorf("%+v leaves defaults open: %+v", c, plan)
	}
	return plan
}

// addCases adds every learner with every loss, and hostile numbers.
func addCases(f *testing.F) {
	add := func(c planCase) {
		data, err := binary.Append(nil, binary.LittleEndian, c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for i := range 10 * 5 * 9 {
		k, c := uint8(i), sane
		c.Learner, c.Inner, c.Loss, c.Budget, c.Choice = uint8(i%10), uint8(i/10%5), uint8(i/50), uint8(i/5%3), k%4
		c.Intercept = k%2 == 0
		add(c)
		if k%7 > 0 {
			continue
		}
		c.Budget = uint8(i / 5 % 15) // the same, for groups
		add(c)
		c.N, c.A, c.B = 0, 0, 0
		add(c)
		c.FeatureBound, c.Radius, c.Epsilon, c.A = 1e60, 1e-60, 1e-9, 1e60
		add(c)
		c.FeatureBound, c.Radius, c.Epsilon, c.Delta, c.B, c.N = 1e-60, 1e60, 1e9, 1e-300, 1e-60, math.MaxInt64
		add(c)
		c.LabelBound, c.Rows, c.Dim = 1e60, math.MaxInt64, math.MaxInt64
		add(c)
		c.A, c.Delta, c.N = nan, inf, math.MinInt64
		add(c)
	}
}

func decodeCase(data []byte) (c planCase, ok bool) {
	_, err := binary.Decode(data, binary.LittleEndian, &c)
	return c, err == nil
}

// Plan refuses arguments with an ArgumentError or returns a plan that keeps to
// its budget, whatever the shape and the parameters.
func FuzzPlan(f *testing.F) {
	addCases(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, ok := decodeCase(data); ok {
			c.plan(t, dpglm.Shape{Rows: int(c.Rows), Dim: int(c.Dim), Intercept: c.Intercept, FeatureBound: c.FeatureBound, LabelBound: c.LabelBound,
				LabelCentre: pick([]float64{0, c.LabelBound, c.A}, c.Loss/16+uint8(c.N))})
		}
	})
}

// Losses whose parameters are tiny or huge are refused, or trained as others are.
func TestExtremeLossParameters(t *testing.T) {
	for _, loss := range []uint8{6, 7, 8, 250, 251, 252, 253, 254, 255} {
		for _, b := range []float64{5e-324, 1e-200, 1e-61, 1e-60, 1e-30, 1e-8, 1 - 1e-16, 1 + 1e-15, 1e8, 1e30, 1e60, 1e61, 1e200, math.MaxFloat64} {
			for _, k := range []uint8{0, 1, 2, 3, 4} {
				for _, bound := range []float64{2, 1e-60} {
					c := sane
					c.Learner, c.Loss, c.A, c.B, c.Choice, c.LabelBound = k, loss, 0, b, k%4, bound
					t.Run(fmt.Sprintf("%s of %g, learner %d, labels to %g", c.loss().Name(), b, k, c.LabelBound), c.fit)
				}
			}
		}
	}
}

// Whatever is planned for a data set can be run on it: the weights are finite, and
// the model survives its encoding. Only a label outside the domain is an error.
func FuzzFit(f *testing.F) {
	addCases(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, ok := decodeCase(data); ok {
			c.N %= 64
			c.fit(t)
		}
	})
}

// The same for numbers that mostly make sense: logarithms are uniform up to a
// magnitude, parameters are often left at their defaults.
func FuzzRandomFit(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint8(2+seed%20))
	}
	f.Add(uint64(70), uint8(55))
	f.Fuzz(func(t *testing.T, seed uint64, magnitude uint8) {
		randomCase(rand.New(rand.NewPCG(seed, 0)), float64(magnitude%60)).fit(t)
	})
}

func randomCase(r *rand.Rand, magnitude float64) planCase {
	number := func() float64 { return math.Pow(10, magnitude*(2*r.Float64()-1)) }
	some := func(v float64) float64 { return v * float64(r.IntN(2)) }
	c := planCase{
		Learner: uint8(r.IntN(10)), Inner: uint8(r.IntN(5)), Loss: uint8(r.IntN(9)), Budget: uint8(r.IntN(3)), Choice: uint8(r.IntN(4)),
		Intercept: r.IntN(2) == 0, N: int64(some(float64(r.IntN(8)))),
		FeatureBound: number(), LabelBound: number(), Radius: some(number()),
		Epsilon: math.Pow(10, 4*r.Float64()-2), Delta: math.Pow(10, -12*r.Float64()), A: some(number()), B: some(r.Float64()), Seed: r.Uint64(),
	}
	if r.IntN(2) == 0 {
		c.A = r.Float64()
	}
	for j := range c.Features {
		c.Features[j] = number() * float64(r.IntN(3)-1)
	}
	for j := range c.Labels {
		c.Labels[j] = float64(r.IntN(2))
	}
	return c
}

// fit plans and runs the case on its own rows.
func (c planCase) fit(t *testing.T) {
	t.Helper()
	rows := pick([]int{8, 4, 1, 8}, c.Choice)
	x := mat.NewDense(rows, 3, slices.Clone(c.Features[:3*rows]))
	d, err := dpglm.NewDataset(x, c.Labels[:rows], dpglm.Bounds{Feature: c.FeatureBound, Label: c.LabelBound, Intercept: c.Intercept})
	if err != nil {
		given.MustBeArgument(t, err)
		return
	}
	plan := c.plan(t, d.Shape())
	if plan == nil {
		return
	}
	m, err := plan.Run(newPatience(100_000), d, given.Seeded(c.Seed))
	switch {
	case errors.Is(err, context.DeadlineExceeded): // ill-conditioned
	case errors.Is(err, dpglm.ErrLabel):
		given.MustBeArgument(t, err)
	case err != nil:
		t.Fatalf("%+v: %v", c, err)
	default:
		given.CheckModel(t, m, x)
	}
}

// patience is a context that ends after it was asked a number of times whether it
// has: a deadline that doesn't depend on how fast the machine is.
type patience struct {
	context.Context
	left *atomic.Int64
}

func newPatience(questions int64) patience {
	p := patience{context.Background(), new(atomic.Int64)}
	p.left.Store(questions)
	return p
}

func (p patience) Err() error {
	if p.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// addRead adds models that must be read, sums of which needn't fit.
func addRead(f *testing.F, models ...string) {
	f.Helper()
	for _, s := range models {
		if err := json.Unmarshal(resealed.JSON([]byte(s)), new(dpglm.Model)); err != nil {
			f.Fatalf("%v\n%s", err, s)
		}
		f.Add([]byte(s))
	}
}

// A decoded model is refused, or it is as good as one that was trained.
func FuzzModelJSON(f *testing.F) {
	const head, claim = `{"format":"dpglm model","version":1,"library":"0.1.0",`, `"rows":9,"unit":{"of":"row","neighbours":"replace-one"},"mu":2,`
	const ledger = claim + `"ledger":{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"kind":"gaussian","mu":0.5,"releases":3,"dim":4,"claim":{"rows":9,"mu":2}},"sum":"sha256:"}`
	const classes = `{"format":"dpglm class model","version":1,"library":"0.1.0",`
	f.Add(storedClasses(f))
	addRead(f,
		classes+`"columns":1,"bounds":{"feature":1,"intercept":true},"levels":["0","1","2"],"weights":[[1,-2],[3,4],[0,0]],`+ledger,
		classes+`"loss":"hinge","link":"identity","columns":1,"bounds":{"feature":1e60},"levels":["0","1"],"weights":[[1e120],[-1e120]],`+ledger,
		head+`"loss":"logistic","labels":"binary","link":"logit","columns":2,"bounds":{"feature":1,"intercept":true},"weights":[1,-2,3],`+ledger,
		head+`"loss":"poisson","labels":"count","link":"log","columns":1,"bounds":{"feature":1e60,"label":2},"weights":[1e120],`+ledger,
		head+`"loss":"probit","labels":"binary","link":"probit","columns":2,"bounds":{"feature":1,"intercept":true},"weights":[1,-2,3],`+ledger,
		head+`"loss":"gamma above 0.01","labels":"amount","link":"log","columns":1,"bounds":{"feature":1,"label_range":[0,9]},"weights":[1],`+ledger,
		head+`"loss":"squared","labels":"real","link":"identity","columns":3,"schema":{"columns":["a","b","c"],"numeric":{"a":[0,9]},"onehot":{"g":["b","c"]},"label":2},"weights":[1,2,3],`+ledger,
		head+`"loss":"squared","labels":"real","link":"identity","columns":1,"schema":{"columns":["a"],"numeric":{"a":[-1e60,1e60]}},"weights":[-1e120],`+ledger,
		head+`"loss":"logistic","labels":"binary","link":"logit","columns":2,"table":{"version":1,"label":"y","columns":[{"name":"a","kind":"numeric","range":[0,9],"missing":"indicator"},{"name":"y","kind":"binary","above":3}]},"weights":[1,-2,3],`+ledger,
	)
	for _, s := range []string{
		classes + `"loss":"probit","labels":"binary","link":"probit","columns":1,"bounds":{"feature":1},"weights":[1],` + ledger,
		head + `"loss":"x","labels":"real","link":"log","columns":1,"bounds":{"feature":1},"weights":[1],` + ledger,
		head + `"loss":"x","labels":"real","link":"identity","columns":1,"bounds":{"feature":1},"weights":[1],"ledger":null,"sum":"sha256:"}`,
		`{"columns":-1,"bounds":{},"schema":{}}`, `null`, `[]`, `{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m dpglm.Model
		if json.Unmarshal(resealed.JSON(data), &m) != nil {
			if _, err := m.Scores(mat.NewDense(1, 1, nil)); !errors.Is(err, dpglm.ErrModel) {
				t.Errorf("a failed decoding leaves a model: %v", err)
			}
			return
		}
		if m.Ledger() == nil {
			t.Fatal("no ledger")
		}
		for columns := range len(m.Weights()[0]) {
			x := mat.NewDense(2, columns+1, nil)
			x.Set(1, columns, -1e100)
			if _, err := m.Scores(x); err == nil {
				given.CheckModel(t, &m, x)
			} else {
				given.MustBeArgument(t, err)
			}
		}
	})
}

// NewDataset takes any matrix in either form and any facts, or says what is wrong;
// what it takes is bounded.
func FuzzNewDataset(f *testing.F) {
	f.Add(1.0, -2.0, 3.0, 1.0, 0.0, 1.0, -1.0, 1.0, uint8(0), "a", "b")
	f.Add(1e300, 5e-324, 0.0, nan, inf, 1e60, -1e60, 1e60, uint8(3), "a", "a")
	f.Add(0.5, 1.0, 1.0, 0.0, 1.0, 1e-60, 1e9, 1e9+1e-6, uint8(7), "", "\xff")
	f.Fuzz(func(t *testing.T, x0, x1, x2, y, label, bound, lo, hi float64, form uint8, a, b string) {
		var x mat.Matrix = mat.NewDense(2, 2, []float64{x0, x1, x2, 0})
		if form&1 == 1 {
			s, err := dpglm.NewSparse(2, 2, []int{0, 2, 3}, []int{0, 1, 0}, []float64{x0, x1, x2})
			if err != nil {
				t.Fatal(err)
			}
			x = s
		}
		var facts dpglm.Facts = dpglm.Bounds{Feature: bound, Label: label, Intercept: form&4 == 4}
		if form&2 == 2 {
			facts = dpglm.Schema{Columns: []string{a, b}, Numeric: map[string][2]float64{a: {lo, hi}},
				OneHot: map[string][]string{"g": {b}}, Label: label, Intercept: form&4 == 4}
		}
		d, err := dpglm.NewDataset(x, []float64{y, 1}, facts)
		if err != nil {
			given.MustBeArgument(t, err)
			return
		}
		if s := d.Shape(); s.Rows != 2 || !(s.FeatureBound > 0) || math.IsInf(s.FeatureBound, 1) {
			t.Errorf("shape %+v", s)
		}
	})
}
