package labelsonly

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// kept is a journal of what is released.
type kept [][]byte

func (*kept) Records() ([][]byte, error) { return nil, nil }

func (k *kept) Append(record []byte) error {
	*k = append(*k, slices.Clone(record))
	return nil
}

// release is the k-th one before the last: its numbers, μ, and the noise in them, its sensitivity over that.
func (k *kept) release(t *testing.T, before int) (numbers []float64, mu, noise float64) {
	t.Helper()
	head, digits, _ := strings.Cut(string((*k)[len(*k)-1-before]), "|")
	bits := func(text string) float64 {
		var of uint64
		if _, err := fmt.Sscanf(text, "%16x", &of); err != nil {
			t.Fatal(err)
		}
		return math.Float64frombits(of)
	}
	for ; digits != ""; digits = digits[16:] {
		numbers = append(numbers, bits(digits))
	}
	declared := strings.Fields(head)[2:]
	mu = bits(declared[1])
	return numbers, mu, bits(declared[0]) / mu
}

// alikeTo reports whether two numbers are the same but for rounding, which sensitivities allow for, too.
func alikeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

// byMean is the constant's sum of numbers and its error: by a sum with noise, of which ends may have cut some off, and by the labels' mean, by inverse variances of
// what is known; and what is cut off, or may be, of the part that is the sum's.
func (x *fit) byMean(t *testing.T, sum, noise float64, to held, at []float64) (found, deviation, beside float64) {
	t.Helper()
	means, err := meansOf(x.space, x.family, at)
	if err != nil {
		t.Fatal(err)
	}
	mean, whole := x.space.n*x.labels.Mean, 1/(1-to.lost)
	for i, m := range means {
		mean -= (1 - x.space.factors[i]) * m
	}
	own, other := noise*noise+math.Pow(whole*to.cutOff, 2), math.Pow(x.space.n*x.labels.Noise, 2)
	part := other / (own + other)
	return part*sum + (1-part)*mean, 1 / math.Sqrt(1/own+1/other), part * whole * (to.cutOff + to.hidden)
}

func reals(mu float64) estimate.Problem {
	return estimate.Problem{Loss: losses.Squared{}, Asked: losses.Squared{}, Mu: mu}
}

// heavy are labels of which one in eight is far out.
func heavy(r *rand.Rand) float64 {
	y := r.NormFloat64()
	if r.IntN(8) == 0 {
		y *= 15
	}
	return y
}

// A sum of residuals is told from what is released: the histogram has its part of the share, and says where residuals are held and what part of rows that loses; what is
// left of the sum at a point is multiplied by as much as was lost, and so is its noise, which is the sensitivity over μ.
func TestResidualsByDefinition(t *testing.T) {
	lost := false
	for _, mu := range []float64{6, 14, 30, 60, 1000} {
		x, _, k := drawn(t, reals(mu), func(r *rand.Rand) float64 { return 2 * r.NormFloat64() })
		const share = 0.4
		at := []float64{0.5, -0.3, 0.2, 0.4}
		l, err := x.look(at, share)
		if err != nil {
			t.Fatal(err)
		}
		o, err := looks{l}.told(x, at)
		if err != nil {
			t.Fatal(err)
		}
		there, err := x.space.mean(x.family, at)
		if err != nil {
			t.Fatal(err)
		}
		counts, first, spread := k.release(t, 1)
		sum, second, noise := k.release(t, 0)
		if of := tuning.ResidualsShare * share; !alikeTo(first, mu*math.Sqrt(of)) || !alikeTo(second, mu*math.Sqrt(share-of)) {
			t.Errorf("μ = %g: releases of μ = %g and %g", mu, first, second)
		}
		h := histogram.NewTails(histogram.Geometric(2*x.run.Problem.Facts.LabelBound, math.Sqrt2, tuning.NormEdges), counts, spread, x.run.N)
		to, err := x.heldTo(h, nil, share*(1-tuning.ResidualsShare))
		if err != nil {
			t.Fatal(err)
		}
		limit, cutOff := to.below, to.cutOff
		part := math.Min(math.Max(h.Over(limit), 0)/x.run.N, half)
		lost = lost || part > 0.01
		if !alikeTo(o.noise, noise/(1-part)) || !alikeTo(x.lost, part) || !alikeTo(x.cutOff, cutOff/(1-part)) || x.limit != limit {
			t.Errorf("μ = %g: the noise %g, want %g; %g rows lost, want %g; %g cut off, want %g", mu, o.noise, noise/(1-part), x.lost, part, x.cutOff, cutOff/(1-part))
		}
		law, _ := h.FromSeen().Upper(1, tuning.TailPower)
		if hidden := math.Max(0, law.Excess(limit)-cutOff) + h.MayExceed(limit, law); !alikeTo(l.to.hidden, hidden) || !(hidden > 0) {
			t.Errorf("μ = %g: %g may be hidden, want %g", mu, l.to.hidden, hidden)
		}
		for j, v := range sum {
			want, deviation, beside := there[j]-v/(1-part), noise/(1-part), o.beside
			if j == len(sum)-1 {
				want, deviation, beside = x.byMean(t, want, deviation, l.to, at)
			}
			if !alikeTo(o.sum[j], want) || !alikeTo(o.square(j), deviation*deviation) || !alikeTo(o.beside, beside) {
				t.Errorf("μ = %g: sum %d is %g with noise of %g and %g, want %g with %g and %g", mu, j, o.sum[j], math.Sqrt(o.square(j)), o.beside, want, deviation, beside)
			}
		}
	}
	if !lost {
		t.Error("no row is held")
	}
}

