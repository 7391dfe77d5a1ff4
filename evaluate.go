package dpglm

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// EvaluateConfig holds the parameters of [Evaluate], which are public; its zero value has
// their defaults.
type EvaluateConfig struct {
	// Threshold is the probability above which a row is classified as 1, in (0, 1), or the
	// same of 1/(1 + e^(−score)) where a model has no probabilities; 0 takes ½.
	Threshold float64 `json:"threshold"`
	// Level is that of the intervals, in (0, 1); 0 takes 0.95.
	Level float64 `json:"level"`
}

// Evaluate tells how good a model is on the rows of d, privately, with intervals.
//
//	train, held, err := data.Split(0.2, seed)
//	model, err := dpglm.Auto(ctx, train, problem, budget, nil)
//	e, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, nil)
//	ledger, err := mechanisms.Parallel("fit and evaluation", model.Ledger(), e.Ledger)
//
// Errors are those of [EvaluateConfig.Ledger], of a model that wasn't trained with the facts of
// d or has another number of weights, and of [Offsets] where the labels are classes, before
// anything is released; a call that stops later has an [Interrupted].
//
// # Privacy
//
// Replace-one. All that is released are histograms of the rows by φ'_y(⟨w, x⟩): for
// classes of the probability less the label, which tells the score and the class, and
// for other labels of the prediction less the label. Where a row is counted depends on that
// row and on public edges, so replacing it takes 1 from one count and adds 1 to another:
// the L2 sensitivity is √2, and counts are exact. The first histograms have fixed edges,
// the later ones edges made of the first; noise is Gaussian, all from one pool of μ², as
// in [StandardisedGD]. Everything in an [Evaluation], intervals included, is computed from
// these counts and public numbers, with public randomness.
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
// With n = 10,000, μ = 0.2 and balanced classes noise moves AUC by 0.004. It takes
// two passes over the rows for classes, and up to ten for other labels.
func Evaluate(ctx context.Context, d *Dataset, m *Model, b Budget, cfg EvaluateConfig, env *Env) (*Evaluation, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	p, err := cfg.plan(d.Shape(), m.labels, m.link, b)
	if err != nil {
		return nil, err
	}
	if err := p.take(m); err != nil {
		return nil, err
	}
	if !sameFeatures(d.facts, m.facts) {
		return nil, check.Fail(ErrShape, "dataset", nil, "must have the bounds or the schema of the model's")
	}
	sums, err := d.data.Under(p.loss)
	if err != nil {
		return nil, err
	}
	plain, err := d.data.Unshifted().Under(p.loss)
	if err != nil {
		return nil, err
	}
	ledger := env.mark(p.ledger, d)
	e := &Evaluation{Rows: p.shape.Rows, Level: p.Level, Ledger: ledger}
	if p.allow, err = env.allow(p.schedule, d, ledger, m, cfg); err != nil {
		return nil, err
	}
	p.ctx = ctx
	if p.shifted, err = sums.Frame(ctx, curator.Frame{}); err != nil {
		return nil, err
	}
	if p.plain, err = plain.Frame(ctx, curator.Frame{}); err != nil {
		return nil, err
	}
	if m.labels == losses.Binary {
		err = p.classes(e, m)
	} else {
		err = p.residuals(e)
	}
	if err != nil {
		return nil, stopped(p.allow, ledger, err)
	}
	return e, nil
}

// Ledger is what [Evaluate] would spend on data of the given shape, for a model of the loss: a
// dry run, before there is a model. It fails, by an [ArgumentError], where the shape, the
// loss, the budget or a parameter breaks its rule.
func (c EvaluateConfig) Ledger(s Shape, l losses.Loss, b Budget) (*Ledger, error) {
	if err := check.Valid("loss", l); err != nil {
		return nil, err
	}
	p, err := c.plan(s, l.Labels(), losses.LinkOf(l), b)
	if err != nil {
		return nil, err
	}
	return p.ledger, nil
}

// evaluation is a planned one.
type evaluation struct {
	EvaluateConfig
	shape Shape
	loss  losses.Loss // whose slope tells what is counted
	whole bool        // whether labels are whole numbers
	counting
	cells    int // bins of the later histograms
	schedule *release.Schedule
	ledger   *Ledger

	weights []float64 // of the features, without the intercept
	offset  float64   // of scores, on the scale of the curator's labels
	reach   float64   // bound on a score
	scale   float64   // of both, in terms of the model's

	shifted, plain *curator.Framed // rows with their offsets, and without
}

