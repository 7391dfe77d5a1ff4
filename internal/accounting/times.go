package accounting

// Times returns the profile of n ≥ 1 runs of the releases, one after the other.
func (s *Sequence) Times(n int64) *Sequence {
	parts := make([]part, len(s.parts))
	for i, p := range s.parts {
		parts[i] = part{p.profile, p.copies * n}
	}
	return newSequence(s.gauss.times(n), parts...)
}

// Copies counts the releases that aren't Gaussian.
func (s *Sequence) Copies() (n int64) {
	for _, p := range s.parts {
		n += p.copies
	}
	return n
}

// Noise returns the μ of the Gaussian releases together and how many coordinates they have,
// both rounded up; zeros where there are none.
func (s *Sequence) Noise() (mu, coordinates float64) { return s.gauss.mu, s.gauss.coordinates }
