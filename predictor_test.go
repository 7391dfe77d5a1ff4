package dpglm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// line is a data set of one feature, whose labels, 0 or 1, are 1 above a half, most
// of the time.
func line(t *testing.T, n int) *Dataset {
	t.Helper()
	x, y := lineRows(n)
	return dataset(t, x, y)
}

func lineRows(n int) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		v := r.Float64()
		x.Set(i, 0, v)
		if v+0.1*r.NormFloat64() > 0.5 {
			y[i] = 1
		}
	}
	return x, y
}

func dataset(t *testing.T, x mat.Matrix, y []float64) *Dataset {
	t.Helper()
	d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A maker makes a predictor of one kind.
type maker func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error)

func makers() map[string]maker {
	return map[string]maker{
		"vote": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return serve(d, p, b, VoteConfig{Queries: queries, Cache: cache, Parts: 5}, env)
		},
		"average": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return serve(d, p, b, AverageConfig{Queries: queries, Cache: cache, Parts: 5}, env)
		},
		"stable": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return serve(d, p, b, StableConfig{Queries: queries, Cache: cache}, env)
		},
		"descent": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return serve(d, p, b, DescentConfig{Queries: queries, Cache: cache}, env)
		},
		"threshold": func(d *Dataset, _ Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return serve(d, Problem{}, b, ThresholdConfig{Queries: queries, Cache: cache}, env)
		},
	}
}

// serve is NewPredictor in the background.
func serve(d *Dataset, p Problem, b Budget, c PredictorConfig, env *Env) (*Predictor, error) {
	return NewPredictor(context.Background(), d, p, b, c, env)
}

var logit = Problem{Loss: losses.Logistic{}}

