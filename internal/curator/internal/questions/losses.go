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
// bound on how far it moves when a row is replaced. Where one is added or removed, it is two sums, of 1 − t and of t, t being
// the label's place in its range, from 0 to 1: what a row adds is 1 long at most, and the sums tell how many rows there are, too.
func (s *Sums) LabelSum(ctx context.Context) (values []float64, l2 float64, err error) {
	q := &labelSum{Ends: s.t.Persons.Removed()}
	values = make([]float64, q.numbers())
	low, high := s.Bounds().labelEnds()
	l2, err = bounded(ctx, s, values, q, max(-low, high), s.Bounds().labelSensitivity())
	return values, l2, err
}

// labelSum asks for LabelSum.
type labelSum struct{ Ends bool }

func (q *labelSum) numbers() int {
	if q.Ends {
		return 2
	}
	return 1
}

func (q *labelSum) cut(t *rows.Table) rows.Cut { return t.InTiles(q.numbers()) }

func (q *labelSum) adder(s *Sums) rows.Adder {
	low, high := s.Bounds().labelEnds()
	return rows.EachRow(func(i int, sum []float64) {
		y := s.labels[i]
		if s.loss.Labels() == losses.Binary {
			y = math.Max(y, 0)
		}
		share := s.t.Persons.Share(i)
		if !q.Ends {
			sum[0] += float64(share * y)
			return
		}
		t := 0.5
		if high > low {
			t = min(max((y-low)/(high-low), 0), 1)
		}
		sum[0] += float64(share * (1 - t))
		sum[1] += float64(share * t)
	})
}

func init() {
	gob.Register(&lossSums{})
	gob.Register(&errorCounts{})
	gob.Register(&labelSum{})
}
