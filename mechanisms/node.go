package mechanisms

import "github.com/dpglm/dpglm/internal/accounting"

// node is what a ledger says of the releases at the root of its tree, by their kind.
type node struct {
	Kind     Kind    `json:"kind"`
	Label    string  `json:"label,omitempty"`
	Mu       float64 `json:"mu,omitempty"`             // of one Gaussian release, or of an objective's output noise
	Epsilon  float64 `json:"epsilon,omitempty"`        // of one pure, Laplace or bounded-range release, or of a pure objective's linear term
	Output   float64 `json:"output_epsilon,omitempty"` // of a pure objective's output noise
	Ratio    float64 `json:"ratio,omitempty"`          // of an objective, as LogDet
	LogDet   float64 `json:"log_det,omitempty"`
	Releases int     `json:"releases,omitempty"`
	Dim      int     `json:"dim,omitempty"` // of one Gaussian release, or of an objective
}

// profile is that of the releases, those of the parts being given.
func (n *node) profile(parts []*accounting.Sequence) *accounting.Sequence {
	switch n.Kind {
	case KindGaussian:
		return accounting.Gaussian(n.Mu, n.Releases, n.Dim)
	case KindPure:
		return accounting.Pure(n.Epsilon, n.Releases)
	case KindLaplace:
		return accounting.Laplace(n.Epsilon, n.Releases)
	case KindBoundedRange:
		return accounting.BoundedRange(n.Epsilon, n.Releases)
	case KindObjective:
		return n.objective().Profile()
	case KindPureObjective:
		return accounting.Pure(n.pureObjective().Total(), n.Releases)
	case KindSequential:
		return accounting.Compose(parts...)
	}
	return accounting.Parallel(parts...)
}

func (n *node) objective() accounting.Objective {
	return accounting.Objective{Ratio: n.Ratio, LogDet: n.LogDet, OutputMu: n.Mu, Dim: n.Dim, Releases: n.Releases}
}

func (n *node) pureObjective() PureObjectivePerturbation {
	return PureObjectivePerturbation{Epsilon: n.Epsilon, LogDet: n.LogDet, OutputEpsilon: n.Output}
}
