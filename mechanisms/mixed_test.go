package mechanisms

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/accounting"
)

// Votes, and Gaussian releases with a share of what is left of μ² that is chosen by all results before: by going through all strategies of
// two votes and shares in halves, backwards, none reaches more than the ledger of the votes and one Gaussian release of the whole
// μ; and one whose pool is overdrawn by a tenth of μ does, so that the game has the power to see it.
func TestMixedFilter(t *testing.T) {
	const votes, quadrature = 2, 1e-4 // what sums in the place of integrals may be off, relatively
	for _, c := range []struct{ width, mu, epsilon float64 }{{0.5, 0.8, 1}, {0.2, 0.3, 0.4}, {0.1, 1, 2}} {
		all := built(t)(Sequential("", built(t)(Vote{Epsilon: c.width}.Ledger("", votes)), built(t)(Gaussian{Mu: c.mu}.Ledger("", 1, 1))))
		want, err := all.Delta(c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if reached := (mixed{c.width, c.mu, c.epsilon}).value(votes, 2, 0); reached > want*(1+quadrature) || reached < 0.9*want {
			t.Errorf("range %g, μ = %g: strategies reach δ(%g) = %g, claimed %g", c.width, c.mu, c.epsilon, reached, want)
		}
		if over := (mixed{c.width, 1.1 * c.mu, c.epsilon}).value(votes, 2, 0); over < want*(1+10*quadrature) {
			t.Errorf("range %g, overdrawn to μ = %g: strategies reach δ(%g) = %g, not beyond %g", c.width, 1.1*c.mu, c.epsilon, over, want)
		}
	}
}

// mixed is a game of votes of a range, and of releases from a pool of μ.
type mixed struct{ width, mu, epsilon float64 }

// value is the largest E(1 − e^{ε−L})₊ that a strategy reaches with so many votes and halves of μ² left, after a privacy loss.
func (g mixed) value(votes, halves int, loss float64) (best float64) {
	if votes == 0 { // then all that is left is best taken at once
		if halves == 0 {
			return math.Max(0, -math.Expm1(g.epsilon-loss))
		}
		return accounting.GaussianDelta(g.mu*math.Sqrt(float64(halves)/2), g.epsilon-loss)
	}
	for _, part := range []float64{0.25, 0.5, 0.75} { // the loss of one outcome, of the range
		at := part * g.width
		p := math.Expm1(at-g.width) / math.Expm1(-g.width)
		best = math.Max(best, p*g.value(votes-1, halves, loss+at)+(1-p)*g.value(votes-1, halves, loss+at-g.width))
	}
	for taken := 1; taken <= halves; taken++ {
		const nodes, end = 60, 6.5
		m, sum, total := g.mu*math.Sqrt(float64(taken)/2), 0.0, 0.0
		for i := range nodes {
			x := end * (2*(float64(i)+0.5)/nodes - 1)
			w := math.Exp(-x * x / 2)
			total += w
			sum += w * g.value(votes, halves-taken, loss+m*m/2+m*x)
		}
		best = math.Max(best, sum/total)
	}
	return best
}
