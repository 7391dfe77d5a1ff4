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
	known  []float64 // second moments in the new coordinates, as far as they aren't noise
}

// whiten reads second moments of n rows whose noise has the operator norm rho. Scores along an
// axis are scaled by what its second moment may be: no more than what was seen and all of rho,
// nor than a fifth of the trace where no more was seen. So coordinates are round where moments
// stand out of the noise, and all of one scale where they drown.
func whiten(packed []float64, d int, n, rho float64) (w whitening, ok bool) {
	var e mat.EigenSym
	if !e.Factorize(curator.Unpack(packed, d), true) {
		return w, false
	}
	w.axes, w.values, w.known = new(mat.Dense), e.Values(nil), make([]float64, d)
	e.VectorsTo(w.axes)
	trace := math.Max(floats.Sum(w.values), rho/math.Sqrt2) // whose noise is as large
	var out, hidden float64                                 // what stands out of the noise, and what may be noise
	for _, v := range w.values {
		if v > rho {
			out += v
		} else {
			hidden += math.Max(v, 0)
		}
	}
	rest := math.Max(0, math.Min((trace-out)/math.Max(hidden, tiny), 1)) // of the hidden, what isn't
	for k, v := range w.values {
		seen := math.Max(v, 0)
		most := math.Max(seen, math.Min(seen+rho, trace*tuning.TracePart))
		w.known[k] = seen / most
		if v <= rho {
			w.known[k] *= rest
		}
		scale := math.Sqrt(n / most)
		for i := range d {
			w.axes.Set(i, k, w.axes.At(i, k)*scale)
		}
	}
	return w, true
}
