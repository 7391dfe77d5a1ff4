package losses

import "github.com/dpglm/dpglm/internal/kernel"

// Derivs sets z_k to φ'_{y_k}(z_k), the same bits that Deriv returns. The slices
// must have the same length.
//
// The faster forms go by the loss's own type, not by a method: a loss that embeds
// one of these and has another Deriv would inherit the method.
func Derivs(l Loss, z, y []float64) {
	switch l := l.(type) {
	case Logistic:
		kernel.LogisticSlopes(z, y)
	case Poisson:
		kernel.Exps(z)
		subtract(z, y)
	case Squared:
		subtract(z, y)
	case extended:
		for k, score := range z {
			z[k] = l.hold(score)
		}
		Derivs(l.inner, z, y)
	default:
		for k, score := range z {
			z[k] = l.Deriv(score, y[k])
		}
	}
}

func subtract(z, y []float64) {
	for k, label := range y {
		z[k] -= label
	}
}
