package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// SelectModel chooses one of a finite set of given models by its empirical risk on
// d, by the exponential mechanism [W21, finite hypothesis classes]. It returns the
// index of the chosen one and what the choice spent. It fails, before anything is spent,
// where there are no models, some have another number of scores than the problem, or of weights
// than the rows, the problem, the budget or the limit breaks its rule, or labels don't fit the
// problem; a call that stops later has an [Interrupted].
//
// # Privacy
//
// Replace-one. Each row's loss is clipped to [0, limit], so one row moves a sum of
// losses by at most the limit, plus its rounding. Of several classes and a loss without
// probabilities the sum is how many rows are misclassified, which one row moves by at most 1,
// whatever the limit. The choice is [mechanisms.Exponential],
// of the largest ε that the budget has for one bounded-range release. The weights
// must not have been computed from the rows of d, unless privately: then their
// ledgers and this one add up ([mechanisms.Sequential]).
//
// # Parameters
//
// models are the weights of each, of the features as encoded for d ([Model.Weights]), the
// intercept last. Of several classes the loss is −log p of a row's own, by softmax for the logistic
// loss, or whether another class has a larger score, where the loss has no probabilities. Without an intercept, scores for real labels are taken from the
// middle of the labels' range, as those of a model trained on d. limit is public; 0 takes the
// largest loss that any of them can have on a row and label within the bounds, at which
// nothing is clipped; with a smaller one there is less noise. With N models the chosen one's mean clipped loss
// exceeds the least by at most 2·limit·log(N/β)/(nε) with probability 1−β. It
// takes one pass over the rows, O(N·n·d).
func SelectModel(ctx context.Context, d *Dataset, p Problem, b Budget, models [][][]float64, limit float64, env *Env) (int, *Ledger, error) {
	if err := d.whole(ctx, p); err != nil {
		return 0, nil, err
	}
	shape, err := d.Shape().under(p.Loss)
	if err != nil {
		return 0, nil, err
	}
	if err := p.severalClasses(shape); err != nil {
		return 0, nil, err
	}
	given, err := p.given(models, shape)
	if err != nil {
		return 0, nil, err
	}
	if limit, err = p.lossLimit(shape, given, limit); err != nil {
		return 0, nil, err
	}
	vote, err := b.votes(1)
	if err != nil {
		return 0, nil, err
	}
	schedule, err := release.Selection(fmt.Sprintf("choice of one of %d models", len(given)), mechanisms.Exponential(vote))
	if err != nil {
		return 0, nil, err
	}
	ledger, err := b.ledger(schedule, shape)
	if err != nil {
		return 0, nil, err
	}
	if err := protects(d, ledger); err != nil {
		return 0, nil, err
	}
	ledger, caps := env.mark(ofPersons(ledger, shape), d), slices.Repeat([]float64{limit}, len(given))
	scores, err := p.lossesOf(ctx, d.data, given, caps, make([]float64, len(given)))
	if err != nil {
		return 0, nil, err
	}
	allow, err := env.allow(schedule, d, ledger, p.Loss.Name(), p.Classes, models, limit)
	if err != nil {
		return 0, nil, err
	}
	best, err := allow.Select(scores)
	if err != nil {
		return 0, nil, stopped(allow, ledger, err)
	}
	return best, ledger, nil
}

// given checks the numbers of scores and weights and moves an intercept to the scale of centred
// labels.
func (p Problem) given(models [][][]float64, s Shape) ([]*fitted, error) {
	all := make([]*fitted, len(models))
	for j, weights := range models {
		if want := max(1, p.Classes); len(weights) != want {
			return nil, check.Fail(ErrShape, fmt.Sprintf("len(models[%d])", j), len(weights), fmt.Sprintf("must be %d, one for each score", want))
		}
		all[j] = &fitted{loss: p.Loss, joint: p.logistic()}
		for k, w := range weights {
			if len(w) != s.Dim {
				return nil, check.Fail(ErrShape, fmt.Sprintf("len(models[%d][%d])", j, k), len(w), fmt.Sprintf("must equal the dimension %d", s.Dim))
			}
			w = slices.Clone(w)
			if s.Intercept {
				w[s.Dim-1] -= s.shift(p.Loss.Labels())
			}
			all[j].weights = append(all[j].weights, w)
		}
	}
	return all, nil
}

