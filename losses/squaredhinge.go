package losses

import "math"

// SquaredHinge is the squared hinge loss max(0, 1−yz)², y = ±1.
type SquaredHinge struct{}

// Name is "squared hinge".
func (SquaredHinge) Name() string { return "squared hinge" }

// Labels is Binary.
func (SquaredHinge) Labels() Labels { return Binary }

// Value is max(0, 1−yz)².
func (SquaredHinge) Value(z, y float64) float64 {
	r := math.Max(0, 1-float64(y*z))
	return r * r
}

// Deriv is −2y·max(0, 1−yz).
func (SquaredHinge) Deriv(z, y float64) float64 { return -2 * y * math.Max(0, 1-float64(y*z)) }

// Curvature is 2 where yz < 1 and 0 elsewhere.
func (SquaredHinge) Curvature(z, y float64) float64 {
	if y*z < 1 {
		return 2
	}
	return 0
}

// Constants are attained at yz = −Z, the curvature wherever yz < 1.
func (SquaredHinge) Constants(z, _ float64) Constants {
	return Constants{AtZero: 1, Value: (1 + z) * (1 + z), Slope: 2 * (1 + z), Smoothness: 2, Lipschitz: math.Inf(1)}
}

// Diameter is exactly that of twice the squared loss with label bound 1: up to
// the sign of a row, a gradient is 2·max(0, 1+⟨w, x⟩)x, either zero or one of
// that loss's. Zero is the gradient of the row 0 there, and the pair that
// attains the diameter has 1+⟨w, x⟩ > 0.
func (SquaredHinge) Diameter(z, _ float64) float64 { return 2 * float64(Squared{}.Diameter(z, 1)) }
