package failing_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

var errOnce = errors.New("failed once")

// once is a context of which one look fails, and no other one.
type once struct {
	context.Context
	left, looks atomic.Int64
}

func (o *once) Err() error {
	o.looks.Add(1)
	if o.left.Add(-1) == 0 {
		return errOnce
	}
	return nil
}

// journal is one of which an append fails, and no other one.
type journal struct {
	records [][]byte
	fails   int // the how-manieth
}

func (j *journal) Records() ([][]byte, error) { return nil, nil }

func (j *journal) Append(record []byte) error {
	j.records = append(j.records, record)
	if len(j.records) == j.fails {
		return errOnce
	}
	return nil
}

// run is one that releases.
type run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error

// of plans a learner, once for a shape, and runs it.
func of(l dpglm.Learner, p dpglm.Problem, b dpglm.Budget) run {
	plans := map[dpglm.Shape]*dpglm.Plan{}
	return func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
		s := d.Shape()
		if plans[s] == nil {
			plan, err := l.Plan(s, p, b)
			if err != nil {
				return fmt.Errorf("%w: %w", errRefused, err)
			}
			plans[s] = plan
		}
		return given.Failure(plans[s].Run(ctx, d, env))
	}
}

var errRefused = errors.New("not of rows of this form")

// runs are one of each kind.
func runs() map[string]run {
	const mu = 20
	b, logistic := dpglm.GDP(mu), dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}
	steps, classes := dpglm.NoisyGDConfig{Steps: 2}, given.OfClasses(logistic, 2)
	all := map[string]run{
		"Auto": of(dpglm.AutoConfig{}, logistic, b), "Auto, little": of(dpglm.AutoConfig{}, logistic, dpglm.GDP(0.5)),
		"NoisyGD": of(steps, logistic, b), "NoisyGD, moments": of(dpglm.NoisyGDConfig{Steps: 200, Clip: dpglm.NoClip}, dpglm.Problem{Loss: losses.Squared{}, Radius: 2}, b),
		"FrankWolfe": of(dpglm.FrankWolfeConfig{Steps: 2}, logistic, b), "StandardisedGD": of(dpglm.StandardisedGDConfig{}, logistic, dpglm.GDP(2)),
		"OutputPerturbation": of(dpglm.OutputPerturbationConfig{}, logistic, b), "ObjectivePerturbation": of(dpglm.ObjectivePerturbationConfig{}, logistic, b),
		"JL": of(dpglm.JLConfig{Learner: steps, K: 2}, logistic, b), "Boost": of(dpglm.BoostConfig{Learner: steps, Chunks: 2}, logistic, b),
		"GridSearch": of(dpglm.GridSearchConfig{Learner: steps}, logistic, b), "Softmax": of(dpglm.SoftmaxConfig{}, classes, b),
		"OneAgainstRest":       of(dpglm.OneAgainstRestConfig{Learner: steps}, classes, b),
		"GridSearch, classes":  of(dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: dpglm.SoftmaxConfig{}}, {Learner: dpglm.OneAgainstRestConfig{Learner: steps}}}}, classes, b),
		"StandardisedGD, pure": of(dpglm.StandardisedGDConfig{}, logistic, dpglm.PureDP(mu)),
		"InferClasses": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
			return given.Failure(dpglm.InferClasses(ctx, d, classes, b, dpglm.InferConfig{}, env))
		},
		"Moments": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
			return given.Failure(d.Moments(ctx, b, env))
		},
		"SelectModel": func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
			_, _, err := dpglm.SelectModel(ctx, d, logistic, b, [][][]float64{{{1, 0, 0, 0}}, {{0, 0, 1, 0}}}, 1, env)
			return err
		},
	}
	for _, l := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}, losses.Ordinal{Levels: 2}, losses.Ordinal{Thresholds: []float64{0}}} {
		all["Infer, "+fmt.Sprint(l)] = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
			return given.Failure(dpglm.Infer(ctx, d, dpglm.Problem{Loss: l}, b, dpglm.InferConfig{}, env))
		}
		all["Infer, hardly any noise, "+fmt.Sprint(l)] = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
			return given.Failure(dpglm.Infer(ctx, d, dpglm.Problem{Loss: l}, dpglm.GDP(1000), dpglm.InferConfig{}, env))
		}
	}
	for name, c := range map[string]dpglm.PredictorConfig{
		"votes": dpglm.VoteConfig{Queries: 20}, "averages": dpglm.AverageConfig{Queries: 20}, "stable": dpglm.StableConfig{Queries: 20},
		"descent": dpglm.DescentConfig{Queries: 20, Steps: 2},
	} {
		all["predictor, "+name] = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
			p, err := dpglm.NewPredictor(ctx, d, logistic, dpglm.PureDP(mu), c, env)
			if err != nil {
				return err
			}
			return given.Failure(p.Answer(ctx, []float64{0.5, 0, 0}))
		}
	}
	labelsAlone(all, classes)
	evaluated(all, classes)
	return all
}

// labelsAlone adds what releases where labels alone are private.
func labelsAlone(all map[string]run, classes dpglm.Problem) {
	b := dpglm.GDP(5).LabelsOnly()
	for _, l := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
		all["Infer, labels alone, "+l.Name()] = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
			return given.Failure(dpglm.Infer(ctx, d, dpglm.Problem{Loss: l}, b, dpglm.InferConfig{}, env))
		}
	}
	all["InferClasses, labels alone"] = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) error {
		return given.Failure(dpglm.InferClasses(ctx, d, classes, b, dpglm.InferConfig{}, env))
	}
}

