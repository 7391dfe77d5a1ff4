package dpglm

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/evaluate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// EvaluateConfig holds the parameters of [Evaluate] and [EvaluateClasses], which are public; its
// zero value has their defaults.
type EvaluateConfig struct {
	// Threshold is the probability above which a row is classified as 1, in (0, 1), or the
	// same of 1/(1 + e^(−score)) where a model has no probabilities; 0 takes ½. It is for models
	// of two classes by one score: of several classes, or levels, the likeliest is predicted.
	Threshold float64 `json:"threshold"`
	// Confidence is that of the intervals, in (0, 1); 0 takes 0.95.
	Confidence float64 `json:"confidence"`
}

// Evaluate tells how good a model is on the rows of d, privately, with intervals.
//
//	train, held, err := data.Split(0.2, seed)
//	model, err := dpglm.Auto(ctx, train, problem, budget, nil)
//	e, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, nil)
//	ledger, err := mechanisms.Parallel("fit and evaluation", model.Ledger(), e.Ledger)
//
// Labels are as in training: classes, numbers, or levels that ascend, by losses.Ordinal. Models
// of several classes are for [EvaluateClasses].
//
// Errors are those of [EvaluateConfig.Ledger], of a model that wasn't trained with the facts of
// d or has another number of weights, and of [Offsets] where the labels are classes or levels,
// before anything is released; a call that stops later has an [Interrupted].
//
// # Privacy
//
// Replace-one. All that is released are histograms of the rows by φ'_y(⟨w, x⟩): for
// classes of the probability less the label, which tells the score and the class, for numbers
// of the prediction less the label, and for levels of the score, shrunk to (0, 1) by a public
// bound on it, less the level, so that each level has an interval of its own. Where a row is
// counted depends on that row and on public edges, so replacing it takes 1 from one count and
// adds 1 to another: the L2 sensitivity is √2, and counts are exact. The first histograms have
// fixed edges, the later ones edges made of the first; noise is Gaussian, all from one pool of
// μ², as in [StandardisedGD]. Everything in an [Evaluation], intervals included, is computed
// from these counts and public numbers, with public randomness.
//
// The model's weights count as public. A model of other rows, in a part by
// [Dataset.Split], composes with this in parallel: the larger of both ledgers. A model that
// was trained on d privately composes in sequence: both ledgers add up
// ([mechanisms.Sequential]), and figures are those on training rows, flattering by
// little. A model that was fitted to d without privacy must not be evaluated here: the
// guarantee would not cover what its weights tell.
//
// # Accuracy
//
// Rows count as in training: by their [Weights], and those of one of [Persons] as one together.
//
// Intervals are for the population that the rows are a sample of, rows and labels held to
// their bounds: they include sampling and noise, by simulating both, and the model's
// weights are given. There are 8 to 64 bins, 2/5·√(nμ) of them, or fewer where labels are few
// whole numbers, over the range of scores or errors that stands out from the noise. Errors
// and labels are counted up to four times, each time in bins that are moved by a part of one:
// together these have the noise of one histogram and tell places to a quarter of a bin. Rows
// are taken to be spread evenly over that, or over a bin of scores. Whole numbers have the middle
// of such a part, as far as bins are no wider than four. Rare scores beyond the range are taken to
// lie near its ends.
//
// Errors and labels beyond it count by a law that those within have near the end, part·exp(−(t/s)^k),
// and the upper end of RMSE's interval and both of R² by one that falls more slowly. These are left
// out where that would double RMSE. With tails as heavy as those of Student's law with three
// degrees of freedom RMSE is too small nevertheless and its interval often misses.
//
// Of levels there are 8 to 64 cells for each; rows are taken to be spread evenly over a cell, and
// the area under the curve of a level ranks cells by its mean probability in them. There may be at
// most 100 levels.
//
// With n = 10,000, μ = 0.2 and balanced classes noise moves AUC by 0.004. It takes
// two passes over the rows for classes and levels, of O(n·d), and up to ten for numbers.
func Evaluate(ctx context.Context, d *Dataset, m *Model, b Budget, cfg EvaluateConfig, env *Env) (*Evaluation, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	p, err := cfg.plan(d.Shape(), m.response, b)
	if err != nil {
		return nil, err
	}
	at, err := p.score(m.weights, m.offset-p.shape.shift(m.response.labels))
	if err != nil {
		return nil, err
	}
	if !sameFeatures(d.facts, m.facts) {
		return nil, check.Fail(ErrShape, "dataset", nil, "must have the bounds or the schema of the model's")
	}
	if k := len(m.Levels()); k > 0 {
		if _, err := d.data.Classes(ctx, k); err != nil {
			return nil, err
		}
	}
	plain, err := framed(ctx, d.data.Unshifted(), p.asked)
	if err != nil {
		return nil, err
	}
	shifted := plain
	if p.shape.largestOffset() > 0 {
		if shifted, err = framed(ctx, d.data, p.asked); err != nil {
			return nil, err
		}
	}
	t, err := p.start(ctx, d, env, m, cfg)
	if err != nil {
		return nil, err
	}
	found, err := p.figures(t, m, at, shifted, plain)
	return p.finish(t, found, err, m.Levels())
}

