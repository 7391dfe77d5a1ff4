package losses

import "math"

// Squared is the squared loss ½(z−y)².
type Squared struct{}

// Name is "squared".
func (Squared) Name() string { return "squared" }

// Labels is Real.
func (Squared) Labels() Labels { return Real }

// Value is ½(z−y)².
func (Squared) Value(z, y float64) float64 { return (z - y) * (z - y) / 2 }

// Deriv is z−y.
func (Squared) Deriv(z, y float64) float64 { return z - y }

// Curvature is 1.
func (Squared) Curvature(_, _ float64) float64 { return 1 }

// Constants are attained at z = −y = ±Z.
func (Squared) Constants(z, y float64) Constants {
	return Constants{AtZero: y * y / 2, Value: (z + y) * (z + y) / 2, Slope: z + y, Smoothness: 1, Lipschitz: math.Inf(1)}
}

// Diameter is exactly 2·max_θ sin θ·(z·cos θ + y), well below twice the largest
// slope, 2(z+y).
//
// Proof. φ' is affine in y, so only y = ±Y matter, and x → −x maps one onto the
// other: the gradients are (⟨w, x⟩+Y)x. In the plane of w and x the outermost
// are p + iq with p = (zc+Y)c, q = (zc+Y)√(1−c²), c the component of x along w.
// The maximum of q, at c*, solves 2zc² + Yc − z = 0, which gives p* = z(1−c*²)
// and z − 2p* = −Yc*. Then |p + iq − p*|² − p*² = Y(zc+Y)(1−c*c), a concave
// quadratic in c whose derivative vanishes at c*: all gradients lie in the ball
// of radius q* around p*, and ±q* is attained.
func (Squared) Diameter(z, y float64) float64 {
	c := squaredCosine(z, y)
	return 2 * math.Sqrt(1-float64(c*c)) * (float64(z*c) + y) * (1 + 1e-14)
}

// squaredCosine is c*, the root of 2zc² + yc = z in [0, 1/√2].
func squaredCosine(z, y float64) float64 {
	if z == 0 {
		return 0
	}
	t := y / z
	return 2 / (t + math.Sqrt(float64(t*t)+8))
}
