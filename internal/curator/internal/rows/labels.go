package rows

import (
	"math"

	"github.com/dpglm/dpglm/losses"
)

// labelSensitivity is that of LabelSum: a label's range and, where sums aren't exact,
// their rounding. That is, with m rows a block, B blocks and labels of at most Y, γ_m·m·Y
// for the block with the row and u·n·Y for each merge, in each answer.
func (s *Sums) labelSensitivity() float64 {
	spread, largest := 2*s.labelBound, s.labelBound
	switch s.loss.Labels() {
	case losses.Binary:
		spread, largest = 1, 0 // counts are exact
	case losses.Count:
		spread = s.labelBound
	}
	return float64(spread*(1+1e-15)) + float64(2.2*unit*largest*s.t.layout.chain(0))
}

// LabelSum is the sum of the labels, or the number of ones where they are binary, and a
// bound on how far it moves when a row is replaced.
func (s *Sums) LabelSum() (values []float64, l2 float64) {
	var sum float64
	l := s.t.layout
	for b := range l.blocks {
		var block float64
		l.eachTile(b, func(lo, hi int) {
			for _, y := range s.labels[lo:hi] {
				if s.loss.Labels() == losses.Binary {
					y = math.Max(y, 0)
				}
				block += y
			}
		})
		sum += block
	}
	return []float64{sum}, s.labelSensitivity()
}
