package dpglm

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/losses"
)

// fitted is what training makes: the weights of each score, and what these say of labels.
type fitted struct {
	weights [][]float64
	loss    losses.Loss // with thresholds that were estimated
	joint   bool        // of several classes: whether a softmax of all scores is what was trained
}

// response is what scores say of a label, by the loss that a model was trained for.
type response struct {
	loss       string
	labels     losses.Labels
	link       losses.Link // empty for softmax
	thresholds []float64   // of losses.Ordinal
	classes    int         // where there is a score for each of several, else 0
}

// softmax is the loss of several classes together.
const softmax = "softmax"

// response is that of what was made for the problem.
func (p Problem) response(f *fitted) response {
	r := response{loss: f.loss.Name(), labels: f.loss.Labels(), link: losses.LinkOf(f.loss), classes: p.Classes}
	if o, ok := f.loss.(losses.Ordinal); ok {
		r.thresholds = slices.Clone(o.Thresholds)
	}
	if f.joint {
		r.loss, r.link = softmax, ""
	}
	return r
}

// joint reports whether the probabilities of classes are those of a softmax.
func (r response) joint() bool { return r.classes > 0 && r.link == "" }

// probable reports whether labels have probabilities.
func (r response) probable() bool {
	return r.joint() || r.thresholds != nil || r.link.Probability()
}

// against is the loss −log p of a class against the rest, by which probabilities go: nil
// for softmax.
func (r response) against() losses.Loss {
	switch {
	case r.joint():
		return nil
	case r.link == losses.ProbitLink:
		return losses.Probit{}
	}
	return losses.Logistic{}
}

// kind is the loss's name without thresholds, for people to read.
func (r response) kind() string {
	switch {
	case r.thresholds != nil:
		return "ordinal"
	case r.classes > 0 && !r.joint():
		return "one-against-rest " + r.loss
	}
	return r.loss
}

// prediction is the class for binary labels at a score, and the mean there otherwise.
func (r response) prediction(score, mean float64) float64 {
	switch {
	case r.labels == losses.Binary && score > 0:
		return 1
	case r.labels == losses.Binary:
		return 0
	}
	return mean
}

// probabilities are those of the labels, of classes or levels, at a row's scores.
func (r response) probabilities(z []float64) []float64 {
	switch {
	case r.thresholds != nil:
		return losses.Ordinal{Thresholds: r.thresholds}.Probabilities(z[0])
	case r.classes == 0:
		return []float64{r.link.Mean(-z[0]), r.link.Mean(z[0])}
	}
	p, loss := slices.Clone(z), r.against()
	for k, v := range p {
		if loss != nil {
			p[k] = -loss.Value(v, 1)
		}
	}
	top := floats.Max(p)
	for k, v := range p {
		p[k] = math.Exp(v - top)
	}
	floats.Scale(1/floats.Sum(p), p)
	return p
}

// ends are those of what means of labels can be, where these lie in a range of a middle and half a width, 0 where it isn't known: the labels'
// own where they are real, and none of classes or levels. Counts and amounts are at most the largest, or what a number holds.
func (r response) ends(centre, bound float64) (low, high float64) {
	switch known := bound > 0; {
	case r.labels == losses.Real && known:
		return centre - bound, centre + bound
	case r.link != losses.Log:
		return math.Inf(-1), math.Inf(1)
	case known:
		return 0, centre + bound
	}
	return 0, math.MaxFloat64
}

// heldMean is a mean at a score, held to what the facts allow. A rate, whose exposure isn't given, has no largest one, and
// of events at most 1 may be expected more over a time at risk.
func heldMean(m *Model, score float64, exposed bool) float64 {
	centre, bound, err := m.facts.labels()
	if f, ok := m.facts.(tableFacts); ok && !exposed {
		if _, most := f.encoder.Exposure(); most > 0 {
			bound = 0
		}
	}
	if err != nil {
		bound = 0
	}
	if exposed && m.response.labels == losses.Count && centre+bound == 1 {
		bound = smooth.MostMean(1, true) - centre
	}
	return m.response.held(score, centre, bound)
}

func (r response) held(score, centre, bound float64) float64 {
	low, high := r.ends(centre, bound)
	return math.Min(math.Max(r.link.Mean(score), low), high)
}

// validate refuses a loss that isn't known, thresholds that aren't the loss's, and levels of a
// table's label without them.
func (r response) validate(facts Facts) error {
	if r.classes > 0 {
		return r.validateClasses(facts)
	}
	if r.loss == "" || !r.labels.Valid() || !r.link.Suits(r.labels) {
		return check.Fail(ErrModel, "loss, labels, link", fmt.Sprintf("%q, %q, %q", r.loss, r.labels, r.link), "must be known and suit one another")
	}
	loss := losses.Ordinal{Thresholds: r.thresholds}
	if r.thresholds != nil && (loss.Validate() != nil || loss.Name() != r.loss || r.labels != losses.Count || r.link != losses.Identity) {
		return check.Fail(ErrModel, "thresholds", r.thresholds, fmt.Sprintf("must be those of the loss, %q", r.loss))
	}
	if levels := levelsOfLabel(facts); levels != nil && len(levels) != len(r.thresholds)+1 {
		return check.Fail(ErrModel, "thresholds", r.thresholds, fmt.Sprintf("must be one less than the label's %d levels", len(levels)))
	}
	return nil
}

// validateClasses is validate for several classes.
func (r response) validateClasses(facts Facts) error {
	if r.joint() && r.loss != softmax || !r.joint() && (r.loss == "" || r.loss == softmax || !r.link.Suits(losses.Binary)) || r.labels != losses.Binary || r.thresholds != nil {
		return check.Fail(ErrModel, "loss, labels, link", fmt.Sprintf("%q, %q, %q", r.loss, r.labels, r.link), "must be those of a loss with binary labels, or of softmax")
	}
	if r.classes > maxClasses {
		return check.Fail(ErrModel, "weights", r.classes, fmt.Sprintf("must be of 2 to %d classes", maxClasses))
	}
	if levels := levelsOfLabel(facts); levels != nil && len(levels) != r.classes {
		return check.Fail(ErrModel, "weights", r.classes, fmt.Sprintf("must be of the label's %d levels", len(levels)))
	}
	return nil
}
