package rows

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/losses"
)

// Curved reports whether the loss tells its second derivative.
func (s *Sums) Curved() bool {
	_, ok := losses.CurvatureOf(s.loss)
	return ok
}

// Curvatures are the second derivatives of the rows' losses in their scores, 0 where the clip
// holds the gradient.
type Curvatures struct {
	of   []float64 // nil where others read the rows
	w    []float64
	clip float64
}

// Curvatures finds them at w. The loss must be Curved.
func (s *Sums) Curvatures(ctx context.Context, w []float64, clip float64) (*Curvatures, error) {
	c := &Curvatures{make([]float64, len(s.t.length)), slices.Clone(w), clip}
	if s.t.elsewhere() {
		return c, nil
	}
	of := s.weighByCurvature(w, clip)
	err := s.pass(ctx, nil, func(s *Sums) adder {
		weigh, from := of(s), s.t.from
		return func(_ *workspace, rows tile, lo int) { weigh(c.of[from+lo:from+lo+rows.rows], rows, lo) }
	})
	return c, err
}

// weighByCurvature returns the function that sets its first argument to the Curvatures of a
// tile's rows.
func (s *Sums) weighByCurvature(w []float64, clip float64) func(s *Sums) weigh {
	curvature, _ := losses.CurvatureOf(s.loss)
	clips := !math.IsInf(clip, 1)
	var f encoding.Folded
	s.t.enc.Fold(w, &f)
	return func(s *Sums) weigh {
		return func(z []float64, rows tile, lo int) {
			s.t.score(z, rows, lo, &f)
			s.addOffsets(z, lo)
			for k, score := range z {
				y := s.labels[lo+k]
				if clips && math.Abs(s.loss.Deriv(score, y)) > clip/s.t.norm[lo+k] {
					z[k] = 0
				} else {
					z[k] = curvature(score, y)
				}
			}
		}
	}
}

// Hessian returns the sum of xᵢxᵢᵀ weighted by Curvatures.
func (s *Sums) Hessian(ctx context.Context, w []float64, clip float64) (*mat.SymDense, error) {
	return s.moments(asking(ctx, asked{Kind: "hessian", W: w, Clip: clip}), s.weighByCurvature(w, clip))
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
	return s.of(s.t.Pick(persons), s.t.RowsOf(persons))
}

// Weighted sets dst to Σᵢ cᵢ⟨v, xᵢ⟩xᵢ, the product of v and weighted second moments, in one
// pass.
func (s *Sums) Weighted(ctx context.Context, dst, v []float64, c *Curvatures) error {
	ctx = asking(ctx, asked{Kind: "weighted", W: v, Many: [][]float64{c.w}, Clip: c.clip})
	_, _, err := s.combine(ctx, dst, v, false, nil, func(s *Sums) coefficients {
		return func(z, _ []float64, lo int) {
			for k := range z {
				z[k] *= c.of[s.t.from+lo+k]
			}
		}
	})
	return err
}

// weightedAgain is Weighted for a worker, which finds what weighs its rows first.
func (s *Sums) weightedAgain(ctx context.Context, dst []float64, q *asked) error {
	if len(q.Many) != 1 {
		return errNotAsked
	}
	c, err := s.Curvatures(ctx, q.Many[0], q.Clip)
	if !errors.Is(err, errCaptured) {
		return err
	}
	s.t.stored.task.counted.Store(0)
	return s.Weighted(ctx, dst, q.W, c)
}

// scatterPays reports whether the rows of a sparse tile are so sparse that adding the
// products of their entries one by one takes less time than full rows do.
func (t *Table) scatterPays(rows tile) bool {
	const perProduct = 8 // products of full rows in the time of one by itself
	products, dim := 0, t.enc.Dim()
	for k := range rows.rows {
		entries := rows.end[k] - rows.start[k] + dim - t.enc.Columns
		products += entries * entries
	}
	return perProduct*products < rows.rows*dim*dim
}
