package labelsonly

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/tuning"
)

// logDensity is twice that of a normal law, but for what depends on nothing.
func logDensity(t *testing.T, y, mean *mat.VecDense, covariance *mat.SymDense) float64 {
	t.Helper()
	var root mat.Cholesky
	if !root.Factorize(covariance) {
		t.Fatal("no covariance")
	}
	var off, solved mat.VecDense
	off.SubVec(y, mean)
	if err := root.SolveVecTo(&solved, &off); err != nil {
		t.Fatal(err)
	}
	return -root.LogDet() - mat.Dot(&off, &solved)
}

// laws are the covariances of Wθ + noise with θ of so large a variance about 0, and about a normal multiple of a point.
func laws(w *mat.Dense, square float64, to *mat.VecDense) (about, beside *mat.SymDense) {
	n, _ := w.Dims()
	about, beside = mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	about.SymOuterK(square, w)
	for j := range n {
		about.SetSym(j, j, about.At(j, j)+1)
	}
	beside.SymRankOne(about, tuning.PriorDoubt*tuning.PriorDoubt, to)
	return about, beside
}

// Evidence, and the number of a public point, are those of the normal laws that they stand for, computed anew in full: of an observation
// Wθ + noise with θ about 0, or about k times the point, k being normal itself. Where a law about 0 is likelier it is taken.
func TestEvidenceOfPublicPoint(t *testing.T) {
	w := mat.NewDense(3, 3, []float64{9, 1, 0, -2, 5, 1, 0, .5, 3})
	y := mat.NewVecDense(3, []float64{12, -3, 2})
	used := map[bool]bool{}
	for _, point := range [][]float64{{1.2, -.3, .4}, {-1.2, .3, -.4}, {.2, 1, -1}, {40, -9, 12}, {0, .4, 0}} {
		to := mat.NewVecDense(3, nil)
		to.MulVec(w, mat.NewVecDense(3, point))
		p := &posterior{whitened: w, residual: y.RawVector().Data, precision: []float64{1, 1, 1}, belief: belief{public: point}}
		if !p.likeliest(make([]float64, 3), 1) {
			t.Fatal("nothing is likeliest")
		}
		likeliest, most := 0.0, math.Inf(-1) // of variances as they are tried, by laws in full
		for l := leastLog; l <= mostLog; l += stepLog {
			square := math.Exp(2 * l)
			about, beside := laws(w, square, to)
			if v := math.Max(logDensity(t, y, mat.NewVecDense(3, nil), about), logDensity(t, y, to, beside)); v > most {
				likeliest, most = square, v
			}
		}
		if _, times := p.evidence.at(likeliest); p.square != likeliest || p.times != times {
			t.Errorf("of %v τ² = %g and the number %g are taken, and τ² = %g is likeliest, with %g", point, p.square, p.times, likeliest, times)
		}
		for _, square := range []float64{.01, .3, 4} {
			about, beside := laws(w, square, to)
			without, with := logDensity(t, y, mat.NewVecDense(3, nil), about), logDensity(t, y, to, beside)
			most, k := math.Inf(-1), 0.0
			for try := -3.0; try < 3; try += 1e-3 { // the likeliest number, by trying
				at := mat.NewVecDense(3, nil)
				at.ScaleVec(try, to)
				if v := logDensity(t, y, at, about) - math.Pow((try-1)/tuning.PriorDoubt, 2); v > most {
					most, k = v, try
				}
			}
			if with < without {
				k = 0
			}
			used[k != 0] = true
			const near = 1e-9
			got, times := p.evidence.at(square)
			constant := mat.Dot(y, y) // which the evidence leaves out
			if want := math.Max(with, without) + constant; math.Abs(got-want) > near*math.Abs(want)+near || math.Abs(times-k) > 1e-3 {
				t.Errorf("of %v with τ² = %g the evidence is %.9g and the number %g, want %.9g and %g", point, square, got, times, want, k)
			}
		}
	}
	if len(used) < 2 {
		t.Error("the point is taken always, or never")
	}
}