// evaluated adds evaluations, of models that were trained beside.
func evaluated(all map[string]run, classes dpglm.Problem) {
	b := dpglm.GDP(2)
	for name, train := range map[string]func(d *dpglm.Dataset) (*dpglm.Model, error){
		"scores": func(d *dpglm.Dataset) (*dpglm.Model, error) {
			return dpglm.Auto(context.Background(), d, dpglm.Problem{Loss: losses.Logistic{}}, b, given.Seeded(1))
		},
		"reals": func(d *dpglm.Dataset) (*dpglm.Model, error) {
			return dpglm.Auto(context.Background(), d, dpglm.Problem{Loss: losses.Squared{}}, b, given.Seeded(1))
		},
		"classes": func(d *dpglm.Dataset) (*dpglm.Model, error) {
			return dpglm.Softmax(context.Background(), d, classes, b, dpglm.SoftmaxConfig{}, given.Seeded(1))
		},
	} {
		models := map[*dpglm.Dataset]*dpglm.Model{}
		all["Evaluate, "+name] = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (err error) {
			if models[d] == nil {
				if models[d], err = train(d); err != nil {
					return fmt.Errorf("%w: %w", errRefused, err)
				}
			}
			return given.Failure(dpglm.Evaluate(ctx, d, models[d], b, dpglm.EvaluateConfig{}, env))
		}
	}
}

// datasets are rows of all forms in memory, and some of a file, which this process reads or workers do.
func datasets(t *testing.T) map[string]*dpglm.Dataset {
	t.Helper()
	all := map[string]*dpglm.Dataset{}
	for _, f := range given.Forms(200, 3) {
		more := append(f.More[:len(f.More):len(f.More)], given.Ordered(1))
		d, err := dpglm.NewDataset(f.X, f.Y, f.Facts, more...)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = d
		if f.Name != "dense" && f.Name != "persons, weights, offsets" {
			continue
		}
		path := filepath.Join(t.TempDir(), "x.rows")
		if err := dpglm.WriteRows(t.Context(), path, f.X, f.Y, f.More...); err != nil {
			t.Fatal(err)
		}
		here, err := dpglm.OpenRows(t.Context(), path, f.Facts, given.Ordered(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { here.Close() })
		there, err := dpglm.OpenRowsOn(t.Context(), path, f.Facts, given.Workers{Count: 2, Dir: t.TempDir()}, given.Ordered(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { there.Close() })
		all[f.Name+", in a file"], all[f.Name+", by workers"] = here, there
	}
	return all
}

// spread are at most so many places of a run, its first and last ones among them.
func spread(total, most int64) (list []int64) {
	for k := range min(total, most) {
		list = append(list, 1+k*(total-1)/max(1, min(total, most)-1))
	}
	return list
}

// thorough says of which runs all looks are tried, on rows of one form.
func thorough(name string) bool {
	return strings.Contains(name, "hardly any noise") || strings.Contains(name, "labels alone")
}

// tries has a run of which each of some looks fails, and one of which each of some records does.
func tries(t *testing.T, name string, d *dpglm.Dataset, do run) (tried bool) {
	t.Helper()
	const most = 5 // looks that are tried
	whole := thorough(name)
	if whole && !strings.HasPrefix(name, "dense, ") {
		return false
	}
	env := func(j dpglm.Journal) *dpglm.Env {
		return &dpglm.Env{NoiseForTests: &given.Words{Seed: 1}, Journal: j}
	}
	switch err := do(t.Context(), d, env(nil)); { // which takes in what is looked at once
	case errors.Is(err, errRefused), errors.Is(err, dpglm.ErrConfig), errors.Is(err, dpglm.ErrShape):
		return false
	case err != nil:
		t.Fatalf("%s: %v", name, err)
	}
	failing := func(at int64) (*once, error) {
		c := &once{Context: t.Context()}
		c.left.Store(at)
		return c, do(c, d, env(nil))
	}
	c, err := failing(math.MaxInt64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	looks := c.looks.Load()
	tries := int64(most)
	if whole {
		tries = looks
	}
	for _, at := range spread(looks, tries) {
		if _, err := failing(at); !errors.Is(err, errOnce) {
			t.Errorf("%s, look %d of %d: %v", name, at, looks, err)
		}
	}
	kept := &journal{}
	if strings.Contains(name, "predictor") { // which has a state in place of a journal
		return true
	}
	if err := do(t.Context(), d, env(kept)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, at := range spread(int64(len(kept.records)), most/2) {
		if err := do(t.Context(), d, env(&journal{fails: int(at)})); !errors.Is(err, errOnce) {
			t.Errorf("%s, record %d of %d: %v", name, at, len(kept.records), err)
		}
	}
	return true
}

// A look at the context that fails, and a record that a journal doesn't take, is what a run returns.
func TestOneFailureIsAnError(t *testing.T) {
	tried, all := 0, runs()
	for form, d := range datasets(t) {
		for name, do := range all {
			if (thorough(name) || sample.One(4, form, name)) && tries(t, form+", "+name, d, do) {
				tried++
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d runs were tried", tried)
	}
}
