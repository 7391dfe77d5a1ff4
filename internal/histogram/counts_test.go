package histogram

import (
	"math"
	"slices"
	"testing"
)

// An area counts pairs of a one above a zero, and half of those within a cell.
func TestAUC(t *testing.T) {
	for _, c := range []struct {
		ones, zeros []float64
		want        float64
	}{
		{[]float64{0, 3}, []float64{5, 0}, 1},
		{[]float64{3, 0}, []float64{0, 5}, 0},
		{[]float64{2}, []float64{7}, 0.5},
		{[]float64{1, 2, 1}, []float64{2, 1, 1}, (1*1 + 2*2.5 + 1*3.5) / 16.0},
	} {
		if got := AUC(c.ones, c.zeros); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("ones %v, zeros %v: %g, want %g", c.ones, c.zeros, got, c.want)
		}
	}
}

// The nearest counts that are not negative keep the sum, and take the same from all that stay.
func TestNonnegative(t *testing.T) {
	got := Nonnegative([]float64{5, -2, 1, 4}, 8)
	var sum float64
	for _, v := range got {
		sum += v
	}
	if want := [4]float64{5 - 2.0/3, 0, 1 - 2.0/3, 4 - 2.0/3}; math.Abs(sum-8) > 1e-12 || math.Abs(got[0]-want[0]) > 1e-12 || got[1] != 0 || math.Abs(got[2]-want[2]) > 1e-12 || math.Abs(got[3]-want[3]) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

// The area of normal laws lies between that under chords and all that may lie above these, and a third of this is nearer to it by far the
// narrower the cells are. Turned around it is as much below. Cells of nothing change nothing.
func TestOverChords(t *testing.T) {
	below := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	const apart, end = 1.5, 8
	exact := below(apart / math.Sqrt2)
	for cells, nearer := range map[int]float64{16: 0.2, 32: 0.1, 64: 0.02} {
		zeros, ones := make([]float64, cells), make([]float64, cells)
		for k := range cells {
			low, high := float64(2*end*k)/float64(cells)-end, float64(2*end*(k+1))/float64(cells)-end
			zeros[k], ones[k] = below(high)-below(low), below(high-apart)-below(low-apart)
		}
		chords, over := AUC(ones, zeros), OverChords(ones, zeros)
		if off := math.Abs(chords+over/3-exact) / (exact - chords); !(chords < exact && exact < chords+over && off < nearer) {
			t.Errorf("%d cells: %.5f and %.5f, want %.5f (%.3f)", cells, chords, over, exact, off)
		}
		if got := OverChords(zeros, ones); math.Abs(got+over) > 1e-12 {
			t.Errorf("%d cells: turned around %.5f", cells, got)
		}
		if got := OverChords(slices.Insert(ones, cells/2, 0), slices.Insert(zeros, cells/2, 0)); math.Abs(got-over) > 1e-12 {
			t.Errorf("%d cells: %.5f with one more", cells, got)
		}
	}
	if got := OverChords(make([]float64, 3), []float64{1, 2, 3}); got != 0 || !math.IsNaN(AUC(make([]float64, 3), []float64{1, 2, 3})) {
		t.Errorf("%g of no ones", got)
	}
}

// Where one cell stands out and the other rows are too many for noise the range is one that may hold them, and else it stays.
func TestRangesHoldRows(t *testing.T) {
	edges := ScoreEdges(20)
	counts := make([]float64, len(edges)+1)
	counts[5] = 500
	for _, v := range []struct {
		others float64
		end    bool
	}{{5, false}, {50, true}} {
		for k := 20; k < 40; k++ {
			counts[k] = v.others
		}
		list, _ := Cuts(edges, counts, 20, 8)
		if far := list[len(list)-1] > 0; far != v.end || list[0] > edges[4] {
			t.Errorf("%g others: from %g to %g", v.others, list[0], list[len(list)-1])
		}
	}
}
