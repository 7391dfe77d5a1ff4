package accounting

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// simpson integrates f over [lo, hi] with 2n intervals.
func simpson(f func(float64) float64, lo, hi float64, n int) float64 {
	h := (hi - lo) / float64(2*n)
	sum := f(lo) + f(hi)
	for i := 1; i < 2*n; i++ {
		sum += float64(2+2*(i%2)) * f(lo+float64(i)*h)
	}
	return sum * h / 3
}

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// expectation integrates E(1 − e^{x−d−M})₊, M = ν²/2 + ν|N(0,1)|.
func expectation(nu, d, x float64) float64 {
	from := math.Max(0, (x-d-nu*nu/2)/nu)
	return simpson(func(z float64) float64 {
		return -2 * normalDensity(z) * math.Expm1(x-d-nu*nu/2-nu*z)
	}, from, from+12, 10000)
}

// The profile beyond the corner is the expectation; before, it is a convex
// function of e^x that lies below it, and is its own mirror image.
func TestObjectiveProfile(t *testing.T) {
	for _, c := range []struct{ ratio, logDet float64 }{{0.001, 0}, {0.01, 0.05}, {0.2, 0.3}, {1, 0.02}, {2, 4}} {
		o := newObjective(c.ratio, c.logDet)
		if least := c.logDet + o.nu*o.nu/2; o.corner.eps < least {
			t.Errorf("%v: the corner %g is before %g", c, o.corner.eps, least)
		}
		for i := 0; i <= 60; i++ {
			x := (o.corner.eps + 4*o.nu) * float64(i) / 50
			got, want := o.delta(x), expectation(o.nu, c.logDet, x)
			if x >= o.corner.eps {
				if got < want*(1-1e-9) || got > want*(1+1e-8) {
					t.Errorf("%v: δ(%g) = %g, want %g", c, x, got, want)
				}
			} else if got > want*(1+1e-9) {
				t.Errorf("%v: δ(%g) = %g exceeds %g", c, x, got, want)
			}
			if mirror := -math.Expm1(-x) + math.Exp(-x)*got; math.Abs(o.delta(-x)-mirror) > 1e-13 {
				t.Errorf("%v: δ(%g) = %g, want %g", c, -x, o.delta(-x), mirror)
			}
			lo, hi := x-o.nu/10, x+o.nu/10
			share := math.Expm1(x-lo) / (math.Exp(hi-lo) - 1)
			if chord := (1-share)*o.delta(lo) + share*o.delta(hi); got > chord*(1+1e-11)+1e-15 {
				t.Errorf("%v: not convex at %g: %g above %g", c, x, got, chord)
			}
		}
	}
}

// Among all angles between the rows' features, none is worse than opposite ones:
// the expectation for the larger of the two lengths' losses, by integration.
func TestObjectiveWorstAngle(t *testing.T) {
	between := func(r float64) float64 { return math.Max(0, math.Erf(r/math.Sqrt2)) } // P(|N| ≤ r)
	for _, a := range []float64{0.01, 0.3, 1, 2.5} {
		for _, share := range []float64{0, 0.1, 0.5, 1, 2, 4} {
			x := share * (2*a*a + a)
			worst := expectation(2*a, 0, x)
			last := worst
			for i := 1; i <= 12; i++ {
				s, c := math.Sincos(math.Pi / 4 * float64(i) / 12)
				d := simpson(func(m float64) float64 {
					return math.Exp(x-m) * (1 - between(m/(2*a*c)-a*c)*between(m/(2*a*s)-a*s))
				}, x, x+2*a*a+20*a, 4000)
				if d > last+1e-6*worst {
					t.Errorf("a = %g, ε = %g: %g at angle %d, %g before", a, x, d, i, last)
				}
				last = d
			}
		}
	}
}

