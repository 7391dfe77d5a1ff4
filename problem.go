package dpglm

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Shape is what a Learner may know of a data set: public numbers.
type Shape struct {
	Rows         int        // n; the number of persons where PersonRows isn't 0; a bound on either where AddRemove
	Dim          int        // number of weights, the intercept's included
	Intercept    bool       // whether the last weight is an intercept's
	FeatureBound float64    // bound on a row's L2 norm, the intercept included
	LabelCentre  float64    // middle of the labels' range
	LabelBound   float64    // half the width of the labels' range; 0 where none was given
	PersonRows   int        // rows of a person at most (see Persons); 0 where each has one
	EachRow      bool       // whether each row of a person is to count alike, and not each person (see Persons)
	PersonsOccur bool       // whether Rows is the number of persons who have rows (see Persons)
	Weighted     bool       // whether rows have Weights
	AddRemove    bool       // whether n is secret (see the type AddRemove)
	OffsetRange  [2]float64 // of Offsets; zeros where there are none

	begun bool // whether a learner around this one releases the start
}

// largestOffset is the largest magnitude of an offset.
func (s Shape) largestOffset() float64 {
	return math.Max(math.Abs(s.OffsetRange[0]), math.Abs(s.OffsetRange[1]))
}

// units are so many of what the guarantee is for.
func (s Shape) units(n int) string {
	of, most := "rows", ""
	if s.PersonRows > 0 {
		of = "persons"
	}
	if s.AddRemove {
		most = "at most "
	}
	return fmt.Sprintf("%s%d %s", most, n, of)
}

// unit is what guarantees for data of the shape protect.
func (s Shape) unit() mechanisms.Unit {
	unit := mechanisms.OneRow()
	if s.PersonRows > 0 {
		unit = mechanisms.OnePerson()
	}
	if s.AddRemove {
		unit = unit.AddRemove()
	}
	return unit
}

// histograms is μ of histograms that all come from one pool, as replace-one would have it: one row more or less moves them by 1, a
// replaced one by √2.
func (s Shape) histograms(mu float64) float64 {
	if s.AddRemove {
		return math.Sqrt2 * mu
	}
	return mu
}

// nOf is n as text, or the bound on it where a ledger says that it is secret.
func nOf(l *Ledger, n int) string {
	if l.Unit().Neighbours == mechanisms.AddRemove {
		return fmt.Sprintf("n ≤ %d", n)
	}
	return fmt.Sprintf("n = %d", n)
}

// estimand says of persons which count alike, where rows and persons differ.
func estimand(l *Ledger) string {
	switch c, _ := l.Claim(); {
	case c.Alike:
		return ", each person counts alike"
	case c.PersonRows > 1:
		return ", each row counts alike"
	}
	return ""
}

// whole reports whether each row counts 1, and how many there are is public.
func (s Shape) whole() bool { return !s.Weighted && !s.AddRemove && s.PersonRows == 0 }

// byRows is the shape for learners that ask for sums of what single rows add: where each row of a person counts, these have weights, of
// which a person's come to 1 at most (run.byRows).
func (s Shape) byRows() Shape {
	s.EachRow, s.Weighted = false, s.Weighted || s.EachRow
	return s
}

// features is the number of weights without the intercept's.
func (s Shape) features() int {
	if s.Intercept {
		return s.Dim - 1
	}
	return s.Dim
}

// rowBound is the bound on a row's norm without the intercept's 1.
func (s Shape) rowBound() float64 {
	if s.Intercept {
		return math.Sqrt((s.FeatureBound - 1) * (s.FeatureBound + 1))
	}
	return s.FeatureBound
}

// facts are the public numbers that engines go by.
func (s Shape) facts() estimate.Facts {
	return estimate.Facts{Rows: s.Rows, Dim: s.Dim, Intercept: s.Intercept, LabelBound: s.LabelBound, PersonRows: s.PersonRows, EachRow: s.EachRow, Weighted: s.Weighted, Absent: s.PersonRows > 0 && !s.PersonsOccur, AddRemove: s.AddRemove, OffsetRange: s.OffsetRange}
}

