package accounting

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// RatioFor returns the largest ratio, in place of o.Ratio, for which the releases
// together are (ε, δ)-DP. It errs towards more noise: by a relative 1e-9 or so and
// in a few milliseconds for one release; more are composed through their privacy
// loss distributions, and the ratio may be 1e-4 below the largest. A budget that the
// log-determinants or the output noise alone exceed is an error: raise λ, or the
// output noise.
func (o Objective) RatioFor(epsilon, delta float64) (float64, error) {
	if o.Ratio = 0; o.Releases == 1 {
		return o.ratioFor(epsilon, delta)
	}
	return ratios.get(query{o, epsilon, delta}, func() (float64, error) { return o.ratioFor(epsilon, delta) })
}

func (o Objective) ratioFor(epsilon, delta float64) (float64, error) {
	o.Ratio = 1
	if err := o.Validate(); err != nil {
		return 0, err
	}
	// The profile lies above that of 2a-GDP.
	mu, err := GaussianMu(epsilon, delta)
	if err != nil {
		return 0, err
	}
	most := math.Min(maxObjective, mu/2/math.Sqrt(float64(o.Releases)))
	excess := func(accuracy float64) func(a float64) float64 {
		return func(a float64) float64 {
			o.Ratio = a
			return math.Log1p((o.Profile().deltaTo(accuracy, epsilon) - delta) / delta)
		}
	}
	if o.Releases == 1 {
		return largestRatio(most, 1e-10, excess(tight))
	}
	return climb(most, 5e-5, excess(50*tight), excess(2*tight))
}

// climb is largestRatio for an excess that takes long to compute, beside a rough
// one above it: it climbs from the rough one's largest ratio by secants.
func climb(most, tolerance float64, rough, excess func(a float64) float64) (float64, error) {
	lo, err := largestRatio(most, 5e-3, rough)
	if err != nil {
		return largestRatio(most, tolerance, excess)
	}
	below, slope := excess(lo), (rough(lo)-rough(0.97*lo))/(0.03*lo)
	for below <= 0 && slope > 0 && !math.IsInf(slope, 1) {
		if lo == most || -below <= tolerance*lo*slope {
			return lo, nil
		}
		next := math.Min(most, lo-below/slope-tolerance*lo/2)
		e := excess(next)
		if e > 0 {
			return narrow(lo, below, next, e, tolerance, excess), nil
		}
		lo, below, slope = next, e, (e-below)/(next-lo)
	}
	return largestRatio(most, tolerance, excess) // the rough one is too rough
}

// RatioForGroup is RatioFor for neighbours that differ in k rows. It is up to a hundredth
// below the largest ratio that the ledger's own composition allows, or it is that of the
// Gaussian curve, RatioForGDP(μ/k), where that is larger.
func (o Objective) RatioForGroup(epsilon, delta, k float64) (float64, error) {
	mu, err := GaussianMu(epsilon, delta)
	if err != nil {
		return 0, err
	}
	byGDP, failed := o.RatioForGDP(mu / k)
	ratio, err := largestRatio(math.Min(maxObjective, mu/2/k), 1e-2, func(a float64) float64 {
		o.Ratio = a
		if o.Profile().GroupWithin(k, epsilon, delta) {
			return -1
		}
		return 1
	})
	if err != nil || failed == nil && byGDP > ratio {
		return byGDP, failed
	}
	return ratio, nil
}

// RatioForGDP returns the largest ratio, in place of o.Ratio, for which the releases
// together are μ-GDP, up to the slack of the grids: their profile lies below the
// Gaussian one at every ε. Such releases compose with each other and with Gaussian
// ones to √Σμ², but not as tightly as RatioFor does: at ε = 0 the log-determinant
// alone needs μ ≈ 1.25·LogDet, though it matters little to small δ.
func (o Objective) RatioForGDP(mu float64) (float64, error) {
	o.Ratio = 1
	if err := o.Validate(); err != nil {
		return 0, err
	}
	if err := check.Mu(mu); err != nil {
		return 0, err
	}
	mu *= 1 - 1e-11 // for the rounding of a ledger's sums
	return largestRatio(math.Min(maxObjective, mu/2/math.Sqrt(float64(o.Releases))), 1e-9, func(a float64) float64 {
		o.Ratio = a
		return o.Profile().Mu() - mu
	})
}

// largestRatio returns the largest a ≤ most at which excess, which grows with a,
// isn't positive, or one below it by at most the relative tolerance.
func largestRatio(most, tolerance float64, excess func(a float64) float64) (float64, error) {
	least := math.Max(minObjective, most*1e-6)
	if !(least < most) || excess(least) > 0 {
		return 0, check.Fail(check.ErrBudget, "log det, output mu", nil, "must leave a part of the budget to the noise in the objective")
	}
	hi, above := most, excess(most)
	if above <= 0 {
		return most, nil
	}
	lo := math.Max(least, most/2)
	below := excess(lo)
	for lo > least && below > 0 {
		hi, above = lo, below
		lo = math.Max(least, lo/2)
		below = excess(lo)
	}
	return narrow(lo, below, hi, above, tolerance, excess), nil
}

// narrow brings lo, where excess isn't positive, close to hi, where it is: by
// chords, with Illinois's change so that both ends move, and by halving where
// three of them don't.
func narrow(lo, below, hi, above, tolerance float64, excess func(a float64) float64) float64 {
	side, width := 0, math.Inf(1)
	for i := 1; hi-lo > tolerance*lo; i++ {
		mid, slow := lo+(hi-lo)/2, false
		if i%3 == 0 {
			slow, width = hi-lo > width/2, hi-lo
		}
		if chord := lo - below*(hi-lo)/(above-below); !slow && chord > lo && chord < hi {
			mid = math.Max(lo+tolerance*lo/2, math.Min(hi-tolerance*lo/2, chord))
		}
		if e := excess(mid); e > 0 {
			hi, above = mid, e
			if side > 0 {
				below /= 2
			}
			side = 1
		} else {
			lo, below = mid, e
			if side < 0 {
				above /= 2
			}
			side = -1
		}
	}
	return lo
}
