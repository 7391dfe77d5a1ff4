package losses

import (
	"math"

	"github.com/dpglm/dpglm/internal/kernel"
)

// Poisson is the negative log-likelihood of a count y with the mean e^z, less its
// smallest value: e^z − yz + y·log y − y, with 0·log 0 = 0. It is convex but
// neither smooth nor Lipschitz on the whole line: where scores can leave the ball
// use [Extended] or [CappedPoisson].
type Poisson struct{}

// Name is "poisson".
func (Poisson) Name() string { return "poisson" }

// Labels is Count.
func (Poisson) Labels() Labels { return Count }

// Link is Log.
func (Poisson) Link() Link { return Log }

// Value is e^z − yz + y·log y − y, which rounding may not take below 0.
func (l Poisson) Value(z, y float64) float64 { return l.at(z, y) }

func (Poisson) at(z, y float64) float64 {
	return math.Max(0, math.Exp(z)-float64(y*z)+entropy(y))
}

// Deriv is e^z − y.
func (Poisson) Deriv(z, y float64) float64 { return kernel.Exp(z) - y }

// Curvature is e^z.
func (Poisson) Curvature(z, _ float64) float64 { return math.Exp(z) }

// Constants hold on |z| ≤ Z only, the smoothness e^Z included. The loss is
// convex in z and in y, so they are attained at z = ±Z and y ∈ {0, Y}. They are
// +Inf from Z ≈ 709 on.
func (p Poisson) Constants(z, y float64) Constants {
	top := math.Exp(z)
	return Constants{
		AtZero:     math.Max(1, 1+entropy(y)),
		Value:      max(top, p.at(z, y), p.at(-z, y)),
		Slope:      math.Max(top, y-math.Exp(-z)),
		Smoothness: top,
		Lipschitz:  math.Inf(1),
	}
}

// poissonLeaf is the width of the score intervals of Poisson's diameter, and of
// the grid that z is rounded up on: each costs at most a factor e^(1/256).
const poissonLeaf = 1.0 / 256

var poissonDiameters memo

// Diameter is what spread finds for slopes in [e^t − Y, e^t], with z rounded up
// to a grid: within 1 % of the diameter. Where e^z ≈ eY it is 0.5 to 0.65 of
// twice the largest slope, and for longer w half of it, since only rows along w
// have the largest slopes. It takes about a tenth of a millisecond for each new
// point of the grid and label bound, and otherwise nanoseconds.
func (p Poisson) Diameter(z, y float64) float64 {
	twice := 2 * p.Constants(z, y).Slope
	if z == 0 || math.IsInf(twice, 1) {
		return twice
	}
	k := math.Ceil(z / poissonLeaf)
	return math.Min(twice, poissonDiameters.get(k, y, func() float64 {
		return spread(func(t float64) float64 { return math.Exp(t) - y }, math.Exp, k*poissonLeaf, poissonLeaf)
	}))
}

// entropy is y·log y − y, which is 0 at 0.
func entropy(y float64) float64 {
	if y == 0 {
		return 0
	}
	return float64(y*math.Log(y)) - y
}
