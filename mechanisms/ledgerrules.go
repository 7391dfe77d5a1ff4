package mechanisms

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

func (n *node) validate(parts []*Ledger) error {
	pure := n.Kind == KindPureObjective
	if n.Kind != KindObjective && (n.Ratio != 0 || n.LogDet != 0 && !pure) || n.Output != 0 && !pure {
		return check.Fail(check.ErrModel, "ledger", string(n.Kind), "must have no ratio, no log det and no ε of output noise")
	}
	switch n.Kind {
	case KindGaussian:
		if len(parts) > 0 || n.Epsilon != 0 {
			return check.Fail(check.ErrModel, "ledger", string(n.Kind), "must have no parts and no ε")
		}
		if err := check.Mu(n.Mu); err != nil {
			return err
		}
		return check.Releases(n.Releases, n.Dim)
	case KindPure, KindLaplace, KindBoundedRange:
		if len(parts) > 0 || n.Mu != 0 || n.Dim != 0 {
			return check.Fail(check.ErrModel, "ledger", string(n.Kind), "must have no parts, no μ and no dimension")
		}
		if !(n.Epsilon >= 1e-100 && n.Epsilon <= maxEpsilon) {
			return check.Fail(check.ErrBudget, "epsilon", n.Epsilon, "must lie between 1e-100 and 1e100")
		}
		if n.Releases < 1 || int64(n.Releases) > maxReleases {
			return check.Fail(check.ErrConfig, "releases", n.Releases, fmt.Sprintf("must lie between 1 and %d", int64(maxReleases)))
		}
		return nil
	case KindObjective:
		if len(parts) > 0 || n.Epsilon != 0 || n.Releases != 1 {
			return check.Fail(check.ErrModel, "ledger", string(n.Kind), "must have no parts and no ε, and be one release")
		}
		return n.objective().Validate()
	case KindPureObjective:
		if len(parts) > 0 || n.Mu != 0 || n.Dim != 0 || n.Releases != 1 {
			return check.Fail(check.ErrModel, "ledger", string(n.Kind), "must have no parts, no μ and no dimension, and be one release")
		}
		return n.pureObjective().validate()
	case KindSequential, KindParallel:
		if len(parts) == 0 || n.Mu != 0 || n.Epsilon != 0 || n.Releases != 0 || n.Dim != 0 {
			return check.Fail(check.ErrModel, "ledger", string(n.Kind), "must have parts and no numbers of its own")
		}
		for _, c := range parts {
			if _, err := c.composition(); err != nil {
				return err
			}
		}
		return nil
	}
	return check.Fail(check.ErrModel, "ledger.kind", string(n.Kind), "is unknown")
}
