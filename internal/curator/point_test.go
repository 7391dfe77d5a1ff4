package curator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The computed score of a query moves by at most the claimed distance when the
// weights move along it, which attains the bound.
func TestScoreSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const d, radius, delta = 40, 2.0, 1e-9
	p := Point{w: make([]float64, d), moves: delta, norm: radius, origin: origin{encoding: NewIdentity(d, 3, false)}}
	claimed := p.ScoreSensitivity()
	worst := 0.0
	for range 1000 {
		u, w, moved := make([]float64, d), make([]float64, d), make([]float64, d)
		for j := range d {
			u[j], w[j] = r.NormFloat64(), r.NormFloat64()
		}
		floats.Scale(3/floats.Norm(u, 2), u)
		floats.Scale((radius-delta)/floats.Norm(w, 2), w)
		floats.AddScaledTo(moved, w, delta/3, u)
		worst = math.Max(worst, math.Abs(floats.Dot(u, moved)-floats.Dot(u, w)))
	}
	if worst > claimed || worst < 3*delta || claimed > 3*delta*(1+1e-4) {
		t.Errorf("scores move by %g, claimed %g", worst, claimed)
	}
}
