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

// Where moments stand out of the noise, they are those of round rows in the new coordinates.
func TestWhitenRound(t *testing.T) {
	const n = 1000
	values := []float64{5, 2, 1, 0.5, 0.25, 0.1}
	packed, exact := packedMoments(rand.New(rand.NewPCG(1, 2)), values, n, 1e-6)
	w, ok := whiten(packed, len(values), n, 1e-6)
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

// Of a diagonal and of noise, the diagonal is left: eigenvalues of noise off the diagonal are within √(2d)
// standard deviations, but for a few per cent at the edge, which have next to nothing left. A correlation
// far beyond them stays as it is, and of one of the noise's size what is left has a thirtieth of the squared
// error of what was seen; it would have a twentieth if it were as long as that.
func TestStandingOut(t *testing.T) {
	const d, sd = 60, 3.0
	rho := math.Sqrt(2*d) * sd
	var left, seen float64 // squared errors of a correlation of the noise's size
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		alone, joined, hardly := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				v := sd * r.NormFloat64()
				if i != j {
					v /= math.Sqrt2
				}
				alone.SetSym(i, j, v)
				joined.SetSym(i, j, v+20*rho/d)
				hardly.SetSym(i, j, v+rho/d)
			}
		}
		out, _, ok := standingOut(packed(alone), d, sd)
		if !ok {
			t.Fatal("no eigenvectors")
		}
		var off, was float64
		for i := range d {
			if out.At(i, i) != alone.At(i, i) {
				t.Errorf("seed %d: the diagonal went from %g to %g", seed, alone.At(i, i), out.At(i, i))
			}
			for j := range i {
				off += out.At(i, j) * out.At(i, j)
				was += alone.At(i, j) * alone.At(i, j)
			}
		}
		if off > 0.15*was {
			t.Errorf("seed %d: of noise off the diagonal %.2g of the square is left", seed, off/was)
		}
		out, _, _ = standingOut(packed(joined), d, sd)
		ones := mat.NewVecDense(d, nil)
		for j := range d {
			ones.SetVec(j, 1)
		}
		weak, _, _ := standingOut(packed(hardly), d, sd)
		for i := range d {
			for j := range i {
				left += math.Pow(weak.At(i, j)-rho/d, 2)
				seen += math.Pow(hardly.At(i, j)-rho/d, 2)
			}
		}
		if got, want := mat.Inner(ones, out, ones)/d, 20*rho; math.Abs(got/want-1) > 0.1 {
			t.Errorf("seed %d: a moment of %.4g in common, want %.4g", seed, got, want)
		}
	}
	if t.Logf("%.3g of the squared error is left", left/seen); left > 0.04*seen {
		t.Errorf("%.3g of the squared error is left", left/seen)
	}
}

// Where moments drown, directions have one scale within a factor of 1.8, and what is known of them sums to
// the trace that was released. Of 60 draws the mean is the true one within 4 %, whose standard
// deviation is 0.3 %.
func TestRoundDrowned(t *testing.T) {
	const d, n, draws, sd, moment = 40, 1000.0, 60, 10.0, 8.0
	var mean float64
	for seed := range uint64(draws) {
		r := rand.New(rand.NewPCG(seed, 3))
		moments := make([]float64, d)
		for k := range moments {
			moments[k] = moment + sd*r.NormFloat64()
		}
		scales, known := round(moments, n, sd)
		var sum float64
		for k := range d {
			sum += known[k] * n / (scales[k] * scales[k])
		}
		if most := floats.Max(scales) / floats.Min(scales); most > 1.8 {
			t.Errorf("seed %d: coordinates differ by a factor of %.3g", seed, most)
		}
		if released := math.Max(floats.Sum(moments), sd*math.Sqrt(d)); math.Abs(sum-released) > 1e-9*released {
			t.Errorf("seed %d: moments of %.6g are known, of a trace of %.6g", seed, sum, released)
		}
		mean += sum / (d * moment) / draws
	}
	if math.Abs(mean-1) > 0.04 {
		t.Errorf("what is known sums to %.3g of the trace", mean)
	}
}

// A direction that stands out has a moment of 1, all of which is known, and none other has more than
// a fifth of the trace unless that was seen.
func TestRoundStandsOut(t *testing.T) {
	const n, sd = 1000.0, 1.0
	moments := []float64{100, 10, -1, 0.5, 0.5}
	scales, known := round(moments, n, sd)
	largest := sd * math.Sqrt(2*math.Log(5))
	for k, want := range []float64{100, 10 + largest, largest - 0, 0.5 + largest, 0.5 + largest} {
		want = math.Max(moments[k], math.Min(want, 110*0.2))
		if got := n / (scales[k] * scales[k]); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("direction %d may have a moment of %g, want %g", k, got, want)
		}
	}
	if known[0] != 1 || known[2] != 0 || known[1] != 10/(10+largest) {
		t.Errorf("known are %g", known)
	}
}

// packed is a matrix as moments are released: its upper triangle row by row, what is off the diagonal
// times √2.
func packed(m *mat.SymDense) (list []float64) {
	for i := range m.SymmetricDim() {
		list = append(list, m.At(i, i))
		for j := i + 1; j < m.SymmetricDim(); j++ {
			list = append(list, math.Sqrt2*m.At(i, j))
		}
	}
	return list
}
