package accounting

import "math"

// up is a factor that covers the rounding of a few operations.
const up = 1 + 8e-16

// capped rounds a δ up; none exceeds 1.
func capped(d float64) float64 { return math.Min(1, d*up) }

// leastDelta stands for every positive δ below it, so that none is taken for 0.
const leastDelta = 0x1p-1000

// fromLog returns e^log, rounded up: 0 for −Inf only.
func fromLog(log float64) float64 {
	if math.IsInf(log, -1) {
		return 0
	}
	return capped(math.Max(leastDelta, math.Exp(log)))
}

// addUp and multiplyUp round up, and not where the result is exact.
func addUp(a, b float64) float64 {
	s := a + b
	bb := s - a
	return above(s, (a-(s-bb))+(b-bb))
}

func multiplyUp(a, b float64) float64 {
	p := float64(a * b)
	return above(p, math.FMA(a, b, -p))
}

func above(v, rounded float64) float64 {
	if rounded > 0 {
		return math.Nextafter(v, math.Inf(1))
	}
	return v
}

// toLog returns an upper bound on log d.
func toLog(d float64) float64 {
	v := math.Log(d)
	if math.IsInf(v, -1) {
		return v
	}
	return v + 4e-16*math.Abs(v)
}
