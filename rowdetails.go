package dpglm

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/mechanisms"
)

// RowDetail is what rows have besides features and a label: [Persons], [Weights] or
// [Offsets]; that their number is secret, [AddRemove]; or a [PersonOrder], for tests.
type RowDetail interface{ detail(*details) error }

// Persons says whose the rows are, where a person may have several. The guarantee is then
// for a person with all rows: neighbouring data sets are sets of persons of whom one is
// replaced by another one, with any rows. Which numbers stand for persons, and where rows
// stand, means nothing: persons, and the rows of each, are put in a secret order, drawn
// afresh for each data set, of which all are equally likely. MaxRows and the number of persons
// are public, the number of rows is not: no plan, split, ledger or model depends on it. n is
// the number of persons.
//
// # What is estimated
//
// Each row counts alike, whosever it is: what is estimated is what a fit of all rows that count, put together, would find, and
// intervals of [Infer] are for persons drawn at random, whose rows may hang together in any way. With Alike each
// person counts alike, and a row 1 over the number of its person's: a mean over persons, which is another
// number where those with many rows are unlike those with few. The ledger says which.
//
// [Auto], [StandardisedGD], [Softmax], [Infer] and [InferClasses] add a person's gradients up and clip their sum: a person moves
// it as far as a row would that is a person's only one, however many rows there are. The clip lets go as persons and budget
// grow. What all rows come to takes 1 % of μ². Where they can but fit the constant model, and in [Evaluate],
// [SelectModel] and average marginal effects, each person counts alike.
//
// [NoisyGD], [OutputPerturbation], [FrankWolfe]'s selection, ordinal losses whose thresholds are estimated, and predictors ask for sums that
// must hold without such a clip: a row has a weight of 1 over MaxRows there, and noise counts for MaxRows over the persons' mean
// number of rows as much. Keep MaxRows small for them, or have persons count alike.
// [ObjectivePerturbation] and [ThresholdConfig] take one row of each person, as their
// guarantees are known for single rows only, so that each person counts alike.
//
// With Alike noise is what it is for as many rows of one person each: less than [Budget.ForGroups] needs, by about MaxRows
// over the persons' mean number of rows.
//
// As the order is drawn afresh, [Dataset.Split] by the same seed cuts another data set of the
// same rows elsewhere: what is released from parts of the one and of the other adds up.
type Persons struct {
	// Of tells persons apart: rows of equal numbers are one person's. The numbers mean nothing
	// else, and needn't be without gaps.
	Of []int
	// Count is the number of persons from public knowledge, from 1 to 2^27; persons of whom there
	// is no row are among them, and may be the replaced one; how many have rows is released where it is needed, of 1 % of μ², or half of what
	// is for labels' mean. 0 stands for the number of those
	// who occur: it is then public, as ledgers have it, and persons who have no row are not
	// protected as to that.
	Count int
	// MaxRows is how many rows of a person count, from 1 to 1000, or with Alike to 2^20. Of more, so many are chosen at
	// random.
	MaxRows int
	// Alike has each person count alike, whatever the number of rows, and not each row.
	Alike bool
}

func (p Persons) detail(d *details) error {
	if d.owners.Persons != nil {
		return check.Fail(ErrConfig, "Persons", nil, "must be given once")
	}
	if p.Of == nil {
		return check.Fail(ErrShape, "Persons.Of", nil, "must have a number for each row")
	}
	d.owners.Persons, d.owners.Count, d.owners.Most, d.owners.Each = p.Of, p.Count, p.MaxRows, !p.Alike
	return nil
}

// AddRemove keeps how many rows there are secret, or how many persons where [Persons] are given:
// neighbouring data sets then have one more or less, and what is computed on the data takes a budget of
// [Budget.AddRemove]. n is nowhere: plans, ledgers, models, splits and rounding go by AtMost, and
// whatever needs n has it from a release, with noise. There is one row or more: none is refused as rows are taken in.
//
// # Privacy
//
// Add/remove. There are AtMost places, and rows, or persons, stand in a secret order, drawn afresh for each
// data set, in which all places are equally likely. One more takes a place that was empty, and by the same coins all
// others stand where they stood. So a sum moves by what that one adds: 1 for a histogram, and not √2, C for
// gradients clipped to C, and not 2C, R² for second moments, the larger end's magnitude for labels. Parts are
// parts of the places, and as disjoint as ever.
type AddRemove struct {
	// AtMost is a public bound on how many there are, from 1 to 2^27. Close is better: what is planned
	// before n is known, and memory, goes by it.
	AtMost int
}

