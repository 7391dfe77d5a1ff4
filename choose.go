package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// SelectModel chooses one of a finite set of given models by its empirical risk on
// d, by the exponential mechanism [W21, finite hypothesis classes]. It returns the
// index of the chosen one and what the choice spent. It fails, before anything is spent,
// where there are no weights, some have another length than the rows, the loss, the budget or
// the limit breaks its rule, or labels don't fit the loss; a call that stops later has an
// [Interrupted].
//
// # Privacy
//
// Replace-one. Each row's loss is clipped to [0, limit], so one row moves a sum of
// losses by at most the limit, plus its rounding. The choice is [mechanisms.Exponential],
// of the largest ε that the budget has for one bounded-range release. The weights
// must not have been computed from the rows of d, unless privately: then their
// ledgers and this one add up ([mechanisms.Sequential]).
//
// # Parameters
//
// weights are those of models of the features as encoded for d (Model.Weights), the
// intercept last. Without an intercept, scores for real labels are taken from the
// middle of the labels' range, as those of a model trained on d. limit is public; 0 takes the
// largest loss that any of the models can have on a row and label within the bounds, at which
// nothing is clipped; with a smaller one there is less noise. With N models the chosen one's mean clipped loss
// exceeds the least by at most 2·limit·log(N/β)/(nε) with probability 1−β. It
// takes one pass over the rows, O(N·n·d).
func SelectModel(ctx context.Context, d *Dataset, loss losses.Loss, b Budget, weights [][]float64, limit float64, env *Env) (int, *Ledger, error) {
	if err := d.whole(ctx); err != nil {
		return 0, nil, err
	}
	shape, err := d.Shape().under(loss)
	if err != nil {
		return 0, nil, err
	}
	if weights, err = centred(weights, shape, loss); err != nil {
		return 0, nil, err
	}
	if limit, err = lossLimit(shape, loss, weights, limit); err != nil {
		return 0, nil, err
	}
	vote, err := b.votes(1)
	if err != nil {
		return 0, nil, err
	}
	schedule, err := release.Selection(fmt.Sprintf("choice of one of %d models", len(weights)), mechanisms.Exponential(vote))
	if err != nil {
		return 0, nil, err
	}
	ledger, err := b.ledger(schedule, shape)
	if err != nil {
		return 0, nil, err
	}
	sums, err := d.data.Under(loss)
	if err != nil {
		return 0, nil, err
	}
	ledger, caps := env.mark(ledger, d), make([]float64, len(weights))
	for j := range caps {
		caps[j] = limit
	}
	scores, err := sums.Losses(ctx, weights, caps, make([]float64, len(weights)))
	if err != nil {
		return 0, nil, err
	}
	allow, err := env.allow(schedule, d, ledger, loss.Name(), weights, limit)
	if err != nil {
		return 0, nil, err
	}
	best, err := allow.Select(scores)
	if err != nil {
		return 0, nil, stopped(allow, ledger, err)
	}
	return best, ledger, nil
}

// centred checks the number of weights and moves an intercept to the scale of centred
// labels.
func centred(weights [][]float64, s Shape, loss losses.Loss) ([][]float64, error) {
	moved := make([][]float64, len(weights))
	for j, w := range weights {
		if len(w) != s.Dim {
			return nil, check.Fail(ErrShape, fmt.Sprintf("len(weights[%d])", j), len(w), fmt.Sprintf("must equal the dimension %d", s.Dim))
		}
		moved[j] = slices.Clone(w)
		if s.Intercept {
			moved[j][s.Dim-1] -= s.shift(loss.Labels())
		}
	}
	return moved, nil
}

// lossLimit checks the models and fills in the default limit.
func lossLimit(s Shape, loss losses.Loss, weights [][]float64, limit float64) (float64, error) {
	if len(weights) == 0 {
		return 0, check.Fail(ErrShape, "len(weights)", 0, "must be at least 1")
	}
	widest := 0.0
	for j, w := range weights {
		r := vector.Norm(w)
		if !(r <= check.MaxScale) {
			return 0, check.Fail(ErrValue, fmt.Sprintf("weights[%d]", j), nil, fmt.Sprintf("must be finite, of norm at most %g", check.MaxScale))
		}
		widest = math.Max(widest, r)
	}
	largest := s.FeatureBound * widest
	if err := losses.Validate(loss, largest, s.LabelBound); err != nil {
		return 0, err
	}
	if limit == 0 {
		limit = loss.Constants(largest, s.LabelBound).Value
	}
	return limit, check.Scale(ErrConfig, "limit", limit)
}
