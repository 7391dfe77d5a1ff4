package accounting

import (
	"math"
	"testing"
)

// No computed profile of a Gaussian release lies below the exact one, whose logarithms
// were computed with 150 digits (mpmath): where two numbers cancel, as for small μ, and
// in both forms of the tails.
func TestGaussianDeltaIsRoundedUp(t *testing.T) {
	for _, c := range []struct{ mu, epsilon, log float64 }{
		{1e-06, 0.0, -14.734449091168988}, {1e-06, 5.000005e-07, -15.436027352288063}, {1e-06, 1.7000005e-06, -17.817032543762036}, {1e-06, 3.1000005e-06, -22.042840211839124},
		{1e-06, 4.9000005e-06, -30.028327149817045}, {1e-06, 5.3000005e-06, -32.210736464184315}, {1e-06, 9.100000499999999e-06, -60.59080402749195}, {1e-06, 2.53000005e-05, -341.24571939473674},
		{1e-06, 0.00031270000049999996, -48916.869968302904}, {1e-06, 0.0012345600005, -762098.1681908809}, {1e-06, 0.0098765432105, -48773086.01978338}, {0.001, 0.0, -7.826693853853476},
		{0.001, 0.0005005, -8.528801375371067}, {0.001, 0.0017005, -10.909645288186274}, {0.001, 0.0031005, -15.13534494421442}, {0.001, 0.0049005, -23.120755625978212},
		{0.001, 0.0053005, -25.303153301905674}, {0.001, 0.0091005, -53.683154847360406}, {0.001, 0.0253005, -334.338003418077}, {0.001, 0.3127005, -48909.96221621858},
		{0.001, 1.2345605, -762091.260436411}, {0.001, 9.87654371, -48773079.1120282}, {0.05, 0.0, -3.914774969085139}, {0.05, 0.026250000000000002, -4.642486560096429},
		{0.05, 0.08625000000000001, -7.0155358798665635}, {0.05, 0.15625, -11.236001121140449}, {0.05, 0.24625000000000002, -19.217706766800823}, {0.05, 0.26625, -21.39953812626656},
		{0.05, 0.45625, -49.776322410397945}, {0.05, 1.26625, -330.42790626646234}, {0.05, 15.63625, -48906.05034989528}, {0.05, 61.72925, -762087.348453095},
		{0.05, 493.8284105, -48773075.20001015}, {0.3, 0.0, -2.126655716552974}, {0.3, 0.19499999999999998, -2.974610021650903}, {0.3, 0.5549999999999999, -5.311184694888359},
		{0.3, 0.975, -9.50676196791476}, {0.3, 1.5150000000000001, -17.470585456833682}, {0.3, 1.6349999999999998, -19.649659835459428}, {0.3, 2.775, -48.010642358737435},
		{0.3, 7.635, -328.64591543239635}, {0.3, 93.85499999999999, -48904.25938944275}, {0.3, 370.41299999999995, -762085.5568960978}, {0.3, 2963.007963, -48773073.40827601},
		{1.0, 0.0, -0.9599163336956223}, {1.0, 1.0, -2.0640664465003904}, {1.0, 2.2, -4.321799088657304}, {1.0, 3.6, -8.460931332809562},
		{1.0, 5.4, -16.38238189666795}, {1.0, 5.8, -18.55475768761138}, {1.0, 9.6, -46.87633181211395}, {1.0, 25.8, -327.4687992361487},
		{1.0, 313.2, -48903.05765049479}, {1.0, 1235.06, -762084.3534899977}, {1.0, 9877.04321, -48773072.20437406}, {2.5, 0.0, -0.23736868463859556},
		{2.5, 4.375, -1.602949727892151}, {2.5, 7.375, -3.7605432612241985}, {2.5, 10.875, -7.820803277353913}, {2.5, 15.375, -15.677843784580174},
		{2.5, 16.375, -17.839539285671677}, {2.5, 25.875, -46.094962491659246}, {2.5, 66.375, -326.6077449726943}, {2.5, 784.875, -48902.14612986071},
		{2.5, 3089.5249999999996, -762083.4384125514}, {2.5, 24694.483025, -48773071.28823519}, {7.0, 0.0, -0.0004653664242303208}, {7.0, 28.0, -1.337926981577477},
		{7.0, 36.4, -3.3845547810679704}, {7.0, 46.2, -7.342797162023459}, {7.0, 58.800000000000004, -15.104147384358308}, {7.0, 61.6, -17.248658029713777},
		{7.0, 88.2, -45.38723072731621}, {7.0, 201.6, -325.72762783082175}, {7.0, 2213.4, -48901.13068571748}, {7.0, 8666.42, -762082.4124241841},
		{7.0, 69160.30247, -48773070.259071164}, {40.0, 0.0, -5.5072482372124675e-89}, {40.0, 820.0, -1.204473403554354}, {40.0, 868.0, -3.162699104121133},
		{40.0, 924.0, -7.022215196910902}, {40.0, 996.0, -14.67143471922944}, {40.0, 1012.0, -16.79332480134011}, {40.0, 1164.0, -44.751516408719986},
		{40.0, 1812.0, -324.68724870652414}, {40.0, 13308.0, -48899.48594851265}, {40.0, 50182.399999999994, -762080.6956871963}, {40.0, 395861.7284, -48773068.51943519},
	} {
		got := logGaussianDelta(c.mu, c.epsilon)
		if room := 1e-9 + 2e-12*(1+c.epsilon/c.mu)/c.mu + 1e-14*(c.mu+c.epsilon/c.mu)*(c.mu+c.epsilon/c.mu); got < c.log || got > c.log+room {
			t.Errorf("μ = %g, ε = %g: log δ = %.17g, exactly %.17g: off by %.3g, must be at least 0 and at most %.3g", c.mu, c.epsilon, got, c.log, got-c.log, room)
		}
	}
}

