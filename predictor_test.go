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
			if c, _ := p.Planned().Claim(); c.Rows != 400 || c.Epsilon != b.epsilon || c.Delta != b.delta || c.Mu != b.mu {
				t.Errorf("%s: says that it was planned for %+v, not for %v", kind, c, b)
			}
			if p.Answered() != 0 {
				t.Errorf("%s has answered %d at the start", kind, p.Answered())
			}
			for k := range queries {
				if v := ask(t, p, 0.1*float64(k)); !(v >= 0 && v <= 1) {
					t.Errorf("%s answers %g", kind, v)
				}
				if p.Answered() != k+1 {
					t.Errorf("%s: %d answers after %d", kind, p.Answered(), k+1)
				}
			}
			refused(t, p, ErrSpent, 0.5)
			if want := fmt.Sprintf(" %d ×", queries); p.Answered() != queries || !strings.Contains(p.Planned().String(), want) {
				t.Errorf("%s: %d answers, and %v lacks %q", kind, p.Answered(), p.Planned(), want)
			}
			if p.Planned().CallerNoise() {
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
				_ = p.Planned()
			}()
		}
		all.Wait()
		if answers.Load() != queries || refusals.Load() != callers-queries {
			t.Errorf("%s: %d answers, %d refusals", kind, answers.Load(), refusals.Load())
		}
		if err := PureDP(1).covers(p.Planned()); err != nil || p.Answered() != queries {
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
		ctx, cancel := context.WithCancelCause(context.Background())
		cause := errors.New("a caller's cause")
		cancel(cause)
		if _, err := p.Answer(ctx, []float64{0}); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
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
		if p.Planned() != nil || p.Answered() != 0 || fmt.Sprint(p) != "empty predictor" {
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

// A budget covers what it promises and nothing more, be it by a millionth.
func TestBudgetCoversNoMore(t *testing.T) {
	mu, err := mechanisms.GaussianMu(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	pure := func(epsilon float64) (*Ledger, error) { return mechanisms.Laplace{Epsilon: epsilon}.Ledger("", 1) }
	normal := func(mu float64) (*Ledger, error) { return mechanisms.Gaussian{Mu: mu}.Ledger("", 1, 3) }
	for _, c := range []struct {
		budget Budget
		most   float64
		ledger func(float64) (*Ledger, error)
	}{{PureDP(1), 1, pure}, {ApproxDP(1, 1e-6), mu, normal}, {GDP(0.7), 0.7 * (1 - 1e-12), normal}} {
		for factor, fits := range map[float64]bool{1 - 1e-9: true, 1 + 1e-6: false} {
			l, err := c.ledger(c.most * factor)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.budget.covers(l); (err == nil) != fits || !fits && !errors.Is(err, ErrBudget) {
				t.Errorf("%v and a ledger of %v times that: %v, want it covered: %v", c.budget, factor, err, fits)
			}
		}
	}
}

// A stored answer is given to its own query only, whichever feature tells it apart.
func TestPredictorCacheTellsQueriesApart(t *testing.T) {
	x, y := mat.NewDense(40, 2, nil), make([]float64, 40)
	for i := range y {
		y[i] = float64(i % 2)
		x.Set(i, i%2, 0.5)
	}
	d, err := NewDataset(x, y, Bounds{Feature: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := serve(d, logit, PureDP(1), StableConfig{Queries: 4, Cache: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range [][]float64{{0.5, 0}, {0.5, 0.1}, {0.4, 0.1}, {0.1, 0.4}, {0.5, 0.1}} {
		if _, err := p.Answer(context.Background(), query); err != nil {
			t.Fatal(err)
		}
	}
	if p.Answered() != 4 {
		t.Errorf("four queries had %d answers of their own", p.Answered())
	}
}
