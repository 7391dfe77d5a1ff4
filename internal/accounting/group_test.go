package accounting

import (
	"math"
	"testing"
)

// [DRS22, Theorem 2.14]: μ-GDP for one row is kμ-GDP for k; ε-DP is kε-DP.
func TestGroupsOfKnownProfiles(t *testing.T) {
	g := Gaussian(0.2, 9, 10)
	p := Pure(0.3, 1)
	b := BoundedRange(0.3, 1)
	for _, k := range []int{1, 2, 10} {
		for _, x := range []float64{0, 0.5, 3} {
			want := gaussian{mu: 0.6 * float64(k)}.delta(x)
			if got := g.Group(float64(k)).Delta(x); got < want*(1-1e-12) || got > want*(1+1e-9) {
				t.Errorf("Gaussian, %d rows: δ(%g) = %g, want %g", k, x, got, want)
			}
			want = pure{0.3 * float64(k)}.delta(x)
			if got := p.Group(float64(k)).Delta(x); got < want || got > want+1e-14 {
				t.Errorf("pure, %d rows: δ(%g) = %g, want %g", k, x, got, want)
			}
			want = boundedRange{eps: 0.3 * float64(k)}.delta(x)
			if got := b.Group(float64(k)).Delta(x); got < want || got > want+1e-14 {
				t.Errorf("bounded range, %d rows: δ(%g) = %g, want %g", k, x, got, want)
			}
		}
	}
	e := Compose(p, p).Group(5).Epsilon(1e-30)
	if e < 3*(1-1e-9) || e > 3*(1+1e-12) {
		t.Errorf("two 0.3-DP releases, 5 rows: ε = %g", e)
	}
}

// The rows of a group fall into the parts of a parallel node in the worst way:
// several into one, or some into each.
func TestGroupsAcrossParallelParts(t *testing.T) {
	p, g := Pure(0.5, 1), Gaussian(0.4, 1, 10)
	par := Parallel(p, g)
	for _, x := range []float64{0, 0.1, 0.7, 2, 5} {
		for k := 1.0; k <= 6; k++ {
			want := math.Max(p.Group(k).Delta(x), g.Group(k).Delta(x))
			for j := 1.0; j < k; j++ {
				want = math.Max(want, Compose(p.Group(j), g.Group(k-j)).Delta(x))
			}
			if got := par.Group(k).Delta(x); got < want*(1-1e-12) || got > want*(1+1e-3) {
				t.Errorf("%g rows: δ(%g) = %g, want %g", k, x, got, want)
			}
		}
	}
	// Inside a sequence it composes like any other profile.
	seq := Compose(par, g)
	for _, k := range []int{1, 2, 3} {
		alone, composed := par.Group(float64(k)).Delta(1), seq.Group(float64(k)).Delta(1)
		if composed < alone {
			t.Errorf("%d rows: %g alone, %g with another part", k, alone, composed)
		}
	}
	if d := seq.Group(float64(1_000_000)).Delta(1e3); d > 1 || d < 0.99 {
		t.Errorf("a million rows have δ(1000) = %g", d)
	}
}