// lossLimit checks the models and fills in the default limit.
func (p Problem) lossLimit(s Shape, models []*fitted, limit float64) (float64, error) {
	if len(models) == 0 {
		return 0, check.Fail(ErrShape, "len(models)", 0, "must be at least 1")
	}
	widest := 0.0
	for j, f := range models {
		for _, w := range f.weights {
			r := vector.Norm(w)
			if !(r <= check.MaxScale) {
				return 0, check.Fail(ErrValue, fmt.Sprintf("models[%d]", j), nil, fmt.Sprintf("must be finite, of norm at most %g", check.MaxScale))
			}
			widest = math.Max(widest, r)
		}
	}
	largest := s.FeatureBound * widest
	if err := losses.Validate(p.Loss, largest, s.LabelBound); err != nil {
		return 0, err
	}
	if limit == 0 {
		limit = p.largestLoss(largest, s.LabelBound)
	}
	return limit, check.Scale(ErrConfig, "limit", limit)
}

// largestLoss is the largest at scores within z. Of several classes −log p is at most that of
// one against the rest and log K, or by softmax 2z and log K.
func (p Problem) largestLoss(z, labelBound float64) float64 {
	switch of := p.response(&fitted{loss: p.Loss}); {
	case p.Classes == 0:
		return p.Loss.Constants(z, labelBound).Value
	case !of.probable():
		return 1
	default:
		return math.Log(float64(p.Classes)) + math.Max(2*z, of.against().Constants(z, labelBound).Value)
	}
}

// zeroLoss is the largest at scores of 0.
func (p Problem) zeroLoss(labelBound float64) float64 {
	switch {
	case p.Classes == 0:
		return p.Loss.Constants(0, labelBound).AtZero
	case !losses.LinkOf(p.Loss).Probability():
		return 1
	}
	return math.Log(float64(p.Classes))
}

// lossesOf are the sums of the models' losses on rows, each held to [0, caps_j], and the offsets.
// Of classes the loss is −log p of a row's own, or where there are no probabilities whether it has
// not the largest score: then all are held alike, and offsets are left out.
func (p Problem) lossesOf(ctx context.Context, d *curator.Data, models []*fitted, caps, offsets []float64) (release.Answer, error) {
	if p.Classes == 0 {
		sums, err := d.Under(p.Loss)
		if err != nil {
			return release.Answer{}, err
		}
		return sums.Losses(ctx, singles(models), caps, offsets)
	}
	if !losses.LinkOf(p.Loss).Probability() {
		return p.errorsOf(ctx, d, models)
	}
	rows, err := d.Classes(ctx, p.Classes)
	if err != nil {
		return release.Answer{}, err
	}
	return rows.Losses(ctx, p.scores(models), caps, offsets)
}

// errorsOf are how many rows each model misclassifies.
func (p Problem) errorsOf(ctx context.Context, d *curator.Data, models []*fitted) (release.Answer, error) {
	if p.Classes == 0 {
		sums, err := d.Under(p.Loss)
		if err != nil {
			return release.Answer{}, err
		}
		return sums.Errors(ctx, singles(models))
	}
	rows, err := d.Classes(ctx, p.Classes)
	if err != nil {
		return release.Answer{}, err
	}
	return rows.Errors(ctx, p.scores(models))
}

// choose selects the model of the least sum of losses.
func (p Problem) choose(ctx context.Context, d *curator.Data, models []*fitted, caps []float64, allow *release.Allowance) (int, error) {
	scores, err := p.lossesOf(ctx, d, models, caps, make([]float64, len(models)))
	if err != nil {
		return 0, err
	}
	return allow.Select(scores)
}

// singles are models of one score.
func singles(models []*fitted) [][]float64 {
	ws := make([][]float64, len(models))
	for j, f := range models {
		ws[j] = f.weights[0]
	}
	return ws
}

// scores are models of several classes.
func (p Problem) scores(models []*fitted) []curator.ClassScores {
	all := make([]curator.ClassScores, len(models))
	for j, f := range models {
		all[j] = curator.ClassScores{Weights: f.weights, Against: p.response(f).against()}
	}
	return all
}

// maxCap limits the caps of losses, in units of the zero model's loss.
const maxCap = 2

// lossCap is the cap on a loss at scores within z. It leaves room for the rounding in
// a sensitivity.
func lossCap(p Problem, z, labelBound float64) (float64, error) {
	limit := math.Min(p.largestLoss(z, labelBound), maxCap*p.zeroLoss(labelBound))
	if err := check.Bound("cap on the loss", limit); err != nil {
		return 0, err
	}
	return limit, check.Bound("twice the cap on the loss", 2*limit)
}