// Residuals are held where the noise's square, in each coordinate, and that of a part of what is cut off are least together: of two limits the lower one where
// rows above it are few enough, or where noise may be all that they are, if they aren't half of the rows.
func TestLimitOfResiduals(t *testing.T) {
	const share, high, low, sure = 0.5, 4.0, 2.0, tuning.Surely * math.Sqrt2 // of two counts
	x, _, _ := drawn(t, reals(100), heavy)
	noise := 2 * x.space.cut / x.mu(share)
	rows := math.Sqrt(noise*noise*4*(high*high-low*low)) / (tuning.CutPart * x.space.cut * (high - low))
	if rows > sure {
		t.Fatalf("%g rows aren't few", rows)
	}
	for _, c := range []struct{ noise, rows float64 }{{0, rows}, {1, sure}, {x.run.N, x.run.N / 2}} {
		for times, want := range map[float64]float64{0.99: low, 1.01: high} {
			h := histogram.NewTails([]float64{high, low}, []float64{0, c.rows * times, 0}, c.noise, x.run.N)
			cut := 0.0
			if want == low && c.noise == 0 {
				cut = c.rows * times * (high - low)
			}
			to, err := x.heldTo(h, nil, share)
			if err != nil || to.below != want || to.above != want || math.Abs(to.cutOff-cut) > 1e-9 {
				t.Errorf("%g rows above %g, noise of %g: held to %+v (%v)", c.rows*times, low, c.noise, to, err)
			}
		}
	}
}

