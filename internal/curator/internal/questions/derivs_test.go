package questions

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// Losses that embed a fast one and have another derivative.
type (
	halfLogistic struct{ losses.Logistic }
	halfSquared  struct{ losses.Squared }
	halfPoisson  struct{ losses.Poisson }
	halfCapped   struct{ losses.CappedPoisson }
)

func (l halfLogistic) Deriv(z, y float64) float64 { return l.Logistic.Deriv(z, y) / 2 }
func (l halfSquared) Deriv(z, y float64) float64  { return l.Squared.Deriv(z, y) / 2 }
func (l halfPoisson) Deriv(z, y float64) float64  { return l.Poisson.Deriv(z, y) / 2 }
func (l halfCapped) Deriv(z, y float64) float64   { return l.CappedPoisson.Deriv(z, y) / 2 }

// derivs returns the bits of Deriv, for every loss and length, at scores of all
// magnitudes.
func TestDerivs(t *testing.T) {
	others := []losses.Loss{
		losses.Extended{Inner: losses.Poisson{}, Limit: 5}, losses.Extended{Inner: losses.Logistic{}, Limit: 2},
		halfLogistic{}, halfSquared{}, halfPoisson{}, losses.CappedPoisson{Cap: 20}, losses.CappedPoisson{Cap: 1e6},
		halfCapped{losses.CappedPoisson{Cap: 20}}, losses.Extended{Inner: losses.CappedPoisson{Cap: 20}, Limit: 2}, losses.Extended{Inner: halfLogistic{}, Limit: 2},
	}
	for _, l := range append(others, every...) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 50 {
			z, y, want := make([]float64, n), make([]float64, n), make([]float64, n)
			for k := range z {
				z[k] = math.Ldexp(r.NormFloat64(), r.IntN(16)-4)
				switch l.Labels() {
				case losses.Binary:
					y[k] = math.Copysign(1, r.Float64()-0.5)
				case losses.Count:
					y[k] = float64(r.IntN(50))
				default:
					y[k] = 4 * r.NormFloat64()
				}
				want[k] = l.Deriv(z[k], y[k])
			}
			derivs(l, z, y)
			for k := range z {
				if math.Float64bits(z[k]) != math.Float64bits(want[k]) {
					t.Fatalf("%s: derivative %d of %d is %g, want %g", l.Name(), k, n, z[k], want[k])
				}
			}
		}
	}
}
