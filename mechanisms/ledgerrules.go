package mechanisms

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

func (l *Ledger) validate() error {
	if l.kind != KindObjective && (l.ratio != 0 || l.logDet != 0) {
		return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no ratio and no log det")
	}
	switch l.kind {
	case KindGaussian:
		if len(l.children) > 0 || l.epsilon != 0 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no parts and no ε")
		}
		if err := check.Mu(l.mu); err != nil {
			return err
		}
		return check.Releases(l.releases, l.dim)
	case KindPure, KindBoundedRange:
		if len(l.children) > 0 || l.mu != 0 || l.dim != 0 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no parts, no μ and no dimension")
		}
		if !(l.epsilon >= 1e-100 && l.epsilon <= maxEpsilon) {
			return check.Fail(check.ErrBudget, "epsilon", l.epsilon, "must lie between 1e-100 and 1e100")
		}
		if l.releases < 1 || int64(l.releases) > maxReleases {
			return check.Fail(check.ErrConfig, "releases", l.releases, fmt.Sprintf("must lie between 1 and %d", int64(maxReleases)))
		}
		return nil
	case KindObjective:
		if len(l.children) > 0 || l.epsilon != 0 || l.releases != 1 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no parts and no ε, and be one release")
		}
		return l.objective().Validate()
	case KindSequential, KindParallel:
		if len(l.children) == 0 || l.mu != 0 || l.epsilon != 0 || l.releases != 0 || l.dim != 0 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have parts and no numbers of its own")
		}
		for _, c := range l.children {
			if _, err := c.composition(); err != nil {
				return err
			}
		}
		return nil
	}
	return check.Fail(check.ErrModel, "ledger.kind", string(l.kind), "is unknown")
}
