package dpglm

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

// response is what a score says of a label, by the loss that a model was trained for.
type response struct {
	loss       string
	labels     losses.Labels
	link       losses.Link
	thresholds []float64 // of losses.Ordinal
}

func responseTo(l losses.Loss) response {
	r := response{loss: l.Name(), labels: l.Labels(), link: losses.LinkOf(l)}
	if o, ok := l.(losses.Ordinal); ok {
		r.thresholds = slices.Clone(o.Thresholds)
	}
	return r
}

// kind is the loss's name without thresholds, for people to read.
func (r response) kind() string {
	if r.thresholds != nil {
		return "ordinal"
	}
	return r.loss
}

// prediction is the class for binary labels and the mean otherwise, at a score.
func (r response) prediction(score float64) float64 {
	switch {
	case r.labels == losses.Binary && score > 0:
		return 1
	case r.labels == losses.Binary:
		return 0
	}
	return r.link.Mean(score)
}

// largestMean is the largest count or amount that facts allow, or that a number holds: of a rate,
// whose exposure isn't given, the latter. Others have no limit.
func (r response) largestMean(facts Facts, exposed bool) float64 {
	if r.link != losses.Log {
		return math.Inf(1)
	}
	if f, ok := facts.(tableFacts); ok && !exposed {
		if _, most := f.encoder.Exposure(); most > 0 {
			return math.MaxFloat64
		}
	}
	if centre, bound, err := facts.labels(); err == nil && bound > 0 {
		return centre + bound
	}
	return math.MaxFloat64
}

// validate refuses a loss that isn't known, thresholds that aren't the loss's, and levels of a
// table's label without them.
func (r response) validate(facts Facts) error {
	if r.loss == "" || !r.labels.Valid() || !r.link.Suits(r.labels) {
		return check.Fail(ErrModel, "loss, labels, link", fmt.Sprintf("%q, %q, %q", r.loss, r.labels, r.link), "must be known and suit one another")
	}
	loss := losses.Ordinal{Thresholds: r.thresholds}
	if r.thresholds != nil && (loss.Validate() != nil || loss.Name() != r.loss || r.labels != losses.Count || r.link != losses.Identity) {
		return check.Fail(ErrModel, "thresholds", r.thresholds, fmt.Sprintf("must be those of the loss, %q", r.loss))
	}
	if f, ok := facts.(tableFacts); ok {
		if levels := f.encoder.Label().Levels; levels != nil && len(levels) != len(r.thresholds)+1 {
			return check.Fail(ErrModel, "thresholds", r.thresholds, fmt.Sprintf("must be one less than the label's %d levels", len(levels)))
		}
	}
	return nil
}
