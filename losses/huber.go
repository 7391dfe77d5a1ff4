package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Huber is the Huber loss of the residual r = z−y: r²/2 for |r| ≤ κ and
// κ|r| − κ²/2 beyond.
type Huber struct {
	// Kappa is κ, from 1e-60 to 1e60, the residual beyond which the loss is linear.
	Kappa float64
}

// Name is "huber(κ)".
func (l Huber) Name() string { return fmt.Sprintf("huber(%g)", l.Kappa) }

// Labels is Real.
func (Huber) Labels() Labels { return Real }

// Validate checks κ. The error says that it must lie in [1e-60, 1e60].
func (l Huber) Validate() error { return check.Scale(check.ErrConfig, "Huber.Kappa", l.Kappa) }

// Value is r²/2, or κ(|r| − κ/2) where |r| > κ.
func (l Huber) Value(z, y float64) float64 { return l.at(math.Abs(z - y)) }

// at is the loss at |r|.
func (l Huber) at(r float64) float64 {
	if r <= l.Kappa {
		return r * r / 2
	}
	return l.Kappa * (r - float64(l.Kappa/2))
}

// Deriv is z−y held in [−κ, κ].
func (l Huber) Deriv(z, y float64) float64 {
	return math.Max(-l.Kappa, math.Min(z-y, l.Kappa))
}

// Curvature is 1 where |z−y| ≤ κ and 0 elsewhere.
func (l Huber) Curvature(z, y float64) float64 {
	if math.Abs(z-y) <= l.Kappa {
		return 1
	}
	return 0
}

// Constants are attained at z = −y = ±Z, the curvature at z = y.
func (l Huber) Constants(z, y float64) Constants {
	return Constants{
		AtZero:     l.at(y),
		Value:      l.at(z + y),
		Slope:      math.Min(l.Kappa, z+y),
		Smoothness: 1,
		Lipschitz:  l.Kappa,
	}
}

// Diameter is exactly 2·max_{c ≥ 0} √(1−c²)·min(κ, zc+Y), c the cosine between w
// and x: 2κ where κ ≤ Y, that of the squared loss where its worst slope is at
// most κ, and otherwise the value at zc+Y = κ.
//
// Proof. Two mirrored rows attain each. The first is twice the largest slope.
// In the second, a gradient is the squared loss's one shortened, and the ball
// of that proof is convex and contains 0.
//
// In the third, 0 < κ−Y = z·k with 0 < k < c*, c* the squared loss's cosine, so
// (2κ−Y)k < z by 2zc*² + Yc* = z. The ball has centre p = κk on the axis of w
// and radius κ√(1−k²): all gradients lie in it if F(c) = g² − 2pcg, g = zc+Y
// held in [−κ, κ], is largest at k.
//   - c ≥ k: g = κ and F falls in c.
//   - 0 ≤ c ≤ k: F' is affine in c, F'(0) = 2Y(z−p) ≥ 0 as p < z, and
//     F'(k) = 2κ(z − (2κ−Y)k) > 0, so F rises from Y² to F(k).
//   - c < 0, g ≥ 0: as a quadratic in −c, F starts at Y² with the slope
//     −2Y(z−p) ≤ 0; if concave it falls, if convex (z ≥ 2p) it stays below
//     its values Y² at c = 0 and 0 at g = 0.
//   - c < 0, g < 0: F is no larger than at −c, where |g| is no smaller, because
//     g² − 2p|cg| has the same value at |g| and at 2p|c|−|g|, and the two |g| sum
//     to at least 2p|c|: to 2z|c|, or to κ+z|c|−Y = z(k+|c|) ≥ 2κk|c| where the
//     larger is held at κ, or to 2κ.
func (l Huber) Diameter(z, y float64) float64 {
	if l.Kappa <= y {
		return 2 * l.Kappa
	}
	d := math.Min(2*l.Kappa, Squared{}.Diameter(z, y))
	if k := (l.Kappa - y) / z; k < squaredCosine(z, y) {
		d = math.Min(d, 2*l.Kappa*math.Sqrt((1-k)*(1+k))*(1+1e-14))
	}
	return d
}
