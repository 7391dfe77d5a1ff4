package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// kept is a journal in memory. It remembers how much noise had been drawn at each record, and
// fails to append one where it is told to.
type kept struct {
	records [][]byte
	drawn   []uint64
	src     *given.Words
	full    int // records that it takes, -1 for any number
	heard   func(records int)
}

var errFull = errors.New("no space left")

func (k *kept) Records() ([][]byte, error) { return slices.Clone(k.records), nil }

func (k *kept) Append(record []byte) error {
	if len(k.records) == k.full {
		return errFull
	}
	k.records, k.drawn = append(k.records, slices.Clone(record)), append(k.drawn, k.src.Drawn)
	if k.heard != nil {
		k.heard(len(k.records))
	}
	return nil
}

// after is the journal of a run that stopped when n records were in it, and the environment of
// the run that goes on: its noise begins where the first run's was.
func (k *kept) after(n, full int) *dpglm.Env {
	src := &given.Words{Seed: 1}
	if n > 0 {
		src.Drawn = k.drawn[n-1]
	}
	return &dpglm.Env{NoiseForTests: src, Journal: &kept{slices.Clone(k.records[:n]), slices.Clone(k.drawn[:n]), src, full, nil}}
}

// resumable are calls that release, on rows with labels 0 and 1.
func resumable() map[string]func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error) {
	b, steps := dpglm.GDP(0.5), dpglm.NoisyGDConfig{Steps: 4}
	with := func(b dpglm.Budget, l dpglm.Learner, p dpglm.Problem) func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error) {
		return func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			plan, err := l.Plan(d.Shape(), p, b)
			if err != nil {
				return nil, err
			}
			return plan.Run(ctx, d, env)
		}
	}
	of := func(l dpglm.Learner, p dpglm.Problem) func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error) {
		return with(b, l, p)
	}
	// numbers have the mean of predictions released at the end, where models are chosen with a budget that suffices.
	numbers := func(l dpglm.Learner) func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error) {
		return with(dpglm.GDP(4), l, dpglm.Problem{Loss: losses.Squared{}})
	}
	learner := func(l dpglm.Learner) func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error) {
		return of(l, logistic)
	}
	classes := func(l dpglm.Learner) func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error) {
		return of(l, given.OfClasses(logistic, 2))
	}
	return map[string]func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error){
		"Auto":                  learner(dpglm.AutoConfig{}),
		"NoisyGD":               learner(steps),
		"JL":                    learner(dpglm.JLConfig{Learner: steps, K: 2}),
		"FrankWolfe":            learner(dpglm.FrankWolfeConfig{Steps: 3}),
		"OutputPerturbation":    learner(dpglm.OutputPerturbationConfig{}),
		"ObjectivePerturbation": learner(dpglm.ObjectivePerturbationConfig{}),
		"Boost":                 learner(dpglm.BoostConfig{Learner: steps, Chunks: 2}),
		"GridSearch": learner(dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{
			{Learner: steps}, {Learner: dpglm.NoisyGDConfig{Steps: 3}, Radius: 2}, {Learner: dpglm.OutputPerturbationConfig{}}}}),
		"NoisyGD, numbers":            numbers(steps),
		"OutputPerturbation, numbers": numbers(dpglm.OutputPerturbationConfig{}),
		"GridSearch, numbers":         numbers(dpglm.GridSearchConfig{Learner: steps}),
		"Boost, numbers":              numbers(dpglm.BoostConfig{Learner: steps, Chunks: 2}),
		"Infer": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			return dpglm.Infer(ctx, d, logistic, b, dpglm.InferConfig{}, env)
		},
		"InferClasses": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			return dpglm.InferClasses(ctx, d, given.OfClasses(logistic, 3), b, dpglm.InferConfig{}, env)
		},
		"Auto, thresholds": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			return dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Ordinal{Levels: 3}}, b, env)
		},
		"Infer, thresholds": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			return dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Ordinal{Levels: 3}}, b, dpglm.InferConfig{}, env)
		},
		"Softmax":               classes(dpglm.SoftmaxConfig{}),
		"OneAgainstRest":        classes(dpglm.OneAgainstRestConfig{Learner: steps}),
		"GridSearch of classes": classes(dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: dpglm.SoftmaxConfig{}}, {Learner: dpglm.OneAgainstRestConfig{Learner: steps}}}}),
		"Boost of classes":      classes(dpglm.BoostConfig{Learner: dpglm.OneAgainstRestConfig{Learner: steps}, Chunks: 2}),
		"JL of classes":         classes(dpglm.JLConfig{Learner: dpglm.OneAgainstRestConfig{Learner: steps}, K: 2}),
		"SelectModel of classes": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			i, ledger, err := dpglm.SelectModel(ctx, d, given.OfClasses(logistic, 2), b, [][][]float64{{{1, 0, 0, 0}, {0, 0, 0, 0}}, {{0, 0, 0, 1}, {0, 0, 1, 0}}}, 0, env)
			return []any{i, ledger}, err
		},
		"SelectModel": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			i, ledger, err := dpglm.SelectModel(ctx, d, logistic, b, [][][]float64{{{1, 0, 0, 0}}, {{0, 0, 0, 1}}}, 0, env)
			return []any{i, ledger}, err
		},
	}
}

