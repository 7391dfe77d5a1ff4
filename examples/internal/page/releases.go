package page

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
)

// release is a node of the ledger's tree.
type release struct {
	Indent int // of the text, in steps
	Label  string
	What   string // how many, and of what
	Noise  string
	Total  string // what they cost together, where that is one number
}

// node is what a ledger's JSON says of itself and its parts.
type node struct {
	Kind     mechanisms.Kind `json:"kind"`
	Label    string          `json:"label"`
	Mu       float64         `json:"mu"`
	Epsilon  float64         `json:"epsilon"`
	Ratio    float64         `json:"ratio"`
	LogDet   float64         `json:"log_det"`
	Output   float64         `json:"output_epsilon"`
	Releases int             `json:"releases"`
	Dim      int             `json:"dim"`
	Parts    []node          `json:"parts"`
}

// releasesOf lists the tree from its root.
func releasesOf(l *dpglm.Ledger) ([]release, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	var root node
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	return root.list(nil, 0), nil
}

func (n node) list(out []release, indent int) []release {
	r := release{Indent: indent, Label: n.Label}
	if mu := n.mu(); mu > 0 {
		r.Total = fmt.Sprintf("%s-GDP", significant(mu, 3))
	}
	switch n.Kind {
	case mechanisms.KindGaussian:
		r.What = fmt.Sprintf("%s × Gaussian in %s", grouped(n.Releases), dimensions(n.Dim))
		r.Noise = fmt.Sprintf("σ = %s × sensitivity", significant(1/n.Mu, 4))
	case mechanisms.KindPure:
		r.What = fmt.Sprintf("%s × ε-DP", grouped(n.Releases))
		r.Noise = fmt.Sprintf("ε = %s each", significant(n.Epsilon, 4))
		r.Total = fmt.Sprintf("%s-DP", significant(n.Epsilon*float64(n.Releases), 3))
	case mechanisms.KindLaplace:
		r.What = fmt.Sprintf("%s × Laplace", grouped(n.Releases))
		r.Noise = fmt.Sprintf("ε = %s each", significant(n.Epsilon, 4))
		r.Total = fmt.Sprintf("%s-DP", significant(n.Epsilon*float64(n.Releases), 3))
	case mechanisms.KindBoundedRange:
		r.What = fmt.Sprintf("%s × bounded range", grouped(n.Releases))
		r.Noise = fmt.Sprintf("range %s each", significant(n.Epsilon, 4))
	case mechanisms.KindObjective:
		r.What = "objective perturbation in " + dimensions(n.Dim)
		r.Noise = fmt.Sprintf("σ = %s × gradient bound", significant(1/n.Ratio, 4))
	case mechanisms.KindPureObjective:
		r.What = "objective perturbation by Laplace noise"
		r.Noise = fmt.Sprintf("ε = %s + %s of curvature", significant(n.Epsilon+n.Output, 4), significant(n.LogDet, 4))
		r.Total = fmt.Sprintf("%s-DP", significant(n.Epsilon+n.LogDet+n.Output, 3))
	case mechanisms.KindSequential:
		r.What = "one after the other on the same rows"
	case mechanisms.KindParallel:
		r.What = "on disjoint rows: the largest counts"
	}
	out = append(out, r)
	for _, part := range n.Parts {
		out = part.list(out, indent+1)
	}
	return out
}

// mu is that of Gaussian releases and of what is composed of these, else 0.
func (n node) mu() float64 {
	if n.Kind == mechanisms.KindGaussian {
		return n.Mu * math.Sqrt(float64(n.Releases))
	}
	if n.Kind != mechanisms.KindSequential && n.Kind != mechanisms.KindParallel {
		return 0
	}
	var squares, largest float64
	for _, part := range n.Parts {
		mu := part.mu()
		if mu == 0 {
			return 0
		}
		squares += mu * mu
		largest = math.Max(largest, mu)
	}
	if n.Kind == mechanisms.KindParallel {
		return largest
	}
	return math.Sqrt(squares)
}

func dimensions(n int) string {
	if n == 1 {
		return "1 dimension"
	}
	return grouped(n) + " dimensions"
}

// scaling says what noise would be at other ε, which follows from public numbers where all
// noise is Gaussian.
func scaling(l *dpglm.Ledger, claim mechanisms.Claim) string {
	if math.IsInf(l.Mu(), 1) {
		return ""
	}
	mu, err := mechanisms.GaussianMu(claim.Epsilon, claim.Delta)
	if err != nil {
		return ""
	}
	times := func(epsilon float64) string {
		other, err := mechanisms.GaussianMu(epsilon, claim.Delta)
		if err != nil {
			return "–"
		}
		return significant(mu/other, 2)
	}
	return fmt.Sprintf("At ε = %s and the same δ the noise would be %s times as large, at ε = %s it would be %s times as large.",
		atMost(claim.Epsilon/2, 3), times(claim.Epsilon/2), atMost(claim.Epsilon*2, 3), times(claim.Epsilon*2))
}
