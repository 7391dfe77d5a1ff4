package infer

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/ordinal"
	"github.com/dpglm/dpglm/losses"
)

// reckoned is a run of two columns and an intercept whose every number is another one, with two steps from
// different points.
func reckoned(t *testing.T) *newton {
	t.Helper()
	v := &newton{in: spaceOf(losses.Logistic{}, 2, 1), theta: []float64{0.3, -0.2, 0.5}, shrunk: 0.7}
	v.scatter = noisy{mat.NewSymDense(3, []float64{0.2, 0.03, 0.01, 0.03, 0.3, -0.02, 0.01, -0.02, 0.4}), 0.06}
	v.clip = clipping{in: v.in, cut: 0.2, gap: 0.25, lost: 0.3, unit: 0.5}
	v.in.run.Problem.Facts.Dim, v.in.pilot, v.in.labels.Bias = 3, make([]float64, 3), 0.1
	v.in.frame.At.Matrix = mat.NewDense(2, 2, []float64{1, 0.2, 0.1, 2})
	v.in.curve.hessian = noisy{mat.NewSymDense(3, []float64{0.5, 0.1, 0.05, 0.1, 0.4, -0.07, 0.05, -0.07, 0.6}), 0.04}
	v.in.curve.floor = 0.1
	v.steps = []newtonStep{
		{from: []float64{0.9, 0.1, 0.2}, noise: 0.1, weight: 0.25, missed: 0.04},
		{from: []float64{0.4, -0.5, 0.6}, noise: 0.2, weight: 0.75, missed: 0.01},
	}
	if err := v.in.curve.invert(); err != nil {
		t.Fatal(err)
	}
	return v
}