// resumed has what most of these need: enough rows that Auto and Infer do all that they do.
func resumed(t *testing.T) *dpglm.Dataset {
	t.Helper()
	x, y := given.Separable(1000, 3, 1)
	return given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, Label: 2, Intercept: true})
}

// bitsOfResult are all of a result.
func bitsOfResult(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A run that stops after any number of releases, as its journal takes no more, goes on to the
// same bits as one that wasn't stopped, and before the first noise it has spent nothing.
func TestRunsGoOnFromTheirReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	d := resumed(t)
	for name, run := range resumable() {
		src := &given.Words{Seed: 1}
		all := &kept{src: src, full: -1}
		whole, err := run(ctx, d, &dpglm.Env{NoiseForTests: src, Journal: all})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		alone, err := run(ctx, d, &dpglm.Env{NoiseForTests: &given.Words{Seed: 1}})
		if want := bitsOfResult(t, whole); err != nil || bitsOfResult(t, alone) != want {
			t.Errorf("%s: another result without a journal (%v)", name, err)
		}
		planned := len(all.records) - 1
		if m, fitted := whole.(*dpglm.Model); fitted && strings.HasSuffix(name, ", numbers") && !strings.Contains(m.Ledger().String(), "predictions' sum") {
			t.Errorf("%s doesn't release the mean of predictions: %v", name, m.Ledger())
		}
		for k := 0; k <= planned; k++ {
			if !sample.One(3, name, k) {
				continue
			}
			_, err := run(ctx, d, all.after(0, k))
			var stopped *dpglm.Interrupted
			if errors.As(err, &stopped) != (k > 0) || !errors.Is(err, errFull) {
				t.Errorf("%s: stopped at record %d: %v", name, k, err)
			}
			if k > 0 && (stopped.Made != k-1 || stopped.Planned < planned || !stopped.Kept) {
				t.Errorf("%s: stopped at record %d: %d of %d, kept %t", name, k, stopped.Made, stopped.Planned, stopped.Kept)
			}
			env := all.after(k, -1)
			again, err := run(ctx, d, env)
			if err != nil || bitsOfResult(t, again) != bitsOfResult(t, whole) {
				t.Errorf("%s: another result after %d records of %d (%v)", name, k, planned, err)
			}
			if got := env.Journal.(*kept).records; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", all.records) {
				t.Errorf("%s: another journal after %d records", name, k)
			}
		}
		env := all.after(len(all.records), -1)
		if again, err := run(ctx, d, env); err != nil || bitsOfResult(t, again) != bitsOfResult(t, whole) || env.NoiseForTests.(*given.Words).Drawn != all.drawn[planned] {
			t.Errorf("%s: a run that has ended is repeated with other results or noise (%v)", name, err)
		}
	}
}

