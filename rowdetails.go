package dpglm

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
)

// RowDetail is what rows have besides features and a label: [Persons], [Weights] or
// [Offsets].
type RowDetail interface{ detail(*details) error }

// Persons says whose the rows are, where a person may have several. The guarantee is then
// for a person with all rows: neighbouring data sets differ in all rows of one person, in
// their number, too. Count and MaxRows are public, the number of rows is not: no plan,
// split, ledger or model depends on it. n is Count.
//
// A person's rows share one row's weight: each counts 1 over their number, so that noise is
// what it is for Count rows of one person each. Where persons have fewer rows than MaxRows
// that is less than [Budget.ForGroups] needs, by about MaxRows over their mean number.
// [ObjectivePerturbation] and [ThresholdConfig] take one row of each person, as their
// guarantees are known for single rows only.
type Persons struct {
	// Of is the person of each row, a number from 0 to Count−1. It must depend on nothing
	// but who the person is: where one person's rows are others, everybody's number stays.
	Of []int
	// Count is the number of persons, 1 or more. One may have no rows.
	Count int
	// MaxRows is how many rows of a person count, from 1 to 2^20. Of more, so many are chosen.
	MaxRows int
	// Seed chooses them, by the person's number and how many rows there are.
	Seed uint64
}

func (p Persons) detail(d *details) error {
	if d.persons != nil {
		return check.Fail(ErrConfig, "Persons", nil, "must be given once")
	}
	if p.Of == nil {
		return check.Fail(ErrShape, "Persons.Of", nil, "must have a number for each row")
	}
	d.persons, d.count, d.most, d.seed = p.Of, p.Count, p.MaxRows, p.Seed
	return nil
}

// Weights makes rows count differently: the loss of a row is multiplied by its weight over
// Max. Noise is that of rows which all have the weight Max, so Max should be no larger than
// it must be.
type Weights struct {
	// Of is the weight of each row, 0 or more; those beyond Max are held to it.
	Of []float64
	// Max is the largest weight, which is public. Weights are rounded down to multiples of
	// 2^-20 of it.
	Max float64
}

func (w Weights) detail(d *details) error {
	if d.weights != nil {
		return check.Fail(ErrConfig, "Weights", nil, "must be given once")
	}
	if w.Of == nil {
		return check.Fail(ErrShape, "Weights.Of", nil, "must have a weight for each row")
	}
	d.weights, d.heavy = w.Of, w.Max
	return nil
}

// Offsets are added to the rows' scores, with a coefficient of 1 that isn't trained: for
// counts, logarithms of exposures. A model's predictions are for an offset of 0, as at an
// exposure of 1, unless [Model.MeansAt] is given others.
type Offsets struct {
	// Of is the offset of each row; those outside of Range are held to it.
	Of []float64
	// Range is public, within ±100, and should hold 0 in its middle rather than far outside:
	// noise and bounds may grow with the largest magnitude.
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

// mostOffset limits offsets: exposures from 1e-43 to 1e43.
const mostOffset = check.MaxOffset

// details are what was given of the rows.
type details struct {
	persons     []int
	count, most int
	seed        uint64
	weights     []float64
	heavy       float64
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

// owners are those of the rows.
func (d *details) owners() curator.Owners {
	return curator.Owners{Persons: d.persons, Count: d.count, Most: d.most, Seed: d.seed, Weights: d.weights, Heavy: d.heavy}
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
	if d.persons == nil && d.weights == nil {
		return data, nil
	}
	return data.Own(d.owners())
}

// personUnit names who is protected, persons or groups of them, in a ledger's claim.
func personUnit(rows, group int) string {
	who := "one person"
	if group > 1 {
		who = fmt.Sprintf("any %d persons", group)
	}
	return fmt.Sprintf("%s, of whom at most %d rows count each (replace-one)", who, rows)
}
