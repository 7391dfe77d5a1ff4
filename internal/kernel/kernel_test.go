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

// kind draws numbers for an operation's arguments.
type kind func(r *rand.Rand) float64

// kinds are numbers that a sum in another order gets wrong, and numbers of one size, of
// which none is lost beside the others.
var kinds = []kind{nasty, func(r *rand.Rand) float64 { return r.Float64() - 0.5 }}

// nasty draws numbers of all magnitudes whose products stay finite, denormals and
// zeros among them.
func nasty(r *rand.Rand) float64 {
	switch v := math.Copysign(1+r.Float64(), r.Float64()-0.5); r.IntN(8) {
	case 0:
		return 0
	case 1:
		return math.Ldexp(v, -1074+r.IntN(60))
	case 2:
		return math.Ldexp(v, 400-r.IntN(800))
	default:
		return v
	}
}

// fill fills x.
func (k kind) fill(r *rand.Rand, x []float64) {
	for i := range x {
		x[i] = k(r)
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