// Evaluations go on, too, and only those of the same model.
func TestEvaluationsGoOn(t *testing.T) {
	x, y := given.Separable(3000, 3, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1, Intercept: true})
	m, err := dpglm.Auto(ctx, d, logistic, dpglm.ApproxDP(2, 1e-5), given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	other, err := dpglm.Auto(ctx, d, logistic, dpglm.ApproxDP(2, 1e-5), given.Seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	src := &given.Words{Seed: 1}
	all := &kept{src: src, full: -1}
	whole, err := dpglm.Evaluate(ctx, d, m, dpglm.ApproxDP(2, 1e-5), dpglm.EvaluateConfig{}, &dpglm.Env{NoiseForTests: src, Journal: all})
	if err != nil {
		t.Fatal(err)
	}
	for k := range all.records {
		again, err := dpglm.Evaluate(ctx, d, m, dpglm.ApproxDP(2, 1e-5), dpglm.EvaluateConfig{}, all.after(k, -1))
		if err != nil || bitsOfResult(t, again) != bitsOfResult(t, whole) {
			t.Errorf("after %d records: another evaluation (%v)", k, err)
		}
	}
	if _, err := dpglm.Evaluate(ctx, d, other, dpglm.ApproxDP(2, 1e-5), dpglm.EvaluateConfig{}, all.after(2, -1)); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("another model: %v", err)
	}
}

// What a journal holds is what was released: no linear term of objective perturbation, whose
// noise would give the minimiser away, and none of a selection's coins.
func TestJournalsHoldReleasesOnly(t *testing.T) {
	d := resumed(t)
	for name, released := range map[string][]int{"ObjectivePerturbation": {1, 4, 1}, "OutputPerturbation": {1, 4}, "SelectModel": {1}} {
		j := &kept{src: &given.Words{Seed: 1}, full: -1}
		if _, err := resumable()[name](ctx, d, &dpglm.Env{NoiseForTests: j.src, Journal: j}); err != nil {
			t.Fatal(err)
		}
		if len(j.records) != 1+len(released) {
			t.Fatalf("%s: %d records", name, len(j.records))
		}
		for k, r := range j.records[1:] {
			if _, numbers, _ := strings.Cut(string(r), "|"); len(numbers) != 16*released[k] {
				t.Errorf("%s: %s", name, r)
			}
		}
	}
	first := &kept{src: &given.Words{Seed: 1}, full: 1} // at the labels' mean
	if _, err := resumable()["ObjectivePerturbation"](ctx, d, &dpglm.Env{NoiseForTests: first.src, Journal: first}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	stopped := &kept{src: &given.Words{Seed: 1}, full: 2}
	if _, err := resumable()["ObjectivePerturbation"](ctx, d, &dpglm.Env{NoiseForTests: stopped.src, Journal: stopped}); !errors.Is(err, errFull) || len(stopped.records) != 2 {
		t.Errorf("%v, %d records", err, len(stopped.records))
	}
	if stopped.src.Drawn <= first.src.Drawn {
		t.Error("no linear term was drawn before the journal was full")
	}
}

// A length that depended on the numbers could stop a run, on a disk that is nearly full, by what
// was drawn.
func TestRecordsHaveOneLength(t *testing.T) {
	var lengths []int
	for seed := range uint64(5) {
		j := &kept{src: &given.Words{Seed: seed}, full: -1}
		if _, err := resumable()["NoisyGD"](ctx, resumed(t), &dpglm.Env{NoiseForTests: j.src, Journal: j}); err != nil {
			t.Fatal(err)
		}
		var own []int
		for _, r := range j.records {
			own = append(own, len(r))
		}
		if lengths == nil {
			lengths = own
		}
		if !slices.Equal(own, lengths) {
			t.Errorf("records of %d and of %d bytes", own, lengths)
		}
	}
}

// A journal is gone on with by its own run only.
func TestJournalsOfOtherRunsAreRefused(t *testing.T) {
	d, b := resumed(t), dpglm.ApproxDP(2, 1e-5)
	fit := func(d *dpglm.Dataset, b dpglm.Budget, p dpglm.Problem, cfg dpglm.NoisyGDConfig, env *dpglm.Env) error {
		_, err := dpglm.NoisyGD(ctx, d, p, b, cfg, env)
		return err
	}
	all := &kept{src: &given.Words{Seed: 1}, full: -1}
	if err := fit(d, b, logistic, dpglm.NoisyGDConfig{Steps: 3}, &dpglm.Env{NoiseForTests: all.src, Journal: all}); err != nil {
		t.Fatal(err)
	}
	x, y := given.Separable(3000, 3, 1)
	secret := all.after(2, -1)
	secret.NoiseForTests = nil
	changed := all.after(3, -1)
	changed.Journal.(*kept).records[2] = []byte(strings.Replace(string(all.records[2]), "gaussian", "laplace_", 1))
	short := all.after(3, -1)
	short.Journal.(*kept).records[2] = []byte(strings.Replace(string(all.records[2]), "|", "|00", 1))
	text := all.after(3, -1)
	text.Journal.(*kept).records[2] = append(slices.Clone(all.records[2][:len(all.records[2])-1]), 'x')
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"no number":       {fit(d, b, logistic, dpglm.NoisyGDConfig{Steps: 3}, text), dpglm.ErrModel},
		"the same":        {fit(d, b, logistic, dpglm.NoisyGDConfig{Steps: 3}, all.after(2, -1)), nil},
		"another budget":  {fit(d, dpglm.ApproxDP(2, 1e-6), logistic, dpglm.NoisyGDConfig{Steps: 3}, all.after(2, -1)), dpglm.ErrConfig},
		"another radius":  {fit(d, b, dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}, dpglm.NoisyGDConfig{Steps: 3}, all.after(2, -1)), dpglm.ErrConfig},
		"another step":    {fit(d, b, logistic, dpglm.NoisyGDConfig{Steps: 3, StepSize: 0.1}, all.after(2, -1)), dpglm.ErrConfig},
		"other facts":     {fit(given.Dataset(t, x, y, dpglm.Bounds{Feature: 1.5, Intercept: true}), b, logistic, dpglm.NoisyGDConfig{Steps: 3}, all.after(2, -1)), dpglm.ErrConfig},
		"secret noise":    {fit(d, b, logistic, dpglm.NoisyGDConfig{Steps: 3}, secret), dpglm.ErrConfig},
		"another release": {fit(d, b, logistic, dpglm.NoisyGDConfig{Steps: 3}, changed), dpglm.ErrModel},
		"another length":  {fit(d, b, logistic, dpglm.NoisyGDConfig{Steps: 3}, short), dpglm.ErrModel},
	} {
		if !errors.Is(c.err, c.want) || (c.err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if _, err := dpglm.NewPredictor(ctx, d, logistic, b, dpglm.VoteConfig{Queries: 3}, all.after(0, -1)); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("a predictor takes a journal: %v", err)
	}
}