func (s Shape) validate() error {
	if s.Rows < 1 || s.Dim < 1 {
		return check.Fail(ErrShape, "Shape", fmt.Sprintf("%d×%d", s.Rows, s.Dim), "must have at least one row and one column")
	}
	if s.Intercept && (s.Dim < 2 || s.FeatureBound < 1) {
		return check.Fail(ErrShape, "Shape", fmt.Sprintf("%+v", s), "must have a column besides the intercept, and a feature bound of at least 1")
	}
	if s.PersonRows < 0 || !(s.OffsetRange[0] <= s.OffsetRange[1] && s.largestOffset() <= mostOffset) {
		return check.Fail(ErrShape, "Shape", fmt.Sprintf("%+v", s), fmt.Sprintf("must have no negative number of rows of a person, and an offset range within ±%d", mostOffset))
	}
	if !(math.Abs(s.LabelCentre) <= check.MaxScale) {
		return check.Fail(ErrBound, "label centre", s.LabelCentre, fmt.Sprintf("must be within ±%g", check.MaxScale))
	}
	return check.Bound("feature bound", s.FeatureBound)
}

// under checks the shape and returns it as a loss takes labels: the range of counts and
// amounts begins at 0, and its upper end is their bound.
func (s Shape) under(l losses.Loss) (Shape, error) {
	if err := s.validate(); err != nil {
		return s, err
	}
	if err := losses.Validate(l, 0, s.LabelBound); err != nil {
		return s, err
	}
	if err := thresholdsGiven(l); err != nil {
		return s, err
	}
	if l.Labels().FromZero() && s.LabelCentre != 0 {
		if s.LabelCentre != s.LabelBound {
			return s, check.Fail(ErrBound, "label range", [2]float64{s.LabelCentre - s.LabelBound, s.LabelCentre + s.LabelBound}, "must begin at 0 for counts and amounts, also where all of them lie above")
		}
		s.LabelCentre, s.LabelBound = 0, s.LabelCentre+s.LabelBound
	}
	return s, nil
}

// shift is what predictions of a loss are moved by: the centre of real labels.
func (s Shape) shift(l losses.Labels) float64 {
	if l == losses.Real {
		return s.LabelCentre
	}
	return 0
}

// exposed reports whether rows have offsets, as of exposures, or of times at risk.
func (s Shape) exposed() bool { return s.largestOffset() > 0 }

// labelEnds are the ends of the labels' range.
func (s Shape) labelEnds(l losses.Labels) (low, high float64) {
	if l.FromZero() {
		return 0, s.LabelCentre + s.LabelBound
	}
	return s.LabelCentre - s.LabelBound, s.LabelCentre + s.LabelBound
}

// mostOffset limits offsets: exposures from 1e-43 to 1e43.
const mostOffset = check.MaxOffset

// Problem is what to minimise: the mean loss over the ball ‖w‖₂ ≤ Radius.
type Problem struct {
	// Loss says what labels are, and what their scores mean. It must be given.
	Loss losses.Loss
	// Classes is K, from 2 to 1000, where labels are one of K classes, 0 to K−1: a score each tells
	// its rows from all others, and Loss, whose labels are binary, is that of one class against
	// the rest. [Auto], [Softmax] and [OneAgainstRest] train such models, also inside [GridSearch],
	// [Boost] and [JL]; 0 is for labels as the loss has them. It is public; of a table it is the number of the
	// label's levels.
	Classes int
	// Radius of the ball; 0 takes the default, at which rows at the feature bound
	// have scores up to ±100 for binary losses and, around the middle of the labels'
	// range, ±4Y for real labels, Y being half its width: rows are often much shorter
	// than their bound. For counts it is ±(1 + log(1+Y)), means from 1/(e(1+Y)) to
	// e(1+Y), as noise grows with the largest mean; for losses.Gamma the means go down to
	// Least/e. losses.Ordinal has binary losses' scores, beyond its thresholds. In
	// ObjectivePerturbation, OutputPerturbation, StableConfig and DescentConfig binary losses
	// have ±10, unless JL or Radii set it. Where it is 0, the ball of NoisyGD,
	// OutputPerturbation and what is around them is not around 0 but around the
	// constant model, of which the labels' mean is released.
	Radius float64
	// Prior, where it isn't nil, is a public model of the same columns, ranges and levels: of rows that nobody protects, or a
	// released one of another year. [StandardisedGD], [Softmax], [Auto] where it is one of these, and [Infer] of one score
	// begin there instead of at the constant model, as far as the rows agree; see StandardisedGD. Others refuse it.
	// Whoever gives a model of protected rows has to add up both ledgers.
	Prior *Model
}

