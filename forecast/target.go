package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/check"
)

// Target is what EpsilonFor looks for; a 0 asks for nothing.
type Target struct {
	// Width is the largest median ratio of an interval's width to that without privacy,
	// above 1. It is for InferConfig.
	Width float64
	// Excess is the largest excess of the mean loss over that without privacy, above 0.
	Excess float64
	// Lost is the largest fraction that may be lost of what features gain over the constant
	// model, below 1.
	Lost float64
}

// The ends of EpsilonFor's search.
const leastEpsilon, mostEpsilon = 1.0 / 1024, 1024.0

// EpsilonFor returns the smallest ε, to two digits or some 6 %, whose forecast meets the
// target, and the forecasts on the way, in ascending order. It lies between 1/1024 and 1024,
// or there is an error; beyond 10, and at 1/1024, the Forecast has a Caution. Lost is that of a
// signal of the usual strength. Other errors are those of [Scenario.At], of a target that asks for nothing, and
// of one whose numbers break their rules.
func (s Scenario) EpsilonFor(ctx context.Context, t Target, progress func(done, total int)) (float64, *Forecast, error) {
	if err := t.validate(s.Learner); err != nil {
		return 0, nil, err
	}
	r, err := s.rehearsal(ctx, 1)
	if err != nil {
		return 0, nil, err
	}
	r.fits.progress, r.fits.total = progress, 8*r.scenario.Repeats // a guess: the bracket is mostly found in three steps
	low, high, err := r.bracket(ctx, t)
	if err != nil {
		return 0, nil, err
	}
	for low > 0 && high/low > 1.06 {
		middle := twoDigits(math.Sqrt(low * high))
		if middle <= low || middle >= high {
			break
		}
		e, err := r.expect(ctx, middle)
		if err != nil {
			return 0, nil, err
		}
		if t.met(e) {
			high = middle
		} else {
			low = middle
		}
	}
	slices.SortFunc(r.found, func(a, b Expectation) int { return cmp.Compare(math.Abs(b.Epsilon-high), math.Abs(a.Epsilon-high)) })
	if err := r.between(ctx, r.ends()); err != nil {
		return 0, nil, err
	}
	if r.fits.done < r.fits.total {
		r.fits.done = r.fits.total - 1
		r.fits.step()
	}
	f := r.forecast()
	f.Caution = caution(low, high)
	return high, f, nil
}

// mostSensible is the ε beyond which the promise means little for the row that is easiest to tell.
const mostSensible = 10

// caution says what an ε that was found is not.
func caution(low, high float64) string {
	switch {
	case high > mostSensible:
		return fmt.Sprintf("CAUTION: ε = %.4g promises next to nothing: whatever it buys, a row may be all but published. Beyond %d more rows, fewer columns or a lower aim are what helps.", high, mostSensible)
	case low == 0:
		return fmt.Sprintf("CAUTION: ε = %.4g is the least that is looked at, and already meets the target.", high)
	}
	return ""
}

// bracket finds an ε that meets the target, and half of it, which doesn't. The latter is 0
// where the least does.
func (r *rehearsal) bracket(ctx context.Context, t Target) (low, high float64, err error) {
	e, err := r.expect(ctx, 1)
	if err != nil {
		return 0, 0, err
	}
	if t.met(e) {
		for high = 1; high > leastEpsilon; high /= 2 {
			if e, err = r.expect(ctx, high/2); err != nil || !t.met(e) {
				return high / 2, high, err
			}
		}
		return 0, high, nil
	}
	for low = 1; low < mostEpsilon; low *= 2 {
		if e, err = r.expect(ctx, 2*low); err != nil || t.met(e) {
			return low, 2 * low, err
		}
	}
	return 0, 0, check.Fail(dpglm.ErrConfig, "target", fmt.Sprintf("%+v", t), fmt.Sprintf("must be one that an ε up to %g meets: there the width is %.4g, the excess %.4g, and %.4g is lost", mostEpsilon, e.Width, e.Excess, e.Lost))
}

// twoDigits rounds to two significant digits.
func twoDigits(v float64) float64 {
	unit := math.Pow(10, 1-math.Floor(math.Log10(v)))
	return math.Round(v*unit) / unit
}

func (t Target) validate(l dpglm.Learner) error {
	_, infers := l.(dpglm.InferConfig)
	switch {
	case t == Target{}:
		return check.Fail(dpglm.ErrConfig, "target", nil, "must have a Width, an Excess or a Lost")
	case t.Width != 0 && !(t.Width > 1 && t.Width < 1e6):
		return check.Fail(dpglm.ErrConfig, "Target.Width", t.Width, "must be above 1, the width without privacy, and below 1e6")
	case t.Width != 0 && !infers:
		return check.Fail(dpglm.ErrConfig, "Target.Width", t.Width, "must be left out unless the learner is InferConfig: others have no intervals")
	case t.Excess != 0 && !(t.Excess > 0 && t.Excess < 1e300):
		return check.Fail(dpglm.ErrConfig, "Target.Excess", t.Excess, "must be a number above 0")
	case t.Lost != 0 && !(t.Lost > 0 && t.Lost < 1):
		return check.Fail(dpglm.ErrConfig, "Target.Lost", t.Lost, "must lie strictly between 0 and 1")
	}
	return nil
}

// met reports whether a forecast meets the target.
func (t Target) met(e Expectation) bool {
	return (t.Width == 0 || e.Width <= t.Width) && (t.Excess == 0 || e.Excess <= t.Excess) && (t.Lost == 0 || e.Lost <= t.Lost)
}
