package dpglm

import (
	"errors"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

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
	if q.Answered() != p.Answered() || q.Planned().String() != p.Planned().String() {
		t.Errorf("restored %d of %v, want %d of %v", q.Answered(), q.Planned(), p.Answered(), p.Planned())
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
	want := string(resealed.JSON([]byte(`{"version":1,"predictor":{"kind":"vote","queries":4,"answer_epsilon":0.24999999999999975,"parts":3,"seed":9223372036854775809,"lambda":0.25,"loss":"logistic","radius":100,"epsilon":1,"unit":{"of":"row","neighbours":"replace-one"},"rows":300,"weights":1,"feature_bound":1,"label_bound":1},"answered":2,"caller_noise":false,"sum":"sha256:"}`)))
	if string(state) != want {
		t.Errorf("state %s, want %s", state, want)
	}
	// Stores may write white space.
	spaced := strings.ReplaceAll(strings.ReplaceAll(want, `,"`, ",\n  \""), `":`, `": `)
	if q := start(); q.Restore([]byte(spaced)) != nil || q.Answered() != 2 {
		t.Errorf("%s gives %v", spaced, q)
	}
	for _, c := range [][2]string{
		{`"version":1`, `"version":2`}, {`"version":1`, `"version":1,"more":1`}, {`"version":1,`, ``},
		{`"kind":"vote"`, `"kind":"average"`}, {`"kind":"vote"`, `"kind":"vote","more":1`}, {`"kind":"vote",`, ``},
		{`775809`, `775808`}, {`"answer_epsilon":0.24999999999999975`, `"answer_epsilon":0.25`},
		{`"answered":2`, `"answered":-1`}, {`"answered":2`, `"answered":5`}, {`"answered":2`, `"answered":2.5`}, {`"answered":2`, `"answered":3,"answered":2`}, {`"queries":4`, `"queries":4,"queries":4`},
		{`"answered":2`, `"answered":null`}, {`"answered":2,`, ``}, {`,"caller_noise":false`, ``}, {want, ``}, {want, `{}`}, {want, `[]`},
		{want, `null`}, {want, want + `{}`}, {want, want[1:]},
	} {
		q := start()
		bad := strings.Replace(want, c[0], c[1], 1)
		if err := q.Restore(resealed.JSON([]byte(bad))); bad == want || !errors.Is(err, ErrModel) || q.Answered() != 0 {
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
		if err := p.Restore(resealed.JSON(state)); err != nil {
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
			if !p.Planned().CallerNoise() || p.Answered() != restarts+2 {
				t.Errorf("%s: after %d restarts the ledger is %v", kind, restarts+1, p.Planned())
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
