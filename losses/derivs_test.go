package losses

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Losses that embed a fast one and have another derivative.
type (
	halfLogistic struct{ Logistic }
	halfSquared  struct{ Squared }
	halfPoisson  struct{ Poisson }
)

func (l halfLogistic) Deriv(z, y float64) float64 { return l.Logistic.Deriv(z, y) / 2 }
func (l halfSquared) Deriv(z, y float64) float64  { return l.Squared.Deriv(z, y) / 2 }
func (l halfPoisson) Deriv(z, y float64) float64  { return l.Poisson.Deriv(z, y) / 2 }

// Derivs returns the bits of Deriv, for every loss and length, at scores of all
// magnitudes.
func TestDerivs(t *testing.T) {
	others := []Loss{
		Extend(Poisson{}, 5), Extend(Logistic{}, 2), userSquared, userLogistic,
		halfLogistic{}, halfSquared{}, halfPoisson{}, Extend(halfLogistic{}, 2),
	}
	for _, l := range append(others, builtin...) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 50 {
			z, y, want := make([]float64, n), make([]float64, n), make([]float64, n)
			for k := range z {
				z[k] = math.Ldexp(r.NormFloat64(), r.IntN(16)-4)
				switch l.Labels() {
				case Binary:
					y[k] = math.Copysign(1, r.Float64()-0.5)
				case Count:
					y[k] = float64(r.IntN(50))
				default:
					y[k] = 4 * r.NormFloat64()
				}
				want[k] = l.Deriv(z[k], y[k])
			}
			Derivs(l, z, y)
			for k := range z {
				if math.Float64bits(z[k]) != math.Float64bits(want[k]) {
					t.Fatalf("%s: derivative %d of %d is %g, want %g", l.Name(), k, n, z[k], want[k])
				}
			}
		}
	}
}
