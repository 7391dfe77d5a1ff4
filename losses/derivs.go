package losses

import "github.com/dpglm/dpglm/internal/kernel"

// vectorial is a loss whose derivatives at many scores cost less than one by one.
type vectorial interface {
	derivs(z, y []float64)
}

// Derivs sets z_k to φ'_{y_k}(z_k), the same bits that Deriv returns. The slices
// must have the same length.
func Derivs(l Loss, z, y []float64) {
	if v, ok := l.(vectorial); ok {
		v.derivs(z, y)
		return
	}
	for k, score := range z {
		z[k] = l.Deriv(score, y[k])
	}
}

func (Logistic) derivs(z, y []float64) { kernel.LogisticSlopes(z, y) }

func (Poisson) derivs(z, y []float64) {
	kernel.Exps(z)
	Squared{}.derivs(z, y)
}

func (Squared) derivs(z, y []float64) {
	for k, label := range y {
		z[k] -= label
	}
}

func (l extended) derivs(z, y []float64) {
	for k, score := range z {
		z[k] = l.hold(score)
	}
	Derivs(l.inner, z, y)
}
