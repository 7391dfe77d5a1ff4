package questions

import (
	"context"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// Tile are encoded rows, n×dim, the constant feature last where there is one, with their offsets; nil where
// there are none. First is how many rows are before them.
type Tile struct {
	N, Dim  int
	First   int
	Rows    []float64
	Offsets []float64
}

// SumOfFeatures sets dst to the sum of what add adds of each tile, by several goroutines: a block's tiles first, then the
// blocks in their order. It has no distance: features are private but where labels alone are. Rows must be read by this
// process.
func SumOfFeatures(ctx context.Context, s *Sums, dst []float64, add func(t Tile, sum []float64)) error {
	if s.t.Place.Elsewhere() {
		return check.Fail(check.ErrConfig, "dataset", nil, "must have its rows read by this process, where labels alone are private")
	}
	dim := s.t.Enc.Dim()
	return s.pass(ctx, dst, func(s *Sums) rows.Adder {
		return func(a *rows.Workspace, tile rows.Tile, lo int) {
			of := Tile{N: tile.Rows, Dim: dim, First: s.t.From + lo, Rows: make([]float64, tile.Rows*dim)}
			for k := range tile.Rows {
				s.t.Encode(of.Rows[k*dim:(k+1)*dim], tile, lo, k)
			}
			if s.offsets != nil {
				of.Offsets = s.offsets[lo : lo+tile.Rows]
			}
			add(of, a.Sum)
		}
	})
}
