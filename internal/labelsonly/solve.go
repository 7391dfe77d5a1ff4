package labelsonly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	mostRounds = 10   // in which variances, slopes and the prior's scale are found anew
	mostSteps  = 12   // in one
	near       = 0.02 // of a deviation: what moves by less has come to its end
	halvings   = 12   // of a step that leads too far
)

// solve finds the mode of the weights by a belief, and the state there. In each round slopes are those at its beginning; from the third one on
// the prior's scale moves half of the way, in its logarithm, so that no two rounds alternate. Constants are likely to be near those of the constant model.
func (x *space) solve(f family, o observation, of belief, start []float64) (*state, error) {
	at, err := x.state(f, start)
	last := 0.0
	for round := range mostRounds {
		if err != nil {
			return nil, err
		}
		p, ok := newPosterior(at, o, of)
		if !ok { // numbers that don't hold it
			break
		}
		found := p.square
		if round > 1 {
			p.square = math.Sqrt(last * found)
			if of.spread > 0 { // slopes grow with it, and may have it alternate
				p.square = math.Min(last, p.square)
			}
			_, p.times = p.evidence.at(p.square)
		}
		to, err := x.descend(f, o, at.theta, p)
		if err != nil {
			return nil, err
		}
		moved := p.distance(at.theta, to)
		settled := round > 0 && math.Abs(math.Log(found/last)) < stepLog
		last = p.square
		if at, err = x.state(f, to); err != nil {
			return nil, err
		}
		at.times = p.times
		if moved < near && settled {
			break
		}
	}
	return at, err
}

// descend goes on from a point until the measure is least, as far as slopes that stay tell.
func (x *space) descend(f family, o observation, from []float64, p *posterior) ([]float64, error) {
	at, residual := slices.Clone(from), p.residual
	for range mostSteps {
		way, length, ok := p.step(at, residual)
		if !ok || length < near {
			break
		}
		to, left, err := x.search(f, o, p, at, residual, way)
		if err != nil {
			return nil, err
		}
		if to == nil {
			break
		}
		at, residual = to, left
	}
	return at, nil
}

// search goes along a way as far as the measure falls, by doubling or halving it: slopes that are too steep lead too short. It
// returns nil where the measure doesn't fall.
func (x *space) search(f family, o observation, p *posterior, at, residual, way []float64) (to, left []float64, err error) {
	best := p.measure(at, residual)
	for factor, k := 1.0, 0; k < halvings; k++ {
		next := slices.Clone(at)
		floats.AddScaled(next, factor, way)
		mean, err := x.mean(f, next)
		if err != nil {
			return nil, nil, err
		}
		rest := slices.Clone(o.sum)
		floats.Sub(rest, mean)
		rest = p.whiten(rest)
		switch m := p.measure(next, rest); {
		case m < best:
			best, to, left = m, next, rest
			if factor < 1 {
				return to, left, nil
			}
			factor *= 2
		case to != nil:
			return to, left, nil
		default:
			factor /= 2
		}
	}
	return to, left, nil
}
