package rows

// Shift returns the same sums, whose scores have offsets of at most the given bound added to
// them; nil offsets are zeros.
func (s *Sums) Shift(offsets []float64, bound float64) *Sums {
	shifted := *s
	shifted.offsets, shifted.offsetBound = offsets, bound
	return &shifted
}

// addOffsets adds those of the rows from lo on to scores.
func (s *Sums) addOffsets(z []float64, lo int) {
	if s.offsets == nil {
		return
	}
	for k, offset := range s.offsets[lo : lo+len(z)] {
		z[k] += offset
	}
}

// Totals are the sum of the rows' shares, and of shares times offsets over their bound, and a
// bound on how far these move when a person is replaced: the diameter of the triangle of 0,
// (1, 1) and (1, −1), in which lies what a person adds, and the second sum's rounding, the
// first being exact.
func (s *Sums) Totals() (values []float64, l2 float64) {
	values = make([]float64, 2)
	s.blockSums(values, func(i int, sum []float64) {
		share := s.t.owners.share(i)
		sum[0] += share
		if s.offsetBound > 0 {
			sum[1] += float64(share * (s.offsets[i] / s.offsetBound))
		}
	})
	return values, 2*(1+1e-15) + float64(2.2*unit*s.t.layout.chain(4))
}
