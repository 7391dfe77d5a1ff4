package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// Budget is how much privacy may be spent. There is no default: make one with
// ApproxDP or GDP.
type Budget struct{ epsilon, delta, mu float64 }

// ApproxDP is (ε, δ)-differential privacy.
func ApproxDP(epsilon, delta float64) Budget { return Budget{epsilon: epsilon, delta: delta} }

// GDP is μ-Gaussian differential privacy.
func GDP(mu float64) Budget { return Budget{mu: mu} }

func (b Budget) String() string {
	if b.mu != 0 {
		return fmt.Sprintf("%g-GDP", b.mu)
	}
	return fmt.Sprintf("(ε = %g, δ = %g)-DP", b.epsilon, b.delta)
}

// gaussian splits the budget over releases of dim coordinates each.
func (b Budget) gaussian(releases, dim int) (mechanisms.Gaussian, error) {
	if b.mu != 0 {
		return mechanisms.Gaussian{Mu: b.mu / math.Sqrt(float64(releases))}, check.Mu(b.mu)
	}
	return mechanisms.CalibrateGaussian(b.epsilon, b.delta, releases, dim)
}
