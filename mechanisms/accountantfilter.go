package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// state is what an accountant has taken.
type state struct {
	Epsilon float64  `json:"epsilon"`           // of pure ledgers, for the group
	Reserve *reserve `json:"reserve,omitempty"` // once there was another, and of a share
}

// reserve is a Gaussian release, for one of the unit, that ledgers are taken from.
type reserve struct {
	Mu               float64 `json:"mu"`
	Coordinates      float64 `json:"coordinates"`
	SpentMu          float64 `json:"spent_mu"`
	SpentCoordinates float64 `json:"spent_coordinates"`
	Ledgers          int     `json:"ledgers"`          // that it was spent by
	Beside           bool    `json:"beside,omitempty"` // whether it was set aside beside a ledger
}

// Charge is what an accountant took for a ledger. Of its three kinds it has one.
type Charge struct {
	Epsilon     float64 `json:"epsilon,omitempty"`     // of pure ε, for the group
	Mu          float64 `json:"mu,omitempty"`          // of a μ that was set aside, with
	Coordinates float64 `json:"coordinates,omitempty"` // so many coordinates
	Whole       bool    `json:"whole,omitempty"`       // all there was, but for what it set aside as a μ
}

// mostCoordinates is how many coordinates of Gaussian noise are set aside with a μ, seven
// minutes of drawing noise. It decides about the slack of their grids, see [Gaussian]: 5e-12 of
// ε, less than the margin of what is calibrated at an ε of about 1.
const mostCoordinates = 0x1p34

// least is the μ below which nothing counts as left, far more than what another processor
// rounds in another way.
const least = 1e-9

// after is the state once a ledger was taken.
func (a *Accountant) after(l *Ledger) (state, Charge, bool) {
	s := a.state
	mu, coordinates := l.profile.Above()
	if s.Reserve != nil {
		return s.spend(mu, coordinates)
	}
	if loss := l.profile.GroupLoss(float64(a.group)); loss <= a.epsilon {
		if sum := accounting.Sum(s.Epsilon, loss); sum <= a.epsilon {
			s.Epsilon = sum
			return s, Charge{Epsilon: loss}, true
		}
	}
	if l.profile.IsGaussian() {
		s.Reserve = &reserve{Mu: a.noiseLeft(), Coordinates: mostCoordinates}
		if next, c, ok := s.spend(mu, coordinates); ok {
			return next, c, ok
		}
	}
	left, ok := a.beside(l)
	s.Reserve = &reserve{Mu: left, Coordinates: mostCoordinates, Beside: true}
	return s, Charge{Whole: true}, ok
}

// spend takes a Gaussian release from the reserve.
func (s state) spend(mu, coordinates float64) (state, Charge, bool) {
	r := *s.Reserve
	r.SpentMu, r.SpentCoordinates = accounting.SumOfSquares(r.SpentMu, mu), accounting.Sum(r.SpentCoordinates, coordinates)
	r.Ledgers++
	return state{s.Epsilon, &r}, Charge{Mu: mu, Coordinates: coordinates}, r.SpentMu <= r.Mu && r.SpentCoordinates <= r.Coordinates
}

// epsilonLeft is the ε that pure ledgers left of the total.
func (a *Accountant) epsilonLeft() float64 { return accounting.Less(a.epsilon, a.state.Epsilon) }

// noiseLeft is the largest μ, for one of the unit, of a Gaussian release that is within what
// pure ledgers left; 0 where there is none.
func (a *Accountant) noiseLeft() float64 {
	epsilon := a.epsilonLeft()
	most, err := accounting.GaussianMu(epsilon, a.delta)
	if err != nil {
		return 0
	}
	most /= float64(a.group)
	if most < least {
		return 0
	}
	return accounting.Largest(0, most, 1e-13, func(mu float64) bool {
		return mu == 0 || accounting.Noise(mu, mostCoordinates).GroupWithin(float64(a.group), epsilon, a.delta)
	})
}

