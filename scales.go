package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// scales is the private measurement of how long rows and labels are: two
// histograms in steps below their bounds (one, of rows, where labels are binary),
// released by one Gaussian mechanism.
//
// Replace-one. A row lies in one cell of each histogram, so a replaced one moves
// two counts in each by 1: the L2 sensitivity of k histograms together is √(2k).
// Counts are exact. What is derived from the release is post-processing.
type scales struct {
	mu         float64 // of the release; 0 for none
	histograms int
}

// The steps: quarters of an octave down to an eighth of the bound, then halves
// down to a 360th.
const (
	fineCells   = 12
	coarseCells = 12
	cells       = fineCells + coarseCells
)

// steps are the upper ends of a histogram's cells.
func steps(bound float64) []float64 {
	edges := make([]float64, cells)
	for k := range edges {
		octaves := float64(k) / 4
		if k > fineCells {
			octaves = fineCells/4 + float64(k-fineCells)/2
		}
		edges[k] = bound * math.Exp2(-octaves)
	}
	return edges
}

// planScales takes as much of a budget of μ as makes a cumulated count good to
// about 7 % of the rows: between a tenth and 35 % of it, which costs the training
// 0.5 to 6 % of its μ. Where that gives no better than 20 %, nothing is measured.
func planScales(s Shape, l losses.Labels, mu float64) scales {
	m := scales{histograms: 2}
	if l == losses.Binary {
		m.histograms = 1
	}
	need := 2.5 * m.sensitivity() / (0.07 * float64(s.Rows))
	if need > 3*0.35*mu {
		return scales{}
	}
	m.mu = math.Min(math.Max(need, 0.1*mu), 0.35*mu)
	return m
}

func (m scales) sensitivity() float64 { return math.Sqrt(2 * float64(m.histograms)) }

func (m scales) cells() int { return m.histograms * cells }

// measured are what the released histograms say.
type measured struct {
	bound      float64 // for rows without the constant feature
	labelBound float64
	typical    typical // its row doesn't count the constant feature
}

// schedule is of the one release.
func (m scales) schedule() (*release.Schedule, error) {
	return release.Gaussian("histograms of norms and labels", m.mu, 1, m.cells())
}

// measure releases the histograms of the rows and labels under a loss, and reads
// them.
func (m scales) measure(d *curator.Data, s Shape, loss losses.Loss, allow *release.Allowance) (measured, error) {
	sums, err := d.Under(loss)
	if err != nil {
		return measured{}, err
	}
	bound := d.Facts().Bound
	var labels []float64
	if m.histograms == 2 {
		labels = steps(s.LabelBound)
	}
	counts, err := allow.AddNoise(sums.Lengths(steps(bound), labels))
	if err != nil {
		return measured{}, err
	}
	return m.read(counts, bound, s, loss.Labels()), nil
}

func (m scales) read(counts []float64, bound float64, s Shape, kind losses.Labels) measured {
	lengths, labels, n := steps(bound), steps(s.LabelBound), float64(s.Rows)
	row := quantile(counts[:cells], lengths, n, 0.8)
	out := measured{bound: math.Min(row*math.Exp2(0.25), lengths[0]), labelBound: s.LabelBound}
	label := 0.0
	switch kind {
	case losses.Real:
		label = quantile(counts[cells:], labels, n, 0.6)
		out.labelBound = math.Min(math.Max(4*label, check.MinScale), labels[0])
	case losses.Count:
		label = quantile(counts[cells:], labels, n, 0.8)
		out.labelBound = math.Min(math.Max(quantile(counts[cells:], labels, n, 0.97)*math.Exp2(0.25), 1), labels[0])
	}
	out.typical = typicalOf(kind, row, label)
	return out
}

// quantile returns the smallest edge with at least the share q of n rows below it,
// by noisy counts. They are first moved by one amount so that they sum to n, which
// halves the noise of the sums that matter.
func quantile(counts, edges []float64, n, q float64) float64 {
	missing := n
	for _, c := range counts {
		missing -= c
	}
	best, below := edges[0], n
	for k, c := range counts {
		if below >= q*n {
			best = edges[k]
		}
		below -= c + missing/float64(len(counts))
	}
	return best
}
