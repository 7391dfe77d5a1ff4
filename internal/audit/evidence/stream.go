package evidence

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Audit says how much is drawn, and when it is enough.
type Audit struct {
	Unit     Unit
	Alpha    float64 // probability that a bound ever exceeds the truth
	Training int     // runs on either neighbour that choose the event
	Most     int     // runs on either neighbour after these
	// Enough ends the audit once the bound is that large, and what the event shows is no
	// larger than Excluded.
	Enough, Excluded float64
	// Event, if it isn't nil, is fixed beforehand; Training is of no use then.
	Event *Event
}

// Found is what an audit found.
type Found struct {
	Lower float64 // confidence bound on the parameter
	Upper float64 // likewise on what the event shows
	Runs  int     // on either neighbour, those that chose the event included
}

// Event is that a number lies above a threshold or, if Below, not above it, which shows that the
// data are the first or, if Swap, the second.
type Event struct {
	Above       float64
	Below, Swap bool
}

// occurs reports whether a number is in the event.
func (e Event) occurs(x float64) bool { return (x > e.Above) != e.Below }

// add counts one more run on either neighbour.
func (e Event) add(c Counts, first, second float64) Counts {
	if e.Swap {
		first, second = second, first
	}
	c.Runs++
	if e.occurs(first) {
		c.First++
	}
	if e.occurs(second) {
		c.Second++
	}
	return c
}

// excludedAlpha is the probability that the upper bound is ever below what the event shows: a wrong one
// ends an audit too early, and never makes its bound wrong.
const excludedAlpha = 1e-3

// Run draws pairs of numbers, of a run on either neighbour, until they are enough. The event is the
// best of those with a threshold at a percentile of the first pairs, which are counted for nothing else.
// It looks at the bounds each time that the sample has grown by a tenth.
func (a Audit) Run(draw func() (first, second float64, err error)) (Found, error) {
	const growth = 1.1
	event, training := a.Event, 0
	if event == nil {
		first, second := make([]float64, a.Training), make([]float64, a.Training)
		for i := range first {
			var err error
			if first[i], second[i], err = draw(); err != nil {
				return Found{}, err
			}
		}
		e := a.Unit.choose(first, second)
		event, training = &e, a.Training
	}
	var c Counts
	var found Found
	for look := 16.0; c.Runs < a.Most; {
		first, second, err := draw()
		if err != nil {
			return Found{}, err
		}
		if c = event.add(c, first, second); float64(c.Runs) < look && c.Runs < a.Most {
			continue
		}
		look = math.Ceil(look * growth)
		lower := a.Unit.Lower(c, a.Alpha) // each holds, hence the largest does
		found = Found{max(found.Lower, lower), a.Unit.Upper(c, a.Alpha), training + c.Runs}
		if found.Lower >= a.Enough && (a.Excluded == math.Inf(1) || a.Unit.Upper(c, excludedAlpha) <= a.Excluded) {
			break
		}
	}
	return found, nil
}

// choose returns the event that shows most in a sample, less four standard errors: of events that show the
// same the one with the least error is chosen.
func (u Unit) choose(first, second []float64) (chosen Event) {
	const percentiles, errors = 100, 4.0
	all := slices.Concat(first, second)
	slices.Sort(all)
	n, best := float64(len(first)), math.Inf(-1)
	for k := 1; k < percentiles; k++ {
		above := all[k*len(all)/percentiles]
		for _, e := range []Event{{above, false, false}, {above, false, true}, {above, true, false}, {above, true, true}} {
			var c Counts
			for i := range first {
				c = e.add(c, first[i], second[i])
			}
			p, q := (float64(c.First)+0.5)/(n+1), (float64(c.Second)+0.5)/(n+1)
			if shown := u.of(p, q) - errors*math.Sqrt((u.variance(p)+u.variance(q))/n); shown > best {
				best, chosen = shown, e
			}
		}
	}
	return chosen
}

// variance is that of a rate's part of the parameter, by its derivative, for one run.
func (u Unit) variance(p float64) float64 {
	slope := 1 / p
	if u == Mu {
		slope = 1 / distuv.UnitNormal.Prob(distuv.UnitNormal.Quantile(p))
	}
	return p * (1 - p) * slope * slope
}
