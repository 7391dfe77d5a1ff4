package losses

import (
	"math"

	"github.com/dpglm/dpglm/internal/kernel"
)

// Probit is the negative log-likelihood −log Φ(yz) of y = ±1, which has the probability
// Φ(yz), Φ being the normal distribution function.
//
// With h(t) = φ(t)/Φ(t), φ the normal density, the derivative in t = yz is −h(t), which is
// close to t where t is far below 0: the loss isn't Lipschitz. The second one is
// h(t)·(t + h(t)) = 1 − Var(N | N < t) for a normal N, hence between 0 and 1: the loss is
// convex, and 1-smooth on the whole line. As a normal law is log-concave, that variance
// grows with t (Burdett 1996), so that the curvature falls.
type Probit struct{}

// Name is "probit".
func (Probit) Name() string { return "probit" }

// Labels is Binary.
func (Probit) Labels() Labels { return Binary }

// Link is ProbitLink.
func (Probit) Link() Link { return ProbitLink }

// Value is −log Φ(yz).
func (l Probit) Value(z, y float64) float64 { return l.at(y * z) }

func (Probit) at(t float64) float64 {
	switch {
	case t <= -seam:
		return float64(t*t/2) + math.Log(math.Sqrt(2*math.Pi)*(beyond(-t)-t))
	case t < seam:
		return -math.Log(0.5 + float64(density(t)*inner(t)))
	}
	return -math.Log1p(-density(t) / (t + beyond(t)))
}

// Deriv is −y·h(yz).
func (Probit) Deriv(z, y float64) float64 { return -y * hazard(y*z) }

// Curvature is h(yz)·(yz + h(yz)).
func (Probit) Curvature(z, y float64) float64 { return probitCurvature(y * z) }

// probitCurvature is h(t)·(t + h(t)).
func probitCurvature(t float64) float64 {
	if t <= -seam {
		c := beyond(-t)
		return math.Min(1, c*(c-t))
	}
	h := hazard(t)
	return h * (t + h)
}

// probitError bounds relative errors of the functions below, and of products of two: of
// positive terms with a few roundings each, of which ½ − (½ − Φ(t)) keeps all but a 22nd.
const probitError = 1e-13

// Constants are attained at yz = −Z.
func (l Probit) Constants(z, _ float64) Constants {
	up := 1 + probitError
	return Constants{
		AtZero:     math.Ln2,
		Value:      up * l.at(-z),
		Slope:      up * hazard(-z),
		Smoothness: math.Min(1, up*probitCurvature(-z)),
		Lipschitz:  math.Inf(1),
	}
}

var probitDiameters diameters

// Diameter is what spread finds for the slopes h(−t) of the label −1: a row x of the label 1
// has the gradient of −x with that label. They rise with the score, by less than 1 a unit.
func (l Probit) Diameter(z, y float64) float64 {
	slope := func(t float64) float64 { return hazard(-t) }
	return probitDiameters.within(2*l.Constants(z, y).Slope, z, [3]float64{}, slope, slope)
}

// hazard is h(t) = φ(t)/Φ(t).
func hazard(t float64) float64 {
	switch {
	case t <= -seam:
		return beyond(-t) - t
	case t < seam:
		return density(t) / (0.5 + float64(density(t)*inner(t)))
	}
	return density(t) / (1 - density(t)/(t+beyond(t)))
}

// density is φ(t).
func density(t float64) float64 {
	return kernel.Exp(-t*t/2) * (1 / (math.Sqrt2 * math.SqrtPi))
}

// seam is where the two expansions meet.
const seam = 2

// beyond is φ(t)/Φ(−t) − t for t ≥ seam, by Laplace's continued fraction 1/(t + 2/(t + 3/…))
// from the back. All its terms are positive, and 14 + 450/t² of them leave a relative error
// below 1e-16.
func beyond(t float64) float64 {
	tail := t
	for k := math.Ceil(14 + 450/(t*t)); k >= 2; k-- {
		tail = t + k/tail
	}
	return 1 / tail
}

// inner is (Φ(t) − ½)/φ(t) for |t| < seam, the sum of t^(2k+1)/(1·3···(2k+1)), of which 30
// terms leave less than 1e-17.
func inner(t float64) float64 {
	term, sum := t, t
	for k := 3.0; k <= 61; k += 2 {
		term = float64(term * t * t / k)
		sum += term
	}
	return sum
}
