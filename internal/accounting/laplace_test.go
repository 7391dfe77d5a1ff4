package accounting

import (
	"fmt"
	"math"
	"sort"
	"testing"
)

// exactLaplace lists the outcomes of discrete Laplace noise of the given scales, one for each
// coordinate, as pairs of probabilities without and with the shifts, but for less than 1e-11
// of each.
func exactLaplace(scales []float64, shifts []int) (p, q []float64) {
	p, q = []float64{1}, []float64{1}
	for i, s := range scales {
		decay := math.Exp(-1 / s)
		at := func(y int) float64 { return (1 - decay) / (1 + decay) * math.Exp(-math.Abs(float64(y))/s) }
		farthest := int(27*s) + shifts[i]
		var nextP, nextQ []float64
		for j := range p {
			for y := -farthest; y <= farthest+shifts[i]; y++ {
				nextP = append(nextP, p[j]*at(y))
				nextQ = append(nextQ, q[j]*at(y-shifts[i]))
			}
		}
		p, q = nextP, nextQ
	}
	return p, q
}

func hockeyStick(p, q []float64, x float64) (d float64) {
	for i := range p {
		d += math.Max(0, p[i]-math.Exp(x)*q[i])
	}
	return d
}

// The shift of several coordinates is dominated by one coordinate that is moved by their L1
// norm, at every x, and that one by the profile. Scales are small here, where the slack λ²/4
// counts, and differ where releases on disjoint rows are taken together.
func TestLaplaceAgainstExactLaws(t *testing.T) {
	nearest := math.Inf(1)
	for _, c := range []struct {
		scales []float64
		shifts []int
	}{
		{[]float64{1}, []int{1}}, {[]float64{1}, []int{4}}, {[]float64{5}, []int{1}}, {[]float64{20}, []int{19}}, {[]float64{200}, []int{300}},
		{[]float64{1, 1}, []int{1, 1}}, {[]float64{3, 3}, []int{1, 4}}, {[]float64{10, 10}, []int{7, 8}}, {[]float64{10, 10}, []int{1, 29}},
		{[]float64{1, 1, 1}, []int{1, 1, 1}}, {[]float64{1, 1, 1}, []int{2, 3, 1}},
		{[]float64{2, 7}, []int{3, 5}}, {[]float64{1, 2, 1}, []int{1, 1, 1}}, {[]float64{0.5, 12}, []int{1, 12}},
	} {
		eps, slack, whole := 0.0, 0.0, 0
		same := true
		for i, s := range c.scales {
			eps += float64(c.shifts[i]) / s
			slack += 1 / (4 * s * s)
			whole += c.shifts[i]
			same = same && s == c.scales[0]
		}
		p, q := exactLaplace(c.scales, c.shifts)
		oneP, oneQ := exactLaplace(c.scales[:1], []int{whole})
		profile := laplace{eps, slack}
		for i := -12; i <= 12; i++ {
			x := eps * float64(i) / 10
			exact := hockeyStick(p, q, x)
			if one := hockeyStick(oneP, oneQ, x); same && exact > one+1e-10 {
				t.Errorf("scales %v, shifts %v: δ(%g) = %g, more than %g of one coordinate", c.scales, c.shifts, x, exact, one)
			}
			got := profile.delta(x)
			if exact > got+1e-10 {
				t.Errorf("scales %v, shifts %v: δ(%g) = %g, the profile has %g", c.scales, c.shifts, x, exact, got)
			}
			if len(c.shifts) == 1 && c.scales[0] >= 20 && exact > 1e-3 {
				nearest = math.Min(nearest, exact/got)
			}
		}
	}
	if !(nearest > 0.97) {
		t.Errorf("the profile is %g times the exact one somewhere", 1/nearest)
	}
}

// tradeOff returns the least type II error of tests of level α between p and q.
func tradeOff(p, q []float64, alpha float64) float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return q[order[i]]*p[order[j]] > q[order[j]]*p[order[i]] })
	missed := 1.0
	for _, i := range order {
		part := math.Min(1, alpha/p[i])
		missed -= part * q[i]
		if alpha -= part * p[i]; alpha <= 0 {
			break
		}
	}
	return math.Max(0, missed)
}

// Trade-off curves of shifts in one coordinate compose to that of their sum, the step of the
// proof that Gaussian noise has too [DRS22, Theorem 2.14] and other laws don't.
func TestLaplaceShiftsCompose(t *testing.T) {
	const scale = 4.0
	curve := func(shift int, alpha float64) float64 {
		p, q := exactLaplace([]float64{scale}, []int{shift})
		return tradeOff(p, q, alpha)
	}
	for _, shifts := range [][2]int{{1, 1}, {2, 5}, {9, 3}} {
		for _, alpha := range []float64{1e-4, 0.01, 0.037, 0.2, 0.5, 0.9} {
			a, b := shifts[0], shifts[1]
			sum, composed := curve(a+b, alpha), curve(b, 1-curve(a, alpha))
			if math.Abs(sum-composed) > 1e-9 {
				t.Errorf("shifts %d and %d: f(%g) = %g, composed %g", a, b, alpha, sum, composed)
			}
			two, twoQ := exactLaplace([]float64{scale, scale}, []int{a, b})
			if both := tradeOff(two, twoQ, alpha); both < sum-1e-9 {
				t.Errorf("shifts %d and %d of two coordinates: f(%g) = %g, less than %g", a, b, alpha, both, sum)
			}
		}
	}
}