// Ledger is what [Evaluate] would spend on data of the given shape, for a model of the loss: a
// dry run, before there is a model. It fails, by an [ArgumentError], where the shape, the
// loss, the budget or a parameter breaks its rule.
func (c EvaluateConfig) Ledger(s Shape, l losses.Loss, b Budget) (*Ledger, error) {
	if err := check.Valid("loss", l); err != nil {
		return nil, err
	}
	of := responseTo(l)
	if o, ok := l.(losses.Ordinal); ok {
		if err := o.Validate(); err != nil {
			return nil, err
		}
		of.thresholds = o.Filled().Thresholds
	}
	p, err := c.plan(s, of, b)
	if err != nil {
		return nil, err
	}
	return p.ledger, nil
}

// evaluation is a planned one.
type evaluation struct {
	cfg      EvaluateConfig // with its defaults
	shape    Shape
	asked    losses.Loss // whose slope tells what is counted
	mu       float64     // of all releases
	schedule *release.Schedule
	ledger   *Ledger // of a run, marked as the run is
}

// plan chooses what is counted.
func (c EvaluateConfig) plan(s Shape, of response, b Budget) (*evaluation, error) {
	switch {
	case of.thresholds != nil:
		k := len(of.thresholds) + 1
		if err := fewEnough("levels", k); err != nil {
			return nil, err
		}
		if s.largestOffset() != 0 {
			return nil, check.Fail(ErrConfig, "dataset", nil, "must have no offsets, for levels")
		}
		return c.planned("evaluation of levels", s, losses.Squared{}, evaluate.LevelsSize(k), b)
	case of.labels == losses.Binary:
		if s.largestOffset() != 0 {
			return nil, check.Fail(ErrConfig, "dataset", nil, "must have no offsets, for classes")
		}
		return c.planned("evaluation", s, losses.Logistic{}, evaluate.BinarySize(), b)
	case of.labels.FromZero(): // the slope is the mean less the label, for both
		if of.link != losses.Log {
			return nil, check.Fail(ErrConfig, "link of the loss", of.link, "must be the logarithm, for counts and amounts")
		}
		return c.planned("evaluation", s, losses.Poisson{}, evaluate.NumbersSize(), b)
	}
	return c.planned("evaluation", s, losses.Squared{}, evaluate.NumbersSize(), b)
}

// fewEnough refuses more classes than an evaluation tells apart.
func fewEnough(param string, k int) error {
	if k > evaluate.MostClasses {
		return check.Fail(ErrConfig, param, k, fmt.Sprintf("must be at most %d, to be evaluated", evaluate.MostClasses))
	}
	return nil
}