// ask returns the answer to x, which must not fail.
func ask(t *testing.T, p *Predictor, x ...float64) float64 {
	t.Helper()
	v, err := p.Answer(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func refused(t *testing.T, p *Predictor, want error, x ...float64) {
	t.Helper()
	if _, err := p.Answer(context.Background(), x); !errors.Is(err, want) {
		t.Errorf("%v gives %v, want %v", x, err, want)
	}
}

// Every kind answers as often as it was planned for, counts in its ledger, stays
// within its budget and refuses then.
func TestPredictorSpendsItsBudget(t *testing.T) {
	d := line(t, 400)
	for kind, make := range makers() {
		for _, b := range []Budget{PureDP(2), ApproxDP(1, 1e-6), GDP(0.5)} {
			const queries = 7
			p, err := make(d, logit, b, queries, false, nil)
			if err != nil {
				t.Fatalf("%s, %v: %v", kind, b, err)
			}
			if err := b.covers(p.Planned()); err != nil {
				t.Errorf("%s: plans %v", kind, err)
			}
			if p.Spent() != nil || p.Answered() != 0 {
				t.Errorf("%s has spent %v at the start", kind, p.Spent())
			}
			for k := range queries {
				if v := ask(t, p, 0.1*float64(k)); !(v >= 0 && v <= 1) {
					t.Errorf("%s answers %g", kind, v)
				}
				if want := fmt.Sprintf(" %d ×", k+1); !strings.Contains(p.Spent().String(), want) {
					t.Errorf("%s: ledger %q lacks %q", kind, p.Spent(), want)
				}
			}
			refused(t, p, ErrSpent, 0.5)
			if p.Spent().String() != p.Planned().String() || p.Answered() != queries {
				t.Errorf("%s: spent %v of %v", kind, p.Spent(), p.Planned())
			}
			if p.Spent().CallerNoise() {
				t.Errorf("%s: the noise is not the caller's", kind)
			}
		}
	}
}

// 10,000 callers at once against a budget of 1,000 get exactly 1,000 answers.
func TestPredictorUnderConcurrentCallers(t *testing.T) {
	d := line(t, 300)
	for _, kind := range []string{"threshold", "stable"} {
		const queries, callers = 1000, 10_000
		p, err := makers()[kind](d, logit, PureDP(1), queries, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		var answers, refusals atomic.Int64
		var all sync.WaitGroup
		for k := range callers {
			all.Add(1)
			go func() {
				defer all.Done()
				switch _, err := p.Answer(context.Background(), []float64{float64(k) / callers}); {
				case err == nil:
					answers.Add(1)
				case errors.Is(err, ErrSpent):
					refusals.Add(1)
				}
				_ = p.Spent()
			}()
		}
		all.Wait()
		if answers.Load() != queries || refusals.Load() != callers-queries {
			t.Errorf("%s: %d answers, %d refusals", kind, answers.Load(), refusals.Load())
		}
		if err := PureDP(1).covers(p.Spent()); err != nil || p.Answered() != queries {
			t.Errorf("%s: %v after %d", kind, err, p.Answered())
		}
	}
}

// Answers are stored only when that is asked for; then a repeated query costs
// nothing, after the last answer too, also where it comes from many callers.
func TestPredictorCache(t *testing.T) {
	d := line(t, 300)
	real := Problem{Loss: losses.Squared{}}
	for _, cache := range []bool{false, true} {
		p, err := makers()["stable"](d, real, PureDP(100), 3, cache, nil)
		if err != nil {
			t.Fatal(err)
		}
		first, again := ask(t, p, 0.25), ask(t, p, 0.25)
		if same := first == again; same != cache {
			t.Errorf("cache %v: answers %g and %g", cache, first, again)
		}
		if want := map[bool]int{false: 2, true: 1}[cache]; p.Answered() != want {
			t.Errorf("cache %v: %d answers counted", cache, p.Answered())
		}
		for p.Answered() < 3 {
			ask(t, p, float64(p.Answered()))
		}
		refused(t, p, ErrSpent, 0.251)
		if !cache {
			refused(t, p, ErrSpent, 0.25)
			continue
		}
		var all sync.WaitGroup
		for range 100 {
			all.Add(1)
			go func() {
				defer all.Done()
				if v, err := p.Answer(context.Background(), []float64{0.25}); err != nil || v != first {
					t.Errorf("%g, %v instead of %g", v, err, first)
				}
			}()
		}
		all.Wait()
	}
}

// A restart forgets neither the count nor lets it be taken up elsewhere, and its
// noise does not repeat.
func TestPredictorRestart(t *testing.T) {
	d := line(t, 300)
	real := Problem{Loss: losses.Squared{}, Radius: 3}
	start := func(queries int, b Budget) *Predictor {
		p, err := makers()["stable"](d, real, b, queries, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	b := ApproxDP(100, 1e-6)
	p := start(5, b)
	seen := map[float64]bool{}
	for range 3 {
		seen[ask(t, p, 0.3)] = true
	}
	state, err := p.State()
	if err != nil {
		t.Fatal(err)
	}
	q := start(5, b)
	if err := q.Restore(state); err != nil {
		t.Fatal(err)
	}
	if q.Spent().String() != p.Spent().String() {
		t.Errorf("restored %v, want %v", q.Spent(), p.Spent())
	}
	for range 2 {
		if v := ask(t, q, 0.3); seen[v] {
			t.Errorf("the noise of %g repeats", v)
		}
	}
	refused(t, q, ErrSpent, 0.3)
	if err := q.Restore(state); !errors.Is(err, ErrConfig) {
		t.Errorf("a restore after answers gives %v", err)
	}
	for name, other := range map[string]*Predictor{"queries": start(6, b), "budget": start(5, ApproxDP(100, 1e-7))} {
		if err := other.Restore(state); !errors.Is(err, ErrModel) {
			t.Errorf("other %s: %v", name, err)
		}
	}
}

// A state is JSON with these names, which a change of the library must keep or give
// another version; what this one doesn't know it refuses.
func TestPredictorState(t *testing.T) {
	d := line(t, 300)
	start := func() *Predictor {
		p, err := serve(d, logit, PureDP(1), VoteConfig{Queries: 4, Parts: 3, Lambda: 0.25, Seed: 1<<63 + 1, Cache: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := start()
	ask(t, p, 0.2)
	ask(t, p, 0.3)
	state, err := p.State()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":1,"predictor":{"kind":"vote","queries":4,"answer_epsilon":0.24999999999999975,"parts":3,"seed":9223372036854775809,"lambda":0.25,"loss":"logistic","radius":100,"epsilon":1,"rows":300,"weights":1,"feature_bound":1,"label_bound":1},"answered":2,"caller_noise":false}`
	if string(state) != want {
		t.Errorf("state %s, want %s", state, want)
	}
	// Stores may write the fields in another order.
	spaced := strings.Replace(strings.Replace(want, `"version":1,`, "", 1), `"caller_noise":false`, `"caller_noise": false, "version": 1`, 1)
	if q := start(); q.Restore([]byte(spaced)) != nil || q.Answered() != 2 {
		t.Errorf("%s gives %v", spaced, q)
	}
	for _, c := range [][2]string{
		{`"version":1`, `"version":2`}, {`"version":1`, `"version":1,"more":1`}, {`"version":1,`, ``},
		{`"kind":"vote"`, `"kind":"average"`}, {`"kind":"vote"`, `"kind":"vote","more":1`}, {`"kind":"vote",`, ``},
		{`775809`, `775808`}, {`"answer_epsilon":0.24999999999999975`, `"answer_epsilon":0.25`},
		{`"answered":2`, `"answered":-1`}, {`"answered":2`, `"answered":5`}, {`"answered":2`, `"answered":2.5`},
		{`"answered":2`, `"answered":null`}, {`"answered":2,`, ``}, {`,"caller_noise":false`, ``}, {want, ``}, {want, `{}`}, {want, `[]`},
		{want, `null`}, {want, want + `{}`}, {want, want[1:]},
	} {
		q := start()
		bad := strings.Replace(want, c[0], c[1], 1)
		if err := q.Restore([]byte(bad)); bad == want || !errors.Is(err, ErrModel) || q.Answered() != 0 {
			t.Errorf("state %s gives %v", bad, err)
		}
	}
}

// No state makes Restore panic or take up a count that was not planned; what it
// accepts, it writes again.
func FuzzPredictorState(f *testing.F) {
	x, y := lineRows(20)
	d, err := NewDataset(x, y, Bounds{Feature: 1})
	if err != nil {
		f.Fatal(err)
	}
	start := func() *Predictor {
		p, err := serve(d, Problem{}, PureDP(1), ThresholdConfig{Queries: 3}, nil)
		if err != nil {
			f.Fatal(err)
		}
		return p
	}
	fresh, err := start().State()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fresh)
	f.Add([]byte(strings.Replace(string(fresh), `"answered":0,"caller_noise":false`, `"caller_noise":true,"answered":3`, 1)))
	f.Add([]byte(strings.Replace(string(fresh), `"answered":0`, `"answered":9223372036854775808`, 1)))
	f.Add([]byte(`{"version":1,"predictor":null,"answered":1,"caller_noise":true}`))
	f.Fuzz(func(t *testing.T, state []byte) {
		p := start()
		if err := p.Restore(state); err != nil {
			if !errors.Is(err, ErrModel) || p.Answered() != 0 {
				t.Fatalf("%v after %d answers", err, p.Answered())
			}
			return
		}
		again, err := p.State()
		if err != nil || p.Answered() < 0 || p.Answered() > 3 {
			t.Fatalf("%d answers, %v", p.Answered(), err)
		}
		q := start()
		if err := q.Restore(again); err != nil || q.Answered() != p.Answered() || q.callerNoise != p.callerNoise {
			t.Fatalf("%s becomes %s: %v", state, again, err)
		}
	})
}

// A restored state knows that noise of earlier answers was the caller's.
func TestPredictorRestoresCallerNoise(t *testing.T) {
	d := line(t, 300)
	for kind, make := range makers() {
		p, err := make(d, logit, PureDP(1), 5, false, &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Fatal(err)
		}
		ask(t, p, 0.5)
		for restarts := range 3 {
			state, err := p.State()
			if err != nil {
				t.Fatal(err)
			}
			if p, err = make(d, logit, PureDP(1), 5, false, nil); err != nil {
				t.Fatal(err)
			}
			if p.Planned().CallerNoise() {
				t.Errorf("%s: a new predictor has the caller's noise", kind)
			}
			if err := p.Restore(state); err != nil {
				t.Fatal(err)
			}
			ask(t, p, 0.5)
			if !p.Spent().CallerNoise() || !p.Planned().CallerNoise() || p.Answered() != restarts+2 {
				t.Errorf("%s: after %d restarts the ledger is %v", kind, restarts+1, p.Spent())
			}
		}
	}
}

// The plan that a state belongs to tells every kind and every public fact apart,
// and not the cache.
func TestPredictorPlans(t *testing.T) {
	d := line(t, 300)
	plans := map[predictorFacts]string{}
	add := func(name string, p *Predictor, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if other, ok := plans[p.facts]; ok {
			t.Errorf("%s and %s have the same plan", name, other)
		}
		plans[p.facts] = name
	}
	for kind, make := range makers() {
		p, err := make(d, logit, PureDP(1), 5, false, nil)
		add(kind, p, err)
		if q, err := make(d, logit, PureDP(1), 5, true, nil); err != nil || q.facts != p.facts {
			t.Errorf("%s: the cache makes another plan, %v", kind, err)
		}
	}
	for name, c := range map[string]VoteConfig{"seed": {Seed: 1}, "parts": {Parts: 7}, "lambda": {Lambda: 0.1}} {
		c.Queries = 5
		p, err := serve(d, logit, PureDP(1), c, nil)
		add(name, p, err)
	}
	p, err := serve(d, Problem{Loss: losses.Logistic{}, Radius: 2}, PureDP(1), StableConfig{Queries: 5}, nil)
	add("radius", p, err)
	p, err = serve(d, Problem{Loss: losses.Hinge{}}, PureDP(1), StableConfig{Queries: 5}, nil)
	add("loss", p, err)
	p, err = serve(line(t, 301), logit, PureDP(1), StableConfig{Queries: 5}, nil)
	add("rows", p, err)
	for name, b := range map[string]Budget{"ε": PureDP(2), "δ": ApproxDP(1, 1e-6), "another δ": ApproxDP(1, 1e-7), "μ": GDP(1)} {
		p, err = serve(d, logit, b, StableConfig{Queries: 5}, nil)
		add(name, p, err)
	}
}

// What is printed, marshalled or stored of a predictor is public: it is the same
// for other rows of the same shape.
func TestPredictorShowsNoModel(t *testing.T) {
	show := func(d *Dataset, make maker) string {
		p, err := make(d, logit, PureDP(1), 5, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		state, errState := p.State()
		//lint:ignore SA9005 nothing of a predictor must come out, which is what is tested
		encoded, errJSON := json.Marshal(p)
		if errState != nil || errJSON != nil {
			t.Fatal(errState, errJSON)
		}
		return fmt.Sprintf("%s %s %v %+v %#v %s %v", state, encoded, p, p, p, p, p.Planned())
	}
	d := line(t, 100)
	x, y := lineRows(100)
	for i := range 50 {
		y[i], y[99-i] = y[99-i], 1-y[i]
	}
	other := dataset(t, x, y)
	for kind, make := range makers() {
		if a, b := show(d, make), show(other, make); a != b {
			t.Errorf("%s: %s differs from %s", kind, a, b)
		}
	}
}

// Queries are refused by what is wrong with them and cost nothing then.
func TestPredictorRefusesQueries(t *testing.T) {
	d := line(t, 100)
	for kind, make := range makers() {
		p, err := make(d, logit, PureDP(1), 1, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, p, ErrShape)
		refused(t, p, ErrShape, 1, 2)
		refused(t, p, ErrValue, math.NaN())
		refused(t, p, ErrValue, math.Inf(1))
		refused(t, p, ErrValue, 1e200)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := p.Answer(ctx, []float64{0}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", kind, err)
		}
		//lint:ignore SA1012 a caller's mistake must not panic
		if _, err := p.Answer(nil, []float64{0}); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: no context: %v", kind, err)
		}
		if p.Answered() != 0 {
			t.Errorf("%s: refused queries cost %d answers", kind, p.Answered())
		}
		ask(t, p, 1e90)
	}
}

// A predictor that no plan made answers nothing.
func TestEmptyPredictor(t *testing.T) {
	for _, p := range []*Predictor{nil, new(Predictor)} {
		_, stateErr := p.State()
		_, err := p.Answer(context.Background(), []float64{1})
		for _, err := range []error{err, stateErr, p.Restore([]byte("{}"))} {
			if !errors.Is(err, ErrConfig) {
				t.Error(err)
			}
		}
		if p.Planned() != nil || p.Spent() != nil || p.Answered() != 0 || fmt.Sprint(p) != "empty predictor" {
			t.Errorf("%v has spent something", p)
		}
	}
	for _, p := range []*PredictorPlan{nil, new(PredictorPlan)} {
		if _, err := p.Run(context.Background(), line(t, 20), nil); !errors.Is(err, ErrConfig) || fmt.Sprint(p) != "empty plan" {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// What the makers refuse.
func TestPredictorRefusesParameters(t *testing.T) {
	ctx := context.Background()
	d := line(t, 20)
	x, y := lineRows(20)
	y[7] = 0.5
	bad := dataset(t, x, y)
	wide := dataset(t, mat.NewDense(2, 2, []float64{1, 2, 3, 4}), []float64{0, 1})
	real := Problem{Loss: losses.Squared{}}
	for kind, make := range makers() {
		for _, c := range []struct {
			name    string
			data    *Dataset
			budget  Budget
			queries int
			want    error
		}{
			{"no data", nil, PureDP(1), 1, ErrConfig},
			{"no queries", d, PureDP(1), 0, ErrConfig},
			{"negative queries", d, PureDP(1), -3, ErrConfig},
			{"no budget", d, Budget{}, 1, ErrBudget},
			{"negative ε", d, PureDP(-1), 1, ErrBudget},
			{"ε not a number", d, ApproxDP(math.NaN(), 1e-6), 1, ErrBudget},
			{"infinite μ", d, GDP(math.Inf(1)), 1, ErrBudget},
			{"δ = 1", d, ApproxDP(1, 1), 1, ErrBudget},
			{"labels", bad, PureDP(1), 1, ErrLabel},
		} {
			p, err := make(c.data, logit, c.budget, c.queries, false, nil)
			if p != nil || !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v", kind, c.name, err)
			}
		}
		if _, err := make(d, Problem{}, PureDP(1), 1, false, nil); kind != "threshold" && !errors.Is(err, ErrConfig) {
			t.Errorf("%s, no loss: %v", kind, err)
		}
	}
	plan := func(s Shape, p Problem, c PredictorConfig) error {
		_, err := c.Plan(s, p, PureDP(1))
		return err
	}
	make := func(ctx context.Context, c PredictorConfig) error {
		_, err := NewPredictor(ctx, d, logit, PureDP(1), c, nil)
		return err
	}
	shape := d.Shape()
	vote := func(c VoteConfig) error {
		c.Queries = 1
		return plan(shape, logit, c)
	}
	average := func(c AverageConfig) error {
		c.Queries = 1
		return plan(shape, logit, c)
	}
	descent := func(c DescentConfig) error {
		c.Queries = 1
		return plan(shape, logit, c)
	}
	stable := func(lambda float64) error { return plan(shape, logit, StableConfig{Queries: 1, Lambda: lambda}) }
	walk := ThresholdConfig{Queries: 1}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	planned, err := walk.Plan(shape, Problem{}, PureDP(1))
	if err != nil {
		t.Fatal(err)
	}
	_, otherShape := planned.Run(ctx, line(t, 21), nil)
	var missing *VoteConfig
	for name, c := range map[string]struct{ got, want error }{
		"vote on real labels":    {plan(shape, real, VoteConfig{Queries: 1}), ErrConfig},
		"more parts than rows":   {vote(VoteConfig{Parts: 21}), ErrConfig},
		"negative parts":         {vote(VoteConfig{Parts: -1}), ErrConfig},
		"negative λ":             {vote(VoteConfig{Lambda: -1}), ErrConfig},
		"α = 1":                  {vote(VoteConfig{Alpha: 1}), ErrConfig},
		"ε of an answer":         {plan(shape, logit, VoteConfig{Queries: 10_000_000}), ErrBudget},
		"average of too many":    {average(AverageConfig{Parts: 21}), ErrConfig},
		"average, α":             {average(AverageConfig{Alpha: math.NaN()}), ErrConfig},
		"stable, λ":              {stable(-1), ErrConfig},
		"stable, infinite λ":     {stable(math.Inf(1)), ErrConfig},
		"descent, steps":         {descent(DescentConfig{Steps: -1}), ErrConfig},
		"descent, long steps":    {descent(DescentConfig{StepSize: 8.1}), ErrConfig},
		"descent, negative step": {descent(DescentConfig{StepSize: -1}), ErrConfig},
		"threshold of 2 columns": {plan(wide.Shape(), Problem{}, walk), ErrShape},
		"threshold, α":           {plan(shape, Problem{}, ThresholdConfig{Queries: 1, Alpha: 2}), ErrConfig},
		"threshold, real labels": {plan(shape, real, walk), ErrConfig},
		"threshold, bad loss":    {plan(shape, Problem{Loss: losses.SmoothedHinge{}}, walk), ErrConfig},
		"threshold, radius":      {plan(shape, Problem{Loss: losses.Logistic{}, Radius: 1}, walk), ErrConfig},
		"another shape":          {otherShape, ErrShape},
		"no configuration":       {make(ctx, nil), ErrConfig},
		"nil configuration":      {make(ctx, missing), ErrConfig},
		"stopped":                {make(cancelled, StableConfig{Queries: 1}), context.Canceled},
		"stopped walk":           {make(cancelled, walk), context.Canceled},
		"no context":             {make(nil, walk), ErrConfig},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	for kind, c := range map[string]PredictorConfig{"vote": VoteConfig{Queries: 1}, "average": AverageConfig{Queries: 1}, "stable": StableConfig{Queries: 1},
		"descent": DescentConfig{Queries: 1}, "threshold": walk} {
		if err := plan(Shape{}, logit, c); !errors.Is(err, ErrShape) {
			t.Errorf("%s, empty shape: %v", kind, err)
		}
	}
	if err := descent(DescentConfig{StepSize: 8}); err != nil { // 2/H̃
		t.Errorf("the longest step: %v", err)
	}
	if err := plan(shape, logit, walk); err != nil {
		t.Errorf("a walk with a binary loss: %v", err)
	}
}

// Calibration fills the budget: two percent more for each answer would exceed it.
func TestAnswersFillTheBudget(t *testing.T) {
	for _, b := range []Budget{PureDP(1), ApproxDP(1, 1e-6), ApproxDP(0.1, 1e-9), GDP(0.4)} {
		for _, k := range []int{1, 3, 200} {
			vote, err := b.votes(k)
			if err != nil {
				t.Fatal(err)
			}
			for factor, fits := range map[float64]bool{1: true, 1.02: false} {
				l, err := mechanisms.Vote{Epsilon: factor * vote.Epsilon}.Ledger("", k)
				if err != nil {
					t.Fatal(err)
				}
				if err := b.covers(l); (err == nil) != fits {
					t.Errorf("%v, %d votes of %g·ε: %v", b, k, factor, err)
				}
			}
			noise, err := b.numbers(k)
			if err != nil {
				t.Fatal(err)
			}
			s, err := noise.schedule("", k)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.covers(s.Ledger()); err != nil {
				t.Errorf("%v, %d numbers: %v", b, k, err)
			}
		}
	}
	// Noise for one number is Laplace, for many Gaussian, under the same budget.
	for k, want := range map[int]string{1: "laplace", 1000: "gaussian"} {
		noise, err := ApproxDP(1, 1e-6).numbers(k)
		if got := fmt.Sprintf("%T", noise); err != nil || got != "dpglm."+want {
			t.Errorf("%d numbers: %s, %v", k, got, err)
		}
	}
}