// Two sums, each with its share, count by one over the squares of their noise and of what is seen to be cut off of the longest rows; the second is of what the first one's estimate leaves. The
// constant's has what labels' mean says of it at the estimate, until that stays.
func TestTwoSumsByDefinition(t *testing.T) {
	parts, _, _ := drawn(t, reals(20), heavy)
	whole, _, _ := drawn(t, reals(20), heavy)
	total, at := parts.run.Pool.Left, parts.start()
	var of looks
	var all observation
	var s *state
	for _, part := range []float64{tuning.FirstLabels, 1 - tuning.FirstLabels} {
		l, err := parts.look(at, part*total)
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, l)
		moved := math.Inf(1)
		for moved >= near*all.noise {
			before := all.sum
			all = observation{sum: make([]float64, len(at)), scale: l.to.scale, unit: of[0].to.unit}
			weights, noise := 0.0, 0.0
			for _, l := range of {
				lost := 1 - l.to.lost
				w := lost * lost / (l.noise*l.noise*4 + math.Pow(tuning.CutPart*l.to.cutOff*parts.space.cut, 2))
				weights, noise = weights+w, math.Hypot(noise, w/lost*l.noise)
				floats.AddScaled(all.sum, w, l.there)
				floats.AddScaled(all.sum, -w/lost, l.sum)
			}
			floats.Scale(1/weights, all.sum)
			all.noise = noise / weights
			last := len(at) - 1
			all.sum[last], all.constant, all.beside = parts.byMean(t, all.sum[last], all.noise, l.to, at)
			if before != nil {
				if moved = floats.Distance(before, all.sum, 2); moved < near*all.noise {
					break
				}
			}
			if s, err = parts.space.solve(parts.family, all, parts.belief(parts.start()), at); err != nil {
				t.Fatal(err)
			}
			at = s.theta
		}
	}
	found, o, err := whole.inTwo()
	if err != nil {
		t.Fatal(err)
	}
	if !floats.EqualApprox(o.sum, all.sum, 1e-9) || !alikeTo(o.noise, all.noise) || !alikeTo(o.constant, all.constant) || !alikeTo(o.beside, all.beside) || !alikeTo(o.scale, all.scale) ||
		!alikeTo(o.unit, all.unit) || !floats.EqualApprox(found.theta, s.theta, 1e-9) {
		t.Errorf("%+v, at %v; want %+v, at %v", o, found.theta, all, s.theta)
	}
	if left := whole.run.Pool.Left; math.Abs(left) > 1e-12 {
		t.Errorf("%g of μ² is left", left)
	}
}

// What estimates take for noise in a sum is its sensitivity over μ, of two classes and of several.
func TestNoiseOfClassesByDefinition(t *testing.T) {
	for _, classes := range []int{0, 3} {
		x, _, k := drawn(t, estimate.Problem{Loss: losses.Logistic{}, Asked: losses.Logistic{}, Mu: 3, Classes: classes}, func(r *rand.Rand) float64 { return float64(r.IntN(max(2, classes))) })
		find := x.estimate
		if classes > 0 {
			find = x.ofClasses
		}
		_, o, err := find()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, noise := k.release(t, 0); !alikeTo(o.noise, noise) {
			t.Errorf("%d classes: the noise %g, want %g", classes, o.noise, noise)
		}
	}
}

// What was cut off may lie along any direction by a part, and along the constant of counts all of it; that of numbers has it in the error of the constant's sum.
func TestCutOffByDefinition(t *testing.T) {
	for _, c := range []struct {
		p     estimate.Problem
		label func(*rand.Rand) float64
		all   float64 // along the constant
		long  bool    // whether the longest rows are taken to be those that are cut off
	}{{reals(20), heavy, 0, true}, {estimate.Problem{Loss: losses.CappedPoisson{Cap: 60}, Asked: losses.Poisson{}, Mu: 20}, countedLabels, 1, false}} {
		x, _, _ := drawn(t, c.p, c.label)
		x.cutOff = 7
		m, err := x.space.round(x.space.cut)
		if err != nil {
			t.Fatal(err)
		}
		to := mat.NewSymDense(4, nil)
		if err := x.addCutOff(to); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			for j := range 4 {
				part := tuning.CutPart
				if i == 3 && j == 3 {
					part = c.all
				}
				if c.long {
					part *= x.space.cut / math.Sqrt(mat.Trace(m.twice)/x.space.n)
				}
				if want := part * part * 49 / x.space.n * m.twice.At(min(i, j), max(i, j)); math.Abs(to.At(i, j)-want) > 1e-12*want+1e-12 {
					t.Errorf("%T: %d, %d: %g, want %g", x.family, i, j, to.At(i, j), want)
				}
			}
		}
	}
}

