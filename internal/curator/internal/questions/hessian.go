package questions

import (
	"context"
	"encoding/gob"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Curvatures are the second derivatives of the rows' losses in their scores, 0 where the clip
// holds the gradient.
type Curvatures struct {
	of   []float64 // nil where others read the rows
	w    []float64
	clip float64
}

// Curvatures finds them at w. The loss must be Curved.
func (s *Sums) Curvatures(ctx context.Context, w []float64, clip float64) (*Curvatures, error) {
	c := &Curvatures{nil, slices.Clone(w), clip}
	if s.t.Place.Elsewhere() {
		return c, nil
	}
	c.of = make([]float64, len(s.t.Length))
	err := s.pass(ctx, nil, func(s *Sums) rows.Adder {
		weigh, from := weighByCurvature(s, w, clip), s.t.From
		return func(_ *rows.Workspace, tile rows.Tile, lo int) { weigh(c.of[from+lo:from+lo+tile.Rows], tile, lo) }
	})
	return c, err
}

// weighByCurvature sets its first argument to the Curvatures of a tile's rows.
func weighByCurvature(s *Sums, w []float64, clip float64) rows.Weigh {
	curvature, _ := losses.CurvatureOf(s.loss)
	clips := !math.IsInf(clip, 1)
	var f encoding.Folded
	s.t.Enc.Fold(w, &f)
	return func(z []float64, tile rows.Tile, lo int) {
		s.t.Score(z, tile, lo, &f)
		s.offsets.add(z, lo)
		for k, score := range z {
			y := s.labels[lo+k]
			if clips && math.Abs(s.loss.Deriv(score, y)) > clip/s.t.Norm[lo+k] {
				z[k] = 0
			} else {
				z[k] = curvature(score, y)
			}
		}
	}
}

// Hessian returns the sum of xᵢxᵢᵀ weighted by Curvatures.
func (s *Sums) Hessian(ctx context.Context, w []float64, clip float64) (*mat.SymDense, error) {
	return sumMoments(ctx, s, &hessian{w, clip})
}

// hessian asks for Hessian.
type hessian struct {
	W    []float64
	Clip float64
}

func (*hessian) cut(t *rows.Table) rows.Cut { return t.InMoments(t.Enc.Dim()) }

func (q *hessian) adder(s *Sums) rows.Adder {
	return rows.MomentsAdder(s.t, weighByCurvature(s, q.W, q.Clip))
}

// Weighted sets dst to Σᵢ cᵢ⟨v, xᵢ⟩xᵢ, the product of v and weighted second moments, in one
// pass.
func (s *Sums) Weighted(ctx context.Context, dst, v []float64, c *Curvatures) error {
	sum, p := make([]float64, s.t.Enc.Columns+2), s.t.Enc.Columns
	err := s.sum(ctx, sum, &weighted{v, c.w, c.clip, c.of})
	s.t.Enc.Unfold(dst, sum[:p], sum[p], sum[p+1])
	return err
}

// weighted asks for Weighted: for the product of V and the second moments weighted by the
// Curvatures at At.
type weighted struct {
	V, At []float64
	Clip  float64
	found []float64 // the curvatures, of all rows; nil where they are yet to be found
}

func (*weighted) cut(t *rows.Table) rows.Cut { return t.InTiles(t.Enc.Columns + 2) }

func (q *weighted) adder(s *Sums) rows.Adder {
	var f encoding.Folded
	s.t.Enc.Fold(q.V, &f)
	find := weighByCurvature(s, q.At, q.Clip)
	if q.found != nil {
		of := q.found[s.t.From:]
		find = func(z []float64, _ rows.Tile, lo int) { copy(z, of[lo:]) }
	}
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		z, c := a.Z[:tile.Rows], a.Beside[:tile.Rows]
		find(c, tile, lo)
		s.t.Score(z, tile, lo, &f)
		for k := range z {
			z[k] *= c[k]
		}
		s.t.Persons.Weigh(z, lo)
		s.t.AddTile(a.Sum, z, tile, lo)
	}
}

func init() {
	gob.Register(&hessian{})
	gob.Register(&weighted{})
}
