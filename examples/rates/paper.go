package main

import (
	"math"
	"math/rand/v2"
)

// H̃ and ‖Y‖² of ½(z − y)².
const smooth, atZero = 1, 0.5

// paperNoise is σ of Theorem 1, with its G and T = n.
func paperNoise(n int, radius, epsilon float64) float64 {
	largest := 2*math.Sqrt(atZero*smooth) + 2*smooth*radius
	return largest * math.Sqrt(8*math.Log(1/delta)/float64(n)) / epsilon
}

// paperDescent is Algorithm 1 as Theorem 1 of the paper prints it, for a comparison of
// constants only: a Gaussian of double precision protects nobody, and above ε ≈ 8 its
// variance doesn't either. It works on the blocks' means, not on rows. An epsilon of +Inf
// is gradient descent.
func paperDescent(b blocks, epsilon float64, seed uint64) float64 {
	n := float64(b.n)
	sigma := paperNoise(b.n, b.radius, epsilon)
	step := min(b.radius/(math.Sqrt(n)*max(math.Sqrt(smooth*atZero), sigma*math.Sqrt(float64(b.d)))), 0.25/smooth)

	r := rand.New(rand.NewPCG(seed, 2))
	w, total := make([]float64, b.d), make([]float64, b.d)
	for range b.n {
		square := 0.0
		for j := range w {
			gradient := sigma * r.NormFloat64()
			if j < b.count {
				gradient += b.curvature() * (w[j] - b.mean())
			}
			w[j] -= step * gradient
			square += w[j] * w[j]
		}
		shrink := min(1, b.radius/math.Sqrt(square))
		for j := range w {
			w[j] *= shrink
			total[j] += w[j] / n
		}
	}
	return b.excess(total)
}
