package rows

import (
	"math"
	"sort"

	"github.com/dpglm/dpglm/losses"
)

// GradientNorms counts the rows by the norm of their gradient φ'(⟨w, xᵢ⟩)xᵢ, as
// computed: counts[k] rows have a norm of more than edges[k] and no more than
// edges[k−1], and counts[len(edges)] the rest; edges decrease. A row's place
// depends on that row only, so that replacing it takes 1 from one count and adds 1
// to another: the L2 sensitivity is √2, whatever w and the edges.
func (s *Sums) GradientNorms(counts, edges, w []float64) {
	z := make([]float64, s.Rows())
	s.t.Scores(z, w)
	for i, score := range z {
		z[i] = math.Abs(s.loss.Deriv(score, s.labels[i])) * s.t.norm[i]
	}
	histogram(counts, edges, z)
}

// RowNorms counts the rows by their norm as GradientNorms does by their gradient's.
func (s *Sums) RowNorms(counts, edges []float64) { histogram(counts, edges, s.t.norm) }

// CountLengths counts the rows by the norm of their features without the constant,
// and CountLabels by the magnitude of their labels: counts[k] are in
// (edges[k+1], edges[k]] and the last in [0, edges[len(edges)−1]], edges[0] being the
// bound.
func (t *Table) CountLengths(counts, edges []float64) { histogram(counts, edges[1:], t.length) }

// CountLabels is explained at CountLengths.
func (s *Sums) CountLabels(counts, edges []float64) {
	magnitudes := make([]float64, len(s.labels))
	for i, y := range s.labels {
		magnitudes[i] = math.Abs(y)
	}
	histogram(counts, edges[1:], magnitudes)
}

func histogram(counts, edges, norms []float64) {
	clear(counts)
	for _, r := range norms {
		counts[sort.Search(len(edges), func(k int) bool { return r > edges[k] })]++
	}
}

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
	l := s.t.layout
	n, m, blocks := float64(l.n), float64(l.blockRows()), float64(l.blocks)
	return float64(spread*(1+1e-15)) + float64(2.2*unit*largest*(float64(m*m)+float64(blocks*n)))
}

// LabelSum is the sum of the labels, or the number of ones where they are binary, and a
// bound on how far it moves when a row is replaced.
func (s *Sums) LabelSum() (sum, l2 float64) {
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
	return sum, s.labelSensitivity()
}
