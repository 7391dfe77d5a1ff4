package questions

import (
	"math"

	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/losses"
)

// derivs sets z_k to φ'_{y_k}(z_k), the same bits that Deriv returns. The slices
// must have the same length.
//
// The faster forms go by the loss's own type, not by a method: a loss that embeds
// one of these and has another Deriv would inherit the method.
func derivs(l losses.Loss, z, y []float64) {
	switch l := l.(type) {
	case losses.Logistic:
		kernel.LogisticSlopes(z, y)
	case losses.Poisson:
		kernel.Exps(z)
		subtract(z, y)
	case losses.CappedPoisson:
		holdMeans(l, z, y)
		kernel.Exps(z)
		subtract(z, y)
	case losses.Squared:
		subtract(z, y)
	case losses.Extended:
		for k, score := range z {
			z[k] = l.Hold(score)
		}
		derivs(l.Inner, z, y)
	default:
		for k, score := range z {
			z[k] = l.Deriv(score, y[k])
		}
	}
}

// holdMeans holds scores as CappedPoisson does, with one logarithm for the labels that
// the cap is meant for.
func holdMeans(l losses.CappedPoisson, z, y []float64) {
	top := l.Hold(math.Inf(1), 0)
	for k, score := range z {
		if y[k] > l.Cap {
			z[k] = l.Hold(score, y[k])
		} else {
			z[k] = math.Min(score, top)
		}
	}
}

func subtract(z, y []float64) {
	for k, label := range y {
		z[k] -= label
	}
}
