package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// CalibrateObjective returns the largest ratio a of a row's gradient bound to the
// noise's standard deviation for which ObjectivePerturbation with that LogDet and
// OutputMu, in dim coordinates, is (ε, δ)-DP. It errs towards more noise, by a
// relative 1e-9 or so, and takes a few milliseconds. A budget that the
// log-determinant or the output noise alone exceeds is an error: raise λ, or the
// output noise.
func CalibrateObjective(epsilon, delta, logDet, outputMu float64, dim int) (float64, error) {
	return CalibrateObjectiveShares(epsilon, delta, 1, logDet, outputMu, dim)
}

// CalibrateObjectiveShares is CalibrateObjective for the given number of
// (adaptive) releases that together are (ε, δ)-DP, each with that LogDet and
// OutputMu, in dim coordinates. More than one are composed through their privacy
// loss distributions: the result may be 1e-4 below the largest ratio, and takes
// some tenths of a second.
func CalibrateObjectiveShares(epsilon, delta float64, releases int, logDet, outputMu float64, dim int) (float64, error) {
	if err := check.Epsilon(epsilon); err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	if err := releasesAndDim(releases, dim); err != nil {
		return 0, err
	}
	if err := (ObjectivePerturbation{1, logDet, outputMu}).validate(); err != nil {
		return 0, err
	}
	// The profile lies above that of 2a-GDP.
	mu, err := GaussianMu(epsilon, delta)
	if err != nil {
		return 0, err
	}
	most := math.Min(maxObjective, mu/2/math.Sqrt(float64(releases)))
	excess := func(accuracy float64) func(a float64) float64 {
		return func(a float64) float64 {
			s := ObjectivePerturbation{a, logDet, outputMu}.sequence(releases, dim)
			return math.Log1p((s.deltaTo(accuracy, epsilon) - delta) / delta)
		}
	}
	if releases == 1 {
		return largestRatio(most, 1e-10, excess(tight))
	}
	return climb(most, 5e-5, excess(50*tight), excess(tight))
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

// CalibrateObjectiveGDP returns the largest ratio for which ObjectivePerturbation
// with that LogDet and OutputMu is μ-GDP, up to the slack of the grids: its
// profile lies below the Gaussian one at every ε. Such releases compose with each
// other and with Gaussian ones to √Σμ², but not as tightly as
// CalibrateObjectiveShares does: at ε = 0 the log-determinant alone needs
// μ ≈ 1.25·LogDet, though it matters little to small δ.
func CalibrateObjectiveGDP(mu, logDet, outputMu float64) (float64, error) {
	if err := check.Mu(mu); err != nil {
		return 0, err
	}
	if err := (ObjectivePerturbation{1, logDet, outputMu}).validate(); err != nil {
		return 0, err
	}
	mu *= 1 - 1e-11 // for the rounding of a ledger's sums
	return largestRatio(math.Min(maxObjective, mu/2), 1e-9, func(a float64) float64 {
		return gaussian{mu: outputMu}.then(newObjective(a, logDet).gdp()).mu - mu
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
