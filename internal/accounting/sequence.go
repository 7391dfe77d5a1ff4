package accounting

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// A Sequence is the profile of adaptive releases on the same rows: Gaussian ones
// (μ = 0: none) and parts of any other kind. Gaussian sequences, single releases and
// one objective perturbation with Gaussian releases have their exact profiles. Others
// are composed through privacy loss distributions, on grids that are refined until
// the bound is tight to about 1e-5 of ε.
type Sequence struct {
	gauss gaussian
	parts []part // distinct

	above   func() gaussian // gdp, computed once
	numeric *composition    // of all these
}

// newSequence merges parts of equal profiles.
func newSequence(g gaussian, parts ...part) *Sequence {
	keys := make(map[string]int64, len(parts))
	s := &Sequence{gauss: g}
	for _, p := range parts {
		key := p.key()
		if keys[key] == 0 {
			s.parts = append(s.parts, p)
		}
		keys[key] += p.copies
	}
	for i, p := range s.parts {
		s.parts[i].copies = keys[p.key()]
	}
	s.above = sync.OnceValue(func() gaussian {
		for _, p := range s.parts {
			g = g.then(p.gdp().times(p.copies))
		}
		return g
	})
	s.numeric = &composition{gauss: g, parts: s.parts, grids: map[int]*pld{}}
	return s
}

// one is a sequence of one release.
func one(p profile) *Sequence { return newSequence(gaussian{}, part{p, 1}) }

// Gaussian returns the profile of releases with Gaussian noise at the ratio mu of
// sensitivity to standard deviation, of dim coordinates each.
func Gaussian(mu float64, releases, dim int) *Sequence {
	return newSequence(noise(mu, releases, dim))
}

// Pure returns the profile of ε-DP releases.
func Pure(epsilon float64, releases int) *Sequence {
	return newSequence(gaussian{}, part{pure{epsilon}, int64(releases)})
}

// BoundedRange returns the profile of releases whose log-likelihood ratio between
// neighbours varies over the outcomes by at most epsilon, given what was released before.
func BoundedRange(epsilon float64, releases int) *Sequence {
	return newSequence(gaussian{}, part{boundedRange{eps: epsilon}, int64(releases)})
}

// Compose returns the profile of adaptive releases of all the given ones. What is
// composed is fixed in advance: each part's profile must hold whatever was released
// before it. Then a pair of laws that has the profile dominates the part, and
// sequences of dominating pairs dominate [ZDW22, Theorem 10].
func Compose(of ...*Sequence) *Sequence {
	var g gaussian
	var parts []part
	for i, s := range of {
		if i == 0 {
			g = s.gauss
		} else {
			g = g.then(s.gauss)
		}
		parts = append(parts, s.parts...)
	}
	return newSequence(g, parts...)
}

// IsGaussian reports that there are Gaussian releases only.
func (s *Sequence) IsGaussian() bool { return len(s.parts) == 0 }

// Size counts the different parts.
func (s *Sequence) Size() int { return len(s.parts) }

// Mu returns a μ for which the releases are μ-GDP, but for the slack of the grids;
// +Inf where none is known.
func (s *Sequence) Mu() float64 { return s.gdp().mu }

// Within reports whether the releases are known to be (epsilon, delta)-DP. It asks
// both curves: each is an upper bound, and they were refined at different points.
func (s *Sequence) Within(epsilon, delta float64) bool {
	return s.Delta(epsilon) <= delta || delta > 0 && s.Epsilon(delta) <= epsilon
}

// single returns the only part if it is a single release, else nil.
func (s *Sequence) single() profile {
	if len(s.parts) == 1 && s.parts[0].copies == 1 && s.gauss.mu == 0 {
		return s.parts[0].profile
	}
	return nil
}

// noisy returns the sequence as one objective perturbation with Gaussian
// releases, if it is that.
func (s *Sequence) noisy() (noisyObjective, bool) {
	if len(s.parts) != 1 || s.parts[0].copies != 1 || s.gauss.mu == 0 {
		return noisyObjective{}, false
	}
	o, ok := s.parts[0].profile.(objective)
	return noisyObjective{o, s.gauss}, ok
}

// Loss is the largest privacy loss, +Inf with a Gaussian part.
func (s *Sequence) Loss() float64 {
	if s.gauss.mu > 0 {
		return math.Inf(1)
	}
	return s.numeric.partsLoss()
}

// gdp bounds the sequence by a Gaussian profile.
func (s *Sequence) gdp() gaussian { return s.above() }

func (s *Sequence) key() string {
	keys := make([]string, len(s.parts))
	for i, p := range s.parts {
		keys[i] = fmt.Sprintf("%d × %s", p.copies, p.key())
	}
	slices.Sort(keys)
	return fmt.Sprintf("gaussian %x; %s", s.gauss, strings.Join(keys, "; "))
}

// exact is a profile that needs no composition.
type exact interface {
	delta(x float64) float64
	logDelta(x float64) float64
	epsilon(d float64) float64
}

// closed returns the sequence's profile if it needs no composition, else nil.
func (s *Sequence) closed() exact {
	if s.IsGaussian() {
		return s.gauss
	}
	if p := s.single(); p != nil {
		return p
	}
	if p, ok := s.noisy(); ok {
		return p
	}
	return nil
}

// Delta returns the δ for which the releases are (x, δ)-DP, at any real x, rounded
// up.
func (s *Sequence) Delta(x float64) float64 { return s.deltaTo(tight, x) }

// deltaTo is Delta, where it is numerical to about the given accuracy of ε.
func (s *Sequence) deltaTo(accuracy, x float64) float64 {
	if p := s.closed(); p != nil {
		return p.delta(x)
	}
	best := s.quickDelta(x)
	if best > 0 {
		s.numeric.refine(accuracy, func(p *pld) float64 {
			best = math.Min(best, p.delta(x))
			return x
		})
	}
	return best
}

// Epsilon returns the smallest known ε ≥ 0 for which the releases are (ε, d)-DP,
// 0 ≤ d < 1, rounded up; +Inf where none is known. At d = 0 it is Loss.
func (s *Sequence) Epsilon(d float64) float64 {
	if p := s.closed(); p != nil {
		return p.epsilon(d)
	}
	best := s.quickEpsilon(d)
	s.numeric.refine(tight, func(p *pld) float64 {
		e := smallestEpsilon(p.delta, d)
		best = math.Min(best, e)
		return e
	})
	return best
}

// quickDelta is an upper bound on Delta: by the largest loss, by a Gaussian profile
// above all, and by the Gaussian part moved by the largest loss of the others.
func (s *Sequence) quickDelta(x float64) float64 {
	if x >= s.Loss() {
		return 0
	}
	d := s.gdp().delta(x)
	if loss := s.numeric.partsLoss(); s.gauss.mu > 0 && !math.IsInf(loss, 1) {
		d = math.Min(d, s.gauss.delta(x-loss-4e-16*(math.Abs(x)+loss)))
	}
	return d
}

func (s *Sequence) quickEpsilon(d float64) float64 {
	e := math.Min(s.Loss(), s.gdp().epsilon(d))
	if loss := s.numeric.partsLoss(); s.gauss.mu > 0 && !math.IsInf(loss, 1) {
		e = math.Min(e, (s.gauss.epsilon(d)+loss)*up)
	}
	return e
}

// curve returns the exact profile where it is quick, else that of a grid.
func (s *Sequence) curve(exponent int) func(float64) float64 {
	if s.IsGaussian() {
		return s.gauss.delta
	}
	if p := s.single(); p != nil {
		return p.curve(exponent)
	}
	return s.numeric.grid(exponent).delta
}
