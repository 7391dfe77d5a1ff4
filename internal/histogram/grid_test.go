package histogram

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Every value that a number can have is in the cells or within one beyond, and no edge is on a
// whole number, or on the origin.
func TestGridsHoldWhatCanBe(t *testing.T) {
	for _, c := range []struct {
		of     Numbers
		cells  int
		first  float64 // edge
		shifts int
	}{
		{Numbers{Low: -4, High: 1, Whole: true}, 20, 0.5, 1},
		{Numbers{Low: -39, High: 1, Whole: true}, 20, 0.5, 2},
		{Numbers{Low: -159, High: 1, Whole: true}, 20, -0.5, 4},
		{Numbers{Low: -5, High: 5, Origin: 5}, 40, 4.96875, 4},
		{Numbers{Low: -500, High: 300, Origin: 5}, 40, 297.5, 4},
	} {
		g := c.of.Grid(c.of.Low, c.of.High, c.cells)
		first, last := g.Edges(0), g.Edges(g.Shifts-1)
		narrow := g.Step / float64(g.Shifts)
		apart := narrow
		if c.of.Whole {
			apart = 1
		}
		if first[0] != c.first || g.Shifts != c.shifts || math.Mod(g.High-c.of.Origin-apart/2, apart) != 0 {
			t.Errorf("%+v: %+v", c.of, g)
		}
		// the cells beyond, of the grids that reach least far
		if last[0]+g.Step < c.of.High || first[g.Cells]-g.Step > c.of.Low {
			t.Errorf("%+v: edges from %g to %g, in steps of %g", c.of, last[0], first[g.Cells], g.Step)
		}
		if first[0] > c.of.High || last[g.Cells] < c.of.Low-g.Step || g.Cells > c.cells+2 {
			t.Errorf("%+v: %+v", c.of, g)
		}
	}
}

// Overlaid grids have the mean of their counts, and the moments of what lies at one place,
// wherever that is in a cell of the first.
func TestOverlaidMoments(t *testing.T) {
	g := Grid{High: 2, Step: 1, Cells: 4, Shifts: 4}
	for at := 1.875; at > -2; at -= 0.25 {
		lists := make([][]float64, g.Shifts)
		for k := range lists {
			lists[k] = make([]float64, g.Cells+2)
			j := 0
			for _, e := range g.Edges(k) {
				if at < e {
					j++
				}
			}
			lists[k][j] = 3
		}
		mean, square := g.Moments(Overlay(lists))
		if narrow := 0.25; math.Abs(mean-at) > 1e-12 || math.Abs(square+narrow*narrow/12-at*at) > 1e-12 {
			t.Errorf("at %g a mean of %g and a mean square of %g", at, mean, square)
		}
	}
}

// Of an exponential law what lies beyond a grid is found, on the side where it is, and by the
// slower law more of it; and rows that are counted there may lie farther out, as may those that noise hides, on either side.
func TestTailsBeyondAGrid(t *testing.T) {
	g := Grid{High: 4, Step: 0.5, Cells: 9, Shifts: 1, Least: -50, Most: 50}
	counts := make([]float64, g.Cells+2)
	upTo := func(k int) float64 { // of cells up to the k-th, but the lowest of which holds none
		return 1e4 * math.Exp(-math.Max(0, g.High-float64(g.Step*float64(k))))
	}
	counts[0] = upTo(0)
	for k := 1; k <= g.Cells; k++ {
		counts[k] = upTo(k) - upTo(k-1)
	}
	h, slow := g.Beyond(counts, 1, 0, false), g.Beyond(counts, 1, 0, true)
	below, above, square := g.MayHide(counts, 1, 0)
	part := math.Exp(-4.25)
	if math.Abs(h.Mean/part-1) > 0.02 || math.Abs(h.Square/(part*10.5)-1) > 0.02 {
		t.Errorf("%+v, of a part of %g", h, part)
	}
	if !(slow.Square > 1.1*h.Square && slow.Square < 3*h.Square && slow.Mean > h.Mean) {
		t.Errorf("%+v, by a slower law %+v", h, slow)
	}
	rows, n := counts[0], floats.Sum(counts)
	if want := (rows + 1) / n * 4.25 * (1 - 4.25/50); math.Abs(above.ByLaw/want-1) > 1e-9 || math.Abs(above.AtMost/((rows+1)/n*45.75)-1) > 1e-9 {
		t.Errorf("%+v above, want %g", above, want)
	}
	if want := 1 / n * (1.75 + 2.5*math.Log(50/2.5)); math.Abs(below.ByLaw/want-1) > 1e-9 { // where none are seen, from half the width
		t.Errorf("%+v below, want %g", below, want)
	}
	if want := 2/n*(rows+1)*4.25*4.25*math.Log(50/4.25) + 2/n*2.5*2.5*(50/2.5-1) + 1/n*(2.5*2.5-0.75*0.75); math.Abs(square/want-1) > 1e-9 {
		t.Errorf("a square of %g, want %g", square, want)
	}
	g.Apart = 10
	if low, high, _ := g.MayHide(counts, 1, 0); math.Abs(low.ByLaw*n/(9.25+10*math.Log(5))-1) > 1e-9 || math.Abs(high.ByLaw*n/(rows+1)/(5.75+10*(1-10.0/50))-1) > 1e-9 {
		t.Errorf("%+v below and %+v above, where all are 10 apart", low, high)
	}
	g.Most, g.Least = 4.25, -0.75
	below, above, square = g.MayHide(counts, 1, 0)
	if h := g.Beyond(counts, 1, 0, true); h != (Hidden{}) || below.AtMost+above.AtMost+square != 0 {
		t.Errorf("beyond what can be: %+v, %+v, %+v, %g", h, below, above, square)
	}
}

