package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
)

const (
	factorShare = 0.03 // of μ², for the factor of the scores
	looks       = 3
	scaledFrom  = 310 // n·μ, from which on it can be told
)

// look is the released slope of the mean loss in a factor of the scores.
type look struct{ factor, slope float64 }

// rescale multiplies what scores have beside the constant model's by the factor at which the
// loss is least. A descent that must stop early, or whose clip holds rows that are far on the
// wrong side, ends with scores that are too small or too large by one factor more than
// anything else, and of one number little of the budget tells much. The slope of the loss in
// the factor is looked at where the factor is 1, at 2 or ½, whichever lies beyond, and where
// both put it.
func (x *softmaxing) rescale(start, at curator.ClassPoint) (curator.ClassPoint, error) {
	share := float64(factorShare) / looks
	known := x.run.NMu() * math.Sqrt(share)
	spread := x.spreadOfClasses(at)
	limit := math.Max(3, math.Min(0.015*known, spread*math.Max(6, math.Sqrt(known)/4)))
	noise := 2 * limit / known // at a factor of 1
	seen, factor := []look(nil), 1.0
	for range looks {
		answer, err := x.in.ScaleSlope(x.run.Task.Ctx, scaledBy(factor, start, at), start.B, limit)
		sum, err := x.run.Pool.Draw(share, answer, err)
		if err != nil {
			return at, err
		}
		seen = append(seen, look{factor, sum[0] / (factor * x.run.N)})
		switch {
		case len(seen) > 1:
			factor = factorBy(seen, noise, spread)
		case seen[0].slope > 0:
			factor = 0.5
		default:
			factor = 2
		}
	}
	return scaledBy(factor, start, at), nil
}

// factorBy is the mean of the factors up to 4 at which the slope may be 0, by how likely looks
// with the given noise, over their factors, make them. The slope is a line but for a sixth or so of
// the way to a look. Beforehand a factor is 1 and the line's steepness is a fifth of the scores'
// variance, with a standard deviation of ½ at most and of a factor of e; sets of data and made-up
// classes chose these.
func factorBy(seen []look, noise, spread float64) float64 {
	const factors, slopes = 400, 25
	usual := math.Min(0.5, math.Max(spread/2, 1e-6))
	var unlikely [slopes][factors]float64 // twice the negative logarithm
	least := math.Inf(1)
	for i := range slopes {
		t := float64(i-slopes/2) / 4
		steep := 0.2 * spread * spread * math.Exp(t)
		for j := range factors {
			f := 4 * float64(j+1) / factors
			v := t*t + float64((f-1)*(f-1)/(usual*usual))
			for _, l := range seen {
				way := steep * (l.factor - f)
				sd := math.Hypot(noise/l.factor, 0.15*way)
				v += math.Pow((l.slope-way)/sd, 2) + 2*math.Log(sd)
			}
			unlikely[i][j], least = v, math.Min(least, v)
		}
	}
	var all, sum float64
	for i := range slopes {
		for j, v := range unlikely[i] {
			p := math.Exp((least - v) / 2)
			all += p
			sum += p * 4 * float64(j+1) / factors
		}
	}
	return math.Max(0.25, sum/all)
}

// scaledBy is a point whose distance from the start is multiplied by a factor.
func scaledBy(factor float64, start, at curator.ClassPoint) curator.ClassPoint {
	p := like(at)
	for c := range p.U {
		floats.AddScaled(p.U[c], factor, at.U[c])
		p.B[c] = start.B[c] + float64(factor*(at.B[c]-start.B[c]))
	}
	return p
}

// spreadOfClasses is the largest standard deviation of a class's scores, as far as it is known.
func (x *softmaxing) spreadOfClasses(at curator.ClassPoint) (largest float64) {
	for _, u := range at.U {
		largest = math.Max(largest, floats.Norm(x.short.Shrink(u), 2))
	}
	if x.frame.Signal == nil { // one direction may have all of the rows' second moment
		largest *= math.Sqrt(x.typical)
	}
	return largest
}
