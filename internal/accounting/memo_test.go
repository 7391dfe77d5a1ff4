package accounting

import (
	"errors"
	"slices"
	"testing"
)

// What is kept is of the very query: one that differs in a single number is computed anew, an error is kept as a value is, and the earliest is
// forgotten.
func TestMemoTellsQueriesApart(t *testing.T) {
	base := query{Objective{Ratio: 0.1, LogDet: 0.2, OutputMu: 0.3, Dim: 4, Releases: 5}, 1, 1e-6}
	queries := slices.Repeat([]query{base}, 8)
	queries[1].Ratio, queries[2].LogDet, queries[3].OutputMu, queries[4].Dim = 0.11, 0.21, 0.31, 5
	queries[5].Releases, queries[6].epsilon, queries[7].delta = 6, 1.1, 2e-6
	var m memo
	refused := errors.New("refused")
	computed := 0
	get := func(i int) (float64, error) {
		return m.get(queries[i], func() (float64, error) {
			computed++
			if i == 3 {
				return 0, refused
			}
			return float64(i), nil
		})
	}
	for range 2 {
		for i := range queries {
			v, err := get(i)
			if want := float64(i); i != 3 && (v != want || err != nil) || i == 3 && err != refused {
				t.Errorf("query %d: %g (%v)", i, v, err)
			}
		}
	}
	if computed != len(queries) {
		t.Errorf("%d of %d queries were computed", computed, len(queries))
	}
	for k := range maxKept {
		q := base
		q.Dim = 100 + k
		if _, err := m.get(q, func() (float64, error) { return 0, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := get(0); err != nil || computed != len(queries)+1 || len(m.kept) != maxKept {
		t.Errorf("%d were computed, and %d are kept (%v)", computed, len(m.kept), err)
	}
}

// A curve of ranges, and a grid of a composition, is what it is when nothing was asked before, whatever was.
func TestWhatIsKeptIsWhatWasAsked(t *testing.T) {
	for range 2 {
		for _, eps := range []float64{0.5, 0.5 * (1 + 1e-9), 0.503} {
			for k := 1; k < 5; k++ {
				for _, parts := range []int{1, 1000} {
					got := rangesFor(eps, k, parts)
					want := newRanges(table{eps, k, int(eps/got.step + 0.5)})
					if got.step != want.step || !slices.Equal(got.values, want.values) {
						t.Errorf("%d releases of range %g: another curve than that of nothing before", k, eps)
					}
				}
			}
		}
	}
	of := func() *composition { return Compose(Pure(0.3, 3), Gaussian(0.5, 1, 1)).numeric }
	kept := of()
	for _, exponent := range []int{-4, -6, -5, -6, -4} {
		got, want := kept.grid(exponent), of().grid(exponent)
		if got.exponent != exponent || got.low != want.low || got.top != want.top || !slices.Equal(got.mass, want.mass) {
			t.Errorf("steps of 2^%d: a grid of 2^%d, or another one than that of nothing before", exponent, got.exponent)
		}
	}
}
