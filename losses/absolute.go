package losses

import "math"

// Absolute is the absolute loss |z−y|.
type Absolute struct{}

// Name is "absolute".
func (Absolute) Name() string { return "absolute" }

// Labels is Real.
func (Absolute) Labels() Labels { return Real }

// Value is |z−y|.
func (Absolute) Value(z, y float64) float64 { return math.Abs(z - y) }

// Deriv is the sign of z−y, 0 at the kink.
func (Absolute) Deriv(z, y float64) float64 {
	switch {
	case z > y:
		return 1
	case z < y:
		return -1
	}
	return 0
}

// Constants are attained at z = −y = ±Z.
func (Absolute) Constants(z, y float64) Constants {
	return Constants{AtZero: y, Value: z + y, Slope: 1, Smoothness: math.Inf(1), Lipschitz: 1}
}

// Diameter is 2, twice the largest slope: attained by one row across w with the
// labels ±Y. A score that rounding moves over the kink can't exceed it.
func (Absolute) Diameter(_, _ float64) float64 { return 2 }
