package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/losses"
)

// heavy are scores of a t law with two degrees of freedom within a bound, at its quantiles; log-odds are these up to 3, and 3 further out.
type heavy struct{ bound float64 }

func (h heavy) at(u float64) (score, probability float64) {
	z := 2 * (2*u - 1) / math.Sqrt(2*u*(1-u))
	z = math.Max(-h.bound, math.Min(z, h.bound))
	return z, losses.Logit.Mean(math.Max(-3, math.Min(z, 3)))
}

func (h heavy) draw(r *rand.Rand) (float64, bool) {
	z, p := h.at(r.Float64())
	return z, r.Float64() < p
}

// truth are the log-loss at scores, and the slope that has the least.
func (h heavy) truth() (loss, slope float64) {
	const points = 200_000
	low, high := 0.0, 1.0
	for range 40 {
		slope = (low + high) / 2
		along := 0.0
		for k := range points {
			z, p := h.at((float64(k) + 0.5) / points)
			along += (losses.Logit.Mean(slope*z) - p) * z
		}
		if along > 0 {
			high = slope
		} else {
			low = slope
		}
	}
	for k := range points {
		z, p := h.at((float64(k) + 0.5) / points)
		loss += (p*losses.Logistic{}.Value(z, 1) + (1-p)*losses.Logistic{}.Value(z, -1)) / points
	}
	return loss, slope
}

// Few rows whose scores lie far beyond others' on the wrong side are most of a log-loss, and turn a slope of calibration: intervals hold both, whether noise
// lets see how far out they lie or not. At 5 % more than 4 of 15 miss with probability 6e-4, for either.
func TestFarRowsAreAllowedFor(t *testing.T) {
	h, near := heavy{100}, steps(-5, 5, 20)
	edges := histogram.Farther(near, h.bound)
	beyond := (len(edges) - len(near)) / 2
	loss, slope := h.truth()
	const draws = 15
	truth := map[string]float64{logLoss.name: loss, calibratedBy.name: slope}
	for name, noise := range map[string]float64{"seen": 4, "hidden": 20} {
		logit := gradedBy(losses.Logit)
		hold := func(s *sampled) []Figure {
			half := len(s.counts[0]) / 2
			both := make([]float64, half)
			for k := range both {
				both[k] = s.counts[0][k] + s.counts[0][half+k]
			}
			c := newScored(edges, histogram.Folded(both, noise*math.Sqrt2, beyond, beyond), 1, 0, logit, noise)
			list := c.intervals(s)
			c.allowForFar(list, s.counts, h.bound)
			return list
		}
		missed, known := law{edges, 20_000, noise, h.draw}.missed(draws, truth, hold)
		without, _ := law{near, 20_000, noise, h.draw}.missed(draws, truth, newScored(near, histogram.Fold{Low: 1, High: 1}, 1, 0, logit, noise).intervals)
		t.Logf("%s: %v of %v miss, %v without, of %v", name, missed, known, without, truth)
		for figure := range truth {
			if missed[figure] > 4 || known[figure] < draws || noise < 10 && without[figure] < draws {
				t.Errorf("%s: %s: %d of %d miss, and %d without an allowance", name, figure, missed[figure], known[figure], without[figure])
			}
		}
	}
}