// beside is the largest μ, for one of the unit, of a Gaussian release that fits beside a ledger
// in what pure ledgers left; 0 where only the ledger fits. It errs downwards, by 1/500 of what
// there is without the ledger.
func (a *Accountant) beside(l *Ledger) (mu float64, fits bool) {
	const tolerance = 2e-3
	group, epsilon := float64(a.group), a.epsilonLeft()
	if a.delta == 0 || !l.profile.GroupWithin(group, epsilon, a.delta) {
		return 0, false
	}
	with := func(mu float64) bool {
		return accounting.Compose(l.profile, accounting.Noise(mu, mostCoordinates)).GroupWithin(group, epsilon, a.delta)
	}
	most := a.noiseLeft()
	above, _ := l.profile.Above()
	low := accounting.LessOfSquares(most, above) * (1 - 1e-9) // where all is counted as Gaussian
	if low < least || !with(low) {
		low = most * tolerance
	}
	if most < least || !with(low) {
		return 0, true
	}
	return accounting.Largest(low, most, tolerance, with), true
}

// GiveBack takes back what Charge took for a ledger under which nothing was released, and
// nothing will be: an error before the first noise. What it returns is in [Accountant.Remaining]
// again, unless the accountant had turned what is left into a μ in between: then the charge
// stays, as ledgers that came later were held against that. It fails for a charge that the
// accountant can't have taken.
//
// # Privacy
//
// Whoever spends may decide by earlier results whether to run or to give back. In the theorem
// of [Accountant] charges of one kind add up in any order, so that one which is taken away is as
// if it had never been there; what was set aside as a μ may only be undone while nobody has
// spent of it.
func (a *Accountant) GiveBack(c Charge) error {
	if a == nil {
		return check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.made(); err != nil {
		return err
	}
	s := a.state
	bad := check.Fail(check.ErrConfig, "charge", nil, "must be one that the accountant took")
	if !c.valid() || a.ledgers < 1 {
		return bad
	}
	switch {
	case c.Whole && (s.Reserve == nil || !s.Reserve.Beside), c.Mu > 0 && (s.Reserve == nil || s.Reserve.Ledgers < 1 || c.Mu > s.Reserve.SpentMu || c.Coordinates > s.Reserve.SpentCoordinates), c.Epsilon > s.Epsilon:
		return bad
	case c.Epsilon > 0 && s.Reserve == nil:
		s.Epsilon = math.Max(0, accounting.Sum(s.Epsilon, -c.Epsilon))
	case c.Epsilon == 0:
		s.Reserve = s.Reserve.without(c)
	}
	if r := s.Reserve; r != nil && r.Ledgers == 0 && !r.Beside && a.mu == 0 { // nobody has spent of it
		s.Reserve = nil
	}
	a.state, a.ledgers = s, a.ledgers-1
	return nil
}

// without is the reserve without a charge, whatever is spent of it rounded up.
func (r *reserve) without(c Charge) *reserve {
	w := *r
	if c.Whole {
		w.Beside = false
		return &w
	}
	if w.Ledgers--; w.Ledgers == 0 {
		w.SpentMu, w.SpentCoordinates = 0, 0
		return &w
	}
	w.SpentMu = math.Sqrt(math.Max(0, (w.SpentMu-c.Mu)*(w.SpentMu+c.Mu))) * (1 + 1e-15)
	w.SpentCoordinates = math.Max(0, accounting.Sum(w.SpentCoordinates, -c.Coordinates))
	return &w
}

// valid reports a charge of one kind.
func (c Charge) valid() bool {
	kinds := 0
	for _, is := range []bool{c.Epsilon > 0, c.Mu > 0, c.Whole} {
		if is {
			kinds++
		}
	}
	return kinds == 1 && c.Epsilon >= 0 && c.Mu >= 0 && c.Coordinates >= 0 && !math.IsInf(c.Epsilon+c.Mu+c.Coordinates, 0)
}