// Shares of μ²: of the first histogram, which finds the range, and of the second. Where
// labels are counted beside residuals these have a part of it all.
const (
	rangeShare = 0.15
	labelPart  = 0.4
)

func (c EvaluateConfig) plan(s Shape, labels losses.Labels, link losses.Link, b Budget) (*evaluation, error) {
	var err error
	if c.Threshold, err = fraction("EvaluateConfig.Threshold", c.Threshold, 0.5); err != nil {
		return nil, err
	}
	if c.Level, err = fraction("EvaluateConfig.Level", c.Level, 0.95); err != nil {
		return nil, err
	}
	p := &evaluation{EvaluateConfig: c}
	releases, dim := 2+2*histogram.Shifts, len(histogram.SpanEdges(1))+1
	switch labels {
	case losses.Binary:
		p.loss, releases, dim = losses.Logistic{}, 2, 2*(len(histogram.ScoreEdges(1))+1)
	case losses.Count, losses.Amount: // the slope is the mean less the label, for both
		p.loss, p.whole = losses.Poisson{}, labels == losses.Count
		if link != losses.Log {
			return nil, check.Fail(ErrConfig, "link of the loss", link, "must be the logarithm, for counts and amounts; of losses.Ordinal use EvaluateLevels")
		}
	default:
		p.loss = losses.Squared{}
	}
	if labels == losses.Binary && s.largestOffset() != 0 {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must have no offsets, for classes")
	}
	if p.shape, err = s.under(p.loss); err != nil {
		return nil, err
	}
	dim = max(dim, 2*(mostCells+4))
	each, err := b.gaussian(releases, dim)
	if err != nil {
		return nil, err
	}
	p.counting = counts(p.shape, each.Mu*math.Sqrt(float64(releases))*(1-1e-9))
	p.cells = min(max(int(math.Sqrt(float64(p.shape.Rows)*p.mu)/2.5), leastCells), mostCells)
	if p.schedule, err = release.Pool(evaluated, p.mu, releases, dim); err != nil {
		return nil, err
	}
	p.ledger, err = b.ledger(p.schedule, p.shape)
	return p, err
}

// evaluated is the label of all releases; bins are at least and at most so many.
const (
	evaluated  = "evaluation"
	leastCells = 8
	mostCells  = 64
)

// take splits the model's weights from its intercept, and moves scores for real labels to
// the curator's labels, which are less their centre. Where classes' scores may lie beyond
// ±30, where probabilities round to 1, all are scaled, and the edges between them too.
func (p *evaluation) take(m *Model) error {
	s := p.shape
	if len(m.weights) != s.Dim {
		return check.Fail(ErrShape, "model", len(m.weights), fmt.Sprintf("must have %d weights", s.Dim))
	}
	p.weights, p.offset, p.scale = make([]float64, s.features()), m.offset-s.shift(m.labels), 1
	copy(p.weights, m.weights)
	if s.Intercept {
		p.offset += m.weights[s.Dim-1]
	}
	p.reach = float64(s.rowBound()*vector.Norm(p.weights)) + math.Abs(p.offset) + s.largestOffset()
	if !(p.reach <= check.MaxScale) {
		return check.Fail(ErrModel, "largest score", p.reach, fmt.Sprintf("must be at most %g", check.MaxScale))
	}
	if m.labels == losses.Binary && p.reach > farthest {
		p.scale = farthest / p.reach
		for j := range p.weights {
			p.weights[j] *= p.scale
		}
		p.offset *= p.scale
	}
	return nil
}

// farthest is the largest score of classes that is told from larger ones.
const farthest = 30

// histogram releases the counts of rows by the model's φ', or by that of another model,
// between decreasing edges.
func (p *evaluation) histogram(in *curator.Framed, share float64, edges, weights []float64, offset float64) (counts []float64, spread float64, err error) {
	answer, err := in.Slopes(p.ctx, edges, weights, offset)
	if err != nil {
		return nil, 0, err
	}
	return p.count(share, 1, 1, answer)
}
