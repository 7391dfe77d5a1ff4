package questions

import (
	"context"
	"encoding/gob"
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// Losses sets dst_j to Σᵢ φ(⟨w_j, xᵢ⟩), each term clipped to [0, cap_j], for
// several weight vectors in one pass. cap = +Inf clips nothing: it gives the
// plain objective, which has no bounded sensitivity of its own.
func (s *Sums) Losses(ctx context.Context, dst []float64, ws [][]float64, caps []float64) error {
	return s.sum(ctx, dst, &lossSums{ws, caps})
}

// lossSums asks for Losses.
type lossSums struct {
	Ws   [][]float64
	Caps []float64
}

func (q *lossSums) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Ws)) }

func (q *lossSums) adder(s *Sums) rows.Adder {
	return addEach(s, q.Ws, func(score, label float64, j int) float64 {
		v := s.loss.Value(score, label)
		if !math.IsInf(q.Caps[j], 1) {
			v = withinCap(v, q.Caps[j])
		}
		return v
	})
}

// withinCap holds what a loss says of itself to [0, most]. No bound may rest on it: NaN
// becomes most.
func withinCap(v, most float64) float64 {
	if !(v < most) {
		return most
	}
	return max(0, v)
}

// addEach adds to number j what f makes of the rows' scores at w_j and their labels, each row
// counting its share.
func addEach(s *Sums, ws [][]float64, f func(score, label float64, j int) float64) rows.Adder {
	fs := make([]encoding.Folded, len(ws))
	for j, w := range ws {
		s.t.Enc.Fold(w, &fs[j])
	}
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		z := a.Z[:tile.Rows]
		for j := range fs {
			s.t.Score(z, tile, lo, &fs[j])
			s.offsets.add(z, lo)
			for k, score := range z {
				z[k] = f(score, s.labels[lo+k], j)
			}
			s.t.Persons.Weigh(z, lo)
			a.Sum[j] += vector.Sum(z)
		}
	}
}

// Errors sets dst_j to the number of rows whose label, ±1, is not the sign of the
// score ⟨w_j, xᵢ⟩ (a score of 0 counts as −1). One row moves it by at most 1, and
// counts are exact.
func (s *Sums) Errors(ctx context.Context, dst []float64, ws [][]float64) error {
	return s.sum(ctx, dst, &errorCounts{ws})
}

// errorCounts asks for Errors.
type errorCounts struct{ Ws [][]float64 }

func (q *errorCounts) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Ws)) }

func (q *errorCounts) adder(s *Sums) rows.Adder {
	return addEach(s, q.Ws, func(score, label float64, _ int) float64 {
		if (score > 0) != (label > 0) {
			return 1
		}
		return 0
	})
}

// LabelSum is the sum of the labels, or the number of ones where they are binary, and a
// bound on how far it moves when a row is replaced. Of amounts, and of counts beyond 1, it is a sum for each of LabelSteps: of labels' places in it, from 0 to 1. Where a
// row is added or removed, it is the sum of 1 − t, t being the label's place in its range, or in the first step of it, and those of places: they tell how many rows there are, too.
func (s *Sums) LabelSum(ctx context.Context) (values []float64, l2 float64, err error) {
	of := s.Bounds().summed()
	return of.sum(ctx, s, &labelSum{of}, s.loss.Labels() == losses.Binary) // counts are exact
}

// Predicted is LabelSum of what the weights w predict in the labels' place: the means at rows' scores by the loss's link, held to the labels' range.
// Whatever w is, a row adds a number of the range that its label has, so that the sum moves as far; but those of classes round.
func Predicted(ctx context.Context, s *Sums, w []float64) (values []float64, l2 float64, err error) {
	of := s.Bounds().summed()
	return of.sum(ctx, s, &predictedSum{of, w}, false)
}

// Summed says what is summed: labels, or their places in steps above Low, and before these, where Ends, what is left of the first step.
type Summed struct {
	Ends  bool
	Low   float64
	Steps []float64 // nil for labels
}

func (q Summed) sum(ctx context.Context, s *Sums, of asked, exact bool) (values []float64, l2 float64, err error) {
	values = make([]float64, q.numbers())
	low, high := s.Bounds().labelEnds()
	row := math.Max(-low, high)
	if q.Steps != nil {
		row = math.Sqrt(float64(len(q.Steps)))
	}
	l2, err = bounded(ctx, s, values, of, row, s.Bounds().labelSensitivity(exact))
	return values, l2, err
}

func (q Summed) numbers() int {
	n := max(len(q.Steps), 1)
	if q.Ends {
		n++
	}
	return n
}

func (q Summed) cut(t *rows.Table) rows.Cut { return t.InTiles(q.numbers()) }

// adding returns what adds row i's label, or what is in its place.
func (q Summed) adding(s *Sums) func(i int, y float64, sum []float64) {
	return func(i int, y float64, sum []float64) {
		share := s.t.Persons.Share(i)
		if q.Steps == nil {
			sum[0] += float64(share * y)
			return
		}
		above := y - q.Low
		for j, width := range q.Steps {
			t := min(max(above/width, 0), 1)
			above -= width
			if j == 0 && q.Ends {
				sum[0] += float64(share * (1 - t))
				sum = sum[1:]
			}
			sum[j] += float64(share * t)
		}
	}
}

// labelSum asks for LabelSum.
type labelSum struct{ Summed }

func (q *labelSum) adder(s *Sums) rows.Adder {
	add := q.adding(s)
	return rows.EachRow(func(i int, sum []float64) {
		y := s.labels[i]
		if s.loss.Labels() == losses.Binary {
			y = math.Max(y, 0)
		}
		add(i, y, sum)
	})
}

// predictedSum asks for Predicted.
type predictedSum struct {
	Summed
	Of []float64
}

func (q *predictedSum) adder(s *Sums) rows.Adder {
	var of encoding.Folded
	s.t.Enc.Fold(q.Of, &of)
	low, high := s.Bounds().labelEnds()
	add, link := q.adding(s), losses.LinkOf(s.loss)
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		z := a.Z[:tile.Rows]
		s.t.Score(z, tile, lo, &of)
		s.offsets.add(z, lo)
		for k, score := range z {
			mean := min(link.Mean(score), high)
			if !(mean >= low) { // NaN, too
				mean = low
			}
			add(lo+k, mean, a.Sum)
		}
	}
}

func init() {
	gob.Register(&lossSums{})
	gob.Register(&errorCounts{})
	gob.Register(&labelSum{})
	gob.Register(&predictedSum{})
}
