package losses

import "math"

// Hinge is the hinge loss max(0, 1−yz), y = ±1.
type Hinge struct{}

// Name is "hinge".
func (Hinge) Name() string { return "hinge" }

// Labels is Binary.
func (Hinge) Labels() Labels { return Binary }

// Value is max(0, 1−yz).
func (Hinge) Value(z, y float64) float64 { return math.Max(0, 1-float64(y*z)) }

// Deriv is −y where yz < 1 and 0 elsewhere.
func (Hinge) Deriv(z, y float64) float64 {
	if y*z < 1 {
		return -y
	}
	return 0
}

// Constants are attained at yz = −Z.
func (Hinge) Constants(z, _ float64) Constants {
	return Constants{AtZero: 1, Value: 1 + z, Slope: 1, Smoothness: math.Inf(1), Lipschitz: 1}
}

// Diameter is 2, twice the largest slope: attained by two opposite rows across
// w. A score that rounding moves over the kink can't exceed it.
func (Hinge) Diameter(_, _ float64) float64 { return 2 }
