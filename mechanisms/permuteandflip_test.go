package mechanisms

import (
	"math"
	"testing"
)

// permuteAndFlipLaw: give each candidate a uniform arrival time u; i wins when
// its coin shows heads and that of no earlier one does, so that
// P(i) = c_i·∫₀¹ Π_{j≠i} (1 − u·c_j) du, a polynomial's integral.
func permuteAndFlipLaw(x []float64) []float64 {
	p := make([]float64, len(x))
	for i := range x {
		poly := []float64{1}
		for j := range x {
			if j == i {
				continue
			}
			next := make([]float64, len(poly)+1)
			for k, a := range poly {
				next[k] += a
				next[k+1] -= a * math.Exp(-x[j])
			}
			poly = next
		}
		for k, a := range poly {
			p[i] += math.Exp(-x[i]) * a / float64(k+1)
		}
	}
	return p
}

// Permute-and-flip is never worse than the exponential mechanism, for any score
// vector (McKenna and Sheldon), and at best twice as good.
func TestPermuteAndFlipDominates(t *testing.T) {
	random := uniforms(24)
	mean := func(p, x []float64) (m float64) {
		for i := range p {
			m += p[i] * x[i]
		}
		return m
	}
	strict := math.Inf(1)
	for range 5000 {
		x := make([]float64, 2+int(5*random()))
		for i := range x[1:] {
			x[i+1] = 12 * random() * random()
		}
		pf, em := mean(permuteAndFlipLaw(x), x), mean(softmin(x), x)
		if pf > em*(1+1e-12) || pf < em/2*(1-1e-9) {
			t.Fatalf("%v: permute-and-flip %g, exponential %g", x, pf, em)
		}
		strict = math.Min(strict, pf/em)
	}
	if strict > 0.7 {
		t.Errorf("the largest gain found is a factor %g only", strict)
	}
}

// The closed form of permute-and-flip's law against all orders of 4 candidates.
func TestPermuteAndFlipLawByEnumeration(t *testing.T) {
	x := []float64{0.3, 0, 2, 0.7}
	want := make([]float64, len(x))
	var visit func(left []int, reached float64)
	visit = func(left []int, reached float64) {
		for at, i := range left {
			here := reached / float64(len(left))
			want[i] += here * math.Exp(-x[i])
			rest := append(append([]int(nil), left[:at]...), left[at+1:]...)
			visit(rest, here*(1-math.Exp(-x[i])))
		}
	}
	visit([]int{0, 1, 2, 3}, 1)
	for i, p := range permuteAndFlipLaw(x) {
		if math.Abs(p-want[i]) > 1e-14 {
			t.Errorf("P(%d) = %g, want %g", i, p, want[i])
		}
	}
}
