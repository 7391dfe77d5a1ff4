package dpglm

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/release"
)

// counting releases histograms from one pool of μ².
type counting struct {
	ctx   context.Context
	allow *release.Allowance
	mu    float64 // of all releases
	rows  float64 // how many there are, 0 where that is private
}

// counts is who counts rows of a shape.
func counts(s Shape, mu float64) counting {
	if s.Weighted || s.PersonRows > 0 {
		return counting{mu: mu}
	}
	return counting{mu: mu, rows: float64(s.Rows)}
}

// count releases histograms with a share of μ². A replaced row changes so many of them; rows
// are in so many. Where the number of rows is public, what noise adds to it is taken away.
// spread is the noise's standard deviation.
func (p *counting) count(share, changed, in float64, answer release.Answer) (counts []float64, spread float64, err error) {
	if counts, err = p.allow.Draw(share, answer); err != nil {
		return nil, 0, err
	}
	spread = math.Sqrt(2*changed) / (p.mu * math.Sqrt(share))
	if p.rows == 0 {
		return counts, spread, nil
	}
	excess := -float64(p.rows * in)
	for _, v := range counts {
		excess += v
	}
	for k := range counts {
		counts[k] -= excess / float64(len(counts))
	}
	return counts, spread, nil
}
