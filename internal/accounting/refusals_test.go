package accounting

import (
	"math"
	"strings"
	"testing"
)

// Calibrations refuse what is no budget, what is too small to calibrate, what a parameter excludes and a budget that other
// parts exceed, each of them; and what they refuse has no number.
func TestCalibrationsRefuse(t *testing.T) {
	fit := Objective{Ratio: 1, LogDet: 0.1, OutputMu: 0.1, Dim: 1, Releases: 1}
	with := func(change func(o *Objective)) Objective { o := fit; change(&o); return o }
	several, large := with(func(o *Objective) { o.Releases = 2 }), with(func(o *Objective) { o.LogDet = 50 })
	for name, c := range map[string]struct {
		of    func() (float64, error)
		taken bool
	}{
		"μ":                     {func() (float64, error) { return GaussianMu(1e-250, 1e-250) }, true},
		"μ, too small":          {func() (float64, error) { return GaussianMu(1e-300, 1e-300) }, false},
		"μ, no ε":               {func() (float64, error) { return GaussianMu(0, 0.1) }, false},
		"μ, no δ":               {func() (float64, error) { return GaussianMu(1, 0) }, false},
		"ratio":                 {func() (float64, error) { return fit.RatioFor(1, 1e-6) }, true},
		"ratio, several":        {func() (float64, error) { return several.RatioFor(1, 1e-3) }, true},
		"ratio, no ε":           {func() (float64, error) { return fit.RatioFor(0, 1e-6) }, false},
		"ratio, no coordinates": {func() (float64, error) { return with(func(o *Objective) { o.Dim = 0 }).RatioFor(1, 1e-6) }, false},
		"ratio, no release":     {func() (float64, error) { return with(func(o *Objective) { o.Releases = 0 }).RatioFor(1, 1e-6) }, false},
		"ratio, exceeded":       {func() (float64, error) { return large.RatioFor(1, 1e-6) }, false},
		"several, exceeded": {func() (float64, error) {
			return with(func(o *Objective) { o.LogDet, o.Releases = 50, 2 }).RatioFor(1, 1e-3)
		}, false},
		"by μ":                  {func() (float64, error) { return fit.RatioForGDP(1) }, true},
		"by μ, none":            {func() (float64, error) { return fit.RatioForGDP(0) }, false},
		"by μ, too large":       {func() (float64, error) { return fit.RatioForGDP(1e61) }, false},
		"by μ, no output":       {func() (float64, error) { return with(func(o *Objective) { o.OutputMu = 0 }).RatioForGDP(1) }, false},
		"by μ, exceeded":        {func() (float64, error) { return large.RatioForGDP(1) }, false},
		"of a group":            {func() (float64, error) { return fit.RatioForGroup(3, 1e-6, 2) }, true},
		"of a group, no δ":      {func() (float64, error) { return fit.RatioForGroup(1, 0, 2) }, false},
		"of a group, exceeded":  {func() (float64, error) { return large.RatioForGroup(1, 1e-6, 2) }, false},
		"of a group, by μ only": {func() (float64, error) { return fit.RatioForGroup(0.3, 1e-1, 1) }, true},
	} {
		v, err := c.of()
		if (err == nil) != c.taken || c.taken != (v > 0) {
			t.Errorf("%s: %g, %v", name, v, err)
		}
	}
	_, err := GaussianMu(1e-300, 2e-300)
	if want := "epsilon, delta = [1e-300 2e-300] are too small"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Of nothing that numbers hold a curve claims nothing, and it is never above 1.
func TestCurvesFarFromAnyUse(t *testing.T) {
	for _, mu := range []float64{0x1p-1000, 1e-300, 1e200, math.MaxFloat64, math.Inf(1)} {
		for _, epsilon := range []float64{0, 1, 1e200, math.MaxFloat64, -1, -1e200, math.Inf(1)} {
			if d := logGaussianDelta(mu, epsilon); !(d <= 0) {
				t.Errorf("log δ(%g) of μ = %g is %g", epsilon, mu, d)
			}
		}
	}
	if d := logGaussianDelta(math.Inf(1), math.Inf(1)); d != 0 { // no number
		t.Errorf("log δ = %g, want 0", d)
	}
}

// A curve's two forms are one bound: the logarithm is that of δ where a number holds δ, below and above the corners of
// curves that are put together, for one row and for several.
func TestLogarithmsAreOfTheCurve(t *testing.T) {
	all := map[string]profile{}
	for name, s := range map[string]*Sequence{
		"objective": one(newObjective(0.3, 0.4)), "objective of little": one(newObjective(2, 0)), "pure": Pure(0.7, 1), "range": BoundedRange(0.9, 1), "Laplace": Laplace(0.5, 1),
		"parallel": Parallel(Pure(0.5, 1), BoundedRange(0.6, 1), Gaussian(0.1, 1, 1)),
	} {
		all[name], all[name+", of three"] = s.single(), s.Group(3).single()
	}
	for name, p := range all {
		for _, x := range []float64{-4, -0.9, -0.2, 0, 0.1, 0.39, 0.41, 0.6, 0.8, 1, 2, 5} {
			d, log := p.delta(x), p.logDelta(x)
			room := 1e-9
			if x < 0 { // where each is a bound by a way of its own
				room = 1e-4
			}
			if d > 1e-290 && (log < math.Log(d)-1e-9 || log > math.Log(d)+room) || d == 0 && log > -600 {
				t.Errorf("%s at %g: log δ = %g, of δ = %g", name, x, log, d)
			}
		}
	}
}

// Climbing to a root takes few evaluations of what takes long, whether secants end below the root or beyond it, and ends just below.
func TestClimbingIsShort(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    func(a float64) float64
		calls int
	}{
		{"beyond", func(a float64) float64 { return a*a - 4 }, 4}, {"below", func(a float64) float64 { return math.Sqrt(a) - math.Sqrt2 }, 4},
		{"straight", func(a float64) float64 { return 3 * (a - 2) }, 2},
	} {
		const tolerance = 5e-5
		calls := 0
		got, err := climb(10, tolerance, func(a float64) float64 { return c.of(a) + 0.1 }, func(a float64) float64 { calls++; return c.of(a) })
		if err != nil || got > 2 || got < 2*(1-tolerance) || calls != c.calls {
			t.Errorf("%s: %.9g after %d evaluations, want just below 2 after %d (%v)", c.name, got, calls, c.calls, err)
		}
	}
}
