package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// What noise will be like, for those who plan: no release asks for it.

// Scale returns the scale of the noise that Release adds to each of dim coordinates; its mean
// absolute value is the scale, its standard deviation √2 times the scale. It fails where ε or
// the sensitivity isn't positive and finite, or the noise would leave the range of float64.
func (l Laplace) Scale(l1Sensitivity float64, dim int) (float64, error) {
	if err := check.Releases(1, dim); err != nil {
		return 0, err
	}
	step, scale, err := l.grid(l1Sensitivity, dim)
	return step * float64(scale), err
}

// Probability returns the probability that Answer is yes. It fails for an ε out of range.
func (m Vote) Probability(v int) (float64, error) {
	if err := selectionEpsilon(m.Epsilon); err != nil {
		return 0, err
	}
	log := (float64(marginInSteps(v)) - float64(marginInSteps(-v))) / float64(m.unit())
	if log < 0 {
		return math.Exp(log) / (1 + math.Exp(log)), nil
	}
	return 1 / (1 + math.Exp(-log)), nil
}