// resolve checks the problem and fills in the default radius: that at which rows at
// the feature bound reach the given score, if labels are binary.
func (p Problem) resolve(s Shape, score float64) (Problem, error) {
	if err := losses.Validate(p.Loss, 0, s.LabelBound); err != nil {
		return p, err
	}
	if err := thresholdsGiven(p.Loss); err != nil {
		return p, err
	}
	if p.Prior != nil {
		return p, check.Fail(ErrConfig, "Problem.Prior", nil, "must be nil, but for StandardisedGD and Softmax, Auto where it is one of these, and Infer of one score")
	}
	if err := p.severalClasses(s); err != nil {
		return p, err
	}
	if p.Loss.Labels().FromZero() && s.LabelCentre != 0 { // see under
		return p, check.Fail(ErrBound, "label centre", s.LabelCentre, "must be 0 for counts and amounts")
	}
	p = p.withRadius(s, score)
	if err := check.Bound("Problem.Radius", p.Radius); err != nil {
		return p, err
	}
	return p, losses.Validate(p.Loss, s.FeatureBound*p.Radius, s.LabelBound)
}

// withRadius returns p with the default radius where none is set.
func (p Problem) withRadius(s Shape, score float64) Problem {
	if p.Radius != 0 {
		return p
	}
	switch l := p.Loss.(type) {
	case losses.Ordinal: // as for classes, and the thresholds lie within
		score += math.Max(math.Abs(l.Thresholds[0]), math.Abs(l.Thresholds[len(l.Thresholds)-1]))
	case losses.Gamma:
		score = 1 + math.Max(math.Log1p(s.LabelBound), -math.Log(l.Least))
	default:
		switch l.Labels() {
		case losses.Real:
			score = 4 * s.LabelBound
		case losses.Count, losses.Amount:
			score = 1 + math.Log1p(s.LabelBound)
		}
	}
	p.Radius = score / s.FeatureBound
	return p
}

// thresholdsGiven refuses a loss whose thresholds are to be estimated.
func thresholdsGiven(l losses.Loss) error {
	if estimates(l) {
		return check.Fail(ErrConfig, "Problem.Loss", l.Name(), "must have Thresholds, as losses.OrdinalFromFractions makes them (of \"shares\" in a schema): only StandardisedGD, Auto where it is that, and Infer estimate them, each for all rows")
	}
	return nil
}

// estimates reports whether a loss has thresholds that are to be estimated.
func estimates(l losses.Loss) bool {
	if e, ok := l.(losses.Extended); ok {
		return estimates(e.Inner)
	}
	o, ok := l.(losses.Ordinal)
	return ok && o.Estimated()
}

// severalClasses refuses classes of which there are too few or too many, another loss than one
// against the rest, and offsets: scores of all classes may have a number added without effect.
func (p Problem) severalClasses(s Shape) error {
	switch {
	case p.Classes == 0:
		return nil
	case p.Classes < 2 || p.Classes > maxClasses:
		return check.Fail(ErrConfig, "Problem.Classes", p.Classes, fmt.Sprintf("must lie between 2 and %d, or be 0 for a loss of one score", maxClasses))
	case p.Loss.Labels() != losses.Binary:
		return check.Fail(ErrConfig, "Problem.Loss", p.Loss.Name(), "must have binary labels, of a class and of the rest, where there are Classes")
	case s.largestOffset() != 0:
		return check.Fail(ErrConfig, "dataset", nil, "must have no offsets, for several classes: the scores of all of them would move alike")
	}
	return nil
}

