package main

import (
	"math/rand/v2"
	"testing"
)

// The plain read reads everything: its sum is that of 32 partial sums, also without
// assembly.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		var s, portable [32]float64
		var want float64
		for i, v := range x {
			s[i%32] += v
		}
		for _, v := range s {
			want += v
		}
		if got := sum(x); got != want {
			t.Errorf("%d numbers: %g, want %g", n, got, want)
		}
		if n%32 == 0 {
			if addPartsGo(&portable, x); portable != s {
				t.Errorf("%d numbers: partial sums %g without assembly, want %g", n, portable, s)
			}
		}
	}
}
