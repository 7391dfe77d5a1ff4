package histogram

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Edges farther out are four times as far from the middle each, within the bound, and no more than planned.
func TestFartherEdges(t *testing.T) {
	got := Farther([]float64{-1, 0, 3}, 20)
	if want := []float64{-7, -1, 0, 3, 9}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := len(Farther([]float64{-1e-300, 1e-300}, 1e300)); n > 2+MostFarther {
		t.Errorf("%d edges, more than are planned", n)
	}
	if got := Farther([]float64{-1, 1}, 0.5); !slices.Equal(got, []float64{-1, 1}) {
		t.Errorf("%v beyond the bound", got)
	}
}

// The outermost cells are added up until they stand out, and no more than may be.
func TestFoldedCells(t *testing.T) {
	counts := []float64{3, -2, 50, 400, 300, 2, 1, 1}
	f := Folded(counts, 5, 3, 2) // 20, 28 and 35 stand out of one, two and three
	if want := (Fold{3, 3}); f != want {
		t.Fatalf("%+v, want %+v", f, want)
	}
	if got, want := f.Of(counts), []float64{51, 400, 300, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := f.Edges([]float64{1, 2, 3, 4, 5, 6, 7}), []float64{3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
	if f := Folded(counts, 0.5, 3, 2); f != (Fold{1, 3}) { // 2 and 2.8 stand out, which 3 does, and 1 and 2 do not
		t.Errorf("%+v with little noise", f)
	}
}

// Rows beyond edges lie as far out as the slower law of those within has them, and hidden ones by a power of the distance, each to its side.
func TestRowsBeyondEdges(t *testing.T) {
	const n, noise, bound = 1e6, 1, 40.0
	edges := []float64{-4, -2, -1, 0, 1, 2, 4}
	above := func(z float64) float64 { // as many exponential numbers on either side
		if z < 0 {
			return n * (1 - math.Exp(z)/2)
		}
		return n * math.Exp(-z) / 2
	}
	counts, last := make([]float64, len(edges)+1), n*1.0
	for k, e := range edges {
		counts[k], last = last-above(e), above(e)
	}
	counts[len(edges)] = last
	low, high := BeyondEdges(edges, counts, noise, bound)
	for _, b := range []Beyond{low, high} {
		if b.From != 4*b.Side || b.Most != bound-4 || b.At(1) != 5*b.Side {
			t.Errorf("%+v", b)
		}
		l := Law{n / 2, 4, 4, 1}.Slower()
		if want := l.Excess(4) / (n / 2 * math.Exp(-4)); math.Abs(b.Seen/want-1) > 0.2 {
			t.Errorf("side %g: seen ones lie %g beyond, want about %g", b.Side, b.Seen, want)
		}
		if falls := math.Log2(math.Exp(2)); math.Abs(b.Hidden-4*integral(bound/4, 1-falls)) > 1e-9 {
			t.Errorf("side %g: hidden ones lie %g beyond", b.Side, b.Hidden)
		}
		rows, far := b.MayHide(9, noise)
		if rows != 10 || math.Abs(far-(0.9*b.Seen+0.1*b.Hidden)) > 1e-12 {
			t.Errorf("side %g: %g rows, %g beyond", b.Side, rows, far)
		}
		if rows, _ := b.MayHide(-9, noise); rows != 1 {
			t.Errorf("%g rows of a negative count", rows)
		}
	}
	if floats.Sum(counts) != n {
		t.Error("counts don't add up")
	}
}