// planned schedules releases of a size, all from one pool of μ².
func (c EvaluateConfig) planned(label string, s Shape, asked losses.Loss, size evaluate.Size, b Budget) (*evaluation, error) {
	var err error
	if c.Threshold, err = fraction("EvaluateConfig.Threshold", c.Threshold, 0.5); err != nil {
		return nil, err
	}
	if c.Confidence, err = fraction("EvaluateConfig.Confidence", c.Confidence, 0.95); err != nil {
		return nil, err
	}
	p := &evaluation{cfg: c, asked: asked}
	if p.shape, err = s.under(asked); err != nil {
		return nil, err
	}
	each, err := b.gaussian(size.Releases, size.Dim)
	if err != nil {
		return nil, err
	}
	p.mu = each.Mu * math.Sqrt(float64(size.Releases)) * (1 - 1e-9)
	if p.schedule, err = release.Pool(label, p.mu, size.Releases, size.Dim); err != nil {
		return nil, err
	}
	p.ledger, err = b.ledger(p.schedule, p.shape)
	return p, err
}

// score is that of a row, given all weights and what is added to it.
func (p *evaluation) score(weights []float64, offset float64) (evaluate.Score, error) {
	if len(weights) != p.shape.Dim {
		return evaluate.Score{}, check.Fail(ErrShape, "model", len(weights), fmt.Sprintf("must have %d weights", p.shape.Dim))
	}
	return evaluate.NewScore(weights, p.shape.Intercept, offset, p.shape.rowBound(), p.shape.largestOffset())
}

// framed are rows as the slope of a loss is asked for.
func framed(ctx context.Context, d *curator.Data, l losses.Loss) (*curator.Framed, error) {
	sums, err := d.Under(l)
	if err != nil {
		return nil, err
	}
	return sums.Frame(ctx, curator.Frame{})
}

// start begins a run, of a model by a configuration.
func (p *evaluation) start(ctx context.Context, d *Dataset, env *Env, m any, cfg EvaluateConfig) (t evaluate.Task, err error) {
	p.ledger = env.mark(p.ledger, d)
	t = evaluate.Task{Ctx: ctx, Mu: p.mu, Rows: p.shape.Rows, Whole: !p.shape.Weighted && p.shape.PersonRows == 0, Confidence: p.cfg.Confidence}
	t.Allow, err = env.allow(p.schedule, d, p.ledger, m, cfg)
	return t, err
}

// figures are those of a model of one score.
func (p *evaluation) figures(t evaluate.Task, m *Model, at evaluate.Score, shifted, plain *curator.Framed) (*evaluate.Result, error) {
	switch {
	case m.response.thresholds != nil:
		return evaluate.Levels{Score: at, Loss: losses.Ordinal{Thresholds: m.response.thresholds}, Centre: p.shape.shift(losses.Real)}.Evaluate(t, plain)
	case m.response.labels == losses.Binary:
		return evaluate.Binary{Score: at, Link: m.response.link, Threshold: p.cfg.Threshold}.Evaluate(t, plain)
	}
	return evaluate.Numbers{
		Score: at, Loss: p.asked, Whole: m.response.labels == losses.Count,
		LabelBound: p.shape.LabelBound, Centre: p.shape.shift(p.asked.Labels()),
	}.Evaluate(t, shifted, plain)
}

// finish is the end of a run.
func (p *evaluation) finish(t evaluate.Task, found *evaluate.Result, err error, classes []string) (*Evaluation, error) {
	if err != nil {
		return nil, stopped(t.Allow, p.ledger, err)
	}
	return newEvaluation(found, p.shape.Rows, p.cfg.Confidence, classes, p.ledger), nil
}

