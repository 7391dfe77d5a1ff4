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
	axes   *mat.Dense // nil where there are but scales, of the coordinates as they are
	scales []float64
	known  []float64 // second moments in the new coordinates, as far as they aren't noise
}

// whiten reads second moments of n rows whose noise has a standard deviation of sd on the diagonal.
func whiten(packed []float64, d int, n, sd float64) (w whitening, ok bool) {
	m, diagonal, ok := standingOut(packed, d, sd)
	if !ok {
		return w, false
	}
	if diagonal {
		moments := make([]float64, d)
		for j := range moments {
			moments[j] = m.At(j, j)
		}
		w.scales, w.known = round(moments, n, sd)
		return w, true
	}
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return w, false
	}
	w.axes = new(mat.Dense)
	e.VectorsTo(w.axes)
	scales, known := round(e.Values(nil), n, sd)
	for k, scale := range scales {
		for i := range d {
			w.axes.Set(i, k, w.axes.At(i, k)*scale)
		}
	}
	w.known = known
	return w, true
}

// standingOut leaves of second moments the diagonal, and of the rest what stands out of the noise. The
// rest's noise alone has eigenvalues within ±ρ, ρ = √(2d)·sd, by Wigner's law. Of those beyond √(λ² − ρ²) is
// nearest to what was there without noise, in squared error, as λ is too long, and has turned (Gavish and
// Donoho 2017). So where moments drown columns are left, each with noise of its own that grows as √(log d),
// and what is correlated by more than all noise stays so.
func standingOut(packed []float64, d int, sd float64) (out *mat.SymDense, diagonal, ok bool) {
	m := curator.Unpack(packed, d)
	rest := mat.NewSymDense(d, nil)
	out = mat.NewSymDense(d, nil)
	rest.CopySym(m)
	for j := range d {
		rest.SetSym(j, j, 0)
		out.SetSym(j, j, m.At(j, j))
	}
	var e mat.EigenSym
	if !e.Factorize(rest, true) {
		return nil, false, false
	}
	var axes mat.Dense
	e.VectorsTo(&axes)
	diagonal = true
	rho := math.Sqrt(2*float64(d)) * sd
	for k, v := range e.Values(nil) {
		if math.Abs(v) > rho {
			diagonal = false
			out.SymRankOne(out, math.Copysign(math.Sqrt((math.Abs(v)-rho)*(math.Abs(v)+rho)), v), axes.ColView(k))
		}
	}
	for j := range d { // of which eigenvalues have a part
		out.SetSym(j, j, m.At(j, j))
	}
	return out, diagonal, true
}

// round scales directions by their noisy second moments, of n rows, with noise of a standard deviation: a
// direction may have what was seen and what the largest of so many noises comes to, but no more than
// a fifth of the trace where no more was seen. So coordinates are round where moments stand out
// of the noise, and all of one scale where they drown. known is what second moments are in these
// coordinates, as far as they aren't noise.
func round(moments []float64, n, sd float64) (scales, known []float64) {
	d := float64(len(moments))
	largest := sd * math.Sqrt(2*math.Log(math.Max(2, d)))
	trace := math.Max(floats.Sum(moments), sd*math.Sqrt(d)) // whose noise is as large
	var out, hidden float64                                 // what stands out of the noise, and what may be noise
	for _, v := range moments {
		if v > largest {
			out += v
		} else {
			hidden += math.Max(v, 0)
		}
	}
	rest := math.Max(0, math.Min((trace-out)/math.Max(hidden, tiny), 1)) // of the hidden, what isn't
	scales, known = make([]float64, len(moments)), make([]float64, len(moments))
	for k, v := range moments {
		seen := math.Max(v, 0)
		most := math.Max(seen, math.Min(seen+largest, trace*tuning.TracePart))
		scales[k] = math.Sqrt(n / most)
		known[k] = seen / most
		if v <= largest {
			known[k] *= rest
		}
	}
	return scales, known
}
