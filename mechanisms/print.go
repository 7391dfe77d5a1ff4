package mechanisms

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpglm/dpglm/internal/accounting"
)

// String prints a line with the guarantee and its unit, if there is a claim or a unit, and the
// tree, one node a line.
func (l *Ledger) String() string {
	if _, err := l.composition(); err != nil {
		return "empty ledger"
	}
	var b strings.Builder
	switch {
	case l.claim != nil:
		for _, line := range l.claim.lines(l) {
			b.WriteString(line + "\n")
		}
	case l.unit != (Unit{}):
		b.WriteString(l.summary() + "\n")
	}
	l.print(&b, "", "")
	if l.CallerNoise() {
		b.WriteString("NOTE: noise came from the caller's source; private only if that source is secret and secure\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (l *Ledger) print(b *strings.Builder, first, rest string) {
	fmt.Fprintf(b, "%s%s\n", first, l.node.line(l.profile))
	for i, c := range l.children {
		if i < len(l.children)-1 {
			c.print(b, rest+"├─ ", rest+"│  ")
		} else {
			c.print(b, rest+"└─ ", rest+"   ")
		}
	}
}

func (n *node) line(s *accounting.Sequence) string {
	switch {
	case n.Kind == KindGaussian:
		return fmt.Sprintf("%s: %d × Gaussian in %d dimensions, σ = %.6g × sensitivity, together %.6g-GDP",
			n.Label, n.Releases, n.Dim, 1/n.Mu, s.Mu())
	case n.Kind == KindPure:
		return fmt.Sprintf("%s: %d × %.6g-DP", n.Label, n.Releases, n.Epsilon)
	case n.Kind == KindLaplace:
		return fmt.Sprintf("%s: %d × Laplace, %.6g-DP", n.Label, n.Releases, n.Epsilon)
	case n.Kind == KindBoundedRange:
		return fmt.Sprintf("%s: %d × bounded range %.6g", n.Label, n.Releases, n.Epsilon)
	case n.Kind == KindObjective:
		return fmt.Sprintf("%s: objective perturbation in %d dimensions, σ = %.6g × gradient bound, log det ≤ %.6g, output noise %.6g-GDP",
			n.Label, n.Dim, 1/n.Ratio, n.LogDet, n.Mu)
	case n.Kind == KindPureObjective:
		return fmt.Sprintf("%s: objective perturbation by Laplace noise, %.6g-DP: linear term %.6g, log det ≤ %.6g, output noise %.6g",
			n.Label, n.pureObjective().Total(), n.Epsilon, n.LogDet, n.Output)
	case s.IsGaussian():
		return fmt.Sprintf("%s: %s, %.6g-GDP", n.Label, n.Kind, s.Mu())
	case !math.IsInf(s.Loss(), 1):
		return fmt.Sprintf("%s: %s, %.6g-DP", n.Label, n.Kind, s.Loss())
	}
	return fmt.Sprintf("%s: %s", n.Label, n.Kind)
}
