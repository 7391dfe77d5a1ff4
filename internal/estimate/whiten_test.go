package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// packedMoments are those of n rows in random axes, of the given eigenvalues, as they are released
// with noise of a standard deviation; its operator norm is about √(2d) times that.
func packedMoments(r *rand.Rand, values []float64, n, sd float64) (packed []float64, exact *mat.SymDense) {
	d := len(values)
	draws := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			draws.Set(i, j, r.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(draws)
	var q, m mat.Dense
	qr.QTo(&q)
	m.Product(&q, mat.NewDiagDense(d, values), q.T())
	exact = mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			exact.SetSym(i, j, n*m.At(i, j))
			v := n * m.At(i, j)
			if i != j {
				v *= math.Sqrt2
			}
			packed = append(packed, v+sd*r.NormFloat64())
		}
	}
	return packed, exact
}

// moment is that of unit rows along an axis of a whitening.
func (w whitening) moment(m *mat.SymDense, k int) float64 {
	return mat.Inner(w.axes.ColView(k), m, w.axes.ColView(k))
}

// Where moments stand out of the noise, they are those of round rows in the new coordinates.
func TestWhitenRound(t *testing.T) {
	const n = 1000
	values := []float64{5, 2, 1, 0.5, 0.25, 0.1}
	packed, exact := packedMoments(rand.New(rand.NewPCG(1, 2)), values, n, 1e-6)
	w, ok := whiten(packed, len(values), n, 1e-5)
	if !ok {
		t.Fatal("no eigenvectors")
	}
	var out mat.Dense
	out.Product(w.axes.T(), exact, w.axes)
	for i := range values {
		if math.Abs(w.known[i]-1) > 1e-6 {
			t.Errorf("of axis %d %g is known", i, w.known[i])
		}
		for j := range values {
			want := 0.0
			if i == j {
				want = n
			}
			if got := out.At(i, j); math.Abs(got-want) > 1e-5*n {
				t.Errorf("the moment of axes %d and %d is %g, want %g", i, j, got, want)
			}
		}
	}
}

// Where moments drown, coordinates have one scale within a factor of 1.6, and what is known of them sums to
// the trace that was released. Of 60 draws the mean is the true one within 4 %, whose standard
// deviation is 1 %: fewer than one in 10,000 lists of seeds would fail.
func TestWhitenDrowned(t *testing.T) {
	const d, n, draws, part = 40, 1000, 60, 0.25 // part: a moment over the noise's operator norm
	var mean float64
	for seed := range uint64(draws) {
		r := rand.New(rand.NewPCG(seed, 3))
		sd := 10.0
		rho := math.Sqrt(2*d) * sd
		values := make([]float64, d)
		for k := range values {
			values[k] = part * rho / n
		}
		packed, exact := packedMoments(r, values, n, sd)
		w, ok := whiten(packed, d, n, rho)
		if !ok {
			t.Fatal("no eigenvectors")
		}
		var known float64
		least, most := math.Inf(1), 0.0
		for k := range d {
			axis := mat.Norm(w.axes.ColView(k), 2)
			least, most = math.Min(least, axis), math.Max(most, axis)
			known += w.known[k] * n / (axis * axis)
		}
		if most > 1.6*least {
			t.Errorf("seed %d: coordinates are scaled by %.3g to %.3g", seed, least, most)
		}
		if released := floats.Sum(w.values); math.Abs(known-released) > 1e-9*released {
			t.Errorf("seed %d: moments of %.6g are known, of a trace of %.6g", seed, known, released)
		}
		mean += known / mat.Trace(exact) / draws
	}
	if math.Abs(mean-1) > 0.04 {
		t.Errorf("what is known sums to %.3g of the trace", mean)
	}
}

// A direction that stands out is round beside those that drown, and of noise alone hardly more
// is known than a trace of noise. Both hold of each of 40 draws with some standard deviations to
// spare.
func TestWhitenStandsOut(t *testing.T) {
	const d, n, sd = 20, 1000.0, 10.0
	rho := math.Sqrt(2*d) * sd
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4))
		values := make([]float64, d)
		noise, _ := packedMoments(r, values, n, sd)
		w, _ := whiten(noise, d, n, rho)
		var known float64
		for k := range d {
			axis := mat.Norm(w.axes.ColView(k), 2)
			known += w.known[k] * n / (axis * axis)
		}
		if most := math.Max(floats.Sum(w.values), 2*rho); known > most {
			t.Errorf("seed %d: of noise alone %.3g is known, whose operator norm is %.3g", seed, known, rho)
		}
		values[0] = 20 * rho / n
		packed, exact := packedMoments(r, values, n, sd)
		w, _ = whiten(packed, d, n, rho)
		if got := w.moment(exact, d-1) / n; math.Abs(got-1) > 0.1 || w.known[d-1] != 1 {
			t.Errorf("seed %d: the direction that stands out has a moment of %.3g, of which %.3g is known", seed, got, w.known[d-1])
		}
		for k := range d - 1 { // none of which may have more than a fifth of the trace
			if most := math.Sqrt(n / rho); mat.Norm(w.axes.ColView(k), 2) > most*(1+1e-9) {
				t.Errorf("seed %d: axis %d is scaled by %.3g, by more than noise allows", seed, k, mat.Norm(w.axes.ColView(k), 2))
			}
		}
	}
}
