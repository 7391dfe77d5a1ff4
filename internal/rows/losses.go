package rows

import (
	"context"
	"math"
)

// Losses sets dst_j to Σᵢ φ(⟨w_j, xᵢ⟩), each term clipped to [0, cap_j], for
// several weight vectors in one pass. cap = +Inf clips nothing: it gives the
// plain objective, which has no bounded sensitivity of its own.
func (s *Sums) Losses(ctx context.Context, dst []float64, ws [][]float64, caps []float64) error {
	clear(dst)
	fs := make([]folded, len(ws))
	for j, w := range ws {
		s.t.enc.fold(w, &fs[j])
	}
	return inOrder(ctx, s.t.layout.blocks, s.acquire, s.release,
		func(b int, a *workspace) {
			a.totals = append(a.totals[:0], make([]float64, len(ws))...)
			s.t.layout.eachTile(b, func(lo, hi int) {
				rows := s.t.src.tile(lo, hi, a.buf)
				for j := range fs {
					a.totals[j] += s.lossTile(a.z[:hi-lo], rows, lo, &fs[j], caps[j])
				}
			})
		},
		func(_ int, a *workspace) {
			for j, v := range a.totals {
				dst[j] += v
			}
		})
}

func (s *Sums) lossTile(z []float64, rows tile, lo int, f *folded, limit float64) float64 {
	s.t.score(z, rows, lo, f)
	var sum float64
	for k, score := range z {
		v := s.loss.Value(score, s.labels[lo+k])
		if !math.IsInf(limit, 1) {
			v = max(0, min(v, limit))
		}
		sum += v
	}
	return sum
}

// LossSensitivity bounds how far a loss sum with the given cap moves when one
// row is replaced: each term lies in [0, cap], and rounding adds what
// GradientSensitivity explains.
func (s *Sums) LossSensitivity(limit float64) float64 {
	n, m, blocks := float64(s.t.Rows()), float64(s.t.layout.blockRows()), float64(s.t.layout.blocks)
	return limit * (1 + 2.2*unit*(m*m+blocks*n))
}
