package accounting

import (
	"math"
	"testing"
)

// One release more costs something, of any kind and however many there are: on both sides of the numbers of releases that are taken
// together, and beside others.
func TestEachReleaseCosts(t *testing.T) {
	const delta, small, least = 1e-6, 1.0 / 64, 1e-4 // curves are tight to 1e-5 of ε
	for name, of := range map[string]func(n int) *Sequence{
		"Gaussian": func(n int) *Sequence { return Gaussian(small, n, 1) },
		"pure":     func(n int) *Sequence { return Pure(small, n) },
		"ranges":   func(n int) *Sequence { return BoundedRange(small, n) },
		"ranges beside a Gaussian one": func(n int) *Sequence {
			return Compose(BoundedRange(small, n), Gaussian(0.1, 1, 1))
		},
	} {
		for _, n := range []int{1, rangeLot - 1, rangeLot, 2*rangeLot - 1, 2 * rangeLot, 100, 4 * rangeLot} {
			one, more := of(n).Epsilon(delta), of(n+1).Epsilon(delta)
			if !(more > one*(1+least)) {
				t.Errorf("%s: ε is %.9g for %d releases, %.9g for one more", name, one, n, more)
			}
		}
	}
}

// firstIndex is the least index that is right, whichever it is, or its limit.
func TestFirstIndexIsTheFirst(t *testing.T) {
	const limit = maxCells / 2
	for _, want := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 1023, 1024, 1025, limit/2 - 1, limit / 2, limit/2 + 1, limit - 1, limit} {
		if got := firstIndex(func(i int) bool { return i >= want }); got != want {
			t.Errorf("the first is %d, want %d", got, want)
		}
	}
	for _, from := range []int{limit + 1, 2 * limit, math.MaxInt} {
		if got := firstIndex(func(i int) bool { return i >= from }); got != limit {
			t.Errorf("where it is %d, it is %d, want the limit %d", from, got, limit)
		}
	}
}