// With output noise, against an independent program's integrals.
func TestNoisyObjectiveReferenceValues(t *testing.T) {
	file, err := os.Open("../../testdata/accounting/objective.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil || len(records) < 20 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records[1:] {
		var v [5]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(r[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		l := fit(v[0], v[1], v[2])
		if got := l.Delta(v[3]); got < v[4]*(1-1e-15) || got > v[4]*(1+1e-8) {
			t.Errorf("%v: δ = %.17g (off by %.2g)", r, got, got/v[4]-1)
		}
	}
}

func fit(ratio, logDet, outputMu float64) *Sequence {
	return Objective{Ratio: ratio, LogDet: logDet, OutputMu: outputMu, Dim: 10, Releases: 1}.Profile()
}

// Whatever the magnitudes, the integral lies between sums over cells of the
// output noise's loss.
func TestNoisyObjectiveEverywhere(t *testing.T) {
	const cells = 300
	for _, ratio := range []float64{1e-12, 1e-4, 0.1, 2, 1e6} {
		for _, logDet := range []float64{0, 1e-6, 0.3, 1e6} {
			for _, mu := range []float64{1e-12, 1e-3, 1, 20, 1e6} {
				p := noisyObjective{newObjective(ratio, logDet), gaussian{mu: mu}}
				margin := 1e-9 + 1e-12/math.Min(ratio, mu) // of differences of Mills ratios
				before := 1.0
				for _, x := range []float64{-30, -1, -1e-5, 0, 1e-9, 0.01, 0.3, 3, 40, 1e3, 1e9} {
					var lo, hi float64
					for i := range cells {
						from := 76*float64(i)/cells - 38
						to := from + 76.0/cells
						mass := math.Exp(logPhi(to)) - math.Exp(logPhi(from))
						if from > 0 {
							mass = math.Exp(logPhi(-from)) - math.Exp(logPhi(-to))
						}
						lo += mass * p.of.delta(x-mu*(from+mu/2))
						hi += mass * p.of.delta(x-mu*(to+mu/2))
					}
					got := p.delta(x)
					if !(got >= lo*(1-1e-9) && got <= hi*(1+margin)+1e-300 && got <= before*(1+1e-9)) {
						t.Errorf("%g, %g, %g: δ(%g) = %g, want %g to %g and at most %g", ratio, logDet, mu, x, got, lo, hi, before)
					}
					before = got
				}
			}
		}
	}
}

// Two releases compose, through privacy loss distributions, to what a sum over
// the first one's losses gives.
func TestObjectivesCompose(t *testing.T) {
	const outputMu = 0.02
	for _, c := range []struct{ ratio, logDet float64 }{{0.05, 0.1}, {0.3, 0.02}} {
		l := Compose(fit(c.ratio, c.logDet, outputMu), fit(c.ratio, c.logDet, outputMu))
		o := newObjective(c.ratio, c.logDet)
		rest := noisyObjective{o, gaussian{mu: outputMu * math.Sqrt2}}
		corner := (o.corner.eps-c.logDet)/o.nu - o.nu/2 // |N| there
		for _, x := range []float64{0.3, 1, 1.5} {
			// The losses are d + M beyond the corner, and mirrored with weight e^{−d−M}.
			want := simpson(func(z float64) float64 {
				loss := c.logDet + o.nu*o.nu/2 + o.nu*z
				return 2 * normalDensity(z) * (rest.delta(x-loss) + math.Exp(-loss)*rest.delta(x+loss))
			}, corner, corner+12, 400)
			if got := l.Delta(x); got < want*(1-1e-7) || got > want*(1+2e-3) {
				t.Errorf("%v: δ(%g) = %g, want %g", c, x, got, want)
			}
		}
	}
}

// The least μ: a Gaussian profile above the whole one.
func TestObjectiveMu(t *testing.T) {
	looks := maxLooks
	for _, c := range []struct{ ratio, logDet float64 }{{1e-5, 1e-7}, {0.01, 0.002}, {0.1, 0.15}, {0.1, 0}, {1, 0.4}, {0.3, 5}, {1e-12, 1e6}, {1e6, 0}} {
		o := newObjective(c.ratio, c.logDet)
		g := o.gdp()
		lower := gaussian{mu: g.mu * (1 - 1e-6)}
		closest := math.Inf(1)
		for i := range 4000 {
			x := (o.corner.eps + 12*o.nu) * float64(i) / 2000
			want := o.delta(x)
			if want < 1e-280 {
				break
			}
			if g.delta(x) < want {
				t.Fatalf("%v: μ = %g gives δ(%g) = %g, below %g", c, g.mu, x, g.delta(x), want)
			}
			closest = math.Min(closest, lower.delta(x)/want)
		}
		if nearer := o.nu * (1 + 1e-6); c.ratio < 1e5 && o.below(nearer, o.corner.eps, 2*o.corner.eps, &looks) {
			t.Errorf("%v: 2δ_GDP(x − d; ν) is said to be below δ_GDP(x; ν)", c)
		}
		if closest > 1 && !math.IsInf(g.mu, 1) && c.ratio < 1e5 {
			t.Errorf("%v: μ = %g is not the least", c, g.mu)
		}
	}
}

func TestRatioFor(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, logDet, outputMu float64 }{
		{1e-3, 1e-6, 1e-4, 1e-6}, {0.1, 1e-6, 0.015, 0.002}, {1, 1e-12, 0.15, 0.01}, {1, 1e-3, 0, 0.1}, {8, 1e-6, 3, 0.2},
	} {
		a, err := Objective{LogDet: c.logDet, OutputMu: c.outputMu, Dim: 10, Releases: 1}.RatioFor(c.epsilon, c.delta)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if l := fit(a, c.logDet, c.outputMu); !l.Within(c.epsilon, c.delta) || l.Delta(c.epsilon) > c.delta {
			t.Errorf("%v: ratio %g exceeds the budget", c, a)
		}
		if fit(a*(1+1e-8), c.logDet, c.outputMu).Within(c.epsilon, c.delta) {
			t.Errorf("%v: ratio %g is too small", c, a)
		}
	}
}

func TestRatioForShares(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta, logDet, outputMu float64
		shares                           int
	}{
		{1, 1e-6, 0.03, 0.01, 5},
		{1, 1e-6, 0.17, 0.01, 5}, // hardly leaves a part of the budget
		{0.1, 1e-7, 0.004, 1e-3, 3},
		{8, 1e-6, 0.5, 0.05, 2},
	} {
		a, err := Objective{LogDet: c.logDet, OutputMu: c.outputMu, Dim: 10, Releases: c.shares}.RatioFor(c.epsilon, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		total := func(a float64) *Sequence {
			parts := make([]*Sequence, c.shares)
			for i := range parts {
				parts[i] = fit(a, c.logDet, c.outputMu)
			}
			return Compose(parts...)
		}
		if !total(a).Within(c.epsilon, c.delta) || total(a*(1+2e-4)).Within(c.epsilon, c.delta) {
			t.Errorf("%+v: ratio %g doesn't fill the budget", c, a)
		}
	}
}

func TestRatioForGDP(t *testing.T) {
	for _, c := range []struct{ mu, logDet, outputMu float64 }{{0.2, 0.01, 0.01}, {0.2, 0.15, 1e-3}, {1, 0, 0.2}, {5, 1, 1}} {
		a, err := Objective{LogDet: c.logDet, OutputMu: c.outputMu, Dim: 10, Releases: 1}.RatioForGDP(c.mu)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if mu := fit(a, c.logDet, c.outputMu).Mu(); mu > c.mu*(1+1e-12) || mu < c.mu*(1-1e-6) {
			t.Errorf("%v: ratio %g is %g-GDP", c, a, mu)
		}
	}
}

func TestObjectiveErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, o := range [][3]float64{
		{}, {0, 0, 1}, {1, -1, 1}, {1, 0, 0}, {nan, 0, 1}, {1, nan, 1}, {1, 0, nan}, {inf, 0, 1}, {1, inf, 1}, {1, 0, inf}, {1e-13, 0, 1}, {1, 0, 1e7},
	} {
		if err := (Objective{o[0], o[1], o[2], 1, 1}).Validate(); !errors.Is(err, check.ErrBudget) {
			t.Errorf("%v gives %v", o, err)
		}
	}
	if err := (Objective{1, 1, 1, 0, 1}).Validate(); !errors.Is(err, check.ErrShape) {
		t.Errorf("no coordinates give %v", err)
	}
	for _, c := range []struct {
		name                             string
		epsilon, delta, logDet, outputMu float64
		releases, dim                    int
		want                             error
	}{
		{"no ε", 0, 1e-6, 0.1, 0.1, 1, 1, check.ErrBudget},
		{"NaN ε", nan, 1e-6, 0.1, 0.1, 1, 1, check.ErrBudget},
		{"no δ", 1, 0, 0.1, 0.1, 1, 1, check.ErrBudget},
		{"log det over ε", 1, 1e-6, 1, 0.01, 1, 1, check.ErrBudget},
		{"log dets over ε", 1, 1e-6, 0.5, 0.01, 4, 1, check.ErrBudget},
		{"output noise over ε", 1, 1e-6, 0.1, 0.3, 1, 1, check.ErrBudget},
		{"negative log det", 1, 1e-6, -0.1, 0.1, 1, 1, check.ErrBudget},
		{"no output noise", 1, 1e-6, 0.1, 0, 1, 1, check.ErrBudget},
		{"no releases", 1, 1e-6, 0.1, 0.1, 0, 1, check.ErrConfig},
		{"no coordinates", 1, 1e-6, 0.1, 0.1, 1, 0, check.ErrShape},
	} {
		if _, err := (Objective{LogDet: c.logDet, OutputMu: c.outputMu, Dim: c.dim, Releases: c.releases}).RatioFor(c.epsilon, c.delta); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	for _, c := range [][3]float64{{0, 0.1, 0.1}, {nan, 0.1, 0.1}, {1, -1, 0.1}, {1, 0.1, 0}, {1, 1, 0.1}, {1, 0.1, 1}} {
		if _, err := (Objective{LogDet: c[1], OutputMu: c[2], Dim: 1, Releases: 1}).RatioForGDP(c[0]); !errors.Is(err, check.ErrBudget) {
			t.Errorf("RatioForGDP of %v gives %v", c, err)
		}
	}
}

// A group of k rows costs more than one, in a sequence with Gaussian releases too.
func TestObjectiveGroups(t *testing.T) {
	l := Compose(fit(0.05, 0.02, 0.01), Gaussian(0.1, 1, 10))
	one, three := l.Epsilon(1e-6), l.Group(3).Epsilon(1e-6)
	if !(three >= 3*one) || math.IsInf(three, 1) {
		t.Errorf("ε = %g for one row, %g for three", one, three)
	}
}