// times is the product of 3×3 matrices by plain loops.
func times(a, b [3][3]float64) (c [3][3]float64) {
	for i := range c {
		for j := range c {
			for k := range c {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

// plain are a matrix's numbers.
func plain(m mat.Matrix) (a [3][3]float64) {
	for i := range a {
		for j := range a {
			a[i][j] = m.At(i, j)
		}
	}
	return a
}

// inverted is the inverse by cofactors.
func inverted(a [3][3]float64) (b [3][3]float64) {
	var det float64
	for i := range a {
		for j := range a {
			p, q, r, s := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
			b[j][i] = a[p][r]*a[q][s] - a[p][s]*a[q][r]
			if i == 0 {
				det += a[0][j] * b[j][0]
			}
		}
	}
	for i := range b {
		for j := range b {
			b[i][j] /= det
		}
	}
	return b
}

// lawTerms is the covariance of a run's law by its definition, term by term, with plain loops and
// without package linalg: of a Hessian whose eigenvalues are all above the floor.
func lawTerms(v *newton) map[string][3][3]float64 {
	inverse := inverted(plain(v.in.curve.hessian.m))
	around := func(m [3][3]float64) [3][3]float64 { return times(times(inverse, m), inverse) }
	var noise, missed, misfit, sampling, cut, far [3][3]float64
	var variance, root float64
	var gap [3]float64
	for _, s := range v.steps {
		variance += s.weight * s.weight * s.noise * s.noise
		root += s.weight * math.Sqrt(s.missed)
		for j := range gap {
			gap[j] += s.weight * (s.from[j] - v.theta[j])
		}
	}
	var norm float64
	for j := range gap {
		norm += gap[j] * gap[j]
	}
	hessian := v.in.curve.hessian.noise * v.in.curve.hessian.noise
	for i := range 3 {
		for j := range 3 {
			sampling[i][j] = v.scatter.m.At(i, j) / v.in.run.N
			missed[i][j] = root * root / 3 * inverse[i][j]
			far[i][j] = v.shrunk * hessian / 2 * gap[i] * gap[j]
		}
		noise[i][i] = variance
		far[i][i] += v.shrunk * hessian / 2 * norm
		cut[i][i] = math.Pow(v.clip.cut*v.clip.part(), 2)
	}
	cut[2][2] = math.Pow(max(v.clip.cut, v.clip.gap, v.clip.cut*v.clip.part()), 2)
	misfit = plain(v.misfit()) // TestLawAddsUp has it by hand
	return map[string][3][3]float64{"sampling": around(sampling), "noise": around(noise), "missed": missed, "cut off": around(cut),
		"Hessian's noise": around(far), "misfit": misfit}
}

// The covariance of a law is the sum of its terms, and each of them alone where what makes the others is 0. Each
// is computed once more by plain loops. The law's other numbers are the run's.
func TestLawTermByTerm(t *testing.T) {
	without := map[string]func(v *newton){
		"sampling":        func(v *newton) { v.scatter.m = mat.NewSymDense(3, nil) },
		"missed":          func(v *newton) { v.steps[0].missed, v.steps[1].missed = 0, 0 },
		"noise":           func(v *newton) { v.steps[0].noise, v.steps[1].noise = 0, 0 },
		"cut off":         func(v *newton) { v.clip.cut, v.clip.gap = 0, 0 },
		"Hessian's noise": func(v *newton) { v.shrunk = 0 },
		"misfit":          func(v *newton) { v.clip.lost = 0 },
	}
	same := func(what string, l *Law, want [3][3]float64) {
		t.Helper()
		for i := range 3 {
			for j := range 3 {
				if got := l.Covariance.At(i, j); math.Abs(got-want[i][j]) > 1e-12*(1+math.Abs(want[i][j])) {
					t.Errorf("%s: the covariance of %d and %d is %.15g, want %.15g", what, i, j, got, want[i][j])
				}
			}
		}
	}
	all := reckoned(t)
	var sum [3][3]float64
	for name, term := range lawTerms(all) {
		for i := range 3 {
			for j := range 3 {
				sum[i][j] += term[i][j]
			}
		}
		v := reckoned(t)
		for other, drop := range without {
			if other != name {
				drop(v)
			}
		}
		if term == [3][3]float64{} {
			t.Errorf("%s is nothing", name)
		}
		same(name, v.law(), term)
	}
	l := all.law()
	same("all", l, sum)
	if l.Hessian != 0.04 || l.Scatter != 0.06/100 || len(l.Drowned) != 0 {
		t.Errorf("the law's noise is %g and %g, with %d drowned directions", l.Hessian, l.Scatter, len(l.Drowned))
	}
	if w := l.of([]float64{1, 2, 3}); w[0] != 1.4 || w[1] != 4.1 || w[2] != 3 {
		t.Errorf("weights are %v", w)
	}
}

// Estimated thresholds widen the intercept's variance by their mean's, and the covariance along the
// weights, the intercept aside, by that of their scale.
func TestThresholdsWiden(t *testing.T) {
	v := reckoned(t)
	before, l := plain(v.law().Covariance), v.law()
	v.widenFor(ordinal.Doubt{Scale: 0.5, Mean: 0.02}, l)
	for i := range 3 {
		for j := range 3 {
			more := 0.0
			if i < 2 && j < 2 {
				more = 0.5 * v.theta[i] * v.theta[j]
			} else if i == 2 && j == 2 {
				more = 0.02
			}
			if got := l.Covariance.At(i, j) - before[i][j]; math.Abs(got-more) > 1e-12 {
				t.Errorf("the covariance of %d and %d grows by %g, want %g", i, j, got, more)
			}
		}
	}
}

// The degrees of freedom of a combination are what finite differences make of its variance cᵀH⁻¹SH⁻¹c, as H
// and S move by independent noise in each packed number: slopes and second differences along each of
// the six, of the variance of each.
func TestFreedomByDifferences(t *testing.T) {
	const hessian, scatter, n, h = 0.03, 0.002, 50.0, 1e-4
	at := plain(reckoned(t).in.curve.hessian.m)
	s := [3][3]float64{{0.004, 0.001, 0}, {0.001, 0.003, -0.0005}, {0, -0.0005, 0.002}}
	variance := func(at, s [3][3]float64, c []float64) (sum float64) {
		inverse := inverted(at)
		m := times(times(inverse, s), inverse)
		for i := range 3 {
			for j := range 3 {
				sum += c[i] * c[j] * m[i][j]
			}
		}
		return sum
	}
	moved := func(m [3][3]float64, i, j int, by float64) [3][3]float64 {
		if m[i][j] += by; i != j {
			m[j][i] += by
		}
		return m
	}
	negative := 0
	l := &Law{Hessian: hessian, Scatter: scatter}
	for k, c := range [][]float64{{1, 0, 0}, {0, 1, -1}, {0.3, -2, 0.7}, {-0.884, 0.087, 0.053}} {
		if k == 3 { // scatter in one direction mostly, by which noise lowers the variance
			at = [3][3]float64{{4, 0, 0}, {0, 0.3, 0}, {0, 0, 1}}
			for i, u := range []float64{0.914, 0.301, 0.271} {
				for j, v := range []float64{0.914, 0.301, 0.271} {
					s[i][j] = 0.004 * u * v
				}
				s[i][i] += 1e-5
			}
		}
		l.Inverse, l.Covariance = mat.NewSymDense(3, nil), mat.NewSymDense(3, nil)
		inverse := inverted(at)
		covariance := times(times(inverse, s), inverse)
		for i := range 3 {
			for j := i; j < 3; j++ {
				l.Inverse.SetSym(i, j, inverse[i][j])
				l.Covariance.SetSym(i, j, covariance[i][j])
			}
		}
		here := variance(at, s, c)
		var curve, spread, second float64
		for i := range 3 {
			for j := i; j < 3; j++ {
				square := 1.0 // of the noise in this number, of the diagonal's
				if i != j {
					square = 0.5
				}
				up, down := variance(moved(at, i, j, h), s, c), variance(moved(at, i, j, -h), s, c)
				curve += square * math.Pow(hessian*(up-down)/(2*h), 2)
				second += square * hessian * hessian * (up + down - 2*here) / (2 * h * h)
				spread += square * math.Pow(scatter*(variance(at, moved(s, i, j, h), c)-variance(at, moved(s, i, j, -h), c))/(2*h), 2)
			}
		}
		if second < 0 {
			negative++
		}
		s2 := (curve+spread)/(4*here*here) + higherOrders*math.Pow(curve/(4*here*here), 2) - math.Min(0, second)/(2*here)/levelled
		if got, want := l.freedom(c), 2+1/(2*s2); math.Abs((got-2)/(want-2)-1) > 1e-5 || !(want > 2.01 && want < mostFreedom/10) {
			t.Errorf("a combination %v has %g degrees of freedom, want %g", c, got, want)
		}
	}
	if negative != 1 {
		t.Errorf("noise lowers %d variances, want 1", negative)
	}
	l.Hessian, l.Scatter = 0, 0
	if got := l.freedom([]float64{1, 0, 0}); got != 2+mostFreedom/2 {
		t.Errorf("without noise there are %g degrees of freedom", got)
	}
	if got := l.freedom([]float64{0, 0, 0}); got != mostFreedom {
		t.Errorf("of nothing there are %g degrees of freedom", got)
	}
}

// The covariance of two combinations is that of the determined part, and of what each may miss along drowned
// directions, with its sign: by definition, where noise explains nothing of it.
func TestCombinationsByDefinition(t *testing.T) {
	l := &Law{Covariance: mat.NewSymDense(3, []float64{2, 0.3, 0.1, 0.3, 1, 0, 0.1, 0, 3}), Inverse: mat.NewSymDense(3, []float64{2, 0, 0, 0, 1, 0, 0, 0, 3}),
		Drowned: [][]float64{{0, 0.6, 0.8}}, Hidden: 0.25, Seen: 1, Curved: 1}
	a, b := []float64{1, 0.1, 0.1}, []float64{0.5, -0.2, 0.1}
	want := 0.0
	for i := range a {
		for j := range b {
			want += a[i] * b[j] * l.Covariance.At(i, j)
		}
	}
	want += 0.25 * (0.06 + 0.08) * (-0.12 + 0.08)
	if got := l.Combine(a).Covariance(l.Combine(b)); math.Abs(got-want) > 1e-12 {
		t.Errorf("the covariance is %g, want %g", got, want)
	}
	if inside, noise := l.drownedPart(a); math.Abs(inside-0.14*0.14) > 1e-12 || noise != 0 {
		t.Errorf("of a part of %g noise explains %g", inside, noise)
	}
	// With noise of 0.1: half of 0.01 times the square of what of Λ⁻¹a = (2, 0.1, 0.3) lies outside.
	l.Hessian = 0.1
	if inside, noise := l.drownedPart(a); math.Abs(inside-0.14*0.14) > 1e-12 || math.Abs(noise-0.005*(4+0.1-0.09)) > 1e-12 {
		t.Errorf("beside noise: of a part of %g noise explains %g", inside, noise)
	}
	if se, freedom := l.StandardError([]float64{0, 0.6, 0.8}); !math.IsInf(se, 1) || freedom != 1 {
		t.Errorf("a drowned direction has the standard error %g, with freedom %g", se, freedom)
	}
	l.Hessian = 0
	if se, _ := l.StandardError([]float64{1, 0, 0}); math.Abs(se-math.Sqrt2) > 1e-12 {
		t.Errorf("the standard error is %g", se)
	}
}

// Towards another matrix a noisy one goes by James and Stein's rule: by definition, at noise that leaves a part.
func TestTowardsByDefinition(t *testing.T) {
	m, other := plain(reckoned(t).in.curve.hessian.m), [3][3]float64{{1, 0, 0}, {0, 2, 0.5}, {0, 0.5, 3}}
	trace := m[0][0] + m[1][1] + m[2][2]
	var square float64
	for i := range 3 {
		for j := range 3 {
			gap := m[i][j] - trace/6*other[i][j]
			square += gap * gap
		}
	}
	const noise = 0.1
	k := estimate.JamesStein(5*noise*noise, square)
	if !(k > 0.1 && k < 0.9) {
		t.Fatalf("k is %g", k)
	}
	to := mat.NewSymDense(3, []float64{1, 0, 0, 0, 2, 0.5, 0, 0.5, 3})
	got := noisy{reckoned(t).in.curve.hessian.m, noise}.towards(to)
	for i := range 3 {
		for j := range 3 {
			aim := trace / 6 * other[i][j]
			if want := aim + k*(m[i][j]-aim); math.Abs(got.m.At(i, j)-want) > 1e-12 {
				t.Errorf("%d, %d is %g, want %g", i, j, got.m.At(i, j), want)
			}
		}
	}
	if want := noise * math.Sqrt(k+(1-k)/3); math.Abs(got.noise-want) > 1e-12 {
		t.Errorf("its noise is %g, want %g", got.noise, want)
	}
	if got := (noisy{mat.NewSymDense(2, []float64{1, 0.2, 0.2, 3}), 1e9}).towards(mat.NewSymDense(2, nil)); got.m.At(0, 0) != 2 || got.m.At(1, 1) != 2 || got.m.At(0, 1) != 0 {
		t.Errorf("towards nothing it goes to %v", mat.Formatted(got.m))
	}
}
