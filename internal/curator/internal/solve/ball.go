package solve

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/vector"
)

// BallQuadratic replaces b by the minimiser of ½uᵀHu − bᵀu over ‖u‖ ≤ radius, for
// a positive definite H, in O(d³). Where H⁻¹b lies outside, the multiplier ν ≥ 0
// with ‖(H+νI)⁻¹b‖ = radius is found by Newton's method on 1/‖u(ν)‖, which is
// concave and increasing, so that the iterates rise to the root (Moré and
// Sorensen 1983). It reports false where H is not numerically positive definite.
func BallQuadratic(b []float64, h *mat.SymDense, radius float64) bool {
	n := len(b)
	shifted := mat.NewSymDense(n, nil)
	u, q := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	rhs := mat.NewVecDense(n, b)
	var chol mat.Cholesky
	nu := 0.0
	for range 100 {
		shifted.CopySym(h)
		for j := range n {
			shifted.SetSym(j, j, h.At(j, j)+nu)
		}
		if !chol.Factorize(shifted) || chol.SolveVecTo(u, rhs) != nil {
			return false
		}
		r := vector.Norm(u.RawVector().Data)
		if r <= radius*(1+1e-14) {
			break
		}
		if err := chol.SolveVecTo(q, u); err != nil { // du/dν = −q
			return false
		}
		step := (r/radius - 1) * r * r / mat.Dot(u, q)
		if !(step > 1e-16*nu) || math.IsInf(step, 0) {
			break
		}
		nu += step
	}
	copy(b, u.RawVector().Data)
	vector.Project(b, radius)
	return true
}
