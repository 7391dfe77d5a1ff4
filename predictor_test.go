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
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		v := r.Float64()
		x.Set(i, 0, v)
		if v+0.1*r.NormFloat64() > 0.5 {
			y[i] = 1
		}
	}
	d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A maker makes a predictor of one kind.
type maker func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error)

func makers() map[string]maker {
	ctx := context.Background()
	return map[string]maker{
		"vote": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return NewVote(ctx, d, p, b, VoteConfig{Queries: queries, Cache: cache, Parts: 5}, env)
		},
		"average": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return NewAverage(ctx, d, p, b, AverageConfig{Queries: queries, Cache: cache, Parts: 5}, env)
		},
		"stable": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return NewStable(ctx, d, p, b, StableConfig{Queries: queries, Cache: cache}, env)
		},
		"descent": func(d *Dataset, p Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return NewDescent(ctx, d, p, b, DescentConfig{Queries: queries, Cache: cache}, env)
		},
		"threshold": func(d *Dataset, _ Problem, b Budget, queries int, cache bool, env *Env) (*Predictor, error) {
			return NewThreshold(ctx, d, b, ThresholdConfig{Queries: queries, Cache: cache}, env)
		},
	}
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
	var fields map[string]any
	if err := json.Unmarshal(state, &fields); err != nil || len(fields) != 2 {
		t.Fatalf("state %s: %v", state, err)
	}
	for _, bad := range []string{"", "{}", "[]", `{"plan":"x","answered":3}`, strings.Replace(string(state), `"answered":3`, `"answered":-1`, 1),
		strings.Replace(string(state), `"answered":3`, `"answered":6`, 1), strings.Replace(string(state), `"answered":3`, `"answered":2.5`, 1)} {
		if err := start(5, b).Restore([]byte(bad)); !errors.Is(err, ErrModel) {
			t.Errorf("state %q gives %v", bad, err)
		}
	}
}

// The plan that a state belongs to tells every kind and every public fact apart,
// and not the cache.
func TestPredictorPlans(t *testing.T) {
	d := line(t, 300)
	plans := map[string]string{}
	add := func(name string, p *Predictor, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if other, ok := plans[p.plan]; ok {
			t.Errorf("%s and %s have the same plan", name, other)
		}
		plans[p.plan] = name
	}
	for kind, make := range makers() {
		p, err := make(d, logit, PureDP(1), 5, false, nil)
		add(kind, p, err)
		if q, err := make(d, logit, PureDP(1), 5, true, nil); err != nil || q.plan != p.plan {
			t.Errorf("%s: the cache makes another plan, %v", kind, err)
		}
	}
	ctx := context.Background()
	for name, c := range map[string]VoteConfig{"seed": {Seed: 1}, "parts": {Parts: 7}, "lambda": {Lambda: 0.1}} {
		c.Queries = 5
		p, err := NewVote(ctx, d, logit, PureDP(1), c, nil)
		add(name, p, err)
	}
	p, err := NewStable(ctx, d, Problem{Loss: losses.Logistic{}, Radius: 2}, PureDP(1), StableConfig{Queries: 5}, nil)
	add("radius", p, err)
	p, err = NewStable(ctx, d, Problem{Loss: losses.Hinge{}}, PureDP(1), StableConfig{Queries: 5}, nil)
	add("loss", p, err)
	p, err = NewStable(ctx, line(t, 301), logit, PureDP(1), StableConfig{Queries: 5}, nil)
	add("rows", p, err)
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
		return fmt.Sprint(string(state), string(encoded), p.plan, p.Planned())
	}
	d := line(t, 100)
	other := d.pick(permutation(100, 1))
	other.labels[3] = 1 - other.labels[3]
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
		if p.Answered() != 0 {
			t.Errorf("%s: refused queries cost %d answers", kind, p.Answered())
		}
		ask(t, p, 1e90)
	}
}

// What the makers refuse.
func TestPredictorRefusesParameters(t *testing.T) {
	ctx := context.Background()
	d := line(t, 20)
	bad := line(t, 20)
	bad.labels[7] = 0.5
	wide, err := NewDataset(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), []float64{0, 1}, Bounds{Feature: 1})
	if err != nil {
		t.Fatal(err)
	}
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
	vote := func(d *Dataset, p Problem, c VoteConfig) error {
		c.Queries = 1
		_, err := NewVote(ctx, d, p, PureDP(1), c, nil)
		return err
	}
	average := func(c AverageConfig) error {
		c.Queries = 1
		_, err := NewAverage(ctx, d, logit, PureDP(1), c, nil)
		return err
	}
	descent := func(c DescentConfig) error {
		c.Queries = 1
		_, err := NewDescent(ctx, d, logit, PureDP(1), c, nil)
		return err
	}
	stable := func(lambda float64) error {
		_, err := NewStable(ctx, d, logit, PureDP(1), StableConfig{Queries: 1, Lambda: lambda}, nil)
		return err
	}
	threshold := func(d *Dataset, alpha float64) error {
		_, err := NewThreshold(ctx, d, PureDP(1), ThresholdConfig{Queries: 1, Alpha: alpha}, nil)
		return err
	}
	_, tiny := NewVote(ctx, d, logit, PureDP(1), VoteConfig{Queries: 10_000_000}, nil)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, stopped := NewStable(cancelled, d, logit, PureDP(1), StableConfig{Queries: 1}, nil)
	_, stoppedWalk := NewThreshold(cancelled, d, PureDP(1), ThresholdConfig{Queries: 1}, nil)
	for name, c := range map[string]struct{ got, want error }{
		"vote on real labels":     {vote(d, real, VoteConfig{}), ErrConfig},
		"more parts than rows":    {vote(d, logit, VoteConfig{Parts: 21}), ErrConfig},
		"negative parts":          {vote(d, logit, VoteConfig{Parts: -1}), ErrConfig},
		"negative λ":              {vote(d, logit, VoteConfig{Lambda: -1}), ErrConfig},
		"α = 1":                   {vote(d, logit, VoteConfig{Alpha: 1}), ErrConfig},
		"ε of an answer":          {tiny, ErrBudget},
		"average of too many":     {average(AverageConfig{Parts: 21}), ErrConfig},
		"average, α":              {average(AverageConfig{Alpha: math.NaN()}), ErrConfig},
		"stable, λ":               {stable(-1), ErrConfig},
		"stable, infinite λ":      {stable(math.Inf(1)), ErrConfig},
		"descent, negative steps": {descent(DescentConfig{Steps: -1}), ErrConfig},
		"descent, long steps":     {descent(DescentConfig{StepSize: 8.1}), ErrConfig},
		"descent, negative step":  {descent(DescentConfig{StepSize: -1}), ErrConfig},
		"threshold of 2 columns":  {threshold(wide, 0.1), ErrShape},
		"threshold, α":            {threshold(d, 2), ErrConfig},
		"stopped":                 {stopped, context.Canceled},
		"stopped walk":            {stoppedWalk, context.Canceled},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if err := descent(DescentConfig{StepSize: 8}); err != nil { // 2/H̃
		t.Errorf("the longest step: %v", err)
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
			l, err := noise.ledger("", k)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.covers(l); err != nil {
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
