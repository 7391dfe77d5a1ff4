package losses

import (
	"math"
	"sync/atomic"
)

// diameters keeps what spread finds for one kind of loss, as memo does, for losses with
// parameters.
type diameters [1 << 12]atomic.Pointer[knownDiameter]

type diameterKey struct {
	z  float64
	of [3]float64 // label bound and parameters
}

type knownDiameter struct {
	diameterKey
	value float64
}

// within bounds the diameter for ‖w‖ = z, where slopes at the score t lie in [lo(t), hi(t)],
// both of which rise with t, and no slope is longer than half of twice. z is rounded up to a
// multiple of a 256th, or of the power of two next to a thousandth of it: both are a leaf of
// spread.
func (m *diameters) within(twice, z float64, of [3]float64, lo, hi func(t float64) float64) float64 {
	if !(z > 0) || math.IsInf(twice, 1) || math.IsInf(z, 1) {
		return twice
	}
	_, exponent := math.Frexp(z)
	leaf := math.Ldexp(1, max(-8, exponent-10))
	k := math.Ceil(z / leaf)
	key := diameterKey{float64(k * leaf), of}
	slot := &m[(uint64(k)^math.Float64bits(leaf)>>52)%uint64(len(m))]
	e := slot.Load()
	if e == nil || e.diameterKey != key {
		e = &knownDiameter{key, spread(onGrid(lo, int(k), leaf), onGrid(hi, int(k), leaf), key.z, leaf)}
		slot.Store(e)
	}
	return math.Min(twice, e.value)
}

// onGrid is f at the multiples of leaf up to ±k, computed once each.
func onGrid(f func(t float64) float64, k int, leaf float64) func(t float64) float64 {
	known, values := make([]bool, 2*k+1), make([]float64, 2*k+1)
	return func(t float64) float64 {
		i := k + int(t/leaf)
		if !known[i] {
			known[i], values[i] = true, f(t)
		}
		return values[i]
	}
}
