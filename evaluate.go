package dpglm

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/evaluate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/losses"
)

// EvaluateConfig holds the parameters of [Evaluate], which are public; its
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
// Labels are as in training: two classes or several, numbers, or levels that ascend, by
// losses.Ordinal.
//
// Errors are those of [EvaluateConfig.Ledger], of a model that wasn't trained with the facts of
// d or has another number of weights, of labels that aren't its classes or levels ([ErrLabel]), and
// of [Offsets] beside these, before anything is released; a call that stops later has an
// [Interrupted].
//
// # Privacy
//
// Replace-one. All that is released are histograms of the rows by φ'_y(⟨w, x⟩): for
// classes of the probability less the label, which tells the score and the class, for numbers
// of the prediction less the label, and for levels of the score, shrunk to (0, 1) by a public
// bound on it, less the level, so that each level has an interval of its own. Where a row is
// counted depends on that row and on public edges, so replacing it takes 1 from one count and
// adds 1 to another: the L2 sensitivity is √2, and counts are exact.
//
// Of K classes they are histograms of the log-odds of each of the classes' probabilities, of those of
// a row's own class, for rows of a class and for all others; of the Brier score; and of rows by
// their class and the one that is predicted. A row counts once in each that it is in: the
// sensitivity is √2 for one of them, √(2K) for all rows in all classes' and √(2(K−1)) for the
// rows of other classes.
//
// The first histograms have fixed edges, the later ones edges made of the first; noise is Gaussian, all from one pool of
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
// Rows count by their [Weights]. Of [Persons] each counts alike, whatever the number of rows and whichever counts in training:
// figures are means over persons.
//
// Intervals are for the population that the rows are a sample of, rows and labels held to
// their bounds: they include sampling and noise, by simulating both, and the model's
// weights are given. Ends are figures of the released counts less errors that these may have, so that ratios and slopes of few rows are held,
// too; a figure that more than a tail of these counts don't have is left out. There are 8 to 64 bins, 2/5·√(nμ) of them, or fewer where labels are few
// whole numbers, over the range of scores or errors that stands out from the noise, or a wider one where the rows beyond it do. Errors
// and labels are counted up to four times, each time in bins that are moved by a part of one:
// together these have the noise of one histogram and tell places to a quarter of a bin. Rows
// are taken to be spread evenly over that. Whole numbers have the middle
// of such a part, as far as bins are no wider than four. Of two classes there are further bins beyond the range, each up to four times as
// far out as the one before, where rows in them stand out from noise; scores beyond all bins are taken to lie near their ends.
//
// Few rows may lie far beyond them, though, and where scores tell them the wrong class they can be most of a log-loss, which has no bound, and turn a slope of
// calibration. So the interval of log-loss reaches up, of two classes, of levels and of several classes, and those of calibration to either side, to what
// they are with such rows: those of wrong classes that are counted beyond the bins, and a standard deviation of noise more, as far out as numbers of rows are seen to fall. Where
// by that log-loss would grow by more than half of its interval, nothing tells where they lie, and they are at the end of what scores can be.
//
// In a bin of scores ones and zeros are each taken to grow by a factor from end to end, as the bins on either side let expect, and intervals of
// log-loss, Brier score and calibration are longer by as much as that changes them, to the same side. An area under a curve is that under chords
// and, where odds rise with the score, between the chord of each bin and the lines that go on from its neighbours: it is estimated to have a third of
// what lies between, as where log-odds rise evenly, and its interval reaches from none of it, as of few distinct scores, to all. A mean of areas isn't there without all of them.
//
// Means are held to the labels' range, as [Model.Means] does.
//
// Errors and labels beyond it count by a law that those within have near the end, part·exp(−(t/s)^k),
// and the upper end of RMSE's interval and both of R² by one that falls more slowly. There may be more that noise
// hides: as many rows as are counted beyond the range and a standard deviation of noise more, whose number falls as
// it is seen to, between 1/t and 1/t². RMSE and R² are left out where these would double the mean square, as they mostly are
// below an n·μ of 1,000; the upper end of R² is what it is with them in the labels' variance. The interval of a mean error is longer by what they add: where that is more than half of it, as mostly below
// an n·μ of 500, by as much as if all lay at the end of what errors can be. It is left out where that is all that they can be.
// With few rows far out that noise hides, RMSE is too small nevertheless and its interval may miss.
//
// Of levels there are 8 to 64 cells for each; rows are taken to be spread evenly over a cell, and
// the area under the curve of a level ranks cells by its mean probability in them. There may be at
// most 100 levels.
//
// Of several classes these have most of their noise in their own rows, of which there are fewest: they have a
// share of μ² that is √(K−1) times that of all other rows, so that K areas under curves cost
// hardly more than one. The interval of their mean takes errors in the ranks of other classes'
// rows to be alike for all classes, and is too wide rather than too narrow. The log-loss counts
// rows of rare classes, which may weigh most in it: over a range that is found from the log-odds
// of all rows. The Brier score is counted over all that it can be, 0 to 2, in cells whose mean has hardly more noise
// than a sum. Recall and precision are left out where the rows that they are a part of don't
// stand out from noise. There may be at most 100 classes. A model without probabilities has
// neither log-loss nor Brier score, and its curves rank rows by 1/(1 + e^(−score)) over the sum of
// all classes'.
//
// With n = 10,000, μ = 0.2 and balanced classes noise moves AUC by 0.004. It takes
// two passes over the rows for two classes and levels, of O(n·d), up to ten for numbers, and 28 for
// several classes, of O(n·d·K).
func Evaluate(ctx context.Context, d *Dataset, m *Model, b Budget, cfg EvaluateConfig, env *Env) (*Evaluation, error) {
	if err := d.given(ctx, Problem{}); err != nil {
		return nil, err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	p, err := cfg.plan(d.Shape(), m.response, b)
	if err != nil {
		return nil, err
	}
	at := make([]evaluate.Score, len(m.weights))
	for k, w := range m.weights {
		if at[k], err = p.score(w, m.offset-p.shape.shift(m.response.labels)); err != nil {
			return nil, err
		}
	}
	if err := protects(d, p.ledger); err != nil {
		return nil, err
	}
	if !sameFeatures(d.facts, m.facts) {
		return nil, check.Fail(ErrShape, "dataset", nil, "must have the bounds or the schema of the model's")
	}
	figures, err := p.counted(ctx, d.data, m, at)
	if err != nil {
		return nil, err
	}
	ledger := env.mark(p.ledger, d)
	t := evaluate.Task{Ctx: ctx, Mu: p.shape.histograms(p.mu), Rows: p.shape.Rows, Whole: p.shape.whole(), Confidence: p.cfg.Confidence}
	if t.Allow, err = env.allow(p.schedule, d, ledger, m, cfg); err != nil {
		return nil, err
	}
	if d.data.Parties() {
		if figures, err = p.agreed(ctx, d.data, m, at); err != nil {
			return nil, stopped(t.Allow, ledger, err)
		}
	}
	found, err := figures(t)
	if err != nil {
		return nil, stopped(t.Allow, ledger, err)
	}
	e := newEvaluation(found, p.shape.Rows, p.cfg.Confidence, m.Levels(), ledger)
	e.banded(found.Errors, p.shape, m.response.labels)
	return e, nil
}

// Ledger is what [Evaluate] would spend on data of the given shape, for a model of the problem,
// whose radius isn't read: a dry run, before there is a model. It fails, by an [ArgumentError],
// where the shape, the problem, the budget or a parameter breaks its rule.
func (c EvaluateConfig) Ledger(s Shape, p Problem, b Budget) (*Ledger, error) {
	if err := check.Valid("Problem.Loss", p.Loss); err != nil {
		return nil, err
	}
	if err := p.severalClasses(s); err != nil {
		return nil, err
	}
	of := p.response(&fitted{loss: p.Loss})
	if o, ok := p.Loss.(losses.Ordinal); ok {
		if err := o.Validate(); err != nil {
			return nil, err
		}
		of.thresholds = o.Filled().Thresholds
	}
	e, err := c.plan(s, of, b)
	if err != nil {
		return nil, err
	}
	return e.ledger, nil
}

// evaluation is a planned one.
type evaluation struct {
	cfg      EvaluateConfig // with its defaults
	shape    Shape
	asked    losses.Loss // whose slope tells what is counted
	mu       float64     // of all releases
	size     evaluate.Size
	schedule *release.Schedule
	ledger   *Ledger
}

// plan chooses what is counted.
func (c EvaluateConfig) plan(s Shape, of response, b Budget) (*evaluation, error) {
	levels := of.thresholds != nil
	if (of.labels == losses.Binary || levels) && s.largestOffset() != 0 {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must have no offsets, for classes or levels")
	}
	if k := max(of.classes, len(of.thresholds)+1); k > evaluate.MostClasses {
		return nil, check.Fail(ErrConfig, "classes or levels", k, fmt.Sprintf("must be at most %d, to be evaluated", evaluate.MostClasses))
	}
	switch {
	case of.classes > 0:
		return c.planned("evaluation of classes", s, losses.Logistic{}, evaluate.ClassesSize(of.classes), b)
	case levels:
		return c.planned("evaluation of levels", s, losses.Squared{}, evaluate.LevelsSize(len(of.thresholds)+1), b)
	case of.labels == losses.Binary:
		return c.planned("evaluation", s, losses.Logistic{}, evaluate.BinarySize(), b)
	case of.labels.FromZero(): // the slope is the mean less the label, for both
		if of.link != losses.Log {
			return nil, check.Fail(ErrConfig, "link of the loss", of.link, "must be the logarithm, for counts and amounts")
		}
		_, most := s.labelEnds(of.labels) // predictions are held to it
		return c.planned("evaluation", s, losses.CappedPoisson{Cap: smooth.MostMean(most, s.exposed())}, evaluate.NumbersSize(), b)
	}
	return c.planned("evaluation", s, losses.Squared{}, evaluate.NumbersSize(), b)
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
	p.size = size
	p.mu = each.Mu * math.Sqrt(float64(size.Releases)) * (1 - 1e-9)
	if p.schedule, err = release.Pool(label, p.mu, size.Releases, size.Dim); err != nil {
		return nil, err
	}
	p.ledger, err = b.ledger(p.schedule, p.shape)
	p.ledger = ofPersons(p.ledger, p.shape)
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

// counted reads the rows, with labels as the model's are, and returns what makes figures of
// them.
func (p *evaluation) counted(ctx context.Context, d *curator.Data, m *Model, at []evaluate.Score) (func(evaluate.Task) (*evaluate.Result, error), error) {
	if m.response.classes > 0 {
		return p.countedClasses(ctx, d, m.response, at)
	}
	if k := len(m.response.thresholds); k > 0 {
		if _, err := d.Classes(ctx, k+1); err != nil {
			return nil, err
		}
	}
	plain, err := framed(ctx, d.Unshifted(), p.asked)
	if err != nil {
		return nil, err
	}
	shifted := plain
	if p.shape.largestOffset() > 0 {
		if shifted, err = framed(ctx, d, p.asked); err != nil {
			return nil, err
		}
	}
	return func(t evaluate.Task) (*evaluate.Result, error) {
		switch of := m.response; {
		case of.thresholds != nil:
			return evaluate.Levels{Score: at[0], Loss: losses.Ordinal{Thresholds: of.thresholds}, Centre: p.shape.shift(losses.Real)}.Evaluate(t, plain)
		case of.labels == losses.Binary:
			return evaluate.Binary{Score: at[0], Link: of.link, Threshold: p.cfg.Threshold}.Evaluate(t, plain)
		default:
			centre := p.shape.shift(p.asked.Labels())
			low, high := heldMean(m, math.Inf(-1), p.shape.exposed()), heldMean(m, math.Inf(1), p.shape.exposed())
			return evaluate.Numbers{
				Score: at[0], Loss: p.asked, Whole: of.labels == losses.Count,
				LabelBound: p.shape.LabelBound, Centre: centre, Ends: curator.Ends{low - centre, high - centre},
			}.Evaluate(t, shifted, plain)
		}
	}, nil
}

// agreed is counted of rows whose parties have agreed to it.
func (p *evaluation) agreed(ctx context.Context, d *curator.Data, m *Model, at []evaluate.Score) (func(evaluate.Task) (*evaluate.Result, error), error) {
	told := curator.Descent{Numbers: p.size.Dim, Steps: p.size.Releases, Mu: p.schedule.Ledger().Mu(), Clip: math.Inf(1), Classes: m.response.classes}
	if k := len(m.response.thresholds); k > 0 {
		told.Classes = k + 1
	}
	d, err := d.Agree(ctx, p.asked, told)
	if err != nil {
		return nil, err
	}
	return p.counted(ctx, d, m, at)
}

// countedClasses is counted for several classes.
func (p *evaluation) countedClasses(ctx context.Context, d *curator.Data, of response, at []evaluate.Score) (func(evaluate.Task) (*evaluate.Result, error), error) {
	rows, err := d.Classes(ctx, of.classes)
	if err != nil {
		return nil, err
	}
	in, err := rows.Frame(ctx, curator.Frame{})
	if err != nil {
		return nil, err
	}
	scores := evaluate.Classes{Against: of.against(), Probable: of.probable()}
	for _, s := range at {
		scores.At.U, scores.At.B = append(scores.At.U, s.Weights), append(scores.At.B, s.Offset)
		scores.Bound = math.Max(scores.Bound, s.Bound)
	}
	return func(t evaluate.Task) (*evaluate.Result, error) { return scores.Evaluate(t, in) }, nil
}
