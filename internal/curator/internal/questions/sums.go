package questions

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Sums answers questions about the rows of a Table under one loss. Each answer
// is a sum over rows of something bounded by public numbers.
type Sums struct {
	t           *rows.Table
	loss        losses.Loss
	labels      []float64
	signed      []float64 // norms with the signs of labels, for rows that are added at once
	labelCentre float64   // of the labels before they are mapped
	labelBound  float64
	offsets     offsets
	within      rows.Range // in which offsets lie
	ask         func(*Question) error
}

// NewSums binds labels to the rows, mapped into the loss's domain by public
// rules: binary labels to ±1 by sign, counts and amounts clamped to the bound, and real labels
// less the centre clamped to it on either side.
func NewSums(t *rows.Table, labels []float64, labelCentre, labelBound float64, loss losses.Loss) (*Sums, error) {
	if loss.Labels() != losses.Binary {
		if err := check.Bound("label bound", labelBound); err != nil {
			return nil, err
		}
	}
	if t.Place.Elsewhere() {
		if _, err := encodeLoss(loss); err != nil {
			return nil, err
		}
	}
	if t.Place != nil {
		return &Sums{t: t, loss: loss, labelCentre: labelCentre, labelBound: labelBound}, rows.CheckLabels(t, loss.Labels())
	}
	if len(labels) != len(t.Length) {
		return nil, check.Fail(check.ErrShape, "labels", len(labels), fmt.Sprintf("must be one for each of the %d rows", len(t.Length)))
	}
	mapped := make([]float64, len(labels))
	for i, y := range labels {
		var ok bool
		if mapped[i], ok = rows.MapLabel(loss.Labels(), y, labelCentre, labelBound); !ok {
			return nil, check.Fail(check.ErrLabel, fmt.Sprintf("label of row %d (counted from 1)", i+1), nil, rows.LabelRule(loss.Labels()))
		}
	}
	return sign((&Sums{t: t, loss: loss, labels: mapped, labelCentre: labelCentre, labelBound: labelBound}), nil), nil
}

// Len is the table's.
func (s *Sums) Len() int { return s.t.Len() }

// Vectors is how far a sum moves of vectors that are at most 1 long.
func (s *Sums) Vectors() float64 { return s.t.Persons.Vectors() }

// Dim is the number of weights.
func (s *Sums) Dim() int { return s.t.Enc.Dim() }

// part are the sums over a part of the rows.
func (s *Sums) part(p *rows.Part) *Sums {
	if p.Table == s.t {
		return s
	}
	of := *s
	of.t, of.labels = p.Table, p.Labels
	if s.loss != nil {
		p.Room.Mapped = rows.Room(p.Room.Mapped, len(p.Labels))
		for i, y := range p.Labels {
			p.Room.Mapped[i], _ = rows.MapLabel(s.loss.Labels(), y, s.labelCentre, s.labelBound) // checked by NewSums
		}
		of.labels = p.Room.Mapped
		p.Room.Signed = sign(&of, p.Room.Signed).signed
		of.signed = p.Room.Signed
	}
	of.offsets = p.Offsets
	if s.offsets != nil {
		of.offsets = s.offsets[p.Table.From : p.Table.From+len(p.Labels)]
	}
	return &of
}

// Single returns the sums over the rows of [rows.Single].
func (s *Sums) Single() *Sums {
	if s.t.Persons.MostRows() <= 1 {
		return s
	}
	t, order := rows.Single(s.t)
	return picked(s, t, order)
}

// picked returns the sums over a table of the given rows of s.
func picked(s *Sums, t *rows.Table, order []int) *Sums {
	picked := *s
	picked.t, picked.labels, picked.offsets = t, blocks.Gather(s.labels, order), blocks.Gather(s.offsets, order)
	picked.signed = nil // of rows that lie one after the other
	return &picked
}

// Every returns the sums over each k-th person's rows, a sample for solvers.
func (s *Sums) Every(k int) *Sums {
	if k == 1 {
		return s
	}
	persons := make([]int, 0, (s.Len()+k-1)/k)
	for i := 0; i < s.Len(); i += k {
		persons = append(persons, i)
	}
	return picked(s, s.t.Pick(persons), s.t.Persons.RowsOf(persons))
}

// pass is the table's, where of says how rows are added that this process reads.
func (s *Sums) pass(ctx context.Context, dst []float64, of func(s *Sums) rows.Adder) error {
	return s.t.Pass(ctx, dst, func(p *rows.Part) rows.Adder { return of(s.part(p)) })
}

// sum sets dst to the answer to a question.
func (s *Sums) sum(ctx context.Context, dst []float64, q asked) error {
	return s.t.Sum(ctx, dst, askingOf(s, q, 0))
}

func askingOf(s *Sums, q asked, row float64) *asking {
	return &asking{Labels: sentLabels{sentLoss{s.loss}, s.labelCentre, s.labelBound, s.within}, Of: q, s: s, row: row}
}

// bounded is sum of a question to which no row adds more than the vector row, in length, with the sensitivity l2 that the sum has
// in memory. It returns the sensitivity that it has here: where several parties hold the rows their rounding is beside it.
func bounded(ctx context.Context, s *Sums, dst []float64, q asked, row, l2 float64) (float64, error) {
	of := askingOf(s, q, row)
	if at := summingOf(s.t); at != nil {
		l2 += at.roundingOf(len(dst), of.normBound())
	}
	return l2, s.t.Sum(ctx, dst, of)
}

// counted is bounded of counts, of which a row is in so many at most. They are whole numbers of steps of 1, so
// that nothing is rounded.
func counted(ctx context.Context, s *Sums, dst []float64, q asked, most int) error {
	of := askingOf(s, q, math.Sqrt(float64(most)))
	of.counts = true
	return s.t.Sum(ctx, dst, of)
}

// Shift returns the same sums, whose scores have offsets within a range added to them; nil
// offsets are zeros.
func (s *Sums) Shift(offsets []float64, within rows.Range) *Sums {
	shifted := *s
	shifted.offsets, shifted.within = offsets, within
	return &shifted
}
