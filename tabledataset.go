package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// NewTableDataset takes the rows, labels and public facts of a table that was read for
// training, and adds an intercept. Models that are trained on it carry the table's
// schema: [Model.Encode] reads records by the names of their columns, and
// [Model.Coefficients] are in the columns' units.
//
// Where the schema names persons, the guarantee is for a person with all rows, of which at
// most its max_rows count, and each person counts ([Persons]). Ids tell persons apart, are
// secret and mean nothing else. The number of persons is the schema's "persons", or where it has none that of the ids
// that occur, which then is public. Where the schema names an exposure,
// its logarithm is the score's offset ([Offsets]): labels, which are counts, have means in
// proportion to it.
//
// Where the label has several levels, they are the classes of [Softmax], in their order, or
// those of losses.Ordinal.
//
// It fails for a nil table, one without labels, and an exposure beside labels that aren't
// counts.
func NewTableDataset(t *table.Table, order ...PersonOrder) (*Dataset, error) {
	if t == nil {
		return nil, check.Fail(ErrConfig, "table", nil, "must not be nil")
	}
	if t.Labels() == nil {
		return nil, check.Fail(ErrLabel, "table", nil, "has no labels; read it by table.Read, not by table.ReadFeatures")
	}
	if err := suitsExposure(t.Exposure() != nil, t.Label()); err != nil {
		return nil, err
	}
	details := rowDetails(t)
	for _, o := range order {
		details = append(details, o)
	}
	d, err := NewDataset(t.Matrix(), t.Labels(), factsOf(t), details...)
	if err == nil && t.CallersCoins() {
		d.data = d.data.InKnownOrder()
	}
	return d, err
}

// suitsExposure refuses an exposure beside labels that aren't counts.
func suitsExposure(given bool, label table.Label) error {
	if given && label.Kind != table.Count {
		return check.Fail(ErrConfig, "exposure", nil, "is for labels that are counts; leave it out of the schema, or make it a feature")
	}
	return nil
}

// rowDetails are the persons and exposures of a table.
func rowDetails(t *table.Table) (details []RowDetail) {
	e := t.Encoder()
	if t.Persons() != nil {
		p := Persons{Of: t.Persons(), MaxRows: e.Schema().MaxRows}
		if e.Schema().Persons > 0 {
			p.Count = t.PersonCount()
		}
		details = append(details, p)
	}
	if t.Exposure() != nil {
		lo, hi := e.Exposure()
		details = append(details, Offsets{Of: t.LogExposure(), Range: [2]float64{math.Log(lo), math.Log(hi)}})
	}
	return details
}

// factsOf are a table's, with its encoder where there is one.
func factsOf(t *table.Table) Facts {
	if e := t.Encoder(); e != nil {
		return newTableFacts(e)
	}
	return Bounds{Feature: t.Bound(), LabelRange: t.Label().Range, Intercept: true}
}

// suits refuses a loss that is not for the label as a table's schema describes it.
func (d *Dataset) suits(l losses.Loss) error {
	f, ok := d.facts.(tableFacts)
	if !ok {
		return nil
	}
	if err := check.Valid("Problem.Loss", l); err != nil {
		return err
	}
	kind, label := l.Labels(), f.encoder.Label()
	if label.Levels != nil {
		return suitsLevels(l, label)
	}
	if (kind == losses.Binary) != (label.Kind == table.Binary) || kind == losses.Count && label.Kind != table.Count {
		return check.Fail(ErrLabel, "Problem.Loss", l.Name(), fmt.Sprintf("takes %s labels, and %q is %s by the table's schema", kind, label.Column, label.Kind))
	}
	return nil
}

// suitsLevels refuses a loss that is not for the levels of a table's label.
func suitsLevels(l losses.Loss, label table.Label) error {
	ordinal, ok := l.(losses.Ordinal)
	switch k := len(label.Levels); {
	case !ok:
		return check.Fail(ErrLabel, "Problem.Loss", l.Name(), fmt.Sprintf("is for one score, and %q has %d levels by the table's schema: use Softmax or, where they ascend, losses.OrdinalFromFractions or Ordinal", label.Column, k))
	case !label.Ordered:
		return check.Fail(ErrLabel, "Problem.Loss", l.Name(), fmt.Sprintf(`is for levels that ascend; the table's schema must say so of %q by "ordered", or use Softmax`, label.Column))
	case len(ordinal.Filled().Thresholds) != k-1:
		return check.Fail(ErrLabel, "Problem.Loss", l.Name(), fmt.Sprintf("must have %d thresholds for the %d levels of %q by the table's schema", k-1, k, label.Column))
	}
	return nil
}

// suitsClasses refuses a number of classes that is not that of the levels of a table's label.
func (d *Dataset) suitsClasses(param string, classes int) error {
	f, ok := d.facts.(tableFacts)
	if !ok || f.encoder.Label().Levels == nil {
		return nil
	}
	if label := f.encoder.Label(); len(label.Levels) != classes {
		return check.Fail(ErrConfig, param, classes, fmt.Sprintf("must be %d, the levels of %q by the table's schema", len(label.Levels), label.Column))
	}
	return nil
}
