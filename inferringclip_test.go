package dpglm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// counted is the histogram of numbers, with noise.
func counted(r *rand.Rand, numbers []float64, noise float64) reading {
	h := reading{edges: cells(256, math.Sqrt2, 26), noise: noise, n: float64(len(numbers))}
	var added float64
	for _, e := range h.edges {
		above := 0.0
		for _, v := range numbers {
			if v > e {
				above++
			}
		}
		added += noise * r.NormFloat64()
		h.tails = append(h.tails, above+added)
	}
	return h
}

// A law that is fitted to a noisy histogram tells about how much lies beyond a point that
// one number of a hundred exceeds, on average over 40 histograms with the noise of ε = 1
// and 10,000 rows. One says it within some 60 %, so that their mean has an error of 10 %:
// bounds are five of these from what the law is known to miss, more where tails are short.
// Counts of a group of its own are found, too, of which the bulk tells nothing.
func TestUpperLaw(t *testing.T) {
	const n, draws = 10_000, 40
	for _, c := range []struct {
		name string
		most float64 // of what it says over what there is
		draw func(r *rand.Rand) float64
	}{
		{"exponential", 1.5, func(r *rand.Rand) float64 { return 1.3 * r.ExpFloat64() }},
		{"normal", 2.3, func(r *rand.Rand) float64 { return 2 * math.Abs(r.NormFloat64()) }},
		{"longer tails", 1.3, func(r *rand.Rand) float64 { return math.Pow(r.ExpFloat64(), 1.6) }},
		{"a group far above", 4, func(r *rand.Rand) float64 {
			if r.Float64() < 0.05 {
				return 2.5 + 0.4*r.NormFloat64()
			}
			return 0.1 * r.ExpFloat64()
		}},
	} {
		r := rand.New(rand.NewPCG(7, 8))
		var got, want float64
		for range draws {
			numbers := make([]float64, n)
			for i := range numbers {
				numbers[i] = c.draw(r)
			}
			at := quantileOf(numbers, 0.99)
			for _, v := range numbers {
				want += math.Max(v-at, 0) / draws
			}
			l, low := counted(r, numbers, 26).fromSeen().upper(1, 0.8)
			if low > at {
				t.Errorf("%s: the law begins at %g, beyond %g", c.name, low, at)
			}
			got += l.beyond(at) / draws
		}
		t.Logf("%s: %.1f beyond the point, want %.1f", c.name, got, want)
		if got < 0.5*want || got > c.most*want {
			t.Errorf("%s: %.1f beyond the point, want %.1f", c.name, got, want)
		}
	}
}

