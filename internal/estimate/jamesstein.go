package estimate

import "math"

// tiny keeps a divisor from being 0.
const tiny = 1e-300

// JamesStein is the fraction of a vector that isn't noise, by James and Stein's rule: square is
// its squared length, noise the expected one of its noise alone.
func JamesStein(noise, square float64) float64 {
	return math.Max(0, 1-noise/math.Max(square, tiny))
}

// Kept is the part of a point's squared distance to its centre that is not noise, by James
// and Stein's rule; 0 where noise of the given variance in each of dim coordinates would be
// as long with a probability of 5 %.
func Kept(squared, variance float64, dim int) float64 {
	return JamesStein(variance*chiSquared95(dim), squared)
}

// By Wilson and Hilferty's approximation the third root of χ²/dim is normal with variance 2/(9·dim).
const (
	thirdRoot = 3
	ninths    = 9
)

// chiSquared95 is the 95 % quantile of χ² by Wilson and Hilferty.
func chiSquared95(dim int) float64 {
	v := 2 / (ninths * float64(dim))
	return float64(dim) * math.Pow(1-v+Quantile95*math.Sqrt(v), thirdRoot)
}

// Quantile95 is that of the normal law, and TwoSided95 what 95 % of its numbers are smaller than in size.
const (
	Quantile95 = 1.645
	TwoSided95 = 1.96
)
