package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// maxGroup limits the rows of a group, far beyond what a budget can be shared among.
const maxGroup = 1 << 30

// ForGroups returns the same budget for any group of up to the given number of rows, from 1
// to 2^30, such as those of one person: neighbours then differ in the values of that many rows. A plan
// holds its ledger's curve for groups against the budget, and the ledger's first line
// names them. Noise grows about as the rows of a group do. That nobody has more rows is
// for the caller to see to.
//
// # Privacy
//
// Replace-one, for groups of k: along a chain of k replacements a μ-GDP release is
// kμ-GDP, and an ε-DP one kε-DP. So for one row a plan takes the k-th part of μ or ε; for
// [ObjectivePerturbation] under an (ε, δ) budget, what its curve for groups allows. The
// ledger then proves the whole, see [mechanisms.Ledger.GroupDelta].
func (b Budget) ForGroups(rows int) Budget {
	b.group = rows
	return b
}

// groupGaussian is gaussian for an (ε, δ) budget of groups.
func (b Budget) groupGaussian(releases, dim int) (mechanisms.Gaussian, error) {
	if err := check.Releases(releases, dim); err != nil {
		return mechanisms.Gaussian{}, err
	}
	mu, err := mechanisms.GaussianMu(b.epsilon, b.delta)
	if err != nil {
		return mechanisms.Gaussian{}, err
	}
	mu /= math.Sqrt(float64(releases)*float64(b.parts)) * float64(b.group)
	// Margins are for the ledger's rounding, and for the slack of many coordinates.
	for margin := 1e-11; margin < 1; margin *= 2 {
		g := mechanisms.Gaussian{Mu: mu * (1 - margin)}
		l, err := g.Ledger("", releases*b.parts, dim)
		if err != nil {
			return mechanisms.Gaussian{}, err
		}
		if l.GroupWithin(b.group, b.epsilon, b.delta) {
			return g, nil
		}
	}
	return mechanisms.Gaussian{}, check.Fail(ErrBudget, "budget", b, fmt.Sprintf("is too small to calibrate Gaussian noise in %d coordinates", dim))
}

// beside is the budget of what runs on rows that other releases don't use. The rows of a
// group may lie in both parts, and together these must fit: so for groups each gets what
// composes with anything.
func (b Budget) beside() Budget {
	b.byMu = b.byMu || b.group > 1 && !b.pure
	return b
}