func quantileOf(numbers []float64, q float64) float64 {
	low, high := 0.0, 256.0
	for range 50 {
		middle, below := (low+high)/2, 0.0
		for _, v := range numbers {
			if v < middle {
				below++
			}
		}
		if below < q*float64(len(numbers)) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Where few rows have events, and gradients that are long for it, the law is that of the
// largest of these: one of the largest of all rows has the shape of where they begin, and
// tells less than two thirds of what lies beyond a point that one in 250 exceeds. Noise is
// that of ε = 1 and 50,000 rows.
func TestUpperLawOfFewEvents(t *testing.T) {
	const n, draws, events = 10_000, 40, 0.12
	r := rand.New(rand.NewPCG(7, 9))
	var few, all, want float64
	for range draws {
		numbers := make([]float64, n)
		for i := range numbers {
			if numbers[i] = 0.1 * r.ExpFloat64(); r.Float64() < events {
				numbers[i] = 1.5 * math.Exp(0.25*math.Abs(r.NormFloat64())+0.2*r.ExpFloat64())
			}
		}
		at := quantileOf(numbers, 0.996)
		for _, v := range numbers {
			want += math.Max(v-at, 0) / draws
		}
		h := counted(r, numbers, 6).fromSeen()
		one, _ := h.upper(events, 0.8)
		other, _ := h.upper(1, 0.8)
		few, all = few+one.beyond(at)/draws, all+other.beyond(at)/draws
	}
	t.Logf("%.1f beyond the point, by all rows %.1f, want %.1f", few, all, want)
	if few < 0.7*want || few > 1.5*want || all > 0.67*want {
		t.Errorf("%.1f beyond the point, by all rows %.1f, want %.1f", few, all, want)
	}
}

// beyond is the integral of above, and a clip grows as noise falls and as more of what it
// cuts off is left.
func TestBalancedClip(t *testing.T) {
	l := upper{rows: 500, scale: 2, power: 0.8}
	var sum float64
	const step = 1e-3
	for x := 3 + step/2; x < 200; x += step {
		sum += step * l.above(x)
	}
	if got := l.beyond(3); math.Abs(got-sum) > 1e-5*sum {
		t.Errorf("%g lies beyond 3, want %g", got, sum)
	}
	clip := func(noise, fraction float64) float64 { return l.balanced(1, 1000, noise, fraction) }
	if quiet, loud, left := clip(1, 0.3), clip(30, 0.3), clip(30, 0.6); !(loud < left && left < quiet) {
		t.Errorf("clips %g for little noise, %g for much and %g where more is left", quiet, loud, left)
	}
	best := clip(10, 0.3)
	total := func(c float64) float64 { return math.Pow(10*c, 2) + math.Pow(0.3*l.beyond(c), 2) }
	for _, factor := range []float64{0.9, 1.1} {
		if total(factor*best) < total(best) {
			t.Errorf("%g is no better than %g", best, factor*best)
		}
	}
}

// A histogram without anything in it leads to a law nevertheless.
func TestUpperLawOfNothing(t *testing.T) {
	h := reading{edges: cells(64, math.Sqrt2, 26), tails: make([]float64, 27), noise: 1, n: 1000}
	l, low := h.fromSeen().upper(1, 0.8)
	if clip := l.balanced(low, 64, 1, 0.3); !(clip > 0 && clip <= 64) || !(l.beyond(clip) >= 0) {
		t.Errorf("clip %g of %+v from %g on", clip, l, low)
	}
}

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
			noisy := packedNoise(r, dim)
			noisy.ScaleSym(sd, noisy)
			noisy.AddSym(noisy, c.truth)
			got := shaky{noisy, sd}.towards(shaky{SymDense: c.other})
			before += distance(noisy, c.truth)
			after += distance(got.SymDense, c.truth)
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
		v := &inferring{
			standardising: &standardising{standardised: &standardised{loss: loss}, d: 2, n: 100},
			constant:      1, theta: []float64{0, 3, 7}, cut: cutting{length: 50, constant: part{0, 0.1}, along: part{0, 0.2}, across: 0.01},
		}
		v.spectrum, _ = linalg.Decompose(h)
		v.inverse = v.spectrum.Map(v.inverted)
		j := mat.NewSymDense(3, nil)
		j.ScaleSym(scatter, h)
		v.scatter = shaky{SymDense: j}
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

// both is the histogram of what edges on both sides of 0 are to count, from the largest on.
func both(counts []float64, noise, n float64) reading {
	h := reading{edges: make([]float64, len(counts)-1), noise: noise, n: n, rest: counts[len(counts)-1]}
	var above float64
	for _, c := range counts[:len(counts)-1] {
		above += c
		h.tails = append(h.tails, above)
	}
	return h
}

// A histogram with more on one side says so, by as much as noise lets it: on average over 200
// draws within 0.1 (an error of 0.02 or less) of what there is, times the weight that it claims,
// and within twice the variance that it claims.
func TestLeans(t *testing.T) {
	const steps, n = 6, 10_000.0
	r := rand.New(rand.NewPCG(9, 4))
	for _, c := range []struct {
		above, below float64 // rows in each cell
		noise        float64
	}{{60, 60, 10}, {120, 0, 10}, {0, 120, 10}, {90, 30, 10}, {90, 30, 60}, {4, 0, 100}, {60, 60, 0}, {0, 0, 0}} {
		var mean, missed, claimed float64
		const draws = 200
		want := 0.0
		if c.above+c.below > 0 {
			want = (c.above - c.below) / (c.above + c.below)
		}
		for range draws {
			counts := make([]float64, 2*steps+1)
			for j := range steps {
				counts[j] = c.above + float64(c.noise*r.NormFloat64())
				counts[2*steps-j] = c.below + float64(c.noise*r.NormFloat64())
			}
			counts[steps] = n
			m, v := both(counts, c.noise, n).leans()
			if math.IsNaN(m) || math.Abs(m) > 1 || !(v >= 0 && v <= 0.5) {
				t.Fatalf("%+v: mean %g, variance %g", c, m, v)
			}
			mean += (m - float64((1-2*v)*want)) / draws
			missed += math.Pow(m-want, 2) / draws
			claimed += v / draws
		}
		if math.Abs(mean) > 0.1 || missed > 0.01+2*claimed {
			t.Errorf("%+v: %g off on average, a square of %g where %g is claimed", c, mean, missed, claimed)
		}
	}
}

// Only the longest count that noise lets be seen: near ones, of which most are, don't tell.
func TestLeanOfTheLongest(t *testing.T) {
	for _, c := range []struct {
		counts []float64 // from the largest on
		want   float64
	}{{[]float64{400, 50, 9000, 900, 0}, 1}, {[]float64{0, 900, 9000, 50, 400}, -1}, {[]float64{100, 900, 9000, 900, 100}, 0}} {
		if mean, variance := both(c.counts, 1, 1e4).leans(); math.Abs(mean-c.want) > 0.01 || variance > 0.001 {
			t.Errorf("%v: mean %g, variance %g, want %g", c.counts, mean, variance, c.want)
		}
	}
}

// What is cut off of residuals adds up along the intercept and the weights with the sign of those
// that are longer, and is known less the less that sign is.
func TestLeaning(t *testing.T) {
	var even, up, down, hidden cutting
	even.leaning(0, 0, 9)
	up.leaning(0.8, 0, 9)
	down.leaning(-0.8, 0, 9)
	hidden.leaning(0, 0.5, 9)
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
	v.d = 2
	for _, c := range []struct{ diagonal, want float64 }{{0.5, 0.5}, {-0.5, 0}, {9, 2}} {
		v.hessian.SymDense = mat.NewSymDense(3, []float64{c.diagonal, 0, 0, 0, c.diagonal, 0, 0, 0, 2})
		if got := v.spreadOfRows(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("H̃ of %g and 2: rows have a square of %g, want %g", c.diagonal, got, c.want)
		}
	}
	v.constant, v.facts.curvature = 0, 4
	if got := v.spreadOfRows(); got != 2 {
		t.Errorf("without an intercept: %g", got)
	}
	for power, want := range map[float64]float64{0.3: 1.6, 0.4: 1.25, 0.5: 1, 2: 1} {
		if got := (upper{power: power}).longer(); math.Abs(got-want) > 1e-12 {
			t.Errorf("a power of %g makes tails %g times as long", power, got)
		}
	}
}

// What is restored lies against the intercept and against the weights where counts are cut
// off, along the weights for two classes, with the rarer class's surprise along the
// intercept, and nowhere for residuals; where scores hardly differ, little of it along them.
func TestRestored(t *testing.T) {
	restored := func(loss losses.Loss, mean float64, u ...float64) []float64 {
		facts := labelFacts{mean: mean, minority: math.Min(mean, 1-mean)}
		x := &standardising{standardised: &standardised{loss: loss, problem: Problem{Loss: loss}}, d: 2, n: 100, facts: facts}
		v := &inferring{standardising: x, constant: 1, pilot: make([]float64, 3)}
		v.cut = v.cutting()
		v.cut.length = 100 * math.Sqrt(6)
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
	v := &inferring{standardising: &standardising{standardised: &standardised{loss: losses.Squared{}}, d: 2, n: 1},
		constant: 1, pilot: make([]float64, 3), theta: []float64{1.5, -4, 7}, short: short.Beside(),
		cut: cutting{length: 1, along: part{mean: 2, variance: 3}}}
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
