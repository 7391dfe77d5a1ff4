package dpglm

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
// the factor increases: it is looked at where the factor is 1, at 2 or ½, whichever lies
// beyond, and between these or beyond them, where a line through both is 0.
func (x *softmaxing) rescale(start, at curator.ClassPoint) (curator.ClassPoint, error) {
	share := float64(factorShare) / looks
	known := x.nmu() * math.Sqrt(share)
	spread := x.spreadOfClasses(at)
	limit := math.Max(3, math.Min(0.015*known, spread*math.Max(6, math.Sqrt(known)/4)))
	noise := 2 * limit / known // at a factor of 1
	ask := func(factor float64) (look, error) {
		answer, err := x.in.ScaleSlope(x.ctx, scaledBy(factor, start, at), start.B, limit)
		sum, err := x.pool.draw(share, answer, err)
		if err != nil {
			return look{}, err
		}
		return look{factor, sum[0] / (factor * x.n)}, nil
	}
	low, err := ask(1)
	if err != nil {
		return at, err
	}
	next := 2.0
	if low.slope > 0 {
		next = 0.5
	}
	high, err := ask(next)
	if err != nil {
		return at, err
	}
	if next < 1 {
		low, high = high, low
	}
	last, err := ask(math.Max(0.25, crossed(low, high)))
	if err != nil {
		return at, err
	}
	switch {
	case last.factor <= low.factor:
		low, high = last, low
	case last.factor >= high.factor:
		low, high = high, last
	case last.slope < 0:
		low = last
	default:
		high = last
	}
	off := noise / (last.factor * steepness(low, high) * math.Sqrt2)
	usual := math.Min(0.5, spread/2) // standard deviation of factors
	trusted := 1 / (1 + float64(off*off/(usual*usual)))
	return scaledBy(1+float64(trusted*(crossed(low, high)-1)), start, at), nil
}

// crossed is the factor, from 0 to 4, at which a line through two looks is 0.
func crossed(low, high look) float64 {
	return math.Max(0, math.Min(low.factor-low.slope/steepness(low, high), 4))
}

// steepness is that line's, or at least what little signal has.
func steepness(low, high look) float64 {
	if high.factor <= low.factor {
		return 0.05
	}
	return math.Max(0.05, (high.slope-low.slope)/(high.factor-low.factor))
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
	if x.known == nil { // one direction may have all of the rows' second moment
		largest *= math.Sqrt(x.typical)
	}
	return largest
}
