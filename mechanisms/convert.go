package mechanisms

// PureEpsilonWithin returns the largest ε for which every ε-DP release is μ-GDP,
// rounded down: μ = −2Φ⁻¹(1/(1+e^ε)) solved for ε [DRS22, Proposition 2.12 with
// the trade-off function of randomized response].
func PureEpsilonWithin(mu float64) float64 {
	return (logPhi(mu/2) - logPhi(-mu/2)) * (1 - 1e-11)
}