func (a AddRemove) detail(d *details) error {
	if d.owners.Places != 0 {
		return check.Fail(ErrConfig, "AddRemove", nil, "must be given once")
	}
	if a.AtMost < 1 {
		return check.Fail(ErrConfig, "AddRemove.AtMost", a.AtMost, "must be at least 1")
	}
	d.owners.Places = a.AtMost
	return nil
}

// PersonOrder replaces the secret order of persons, for reproducible tests and experiments. It
// changes nothing where each row is a person's only one.
type PersonOrder struct {
	// ForTests is what the order is drawn from. Ledgers then say that the guarantee depends on
	// the secrecy of this source.
	ForTests mechanisms.Source
}

func (o PersonOrder) detail(d *details) error {
	if d.owners.Coins != nil {
		return check.Fail(ErrConfig, "PersonOrder", nil, "must be given once")
	}
	if o.ForTests == nil {
		return check.Fail(ErrConfig, "PersonOrder.ForTests", nil, "must be given")
	}
	d.owners.Coins = o.ForTests
	return nil
}

// coinsOf is the source of at most one order, nil for a secret one.
func coinsOf(order []PersonOrder) (mechanisms.Source, error) {
	var d details
	for _, o := range order {
		if err := o.detail(&d); err != nil {
			return nil, err
		}
	}
	return d.owners.Coins, nil
}

// Weights makes rows count differently: the loss of a row is multiplied by its weight over
// Max. Noise is that of rows which all have the weight Max, so Max should be no larger than
// it must be.
type Weights struct {
	// Of is the weight of each row, 0 or more; those beyond Max are held to it. Of weights that are all 0 a model learns nothing, and
	// nothing that is released may say so, as they are private: package table tells whoever reads the rows.
	Of []float64
	// Max is the largest weight, which is public. Weights are rounded down to multiples of
	// 2^-20 of it.
	Max float64
}

func (w Weights) detail(d *details) error {
	if d.owners.Weights != nil {
		return check.Fail(ErrConfig, "Weights", nil, "must be given once")
	}
	if w.Of == nil {
		return check.Fail(ErrShape, "Weights.Of", nil, "must have a weight for each row")
	}
	d.owners.Weights, d.owners.Heavy = w.Of, w.Max
	return nil
}

// Offsets are added to the rows' scores, with a coefficient of 1 that isn't trained: for
// counts, logarithms of exposures. A model's predictions are for an offset of 0, as at an
// exposure of 1, unless [Model.MeansAt] is given others.
type Offsets struct {
	// Of is the offset of each row; those outside of Range are held to it.
	Of []float64
	// Range is public, within ±100, and should hold 0 in its middle rather than far outside:
	// noise and bounds may grow with the largest magnitude. For counts and amounts its upper end should be near the largest offsets that there are: the mean
	// exposure is released as a part of the largest, and where noise hides that a mean of its powers is, which is less where exposures differ much. Where
	// labels alone are private offsets are public, and their range doesn't matter.
	Range [2]float64
}

func (o Offsets) detail(d *details) error {
	if d.offsets != nil {
		return check.Fail(ErrConfig, "Offsets", nil, "must be given once")
	}
	if o.Of == nil {
		return check.Fail(ErrShape, "Offsets.Of", nil, "must have an offset for each row")
	}
	if lo, hi := o.Range[0], o.Range[1]; !(lo < hi && lo >= -mostOffset && hi <= mostOffset) {
		return check.Fail(ErrBound, "Offsets.Range", o.Range, fmt.Sprintf("must be two numbers within ±%d, the first below the second", mostOffset))
	}
	d.offsets, d.offsetRange = o.Of, o.Range
	return nil
}

// details are what was given of the rows.
type details struct {
	owners      curator.Owners
	offsets     []float64
	offsetRange [2]float64
}

// detailed collects details.
func detailed(given []RowDetail) (d details, err error) {
	for _, g := range given {
		if err := check.Given("row detail", g); err != nil {
			return d, err
		}
		if err := g.detail(&d); err != nil {
			return d, err
		}
	}
	return d, nil
}

// apply returns the data with the details.
func apply(data *curator.Data, given []RowDetail) (*curator.Data, error) {
	d, err := detailed(given)
	if err != nil {
		return nil, err
	}
	if d.offsets != nil {
		if data, err = data.Shift(d.offsets, d.offsetRange[0], d.offsetRange[1]); err != nil {
			return nil, err
		}
	}
	if d.owners.Plain() {
		return data, nil
	}
	return data.Own(d.owners)
}
