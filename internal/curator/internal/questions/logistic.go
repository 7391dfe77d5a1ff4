package questions

import (
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/losses"
)

// atOnce adds what combine does for the rows from lo on to the sums of their block, as far
// as there is a faster way with the same bits, and returns the first row that is left.
type atOnce func(s *Sums, a *rows.Workspace, lo int, f *encoding.Folded) int

func (f atOnce) add(s *Sums, a *rows.Workspace, lo int, w *encoding.Folded) int {
	if f == nil {
		return lo
	}
	return f(s, a, lo, w)
}

// logisticAtOnce is for Gradient: rows of the caller's matrix under the logistic loss.
func logisticAtOnce(clip float64) atOnce {
	const most = 64 // tiles, as a goroutine can't be stopped meanwhile
	return func(s *Sums, a *rows.Workspace, lo int, f *encoding.Folded) int {
		if s.signed == nil || s.offsets != nil {
			return lo
		}
		x, l, shrink := s.t.Src.(rows.DenseSource).M, &s.t.Layout, s.t.Shrink
		n := min((lo/l.BlockPersons+1)*l.BlockPersons, l.N, lo+most*l.TileRows) - lo
		if shrink != nil {
			shrink = shrink[lo:]
		}
		return lo + kernel.AddLogistic(a.Sum, x.Data[lo*x.Stride:], x.Stride, n, l.TileRows,
			f.V, s.signed[lo:], shrink, a.Beside, clip, f.Offset, f.Intercept)
	}
}

// sign sets the rows' norms with their labels' signs, one number to read instead of two, in
// place of v where it has room, for rows that are added at once. It returns s.
func sign(s *Sums, v []float64) *Sums {
	_, logistic := s.loss.(losses.Logistic)
	x, inPlace := s.t.Src.(rows.DenseSource)
	if logistic && inPlace && x.Order == nil && s.t.Persons == nil && kernel.AddsLogistic(s.t.Enc.Columns) {
		s.signed = rows.Room(v, len(s.labels))
		for k, y := range s.labels {
			s.signed[k] = math.Copysign(s.t.Norm[k], y)
		}
	}
	return s
}
