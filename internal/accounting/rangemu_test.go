package accounting

import (
	"math"
	"testing"
)

// Of a bounded range of ε, for groups of k rows of kε, the μ that is claimed is above each pair of two outcomes with losses t and t − kε, wherever t
// lies, and is reached at t = kε/2. What that rests on, that the image of an interval of log-odds under Φ⁻¹ of the logistic is longest
// around 0, is checked on the way. A claim of 0.999 of the μ fails, as does the middle taken for the end.
func TestRangeToMu(t *testing.T) {
	const steps = 400
	for _, eps := range []float64{0.01, 0.3, 1, 4, 12} {
		for _, k := range []float64{1, 2, 5} {
			width := k * eps
			mu := (boundedRange{eps: eps}).group(k).Mu()
			if single := (boundedRange{eps: eps}).gdp().mu; mu > k*single*(1+1e-12) {
				t.Errorf("range %g, %g rows: μ = %g, more than %g times %g", eps, k, mu, k, single)
			}
			worst := 0.0
			for j := 1; j < steps; j++ {
				at := width * float64(j) / steps
				all := math.Log(-math.Expm1(-width))
				p, notP := math.Log(-math.Expm1(at-width))-all, at-width+math.Log(-math.Expm1(-at))-all // logs, of the outcome with this loss
				worst = math.Max(worst, quantile(p, notP)-quantile(p-at, notP-(at-width)))
			}
			if worst > mu*(1+1e-9) || worst < mu*(1-1e-6) {
				t.Errorf("range %g, %g rows: pairs of two outcomes reach μ = %.9g, claimed %.9g", eps, k, worst, mu)
			}
		}
	}
}

// quantile is Φ⁻¹ of a probability, by the logarithms of it and of what is left of 1.
func quantile(log, left float64) float64 {
	if left < log {
		return -quantile(left, log)
	}
	lo, hi := -40.0, 0.0
	for range 200 {
		if mid := (lo + hi) / 2; logPhi(mid) < log {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