// Rows hide on the other side of a centre, too, where all that are seen lie on one; and as many as exceed a distance fall with it as
// they are seen to.
func TestMayHideBesideTheCentre(t *testing.T) {
	g := Grid{High: 4, Step: 0.5, Cells: 6, Shifts: 1, Least: -50, Most: 50} // down to 1
	counts := []float64{10, 0, 0, 20, 0, 20, 50, 0}
	below, above, _ := g.MayHide(counts, 1, 0)
	if want := 1.0 / 100 * (2.5 + 1.75*math.Log(50/1.75)); math.Abs(below.ByLaw/want-1) > 1e-9 {
		t.Errorf("%+v below, want %g", below, want)
	}
	if want := 11.0 / 100 * 4.25 * integral(50/4.25, 1-math.Log2(3)); math.Abs(above.ByLaw/want-1) > 1e-9 { // 10 exceed 4, and 30 half of it
		t.Errorf("%+v above, want %g", above, want)
	}
}

// What a number can be may lie nearer than half of a grid's width; and noise may have fewer rows beyond half a distance than beyond all
// of it.
func TestMayHideNearAnEnd(t *testing.T) {
	g := Grid{High: 0.5, Step: 1, Cells: 40, Shifts: 1, Least: -50, Most: 2}
	counts := make([]float64, g.Cells+2)
	counts[5] = 1000
	if _, above, _ := g.MayHide(counts, 20, 0); math.Abs(above.ByLaw-0.02) > 1e-12 || math.Abs(above.AtMost-0.02) > 1e-12 { // 20 rows, by 1 more than 1
		t.Errorf("%+v above", above)
	}
	g = Grid{High: 4, Step: 0.5, Cells: 9, Shifts: 1, Least: -50, Most: 50}
	counts = make([]float64, g.Cells+2)
	counts[0], counts[4], counts[8] = 10, -20, 500
	if below, above, square := g.MayHide(counts, 1, 0); !(below.ByLaw > 0 && above.ByLaw > 0 && square > 0) || math.IsInf(square, 1) {
		t.Errorf("%+v, %+v, %g", below, above, square)
	}
}

// Where as many rows exceed a distance as half of it but for noise, as numbers that are few do, no law is taken from them: its
// power would be as small as powers are.
func TestNoLawOfSteps(t *testing.T) {
	g := Grid{High: 4, Step: 0.5, Cells: 9, Shifts: 1, Least: -50, Most: 50}
	counts := make([]float64, g.Cells+2)
	counts[1], counts[5], counts[8] = 100, 3, 500 // from 3.5, 1.5 and 0 on
	if h := g.Beyond(counts, 1, 0, false); h != (Hidden{}) {
		t.Errorf("%+v", h)
	}
	counts[5] = 30
	if h := g.Beyond(counts, 1, 0, false); !(h.Mean > 0) {
		t.Errorf("%+v, where more are seen", h)
	}
}
