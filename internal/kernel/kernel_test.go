package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// eachLevel runs f at all levels of this machine.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for l, name := range []string{"portable", "AVX2", "AVX-512"} {
		if level(l) <= detect() {
			t.Run(name, func(t *testing.T) { at(t, level(l)); f(t) })
		}
	}
}

// at sets the level until the test ends.
func at(t testing.TB, l level) {
	t.Cleanup(func() { active = detect() })
	active = l
}

// fill fills x with nasty numbers.
func fill(r *rand.Rand, x []float64) {
	for i := range x {
		x[i] = nasty(r)
	}
}

// sameBits reports the first number whose bits differ.
func sameBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Fatalf("%s: element %d is %b, want %b", what, i, got[i], want[i])
		}
	}
}