// Rows of another split's part are others, and so is another part of the same split.
func TestJournalsOfOtherPartsAreRefused(t *testing.T) {
	d := resumed(t)
	of := func(seed uint64, part int) *dpglm.Dataset {
		parts := make([]*dpglm.Dataset, 2)
		var err error
		if parts[0], parts[1], err = d.Split(0.5, seed); err != nil {
			t.Fatal(err)
		}
		return parts[part]
	}
	fit := func(d *dpglm.Dataset, env *dpglm.Env) error {
		_, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 3}, env)
		return err
	}
	all := &kept{src: &given.Words{Seed: 1}, full: -1}
	if err := fit(of(1, 0), &dpglm.Env{NoiseForTests: all.src, Journal: all}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		d    *dpglm.Dataset
		want error
	}{
		"the same": {of(1, 0), nil}, "another split": {of(2, 0), dpglm.ErrConfig}, "another part": {of(1, 1), dpglm.ErrConfig}, "all": {d, dpglm.ErrConfig},
	} {
		if err := fit(c.d, all.after(2, -1)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// How many classes there are is one of the facts that a journal is for.
func TestJournalsOfOtherClassesAreRefused(t *testing.T) {
	d := resumed(t)
	classes := func(k int, env *dpglm.Env) error {
		_, err := dpglm.Softmax(ctx, d, given.OfClasses(logistic, k), dpglm.GDP(1), dpglm.SoftmaxConfig{}, env)
		return err
	}
	two := &kept{src: &given.Words{Seed: 1}, full: -1}
	if err := classes(2, &dpglm.Env{NoiseForTests: two.src, Journal: two}); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]error{2: nil, 3: dpglm.ErrConfig} {
		if err := classes(k, two.after(2, -1)); !errors.Is(err, want) {
			t.Errorf("%d classes by the journal of two: %v", k, err)
		}
	}
}

// Nobody knows whether a person is in the same part as before: what has disjoint parts is refused
// once something was released, and goes on before that, as does what has one part.
func TestPersonsInPartsDontGoOn(t *testing.T) {
	x, y := given.Separable(600, 3, 1)
	of := make([]int, 600)
	for i := range of {
		of[i] = i / 2
	}
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1, Intercept: true}, dpglm.Persons{Of: of, Count: 300, MaxRows: 2})
	if err != nil {
		t.Fatal(err)
	}
	part, _, err := d.Split(0.2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		run    string
		on     *dpglm.Dataset
		parted bool
	}{"one part": {"NoisyGD", d, false}, "a search": {"GridSearch", d, true}, "chunks": {"Boost", d, true}, "a search of classes": {"GridSearch of classes", d, true}, "classes": {"OneAgainstRest", d, false}, "a part of a split": {"NoisyGD", part, true}} {
		all := &kept{src: &given.Words{Seed: 1}, full: -1}
		run := resumable()[c.run]
		if _, err := run(ctx, c.on, &dpglm.Env{NoiseForTests: all.src, Journal: all}); err != nil {
			t.Fatal(err)
		}
		if _, err := run(ctx, c.on, all.after(1, -1)); err != nil {
			t.Errorf("%s, before a release: %v", name, err)
		}
		if _, err := run(ctx, c.on, all.after(2, -1)); errors.Is(err, dpglm.ErrConfig) != c.parted || !c.parted && err != nil {
			t.Errorf("%s, after a release: %v", name, err)
		}
	}
}