// Where δ(x/k) underflows it is not 0. 100-GDP is (5474, 1e-6)-DP, and it is the
// Gaussian part's claim; the grid search's at ε = 8 is 3295 for 50 rows and 189 for 10,
// in which the chain over any profile has 452.
func TestGroupsBeyondUnderflow(t *testing.T) {
	mu, err := GaussianMu(8, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	search := Parallel(Gaussian(mu, 1, 1), Pure(8, 1))
	for _, c := range []struct {
		s          *Sequence
		k          float64
		least, top float64
	}{
		{Parallel(Gaussian(1, 1, 1), Pure(1, 1)), 100, 5474, 5475},
		{search, 50, 3295, 3296}, {search, 10, 189, 190},
	} {
		s := c.s.Group(c.k)
		if e := s.Epsilon(1e-6); !(e >= c.least && e <= c.top) {
			t.Errorf("%s, %g rows: ε = %.7g, want %g to %g", c.s.key(), c.k, e, c.least, c.top)
		}
		if s.Within(c.least*(1-1e-3), 1e-6) {
			t.Errorf("%s, %g rows: within ε = %g", c.s.key(), c.k, c.least*(1-1e-3))
		}
	}
}

// Every way in which k rows fall into the branches lies below one of the splits, and
// with lots of one row each split is one of these ways.
func TestSplitsCoverEveryWay(t *testing.T) {
	branches := []*Sequence{Pure(1, 1), BoundedRange(1, 1), Pure(1000, 1)}
	rows := func(s *Sequence) (k [3]float64) {
		for _, p := range s.parts {
			switch of := p.profile.(type) {
			case pure:
				if of.eps >= 1000 {
					k[2] = math.Floor(of.eps / 1000)
				} else {
					k[0] = math.Floor(of.eps)
				}
			case boundedRange:
				k[1] = math.Floor(of.eps)
			}
		}
		return k
	}
	for _, m := range []int{2, 3} {
		for k := 1.0; k <= 9; k++ {
			for _, lot := range []float64{1, 2, 4, 16} {
				all := splits(branches[3-m:], k, lot)
				covered := func(a, b, c float64) bool {
					for _, s := range all {
						if n := rows(s); n[0] >= a && n[1] >= b && n[2] >= c {
							return true
						}
					}
					return false
				}
				for a := 0.0; a <= k && (m == 3 || a == 0); a++ {
					for b := 0.0; a+b <= k; b++ {
						if !covered(a, b, k-a-b) {
							t.Errorf("%g rows in lots of %g: (%g, %g, %g) is not covered", k, lot, a, b, k-a-b)
						}
					}
				}
				for _, s := range all {
					n := rows(s)
					alone := math.Max(n[0], math.Max(n[1], n[2])) == k
					if sum := n[0] + n[1] + n[2]; sum != k && (lot == 1 || alone) {
						t.Errorf("%g rows in lots of %g: %v", k, lot, n)
					}
				}
			}
		}
	}
}

// The chain over k rows, one after the other, lies above k rows of a Gaussian release,
// which are k·μ-GDP; and what it computes is not below its formula, here for
// δ = e^(−2kε), by 60 digits (mpmath).
func TestChainsOfRows(t *testing.T) {
	for _, k := range []float64{2, 5, 30} {
		g := grouped{k: k}
		for x := 0.0; x < 60; x += 0.37 {
			got := g.chain(func(y float64) float64 { return logGaussianDelta(0.2, y) }, x)
			if want := logGaussianDelta(0.2*k, x); got < want-1e-12 {
				t.Errorf("%g rows: log δ(%g) = %g, below %g of Gaussian releases", k, x, got, want)
			}
		}
	}
	for _, c := range []struct{ k, x, log float64 }{
		{3, 0.001, 1.0969456590384796}, {3, 0.7, -0.04998792704002995}, {3, 13.37, -17.8149994429116}, {3, 777.7, -1036.9333333333334}, {3, 4321.1, -5761.466666666667}, {3, 54321.1, -72428.13333333333}, {3, 98765.4, -131687.19999999998},
		{7, 0.001, 1.944338761300211}, {7, 0.7, 0.8658274582357057}, {7, 13.37, -15.119738454220073}, {7, 777.7, -888.8000000000001}, {7, 4321.1, -4938.400000000001}, {7, 54321.1, -62081.25714285714}, {7, 98765.4, -112874.74285714285},
		{50, 0.001, 3.9105130470781457}, {50, 0.7, 2.8753487799051656}, {50, 13.37, -12.18766945542898}, {50, 777.7, -793.2539998242142}, {50, 4321.1, -4407.522}, {50, 54321.1, -55407.522}, {50, 98765.4, -100740.708},
		{1000, 0.001, 6.906254820648762}, {1000, 0.7, 5.877739199695818}, {1000, 13.37, -9.061952121613125}, {1000, 777.7, -777.8625104775936}, {1000, 4321.1, -4325.407725699717}, {1000, 54321.1, -54375.4211}, {1000, 98765.4, -98864.1654},
	} {
		got := grouped{k: c.k}.chain(func(y float64) float64 { return -2 * c.k * y }, c.x)
		if want := min(0, c.log); got < want || got > want+1e-10+1e-14*c.x {
			t.Errorf("%g rows: log δ(%g) = %.17g, by the formula %.17g", c.k, c.x, got, want)
		}
	}
	o := newObjective(0.1, 0.05)
	if got, want := (grouped{o, 5}).gdp().mu, 5*o.gdp().mu; got < want || got > want*(1+1e-9) {
		t.Errorf("5 rows of an objective: %g-GDP, want %g", got, want)
	}
}

// Copies of a part count in a group, too, where the group of one is Gaussian: 5 rows of
// these branches are 5-GDP, and of two copies 5√2-GDP.
func TestGroupsCountCopies(t *testing.T) {
	part := Parallel(Gaussian(1, 1, 1), Pure(0.85, 1))
	if got := part.Group(5); !got.IsGaussian() {
		t.Fatalf("5 rows: %s", got.key())
	}
	if got, want := Compose(part, part).Group(5).Mu(), 5*math.Sqrt2; got < want || got > want*(1+1e-9) {
		t.Errorf("5 rows of two copies: %g-GDP, want %g", got, want)
	}
}
