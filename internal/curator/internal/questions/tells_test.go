package questions

import (
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
)

// Workers know what rows of a copy count where each has the share that the copy says at its place, whichever row it would be that has another
// one; and of a file without shares where no persons were given.
func TestWorkersTellEachShare(t *testing.T) {
	known := &blocks.Persons{Shares: []float64{1, 0.5, 0.5, 0.25, 0.75, 0.125, 0.375, 1}, Given: true, Weighted: true}
	r := &remote{owners: known}
	n := len(known.Shares)
	for from := range n {
		for to := from + 1; to <= n; to++ {
			of := &blocks.Persons{Shares: slices.Clone(known.Shares[from:to]), Given: true}
			if !r.Tells(from, of) {
				t.Errorf("rows [%d, %d) of the copy aren't told", from, to)
			}
			for j := range of.Shares {
				of.Shares[j] /= 2
				if r.Tells(from, of) {
					t.Errorf("rows [%d, %d) are told where row %d of them counts half", from, to, j)
				}
				of.Shares[j] *= 2
			}
		}
	}
	given, weighed, counted := &blocks.Persons{Given: true}, &blocks.Persons{}, &blocks.Persons{Shares: []float64{1}}
	for name, c := range map[string]struct {
		known, of *blocks.Persons
		want      bool
	}{
		"a file, no persons": {nil, nil, true}, "a file, weights": {nil, weighed, true}, "a file, persons": {nil, given, false},
		"a copy without shares, no persons": {given, nil, true}, "a copy without shares, persons who count alike": {given, given, true},
		"a copy without shares, shares": {given, counted, false}, "a copy with shares, no persons": {counted, nil, true}, "a copy with shares, the same": {counted, counted, true},
	} {
		if got := (&remote{owners: c.known}).Tells(0, c.of); got != c.want {
			t.Errorf("%s: told is %v", name, got)
		}
	}
}
