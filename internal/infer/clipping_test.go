package infer

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// A matrix of noise moves towards a multiple of another where it is one but for noise, also
// where it is 0 in some directions, and stays where it is not. In 200 draws the mean squared
// error of the first falls to a fifth, and that of the second is as it was. Towards 0 is
// towards a multiple of I.
func TestTowards(t *testing.T) {
	const dim, sd, draws = 6, 0.2, 200
	diagonal := func(v ...float64) *mat.SymDense {
		m := mat.NewSymDense(dim, nil)
		for j, x := range v {
			m.SetSym(j, j, x)
		}
		return m
	}
	round, flat := diagonal(1, 1, 1, 1, 1, 1), diagonal(2, 2, 2, 2, 0, 0)
	for _, c := range []struct {
		name         string
		truth, other *mat.SymDense
		least, most  float64 // of the errors' ratio
	}{
		{"round, towards I", round, round, 0, 0.2}, {"round, towards nothing", round, diagonal(), 0, 0.2},
		{"flat in two directions", diagonal(1, 1, 1, 1, 0, 0), flat, 0, 0.2}, {"another", diagonal(9, 1, 1, 1, 1, 1), round, 0.7, 1.05},
	} {
		r := rand.New(rand.NewPCG(9, 10))
		var before, after, said float64
		for range draws {
			m := packedNoise(r, dim)
			m.ScaleSym(sd, m)
			m.AddSym(m, c.truth)
			got := noisy{m, sd}.towards(c.other)
			before += distance(m, c.truth)
			after += distance(got.m, c.truth)
			said += got.noise * got.noise * dim * (dim + 1) / 2
		}
		if ratio := after / before; ratio < c.least || ratio > c.most {
			t.Errorf("%s: squared errors are %.2f times as large as before", c.name, ratio)
		}
		if ratio := said / after; ratio < 0.7 || ratio > 4 {
			t.Errorf("%s: the noise that it tells is %.2f times the squared error", c.name, ratio)
		}
	}
}

// distance is the squared one of packed matrices.
func distance(a, b *mat.SymDense) (sum float64) {
	for i := range a.SymmetricDim() {
		for j := range a.SymmetricDim() {
			sum += math.Pow(a.At(i, j)-b.At(i, j), 2)
		}
	}
	return sum
}

// Of what is cut off a part may lie along any direction, and all along the intercept.
func TestMissing(t *testing.T) {
	v := &clipping{in: spaceOf(losses.Squared{}, 2, 1), cut: 0.2}
	v.in.pilot = make([]float64, 3)
	m := v.missing()
	for j, want := range []float64{math.Pow(tuning.CutPart*0.2, 2), math.Pow(tuning.CutPart*0.2, 2), 0.04} {
		if got := m.At(j, j); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g may be missing along %d, want %g", got, j, want)
		}
	}
	if m.At(0, 1) != 0 || m.At(0, 2) != 0 {
		t.Error("what is missing along one direction is taken to be known along another")
	}
}

// Rows count by their squares, as far as they are seen; the longest fill one direction after the other, of which
// a clip keeps the part that it shortens them to.
func TestDirections(t *testing.T) {
	h := histogram.NewTails([]float64{80, 40, 20, 10, 1}, []float64{3, 0, 100, 0, 800, 0}, 1, 1000)
	l := lengthsOf(h, 4)
	// 3 rows beyond 80 aren't four standard deviations: 103 lie beyond 20, 800 and what is missing of 1000
	// beyond 1.
	middle := math.Sqrt(math.Sqrt2) // of a cell of half an octave
	if len(l.long) != 3 || math.Abs(l.long[0]-40/middle) > 1e-9 || math.Abs(l.long[2]-1/middle) > 1e-9 {
		t.Fatalf("groups of rows are %v long", l.long)
	}
	all := 103*1600 + 800*100 + 97.
	if math.Abs(l.part[0]-4*103*1600/all) > 1e-9 || math.Abs(floats.Sum(l.part)-4) > 1e-9 {
		t.Errorf("they fill %v of 4 directions", l.part)
	}
	var kept, squares []float64
	l.directions(5, func(k, s float64) { kept, squares = append(kept, k), append(squares, s) })
	w := 5 * middle / 40 // the first groups of rows fill 2.69 and 1.31 directions
	for k, want := range []float64{w, w, (l.part[0]-2)*w + (3-l.part[0])*5*middle/10, (1-l.part[2])*5*middle/10 + l.part[2]} {
		if math.Abs(kept[k]-want) > 1e-9 {
			t.Errorf("of direction %d a clip keeps %g, want %g", k, kept[k], want)
		}
	}
	if len(kept) != 4 || math.Abs(squares[0]-w*w) > 1e-9 {
		t.Errorf("%d directions, with %v of what gradients vary by", len(kept), squares)
	}
	// Noise may count more rows than there are: none is missing below then, nor fewer than none.
	few := lengthsOf(histogram.NewTails([]float64{20, 10}, []float64{0, 40, 0}, 1, 30), 4)
	if floats.Min(few.part) < 0 || math.Abs(floats.Sum(few.part)-4) > 1e-9 {
		t.Errorf("of 30 rows 40 are seen, and groups fill %v of 4 directions", few.part)
	}
}