// What products of gradients say counts by how much of it isn't noise, its size and the rest apart: noise that has the variance ν² on the diagonal and half of that off
// it, as packed products do, between two times W.
func TestProductsTowardsOne(t *testing.T) {
	const noise, n = 0.1, 3
	w := []float64{1, 0.5, 2} // squares of what W is on its diagonal
	var one, two, size, rest float64
	for i, v := range w {
		one, two = one+v, two+v*v
		size += v * v * noise * noise / (n * n)
		for j, u := range w {
			if i == j {
				rest += v * u * noise * noise
			} else {
				rest += v * u * noise * noise / 2
			}
		}
	}
	seen := mat.NewSymDense(n, []float64{1.9, 0.2, 0.1, 0.2, 1.3, -0.1, 0.1, -0.1, 1})
	got, ok := towardsOne(seen, noise, one, two)
	if !ok {
		t.Fatal("numbers don't hold it")
	}
	mean := mat.Trace(seen) / n
	var square float64
	for i := range n {
		for j := range n {
			v := seen.At(i, j)
			if i == j {
				v -= mean
			}
			square += v * v
		}
	}
	about := 1 + (mean-1)*(1-size/((mean-1)*(mean-1)))
	for i := range n {
		for j := range n {
			want := seen.At(i, j) * (1 - rest/square)
			if i == j {
				want = about + (seen.At(i, j)-mean)*(1-rest/square)
			}
			if math.Abs(got.At(i, j)-want) > 1e-12 {
				t.Errorf("%d, %d: %g, want %g", i, j, got.At(i, j), want)
			}
		}
	}
}

// Of a public model along what no row varies a part is left: none of one that labels turn around, and no more than all.
func TestRestOfPublicModel(t *testing.T) {
	x, _, _ := drawn(t, reals(20), heavy)
	theta := []float64{0.5, -0.3, 0.2, 0.4}
	without := x.weights(theta, 1, 0)
	x.public.rest = [][]float64{{0.1, -0.2, 0.3}}
	for times, want := range map[float64]float64{-1: 0, 0.5: 0.5, 2: 1} {
		w := x.weights(theta, times, 0)
		for j, rest := range x.public.rest[0] {
			if math.Abs(w[j]-without[j]-want*rest) > 1e-12 {
				t.Errorf("%g times: weight %d is %g, without the model %g", times, j, w[j], without[j])
			}
		}
		if off := w[3] - without[3] + want*floats.Dot(x.public.rest[0], x.space.centre); math.Abs(off) > 1e-12 {
			t.Errorf("%g times: the intercept is %g off", times, off)
		}
	}
}

// counted are counts of mean 2, one in ten of them ten times as large.
func countedLabels(r *rand.Rand) (k float64) {
	for at := r.ExpFloat64(); at < 2; at += r.ExpFloat64() {
		k++
	}
	if r.IntN(10) == 0 {
		k *= 10
	}
	return math.Min(k, 30)
}

