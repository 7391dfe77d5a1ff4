package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func known() *mat.SymDense {
	return mat.NewSymDense(3, []float64{0.4, 0.1, 0.05, 0.1, 0.3, 0, 0.05, 0, -0.2})
}

// E[N·m·N] is what simulation gives: 20,000 draws, 9 entries, six standard errors each.
func TestShaken(t *testing.T) {
	const draws, sd = 20_000, 0.7
	r := rand.New(rand.NewPCG(1, 2))
	want := Shaken(known(), sd*sd)
	var sum, squares [3][3]float64
	for range draws {
		n := mat.NewSymDense(3, nil)
		for i := range 3 {
			for j := i; j < 3; j++ {
				v := sd * r.NormFloat64()
				if i != j {
					v /= math.Sqrt2
				}
				n.SetSym(i, j, v)
			}
		}
		p := Product(Product(n, known()), n)
		for i := range 3 {
			for j := range 3 {
				sum[i][j] += p.At(i, j) / draws
				squares[i][j] += p.At(i, j) * p.At(i, j) / draws
			}
		}
	}
	for i := range 3 {
		for j := range 3 {
			if se := math.Sqrt(squares[i][j] / draws); math.Abs(sum[i][j]-want.At(i, j)) > 6*se {
				t.Errorf("entry %d, %d: %g, simulated %g ± %g", i, j, want.At(i, j), sum[i][j], se)
			}
		}
	}
}

// A spectrum gives back its matrix, and its square by squares.
func TestSpectrum(t *testing.T) {
	m := known()
	s, ok := Decompose(m)
	if !ok {
		t.Fatal("no spectrum")
	}
	if !(s.Values[0] < s.Values[1] && s.Values[1] < s.Values[2]) {
		t.Errorf("eigenvalues %v", s.Values)
	}
	same, square := s.Map(func(l float64) float64 { return l }), s.Map(func(l float64) float64 { return l * l })
	if !mat.EqualApprox(same, m, 1e-12) || !mat.EqualApprox(square, Product(m, m), 1e-12) {
		t.Errorf("%v and its square %v", mat.Formatted(same), mat.Formatted(square))
	}
	v := mat.NewVecDense(3, s.Vector(2))
	var image mat.VecDense
	image.MulVec(m, v)
	image.AddScaledVec(&image, -s.Values[2], v)
	if mat.Norm(&image, 2) > 1e-12 || math.Abs(mat.Norm(v, 2)-1) > 1e-12 {
		t.Errorf("%v is no eigenvector", v)
	}
}

func TestSandwich(t *testing.T) {
	a := mat.NewDense(2, 3, []float64{1, 2, 3, -1, 0, 1})
	want := Product(Product(a, known()), a.T())
	want.Scale(2.5, want)
	if got := Sandwich(2.5, a, known()); !mat.EqualApprox(got, want, 1e-12) {
		t.Errorf("%v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
	if !mat.EqualApprox(Sandwich(1, a, Identity(3)), Product(a, a.T()), 1e-12) {
		t.Error("the unit matrix changes a product")
	}
}
