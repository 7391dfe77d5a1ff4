package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
)

// The grid that a factor and its steepness are looked for on.
const (
	factors    = 400 // up to the largest
	slopes     = 25  // with slopeSteps to a standard deviation
	slopeSteps = 4
	leastUsual = 1e-6 // of a factor's deviation, which would be 0 with the scores
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
	share := float64(tuning.FactorShare) / tuning.FactorLooks
	known := x.run.NMu() * math.Sqrt(share)
	spread := x.spreadOfClasses(at)
	limit := math.Max(tuning.FactorLimit, math.Min(tuning.FactorLimitNoise*known, spread*math.Max(tuning.FactorLimitSpread, math.Sqrt(known)/tuning.FactorLimitGrowth)))
	noise := 2 * limit / known // at a factor of 1
	seen, factor := []look(nil), 1.0
	for range tuning.FactorLooks {
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

// factorBy is the mean of the factors at which the slope may be 0, by how likely looks with the
// given noise, over their factors, make them. The slope is a line but for a part of the way to a
// look. Beforehand a factor is 1 and the line's steepness is a part of the scores' variance, each
// with a standard deviation.
func factorBy(seen []look, noise, spread float64) float64 {
	usual := math.Min(tuning.FactorUsual, math.Max(spread/2, leastUsual))
	var unlikely [slopes][factors]float64 // twice the negative logarithm
	least := math.Inf(1)
	for i := range slopes {
		t := float64(i-slopes/2) / slopeSteps
		steep := tuning.FactorSteep * spread * spread * math.Exp(t)
		for j := range factors {
			f := tuning.FactorMost * float64(j+1) / factors
			v := t*t + float64((f-1)*(f-1)/(usual*usual))
			for _, l := range seen {
				way := steep * (l.factor - f)
				sd := math.Hypot(noise/l.factor, tuning.FactorCurved*way)
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
			sum += p * tuning.FactorMost * float64(j+1) / factors
		}
	}
	return math.Max(tuning.FactorLeast, sum/all)
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