// EvaluateClasses tells how good a model of several classes is on the rows of d, privately,
// with intervals, as [Evaluate] does for other models. Labels are classes, as in training.
// Models of losses.Ordinal, whose levels ascend, are for [Evaluate].
//
// Errors are those of [EvaluateConfig.ClassesLedger], of a model that wasn't trained with the
// facts of d, and of labels that aren't its classes ([ErrLabel]), before anything is released;
// a call that stops later has an [Interrupted].
//
// # Privacy
//
// Replace-one. All that is released are histograms: of the log-odds of each of the K
// classes' probabilities, of those of a row's own class, for rows of a class and for all
// others; of the Brier score; and of rows by their class and the one that is predicted.
// Where a row is counted depends on that row and on public or released edges, so replacing
// it takes 1 from one count and adds 1 to another in each histogram that it is in: √2 in
// L2 for one of them, √(2K) for all rows in all classes' and √(2(K−1)) for the rows of other
// classes, and counts are exact. Noise is Gaussian, all from one pool of μ². Everything in
// an [Evaluation] is computed from these counts and public numbers. What [Evaluate] says
// of the model's weights and of composition holds here.
//
// # Accuracy
//
// Intervals include sampling and noise, by simulating both. Classes have most of their noise
// in their own rows, of which there are fewest: these have a share of μ² that is √(K−1)
// times that of all other rows, so that K areas under curves cost hardly more than one. The
// interval of their mean takes errors in the ranks of other classes' rows to be alike for all
// classes, and is too wide rather than too narrow. The log-loss counts rows of rare classes,
// which may weigh most in it: over a range that is found from the log-odds of all rows. Recall
// and precision are left out where the rows that they are a part of don't stand out from noise.
//
// It takes 22 passes over the rows, of O(n·d·K). There may be at most 100 classes. A model
// without probabilities has neither log-loss nor Brier score, and its curves rank rows by
// 1/(1 + e^(−score)) over the sum of all classes'.
func EvaluateClasses(ctx context.Context, d *Dataset, m *ClassModel, b Budget, cfg EvaluateConfig, env *Env) (*Evaluation, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	p, err := cfg.planClasses(d.Shape(), len(m.weights), b)
	if err != nil {
		return nil, err
	}
	of, err := p.classes(m)
	if err != nil {
		return nil, err
	}
	if !sameFeatures(d.facts, m.facts) {
		return nil, check.Fail(ErrShape, "dataset", nil, "must have the bounds or the schema of the model's")
	}
	rows, err := d.data.Classes(ctx, len(m.weights))
	if err != nil {
		return nil, err
	}
	in, err := rows.Frame(ctx, curator.Frame{})
	if err != nil {
		return nil, err
	}
	t, err := p.start(ctx, d, env, m, cfg)
	if err != nil {
		return nil, err
	}
	found, err := of.Evaluate(t, in)
	return p.finish(t, found, err, m.Levels())
}

// ClassesLedger is what [EvaluateClasses] would spend on data of the given shape, for a model of
// so many classes: a dry run, before there is a model. It fails, by an [ArgumentError], where the
// shape, the number of classes, the budget or a parameter breaks its rule.
func (c EvaluateConfig) ClassesLedger(s Shape, classes int, b Budget) (*Ledger, error) {
	p, err := c.planClasses(s, classes, b)
	if err != nil {
		return nil, err
	}
	return p.ledger, nil
}

func (c EvaluateConfig) planClasses(s Shape, classes int, b Budget) (*evaluation, error) {
	if err := fewEnough("classes", classes); err != nil {
		return nil, err
	}
	if err := ofClasses("classes", classes, s); err != nil {
		return nil, err
	}
	return c.planned("evaluation of classes", s, losses.Logistic{}, evaluate.ClassesSize(classes), b)
}

// classes are the scores of a model.
func (p *evaluation) classes(m *ClassModel) (evaluate.Classes, error) {
	of := evaluate.Classes{Against: m.against(), Probable: m.probable()}
	for _, w := range m.weights {
		s, err := p.score(w, 0)
		if err != nil {
			return of, err
		}
		of.At.U, of.At.B = append(of.At.U, s.Weights), append(of.At.B, s.Offset)
		of.Bound = math.Max(of.Bound, s.Bound)
	}
	return of, nil
}