// So is it for rows whose number is secret, as their places are drawn afresh.
func TestRowsInSecretPlacesDontGoOn(t *testing.T) {
	x, y := given.Separable(300, 3, 1)
	step := dpglm.NoisyGDConfig{Steps: 3}
	for name, c := range map[string]struct {
		learner dpglm.Learner
		parted  bool
	}{"one part": {step, false}, "a search": {dpglm.GridSearchConfig{Learner: step, Radii: []float64{1, 2}}, true}} {
		all := &kept{src: &given.Words{Seed: 1}, full: -1}
		run := func(env *dpglm.Env) error { // another program, which reads the rows again
			d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1, Intercept: true}, dpglm.AddRemove{AtMost: 400})
			if err != nil {
				return err
			}
			plan, err := c.learner.Plan(d.Shape(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(1).AddRemove())
			if err != nil {
				return err
			}
			_, err = plan.Run(ctx, d, env)
			return err
		}
		if err := run(&dpglm.Env{NoiseForTests: all.src, Journal: all}); err != nil {
			t.Fatal(err)
		}
		if err := run(all.after(2, -1)); errors.Is(err, dpglm.ErrConfig) != c.parted || !c.parted && err != nil {
			t.Errorf("%s, after a release: %v", name, err)
		}
	}
}

