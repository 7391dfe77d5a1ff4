package losses

import (
	"math"

	"github.com/dpglm/dpglm/internal/kernel"
)

// Logistic is the logistic loss log(1 + e^(−yz)), y = ±1.
type Logistic struct{}

// Name is "logistic".
func (Logistic) Name() string { return "logistic" }

// Labels is Binary.
func (Logistic) Labels() Labels { return Binary }

// Link is Logit.
func (Logistic) Link() Link { return Logit }

// Value is log(1 + e^(−yz)).
func (Logistic) Value(z, y float64) float64 { return softplus(-y * z) }

// Deriv is −y/(1 + e^(yz)).
func (Logistic) Deriv(z, y float64) float64 { return kernel.LogisticSlope(z, y) }

// Curvature is s(1−s), s = 1/(1 + e^|z|): both factors keep their digits as
// s ≤ ½.
func (Logistic) Curvature(z, _ float64) float64 {
	s := sigmoid(-math.Abs(z))
	return s * (1 - s)
}

// Constants are attained: the curvature at z = 0, the others at yz = −Z.
func (Logistic) Constants(z, _ float64) Constants {
	return Constants{AtZero: math.Ln2, Value: softplus(z), Slope: sigmoid(z), Smoothness: 0.25, Lipschitz: 1}
}

// Diameter is 2·max_θ sin θ/(1 + e^(−z·cos θ)): 1 at z = 0, and towards 2, twice
// the largest slope, only as z → ∞.
//
// Proof. x → −x maps one label onto the other, so the gradients are s(⟨w, x⟩)x,
// s the sigmoid. In the plane of w and x the outermost are p + iq with p = g·c,
// q = g·√(1−c²), g = s(zc), c the component of x along w. Let q be largest at
// c*: z(1−g*)(1−c*²) = c*, so c* ≥ 0. All gradients lie in the ball of radius
// q* around p* if F(c) = g² − 2p*cg is largest at c*.
//
// For c ≥ 0: F' has the sign of m(c) − p*, m = z(1−g)(g − p*c), and m(c*) = p*.
// m does not increase, since zg(p*c − tanh(zc/2)) ≤ 0 there: tanh(zc/2) is
// concave in c and p* ≤ tanh(z/2). For c = −t < 0: F ≤ ¼ = F(0) ≤ F(c*) follows
// from 2p*t ≤ tanh(zt/2), by the same concavity and p* ≤ ½tanh(z/2). That last
// inequality is p* = zg*(1−g*)(1−c*²) ≤ z/4 refined; the tests check it over
// all z. So the diameter is 2q*, attained by ±q*.
//
// log q is concave in c, so bisection on its derivative brackets c*. √(1−c²) at
// the lower end times g at the upper one is an upper bound.
func (Logistic) Diameter(z, _ float64) float64 {
	lo, hi := 0.0, 1.0
	for range 60 {
		c := (lo + hi) / 2
		if z*sigmoid(-z*c)*(1-float64(c*c)) > c {
			lo = c
		} else {
			hi = c
		}
	}
	return 2 * math.Sqrt(1-float64(lo*lo)) * sigmoid(z*hi) * (1 + 1e-14)
}

// sigmoid is 1/(1 + e^(−t)), without overflow.
func sigmoid(t float64) float64 {
	if t >= 0 {
		return 1 / (1 + math.Exp(-t))
	}
	e := math.Exp(t)
	return e / (1 + e)
}

// softplus is log(1 + e^t), without overflow.
func softplus(t float64) float64 {
	return math.Max(t, 0) + math.Log1p(math.Exp(-math.Abs(t)))
}
