package accounting

import "math"

// mills returns Φ(−t)/φ(t), the Mills ratio of the standard normal, with a
// relative error below millsError for t ≥ −37.
func mills(t float64) float64 {
	if t < 5 {
		return math.Sqrt(math.Pi/2) * math.Exp(t*t/2) * math.Erfc(t/math.Sqrt2)
	}
	// Laplace's continued fraction t + 1/(t + 2/(t + 3/…)), evaluated from the
	// back; all terms are positive, and 60 of them leave less than 1e-16 at t=5.
	tail := t
	for k := 60.0; k >= 1; k-- {
		tail = t + k/tail
	}
	return 1 / tail
}

// millsError bounds the relative error of mills: the argument's rounding is
// amplified by t² ≤ 25 (t < 5) or by |t|² ≤ 1369 for negative t.
const millsError = 4e-13

// logPhi returns log Φ(x), the logarithm of the normal distribution function.
func logPhi(x float64) float64 {
	if x > -5 {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	return -x*x/2 - 0.5*math.Log(2*math.Pi) + math.Log(mills(-x))
}
