package curator

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Owners says whose the rows are, and their weights.
type Owners = rows.Owners

// Own returns the rows that count, of which a person may have several. Its errors are those
// of intake.
func (d *Data) Own(facts Owners) (*Data, error) {
	table, order, err := rows.Own(d.table, facts)
	if err != nil {
		return nil, err
	}
	owned := with(d, table, order, release.NewRows())
	owned.ordered = facts.Coins != nil
	return owned, nil
}

// InKnownOrder returns the same rows, of persons whose order a caller may know.
func (d *Data) InKnownOrder() *Data {
	of := *d.held
	of.ordered = true
	return &Data{&of}
}

// Shift returns the same rows, whose scores have the given numbers added to them, each held
// to a public range. Its errors are those of intake.
func (d *Data) Shift(offsets []float64, low, high float64) (*Data, error) {
	if len(offsets) != d.table.Rows() {
		return nil, check.Fail(check.ErrShape, "offsets", len(offsets), fmt.Sprintf("must be one for each of the %d rows", d.table.Rows()))
	}
	shifted := *d.held
	shifted.offsets, shifted.offsetsRange = make([]float64, len(offsets)), rows.Range{low, high}
	for i, v := range offsets {
		if math.IsNaN(v) {
			return nil, check.Fail(check.ErrValue, fmt.Sprintf("offset of row %d (counted from 1)", i+1), nil, "must be a number")
		}
		shifted.offsets[i] = min(max(v, low), high)
	}
	return &Data{&shifted}, nil
}

// Ordered reports whether a caller's source orders persons, and so may know their order.
func (d *Data) Ordered() bool { return d.ordered }

// Unshifted returns the same rows without offsets.
func (d *Data) Unshifted() *Data {
	of := *d.held
	of.offsets, of.offsetsRange = nil, rows.Range{}
	return &Data{&of}
}

// ByRows returns the same rows, of which each of a weight counts alike, where it is to, by shares: a row's is its weight
// over the most rows that a person may have, so that those of a person add up to 1 at most.
func ByRows(d *Data) *Data {
	if o := d.table.Persons; o == nil || !o.Each {
		return d
	}
	of := *d.held
	of.table = rows.ByRows(d.table)
	return &Data{&of}
}

// Totals are the sum of what rows count, and the sum of their offsets, each over the bound
// on them and times what its row counts, for counts and amounts of their exposures over the largest one, raised to a power; between these, where each row is to count, those of weights of persons' first so many rows over
// that number, and of all rows over the most of a person: see [questions.Sums.Totals].
func (s *Sums) Totals(ctx context.Context, first int, power float64) (release.Answer, error) {
	values, l2, err := s.s.Totals(ctx, first, power)
	return s.answer(values, l2), err
}

// LabelSteps are the parts of labels' range that Labels has sums of: [questions.LabelSteps].
func LabelSteps(kind losses.Labels, high float64) []float64 {
	return questions.LabelSteps(kind, high)
}

// Predicted is Labels of what a model predicts in the labels' place: [questions.Predicted].
func Predicted(ctx context.Context, s *Sums, w []float64) (release.Answer, error) {
	values, l2, err := questions.Predicted(ctx, s.s, w)
	return s.answer(values, l2), err
}