// The sum of counts is that of means less labels plus a middle, held to half of what lies between the ends, with noise of as much on either side; the end above is the largest mean at most.
// What is read of it has the means, what the law of a point's means says that was cut off, and of the constant what labels' mean says.
func TestCountsByDefinition(t *testing.T) {
	poisson, unexplained := losses.Poisson{}, false
	for _, mu := range []float64{15, 40, 1000} {
		x, rows, k := drawn(t, estimate.Problem{Loss: losses.CappedPoisson{Cap: 60}, Asked: poisson, Mu: mu}, countedLabels)
		const share = 0.4
		at, now := []float64{.05, -.04, .03, .8}, []float64{.1, .02, -.05, .6}
		l, err := x.look(at, share)
		if err != nil {
			t.Fatal(err)
		}
		sum, second, noise := k.release(t, 0)
		if !alikeTo(second, mu*math.Sqrt(share*(1-tuning.ResidualsShare))) || !alikeTo(l.noise, noise) || !alikeTo(l.noise, 2*l.to.limit()*x.space.cut/second) || !floats.Equal(sum, l.sum) {
			t.Errorf("μ = %g: of a release of μ = %g the noise is %g, want %g", mu, second, l.noise, noise)
		}
		means := func(at []float64) []float64 {
			w, b := x.space.weights(at)
			var list []float64
			for i := range rows.RawMatrix().Rows {
				list = append(list, math.Exp(floats.Dot(w, rows.RawRowView(i))+b))
			}
			return list
		}
		then, there := means(at), means(now)
		if top := floats.Max(then); !(l.to.below >= 1) || !alikeTo(l.to.above, math.Min(l.to.below, top)) {
			t.Errorf("μ = %g: ends %g below and %g above, where the largest mean is %g", mu, l.to.below, l.to.above, top)
		}
		o, err := looks{l}.told(x, now)
		if err != nil {
			t.Fatal(err)
		}
		want, cut := make([]float64, len(now)), make([]float64, len(now))
		floats.AddScaled(want, -1, sum)
		cutOff := math.Max(floats.Norm(l.beyond(there, l.to.scale), 1), l.to.cutOff)
		for i, m := range then {
			e := l.beyond(there, l.to.scale)[i]
			z := append(x.space.into(append(slices.Clone(rows.RawRowView(i)), 1)), 0)[:len(now)]
			floats.AddScaled(z, -1, x.space.into(append(slices.Clone(x.space.centre), 0)))
			floats.AddScaled(want, x.space.factors[i]*(m+l.to.middle()+e), z)
			floats.AddScaled(cut, x.space.factors[i]*e, z)
		}
		mean := x.space.n * x.labels.Mean
		for i, m := range there {
			mean -= (1 - x.space.factors[i]) * m
		}
		one, other := l.noise, x.space.n*math.Hypot(x.labels.Noise, x.labels.Missed)
		if more := mean - want[3]; more > 0 {
			more *= estimate.JamesStein(one*one+other*other, more*more)
			cutOff = math.Max(cutOff, more)
			added := math.Min(more, cut[3])
			floats.AddScaled(want, added/cut[3], cut)
			one = math.Hypot(one, more-added)
			unexplained = unexplained || more > added
		}
		want[3] = (want[3]*other*other + mean*one*one) / (one*one + other*other)
		if !floats.EqualApprox(o.sum, want, 1e-6*floats.Norm(want, math.Inf(1))) || !alikeTo(o.square(3), 1/(1/(one*one)+1/(other*other))) || !alikeTo(o.square(0), l.noise*l.noise) {
			t.Errorf("μ = %g: the sum %v, want %v; noise %g, %g of the constant", mu, o.sum, want, o.square(0), o.square(3))
		}
		if !alikeTo(x.cutOff, cutOff) {
			t.Errorf("μ = %g: %g is cut off, want %g", mu, x.cutOff, cutOff)
		}
	}
	if !unexplained {
		t.Error("all that the mean tells is explained")
	}
}

// What labels exceed what is held of them by is the mean excess of counts of Poisson's law, times the scale, over an end above means; what they fall short of one below is taken from it.
func TestBeyondByDefinition(t *testing.T) {
	for _, c := range []struct{ there, below, above, mean, scale float64 }{
		{.2, 1, .2, .3, 1}, {2, 1.5, 1.5, 2.5, 1}, {9, 2.5, 2.5, 8, 1}, {9, 3, 3, 20, 2.5}, {40, 11, 7, 42, 1.7}, {3, 4, 3, 0, 1},
	} {
		l, want := look{means: []float64{c.there}, to: held{below: c.below, above: c.above}}, 0.0
		p := math.Exp(-c.mean / c.scale)
		for k := 0.0; k < 400; k++ { // a count of its mean and variance
			y := k * c.scale
			want += p * (y - math.Max(c.there-c.above, math.Min(y, c.there+c.below)))
			p *= c.mean / c.scale / (k + 1)
		}
		if got := l.beyond([]float64{c.mean}, c.scale)[0]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: %g, want %g", c, got, want)
		}
	}
}

// Edges of counts go down to 1 where a release has room for as many, however far up their range goes.
func TestResidualEdges(t *testing.T) {
	for _, c := range []struct{ bound, least, most float64 }{{5, 0, .02}, {1000, .5, 2}, {1e6, .5, 1}, {1e12, 100, 3000}} {
		edges := residualEdges(counts{}, c.bound)
		if last := edges[len(edges)-1]; !alikeTo(edges[0], 2*c.bound) || last < c.least || last > c.most || len(edges) > 61 {
			t.Errorf("to %g: %d edges from %g to %g", c.bound, len(edges), edges[0], last)
		}
		if n := len(residualEdges(numbers{}, c.bound)); n != tuning.NormEdges+1 {
			t.Errorf("to %g: %d edges of numbers", c.bound, n)
		}
	}
}
