package losses

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Link maps a score to the mean of the label.
type Link string

// The links.
const (
	Identity   Link = "identity" // the score itself
	Logit      Link = "logit"    // the probability of class 1, 1/(1 + e^(−z))
	ProbitLink Link = "probit"   // the probability of class 1, Φ(z)
	Log        Link = "log"      // the mean count or amount e^z
)

// Suits reports whether l is one of the links above and can belong to a loss with
// the given labels.
func (l Link) Suits(labels Labels) bool {
	return l == Identity || l.Probability() && labels == Binary || l == Log && labels.FromZero()
}

// Probability reports whether means are probabilities.
func (l Link) Probability() bool { return l == Logit || l == ProbitLink }

// Mean is the label's mean at the score z.
func (l Link) Mean(z float64) float64 {
	switch l {
	case Logit:
		return sigmoid(z)
	case ProbitLink:
		return math.Erfc(-z/math.Sqrt2) / 2
	case Log:
		return math.Exp(z)
	}
	return z
}

// LinkOf returns the link of a loss: what its method Link says, if it has one,
// and otherwise Identity, as for nil.
func LinkOf(l Loss) Link {
	if k, ok := l.(interface{ Link() Link }); ok && check.Given("loss", l) == nil {
		return k.Link()
	}
	return Identity
}
