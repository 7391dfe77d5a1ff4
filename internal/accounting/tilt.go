package accounting

import "math"

// tailTilt returns a θ, per cell, at which the tilted convolution sits where its
// upper tail is about e^-25: with the plain one, good down to about e^-20, that
// serves tails down to 1e-30. Any θ would give upper bounds.
func tailTilt(logA, logB []float64) float64 {
	theta := 16 / float64(len(logA)+len(logB))
	for ; theta < 1; theta *= 1.5 {
		kA, meanA := cumulant(logA, theta)
		kB, meanB := cumulant(logB, theta)
		if kA+kB-theta*(meanA+meanB) < -25 {
			break
		}
	}
	return theta
}

// cumulant returns the logarithm of Σ m_i·e^{θi} and the tilted mean of i.
func cumulant(logs []float64, theta float64) (k, mean float64) {
	_, best := peak(logs, theta)
	var sum, first float64
	for i, l := range logs {
		if v := l + theta*float64(i) - best; v > -40 {
			w := math.Exp(v)
			sum += w
			first += w * float64(i)
		}
	}
	return math.Log(sum) + best, first / sum
}