// The Gaussian profile lies above, and touches at 0.
func TestLaplaceMu(t *testing.T) {
	for _, eps := range []float64{1e-9, 1e-3, 0.1, 0.99, 1, 3, 20, 500} {
		l := laplace{eps, laplaceSlack}
		mu := l.gdp().mu
		for i := 0; i <= 1000; i++ {
			x := eps * float64(i) / 1000
			if d, g := l.delta(x), GaussianDelta(mu, x); d > g*(1+1e-11) {
				t.Errorf("ε = %g: δ(%g) = %g, and %g of %g-GDP", eps, x, d, g, mu)
			}
		}
		if d, g := l.delta(0), GaussianDelta(mu*(1-1e-6), 0); d < g && eps >= 1e-3 && eps < 30 { // below, rounding counts; beyond, both are 1
			t.Errorf("ε = %g: δ(0) = %g, and %g of a smaller μ", eps, d, g)
		}
		if other := pureMu(eps); mu > other || eps >= 1 && mu > 0.9*other {
			t.Errorf("ε = %g: μ = %g, and %g of any ε-DP release", eps, mu, other)
		}
	}
}

// Whatever is known of ε-DP holds, groups are shifts, and δ = 0 from ε on.
func TestLaplaceIsPure(t *testing.T) {
	for _, eps := range []float64{1e-100, 1e-26, 1e-9, 0.3, 5, 0x1p300} {
		l, p := Laplace(eps, 1), Pure(eps, 1)
		for _, k := range []float64{1, 2, 7} {
			for _, x := range []float64{-2 * k * eps, -k * eps / 3, 0, 0.1 * k * eps, 0.99 * k * eps, k * eps * 1.1} {
				if a, b := l.Group(k).Delta(x), p.Group(k).Delta(x); a > b {
					t.Errorf("ε = %g, %g rows: δ(%g) = %g, and %g of any ε-DP release", eps, k, x, a, b)
				}
			}
			if !l.GroupWithin(k, k*eps, 0) {
				t.Errorf("ε = %g, %g rows: not %g-DP", eps, k, k*eps)
			}
		}
	}
	want := -math.Expm1(-0.3)
	if got := Laplace(0.3, 1).Group(2).Delta(0); got < want || got > want*(1+1e-14) {
		t.Errorf("two rows: δ(0) = %g, want %g", got, want)
	}
}

// Rows of a group that fall into two disjoint sets move one longer vector, so that branches
// with the same releases count once.
func TestLaplaceGroupsInParallel(t *testing.T) {
	a := Laplace(0.4, 1)
	if got, want := Parallel(a, Laplace(0.4, 1)).Group(3).Delta(0.2), a.Group(3).Delta(0.2); got != want {
		t.Errorf("δ = %g, want %g", got, want)
	}
	for j := 1.0; j < 3; j++ {
		both := Compose(a.Group(j), a.Group(3-j))
		for _, x := range []float64{0, 0.3, 0.9, 1.15} {
			if d, whole := both.Delta(x), a.Group(3).Delta(x); d > whole*(1+1e-3) {
				t.Errorf("%g and %g rows: δ(%g) = %g, more than %g", j, 3-j, x, d, whole)
			}
		}
	}
}

// Compositions against sums over the exact law of a scale of 400 steps, which differs from
// the continuous one by 2e-6.
func TestLaplaceCompositions(t *testing.T) {
	const steps, scale = 300, 400.0
	p, q := exactLaplace([]float64{scale}, []int{steps})
	for _, x := range []float64{0, 0.4, 1, 1.4} {
		var want float64
		seen := map[string]float64{} // the second release's δ by the first one's loss
		for i := range p {
			loss := math.Log(p[i] / q[i])
			key := fmt.Sprintf("%.9f", loss)
			if _, ok := seen[key]; !ok {
				seen[key] = hockeyStick(p, q, x-loss)
			}
			want += p[i] * seen[key]
		}
		got := Laplace(steps/scale, 2).Delta(x)
		if got < want*(1-1e-5) || got > want*(1+1e-3) {
			t.Errorf("two releases: δ(%g) = %g, want %g", x, got, want)
		}
		if pure := Pure(steps/scale, 2).Delta(x); got > pure {
			t.Errorf("two releases: δ(%g) = %g, more than %g of pure ones", x, got, pure)
		}
	}
}
