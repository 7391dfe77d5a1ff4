package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
)

// whitening makes second moments round.
type whitening struct {
	axes   *mat.Dense
	values []float64 // the moments' eigenvalues, which may be negative
	known  []float64 // of each of them, the fraction that isn't noise
	round  bool      // they were, but for noise: all are taken to be their mean
}

// whiten reads second moments of n rows whose noise has the operator norm rho.
func whiten(packed []float64, d int, n, rho float64) (w whitening, ok bool) {
	var e mat.EigenSym
	if !e.Factorize(curator.Unpack(packed, d), true) {
		return w, false
	}
	w.axes, w.values, w.known = new(mat.Dense), e.Values(nil), make([]float64, d)
	e.VectorsTo(w.axes)
	if w.round = round(w.values, rho); w.round {
		mean := floats.Sum(w.values) / float64(d)
		for k := range w.values {
			w.values[k] = mean
		}
		rho /= tuning.RoundNoise // that of a mean is smaller still
	}
	for k, v := range w.values {
		positive := math.Max(v, 0)
		w.known[k] = positive / (positive + rho)
		scale := math.Sqrt(n / (positive + rho))
		for i := range d {
			w.axes.Set(i, k, w.axes.At(i, k)*scale)
		}
	}
	return w, true
}

// roundSpread is that of eigenvalues of noise: the sum of their squared distances from the mean is ρ²(d+1)
// times it.
const roundSpread = 0.25

// round reports that eigenvalues differ by no more than noise of operator norm rho makes
// them, although a direction with a tenth of the whole would stand out of it. The
// sum of their squared distances from the mean is then about ρ²(d+1)/4, and exceeds
// that by a fraction 2/d in one case of six.
func round(values []float64, rho float64) bool {
	d := float64(len(values))
	sum := floats.Sum(values)
	var spread float64
	for _, v := range values {
		spread += float64((v - sum/d) * (v - sum/d))
	}
	return len(values) >= tuning.RoundFrom && sum > tuning.RoundStands*rho && spread*(1-2/d) <= float64(rho*rho*(d+1))*roundSpread
}
