package infer

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/linalg"
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

// What a clip may cut off lies along the intercept and along the weights, as far as it is
// taken to, and grows for counts with the gradients' variance over the Hessian.
func TestMissingDirections(t *testing.T) {
	missing := func(loss losses.Loss, scatter float64) *mat.SymDense {
		h := mat.NewSymDense(3, []float64{0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5})
		v := &newton{in: spaceOf(loss, 2, 1), theta: []float64{0, 3, 7}}
		v.in.curve.hessian.m, v.clip.cut = h, clipBias{length: 50, constant: biasTerm{0, 0.1}, along: biasTerm{0, 0.2}, across: 0.01}
		v.in.curve.spectrum, _ = linalg.Decompose(h)
		v.in.curve.inverse = v.in.curve.spectrum.Map(v.in.curve.inverted)
		j := mat.NewSymDense(3, nil)
		j.ScaleSym(scatter, h)
		v.scatter = noisy{m: j}
		return v.missing()
	}
	m := missing(losses.Logistic{}, 1)
	for j, want := range []float64{0.0025, 0.0525, 0.0275} {
		if got := m.At(j, j); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g may be missing along %d, want %g", got, j, want)
		}
	}
	for scatter, want := range map[float64]float64{0.5: 1, 1: 1, 1.7: 1.7, 9: 9, 40: 16} {
		if got := mat.Trace(missing(losses.Poisson{}, scatter)) / mat.Trace(m); math.Abs(got-want) > 1e-9 {
			t.Errorf("with a dispersion of %g what may be missing is %g times as large, want %g", scatter, got, want)
		}
	}
}

// What is cut off of residuals adds up along the intercept and the weights with the sign of those
// that are longer, and is known less the less that sign is.
func TestLeaning(t *testing.T) {
	var even, up, down, hidden clipBias
	even.skewed(0, 0, 9)
	up.skewed(0.8, 0, 9)
	down.skewed(-0.8, 0, 9)
	hidden.skewed(0, 0.5, 9)
	if even.constant.mean != 0 || even.along.mean != 0 || up.constant.mean != -down.constant.mean || up.along.mean != -down.along.mean {
		t.Errorf("means of even residuals %+v, of leaning ones %+v and %+v", even, up, down)
	}
	if !(up.constant.mean > 0.1 && up.along.mean > up.constant.mean) || math.Abs(up.constant.mean-0.85*0.8/3) > 1e-12 {
		t.Errorf("positive residuals add up to %+v", up)
	}
	if !(hidden.along.variance > 1.5*even.along.variance && hidden.constant.variance > 1.5*even.constant.variance && up.along.variance > even.along.variance) {
		t.Errorf("variances: %+v where the sign is hidden, %+v where there is none, %+v where it is plus", hidden, even, up)
	}
}

// Rows are as long as H̃ says, in units of the intercept's, at most by all columns; and a tail
// that ends slowly is taken to be longer than its law, a short one isn't.
func TestLengthsOfTails(t *testing.T) {
	v := ofCounts(losses.Squared{})
	v.in.run.D = 2
	for _, c := range []struct{ diagonal, want float64 }{{0.5, 0.5}, {-0.5, 0}, {9, 2}} {
		v.in.curve.hessian.m = mat.NewSymDense(3, []float64{c.diagonal, 0, 0, 0, c.diagonal, 0, 0, 0, 2})
		if got := (&clipping{in: v.in}).spreadOfRows(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("H̃ of %g and 2: rows have a square of %g, want %g", c.diagonal, got, c.want)
		}
	}
	v.in.constant, v.in.labels.Curvature = 0, 4
	if got := (&clipping{in: v.in}).spreadOfRows(); got != 2 {
		t.Errorf("without an intercept: %g", got)
	}
	for power, want := range map[float64]float64{0.3: 1.6, 0.4: 1.25, 0.5: 1, 2: 1} {
		if got := (histogram.Law{Power: power}).ExcessFactor(); math.Abs(got-want) > 1e-12 {
			t.Errorf("a power of %g makes tails %g times as long", power, got)
		}
	}
}

// What is restored lies against the intercept and against the weights where counts are cut
// off, along the weights for two classes, with the rarer class's surprise along the
// intercept, and nowhere for residuals; where scores hardly differ, little of it along them.
func TestRestored(t *testing.T) {
	restored := func(loss losses.Loss, mean float64, u ...float64) []float64 {
		v := &newton{in: spaceOf(loss, 2, 1)}
		v.in.labels, v.in.pilot = estimate.Labels{Mean: mean, Minority: math.Min(mean, 1-mean)}, make([]float64, 3)
		v.clip.cut = biasOf(loss, v.in.labels, 2)
		v.clip.cut.length = 100 * math.Sqrt(6)
		return v.restored(append(u, 0.7))
	}
	for _, c := range []struct {
		loss losses.Loss
		mean float64
		u    []float64
		want []float64
	}{
		{losses.Poisson{}, 1, []float64{3, -4}, []float64{-0.3, 0.4, -0.8}},
		{losses.Poisson{}, 1, []float64{0.025, 0}, []float64{-0.05, 0, -0.8}},
		{losses.NegativeBinomial{Dispersion: 1}, 1, []float64{3, -4}, []float64{0, 0, -0.95}},
		{losses.Gamma{Least: 1}, 1, []float64{3, -4}, []float64{0, 0, -0.8}},
		{losses.Logistic{}, 0.5, []float64{3, -4}, []float64{1.02, -1.36, 0}},
		{losses.Probit{}, 0.75, []float64{3, -4}, []float64{0.63, -0.84, 0.4}},
		{losses.Logistic{}, 0.25, []float64{3, -4}, []float64{0.63, -0.84, -0.4}},
		{losses.Squared{}, 1, []float64{3, -4}, []float64{0, 0, 0}},
	} {
		for j, got := range restored(c.loss, c.mean, c.u...) {
			if math.Abs(got-c.want[j]) > 1e-12 {
				t.Errorf("%s, mean %g, at %v: %g is restored along %d, want %g", c.loss.Name(), c.mean, c.u, got, j, c.want[j])
			}
		}
	}
}

// Where gradients are released in shorter coordinates, what is cut off lies along the weights there.
func TestRestoredInShorterCoordinates(t *testing.T) {
	short, _ := linalg.NewChange(mat.NewSymDense(2, []float64{4, 0, 0, 1})) // halves the first coordinate
	v := &newton{in: spaceOf(losses.Squared{}, 2, 1), theta: []float64{1.5, -4, 7}}
	v.in.run.N, v.in.short = 1, short.Beside()
	v.clip.cut = clipBias{length: 1, along: biasTerm{mean: 2, variance: 3}}
	// weights of 1.5 and −4 are 3 and −4 there, and that gradient is 6 and −4 in the longer ones
	want := []float64{6. / 5, -4. / 5, 0}
	missing := v.missing()
	for j, got := range v.restored(v.theta) {
		if math.Abs(got-2*want[j]) > 1e-12 {
			t.Errorf("%g is restored along %d, want %g", got, j, 2*want[j])
		}
		for k, w := range want {
			if got := missing.At(j, k); math.Abs(got-3*want[j]*w) > 1e-12 {
				t.Errorf("%g is missing along %d and %d, want %g", got, j, k, 3*want[j]*w)
			}
		}
	}
}
