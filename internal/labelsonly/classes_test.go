package labelsonly

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Where scores of others follow, log-odds of two classes of the rates p and q have the slope 1/(1/p + 1/q), whichever classes there are beside them, and that of classes
// that are told apart is none; contrasts of some classes lose nothing of what these have against each other.
func TestSlopesBetweenClasses(t *testing.T) {
	const near = 1e-9
	rates := []float64{.1, .2, .3, .4}
	f := newSeveral(len(rates))
	scores := make([]float64, f.columns())
	for c := range scores {
		for k, q := range rates {
			scores[c] += f.contrasts.At(k, c) * math.Log(q)
		}
	}
	of := slopes(f, scores)
	for other, p := range rates {
		for k, got := range f.between(of, other) {
			if want := 1 / (1/p + 1/rates[k]); k != other && math.Abs(got-want) > near {
				t.Errorf("classes %d and %d: the slope is %g, want %g", k, other, got, want)
			}
		}
	}
	apart := mat.NewSymDense(f.columns(), nil) // of rows of the first two classes alone, and of the others alone
	for _, pair := range [][2]int{{0, 1}, {2, 3}} {
		b := mat.VecDenseCopyOf(f.contrasts.RowView(pair[0]))
		b.SubVec(b, f.contrasts.RowView(pair[1]))
		apart.SymRankOne(apart, .25, b)
	}
	if got := f.between(apart, 0); math.Abs(got[1]-.25) > near || got[2] > near || got[3] > near {
		t.Errorf("two pairs that are told apart have the slopes %v against the first class, want .25 of the second alone", got)
	}
	few := f.among([]int{0, 2, 3})
	by := f.turn(few, 1)
	for _, pair := range [][2]int{{0, 2}, {2, 3}, {3, 0}} {
		k, other := pair[0], pair[1]
		less := func(f several, v []float64) (sum float64) {
			for c, s := range v {
				sum += (f.contrasts.At(k, c) - f.contrasts.At(other, c)) * s
			}
			return sum
		}
		if got, want := less(few, turned(by, scores)), less(f, scores); math.Abs(got-want) > near {
			t.Errorf("log-odds of classes %d and %d are %g along contrasts of some, want %g", k, other, got, want)
		}
	}
}

// Nothing is determined where log-odds of a typical row are, or have moved, two off: less is, and more isn't.
func TestHiddenScores(t *testing.T) {
	const n, curvature = 100.0, .2
	x := &fit{space: &space{n: n}, family: twoClasses{}}
	diagonal := func(v float64) *mat.SymDense { return mat.NewSymDense(2, []float64{v, 0, 0, v}) }
	for _, c := range []struct {
		off, moved float64
		hidden     bool
	}{{1.99, 0, false}, {2.01, 0, true}, {0, 1.99, false}, {0, 2.01, true}, {1.4, 1.4, false}, {1.5, 1.5, true}} {
		e := estimated{
			inverse: diagonal(1 / (n * curvature)), covariance: diagonal(c.off * c.off / 2),
			moved: []float64{c.moved / math.Sqrt2, -c.moved / math.Sqrt2},
		}
		if got := x.hidden(e, curvature); got != c.hidden {
			t.Errorf("scores are %g off, and have moved by %g: hidden is %v", c.off, c.moved, got)
		}
	}
}
