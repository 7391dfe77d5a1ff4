package estimate

import "math"

// tiny keeps a divisor from being 0.
const tiny = 1e-300

// JamesStein is the fraction of a vector that isn't noise, by James and Stein's rule: square is
// its squared length, noise the expected one of its noise alone.
func JamesStein(noise, square float64) float64 {
	return math.Max(0, 1-noise/math.Max(square, tiny))
}