// whether a call is cancelled at any of the times it asks, on rows in memory, in a file and
// with workers: either no noise was drawn, and it has spent nothing, or it goes on to the same
// bits.
func TestCancelledAnywhere(t *testing.T) {
	x, y := given.Separable(300, 3, 1)
	bounds := dpglm.Bounds{Feature: 1, Intercept: true}
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	stored, err := dpglm.OpenRows(ctx, path, bounds)
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	there, err := dpglm.OpenRowsOn(ctx, path, bounds, given.Workers{Count: 2, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	for where, d := range map[string]*dpglm.Dataset{"memory": given.Dataset(t, x, y, bounds), "file": stored, "workers": there} {
		for _, name := range []string{"NoisyGD", "GridSearch", "ObjectivePerturbation", "Boost", "FrankWolfe"} {
			if !sample.One(3, where, name) {
				continue
			}
			run := resumable()[name]
			whole, err := run(ctx, d, &dpglm.Env{NoiseForTests: &given.Words{Seed: 1}})
			if err != nil {
				t.Fatal(where, name, err)
			}
			before, after := 0, 0
			// asks and records are when to cancel: at a check, or once there are so many records.
			cancelled := func(asks int64, records int) (more bool) {
				cancelled, stop := context.WithCancel(ctx)
				defer stop()
				p := &given.Polled{Context: cancelled, Stop: stop}
				p.N.Store(asks)
				j := &kept{src: &given.Words{Seed: 1}, full: -1, heard: func(n int) {
					if n == records {
						stop()
					}
				}}
				_, err := run(p, d, &dpglm.Env{NoiseForTests: j.src, Journal: j})
				if err == nil {
					return records > 0 && len(j.records) > records // what was left asked nobody
				}
				var stopped *dpglm.Interrupted
				spent := errors.As(err, &stopped)
				if !errors.Is(err, context.Canceled) || spent != (len(j.records) > 0) || spent != (j.src.Drawn > 0 || records == 1) {
					t.Fatalf("%s, %s, %d, %d: %v after %d records and %d words", where, name, asks, records, err, len(j.records), j.src.Drawn)
				}
				if !spent {
					before++
					return true
				}
				if after++; len(j.records) == 1 {
					return true // the linear term is drawn afresh
				}
				again, err := run(ctx, d, j.after(len(j.records), -1))
				if err != nil || bitsOfResult(t, again) != bitsOfResult(t, whole) {
					t.Errorf("%s, %s, %d, %d: another result (%v)", where, name, asks, records, err)
				}
				return true
			}
			for n := int64(1); cancelled(n, 0); n += 1 + n/6 {
			}
			for n := 1; cancelled(-1, n); n++ {
			}
			if before == 0 || after == 0 {
				t.Errorf("%s, %s: cancelled %d times before noise and %d after", where, name, before, after)
			}
		}
	}
}

// Parties agree to a run that goes on as to another plan, and answer to the same bits. They aren't
// asked for one that the journal refuses, as they count what they agreed to as spent.
func TestPartiesGoOn(t *testing.T) {
	x, y := given.Separable(300, 3, 1)
	parties, rows := given.Shared(t, x, y, 100)
	asked := 0
	d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 3}, dpglm.Bounds{Feature: 1}, &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2)),
		Seen: func(_ []byte, answers [][]uint64) [][]uint64 { asked++; return answers }})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"NoisyGD", "OneAgainstRest"} {
		run := resumable()[name]
		all := &kept{src: &given.Words{Seed: 1}, full: -1}
		whole, err := run(ctx, d, &dpglm.Env{NoiseForTests: all.src, Journal: all})
		if err != nil {
			t.Fatal(err)
		}
		for k := range all.records {
			if again, err := run(ctx, d, all.after(k, -1)); err != nil || bitsOfResult(t, again) != bitsOfResult(t, whole) {
				t.Errorf("%s, after %d records: another result (%v)", name, k, err)
			}
		}
		other := all.after(2, -1)
		other.Journal.(*kept).records[0] = []byte("another run")
		asked = 0
		if _, err := run(ctx, d, other); !errors.Is(err, dpglm.ErrConfig) || asked > 0 {
			t.Errorf("%s, another run's journal: %v, and %d questions", name, err, asked)
		}
	}
}

// failingWorkers fail at one question.
type failingWorkers struct {
	given.Workers
	left *int
}

var errWorker = errors.New("a worker is gone")

func (w failingWorkers) Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) error {
	if *w.left--; *w.left == 0 {
		return errWorker
	}
	return w.Workers.Ask(ctx, question, pieces, take)
}

// A worker that fails in any pass costs nothing before the first noise, and nothing but time
// after it.
func TestWorkersFailAnywhere(t *testing.T) {
	x, y := given.Separable(300, 3, 1)
	path, left := filepath.Join(t.TempDir(), "x.rows"), 0
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.OpenRowsOn(ctx, path, dpglm.Bounds{Feature: 1, Intercept: true}, failingWorkers{given.Workers{Count: 2, Dir: t.TempDir()}, &left})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range []string{"NoisyGD", "GridSearch"} {
		run := resumable()[name]
		whole, err := run(ctx, d, &dpglm.Env{NoiseForTests: &given.Words{Seed: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for n, failed := 1, true; failed; n++ {
			left = n
			j := &kept{src: &given.Words{Seed: 1}, full: -1}
			_, err := run(ctx, d, &dpglm.Env{NoiseForTests: j.src, Journal: j})
			var stopped *dpglm.Interrupted
			if failed = err != nil; failed && (!errors.Is(err, errWorker) || errors.As(err, &stopped) != (j.src.Drawn > 0) || n == 1 && stopped != nil) {
				t.Fatalf("%s, question %d: %v after %d words", name, n, err, j.src.Drawn)
			}
			left = 0
			if again, err := run(ctx, d, j.after(len(j.records), -1)); err != nil || bitsOfResult(t, again) != bitsOfResult(t, whole) {
				t.Errorf("%s, question %d: another result (%v)", name, n, err)
			}
		}
	}
}