// isOfClasses refuses a problem that isn't of several classes.
func (p Problem) isOfClasses(s Shape) error {
	if err := check.Valid("Problem.Loss", p.Loss); err != nil {
		return err
	}
	if p.Classes == 0 {
		return check.Fail(ErrConfig, "Problem.Classes", 0, "must be the number of classes, 2 or more")
	}
	return p.severalClasses(s)
}

// prior are the weights of the public model as descents have them, of each score: real labels' less the middle of their range.
func (p Problem) prior(s Shape) ([][]float64, error) {
	m := p.Prior
	if m == nil {
		return nil, nil
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	if estimates(p.Loss) {
		return nil, check.Fail(ErrConfig, "Problem.Prior", nil, "must be nil where thresholds are to be estimated")
	}
	if err := p.suitsPrior(m.response); err != nil {
		return nil, err
	}
	list, largest := m.Weights(), 0.0
	common := make([]float64, s.Dim) // which changes nothing in softmax
	for _, w := range list {
		if len(w) != s.Dim {
			return nil, check.Fail(ErrShape, "weights of Problem.Prior", len(w), fmt.Sprintf("must be %d, one for each feature and the intercept", s.Dim))
		}
		if s.Intercept {
			w[s.Dim-1] -= s.shift(m.response.labels)
		}
		if p.Classes > 0 {
			floats.AddScaled(common, 1/float64(p.Classes), w)
		}
	}
	for _, w := range list {
		floats.Sub(w, common)
		score := vector.Norm(w[:s.features()]) * s.FeatureBound
		if s.Intercept {
			largest = math.Max(largest, math.Abs(w[s.Dim-1]))
		}
		if largest = math.Max(largest, score); !(largest < mostPrior) || score != 0 && score < 1/mostPrior {
			return nil, check.Fail(ErrBound, "weights of Problem.Prior", largest, fmt.Sprintf("must make scores between %.0g and %.0g at the feature bound, or be 0", 1/mostPrior, mostPrior))
		}
	}
	return list, nil
}

// suitsPrior refuses a prior that is of other labels, or predicts in another way.
func (p Problem) suitsPrior(of response) error {
	if is, want := of.classes, p.Classes; is != want {
		return check.Fail(ErrConfig, "Problem.Prior", is, fmt.Sprintf("must be of as many classes as the problem, %d; 0 stands for one score", want))
	}
	if link := losses.LinkOf(p.Loss); p.Classes == 0 && (of.labels != p.Loss.Labels() || of.link != link) {
		return check.Fail(ErrConfig, "Problem.Prior", of.loss, fmt.Sprintf("must be of a loss with %s labels and the link %q, as %s is", p.Loss.Labels(), link, p.Loss.Name()))
	}
	if of.joint() != (p.Classes > 0) {
		return check.Fail(ErrConfig, "Problem.Prior", of.loss, "must be of softmax for several classes, and for these only")
	}
	if o, ok := p.Loss.(losses.Ordinal); ok && !slices.Equal(o.Thresholds, of.thresholds) {
		return check.Fail(ErrConfig, "Problem.Prior", of.thresholds, fmt.Sprintf("must have the problem's thresholds, %v", o.Thresholds))
	}
	return nil
}

// mostPrior is beyond what scores of a model are.
const mostPrior = 1e12

// oneScore refuses classes, for who trains one score.
func (p Problem) oneScore() error {
	if p.Classes == 0 {
		return nil
	}
	return check.Fail(ErrConfig, "Problem.Classes", p.Classes, "must be 0 for what trains one score; Auto, Softmax and OneAgainstRest train several")
}

// logistic reports whether softmax is the loss for all classes together.
func (p Problem) logistic() bool {
	_, ok := p.Loss.(losses.Logistic)
	return ok
}

// against is the problem of one class against the rest.
func (p Problem) against() Problem {
	p.Classes = 0
	return p
}

// maxClasses limits classes, as a pass takes so many scores of each row.
const maxClasses = 1000

// fraction checks a number in (0, 1), where 0 stands for its default.
func fraction(param string, v, otherwise float64) (float64, error) {
	if v == 0 {
		return otherwise, nil
	}
	if !(v > 0 && v < 1) {
		return v, check.Fail(ErrConfig, param, v, "must lie strictly between 0 and 1")
	}
	return v, nil
}