// ε-DP at PureEpsilonWithin(μ) is μ-GDP, and hardly less.
func TestPureEpsilonWithin(t *testing.T) {
	for _, mu := range []float64{1e-9, 1e-3, 0.4, 1, 6, 30} {
		if got := Pure(PureEpsilonWithin(mu), 1).Mu(); got > mu || got < mu*(1-1e-7) {
			t.Errorf("within %g-GDP: a pure release of %.17g-GDP", mu, got)
		}
	}
}

// The discrete sampler's slack κ is counted twice in ε and once in δ: many coordinates
// make it visible.
func TestGaussianProfileCountsTheGrid(t *testing.T) {
	g := gaussian{mu: 1, coordinates: 0x1p60}
	const kappa = 178 * 0x1p-20
	for _, x := range []float64{0, 1, 4} {
		if got, want := g.logDelta(x), logGaussianDelta(1, x-2*kappa)+kappa; got < want || got > want+1e-12 {
			t.Errorf("log δ(%g) = %.12g, want %.12g: κ = %g in δ, and 2κ in ε", x, got, want, kappa)
		}
	}
	if got := noise(1, 1, 1).logDelta(1e6); got < -1900 {
		t.Errorf("log δ(1e6) = %g, but no sampler's tail is claimed below −1900", got)
	}
}

// Slack follows the releases: coordinates add up, and so do the squares of how far a
// row moves them, which k rows move k times as far in each of k steps.
func TestSlackIsCarriedAlong(t *testing.T) {
	g, h := gaussian{3, 5, 7}, gaussian{4, 11, 2}
	for name, c := range map[string]struct{ got, want gaussian }{
		"then": {g.then(h), gaussian{5, 16, 9}}, "or": {g.or(h), gaussian{4, 11, 7}}, "or, the other way": {h.or(g), gaussian{4, 11, 7}},
		"times 4": {g.times(4), gaussian{6, 20, 28}}, "group of 3": {g.group(3), gaussian{9, 15, 189}},
		"objective perturbation, b and output": {Objective{0.1, 0.05, 0.01, 10, 3}.Profile().gauss, gaussian{0.01 * math.Sqrt(3) * (1 - 1e-15), 60, 30 * (0.01*0.01 + 0.2*0.2) * (1 - 1e-15)}},
		"4 releases of 5 coordinates":          {noise(2, 4, 5), gaussian{4, 20, 80}},
	} {
		for field, v := range map[string][2]float64{
			"μ": {c.got.mu, c.want.mu}, "coordinates": {c.got.coordinates, c.want.coordinates}, "moved": {c.got.moved, c.want.moved},
		} {
			if v[0] < v[1] || v[0] > v[1]*(1+1e-14) {
				t.Errorf("%s: %s = %.17g, want %g", name, field, v[0], v[1])
			}
		}
	}
}

// An ε that is given for a δ suffices for it, in the last digit too, and one that is a ten thousandth less doesn't, unless it is 0.
func TestEpsilonSuffices(t *testing.T) {
	minimiser := one(newObjective(0.1, 0.05))
	for _, s := range []*Sequence{Gaussian(0.7, 3, 2), Pure(0.4, 1), BoundedRange(0.9, 1), Objective{0.1, 0.05, 0.01, 10, 1}.Profile(), Parallel(Pure(1, 1), Gaussian(0.5, 1, 1)),
		minimiser, minimiser.Group(3), BoundedRange(0.9, 1).Group(2), Parallel(BoundedRange(0.9, 1), minimiser).Group(2)} {
		for _, delta := range []float64{0.3, 0.01, 1e-6, 1e-15} {
			epsilon := s.Epsilon(delta)
			if s.Delta(epsilon) > delta {
				t.Errorf("%s: ε(%g) = %.17g, where δ = %.17g", s.key(), delta, epsilon, s.Delta(epsilon))
			}
			if less := epsilon * (1 - 1e-4); epsilon > 0 && s.Delta(less) <= delta {
				t.Errorf("%s: ε(%g) = %.17g, and %.17g has δ = %.17g", s.key(), delta, epsilon, less, s.Delta(less))
			}
		}
	}
}
