package estimate

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// What quadrature and search take.
const (
	nodes   = 48 // of Gauss and Hermite's rule
	farBias = 20 // by which an intercept moves for a mean, at most
)

// logistic are probabilities 1/(1 + e^{−b−rZ}) for a normal Z.
type logistic struct{ b, r float64 }

// projection is ψ(r), the mean of Z times the probability; it increases in r.
func (l logistic) projection() float64 {
	return normalMean(func(z float64) float64 { return z * l.at(z) })
}

// mean is the mean probability; it increases in b.
func (l logistic) mean() float64 { return normalMean(l.at) }

// withMean are those of a given mean, which increases in b, and of scores that are r long.
func (l logistic) withMean(mean, r float64) logistic {
	return logistic{crossing(l.b-farBias, l.b+farBias, func(b float64) bool { return logistic{b, r}.mean() < mean }), r}
}

// curvature is the mean of p(1 − p).
func (l logistic) curvature() float64 {
	return normalMean(func(z float64) float64 { return l.at(z) * (1 - l.at(z)) })
}

func (l logistic) at(z float64) float64 { return 1 / (1 + math.Exp(-l.b-float64(l.r*z))) }

// normalMean is the mean of f(Z) for a normal Z, by Gauss and Hermite's rule.
func normalMean(f func(z float64) float64) float64 {
	var sum float64
	var x, weight [nodes]float64
	quad.Hermite{}.FixedLocations(x[:], weight[:], math.Inf(-1), math.Inf(1))
	for i, v := range x {
		sum += float64(weight[i] * f(math.Sqrt2*v))
	}
	return sum / math.Sqrt(math.Pi)
}
