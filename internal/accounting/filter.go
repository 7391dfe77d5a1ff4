package accounting

import "math"

// Noise returns the profile of Gaussian releases of a total μ > 0 and so many coordinates.
func Noise(mu, coordinates float64) *Sequence {
	return newSequence(gaussian{mu, coordinates, coordinates * mu * mu * up})
}

// Above returns the μ and the coordinates of Gaussian releases that the sequence has no less
// privacy than; +Inf where no μ is known. Of d coordinates that a row moves by m standard
// deviations, the slack asks for Σdm², which is at most Σd·Σm².
func (s *Sequence) Above() (mu, coordinates float64) {
	g := s.gdp()
	return g.mu, g.coordinates
}

// GroupLoss is Loss for neighbours that differ in k rows.
func (s *Sequence) GroupLoss(k float64) float64 { return multiplyUp(k, s.Loss()) }

// Sum adds what was spent of an ε, of a number of coordinates, rounded up, and exactly where
// that can be.
func Sum(a, b float64) float64 { return addUp(a, b) }

// Less takes b from a, rounded down, and exactly where that can be.
func Less(a, b float64) float64 { return -addUp(-a, b) }

// SumOfSquares is the μ of two, √(a² + b²), rounded up.
func SumOfSquares(a, b float64) float64 {
	if a == 0 || b == 0 {
		return math.Max(a, b)
	}
	return math.Hypot(a, b) * up
}

// LessOfSquares is √(a² − b²), rounded down; 0 where b isn't below a.
func LessOfSquares(a, b float64) float64 {
	if !(b < a) {
		return 0
	}
	return math.Sqrt((a-b)*(a+b)) * (1 - 1e-15)
}

// Largest returns the largest number of [lo, hi] that fits, to the given fraction of hi, where
// lo does.
func Largest(lo, hi, fraction float64, fits func(float64) bool) float64 {
	if fits(hi) {
		return hi
	}
	for tolerance := fraction * hi; hi-lo > tolerance; {
		if mid := lo + (hi-lo)/2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
