package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// apart is the number of standard errors beyond which a cell is lost or won.
const apart = 2

// fewest is the number of splits that a cell needs to count.
const fewest = 5

// comparison is the library's loss less a peer's on the same splits.
type comparison struct {
	cell
	mean, standardError float64
}

// verdict is 1 where the library is worse, −1 where it is better, and 0 for a tie.
func (c comparison) verdict() int {
	switch {
	case c.mean > apart*c.standardError:
		return 1
	case -c.mean > apart*c.standardError:
		return -1
	}
	return 0
}

// compare is that of all cells that both have on enough splits.
func (s *store) compare(own, other maker) (all []comparison) {
	for _, c := range s.cells() {
		a, b := s.results(c, own), s.results(c, other)
		var d []float64
		for _, i := range s.splits() {
			r, ok := a[i]
			if q, also := b[i]; ok && also {
				d = append(d, r.Loss-q.Loss)
			}
		}
		if len(d) >= fewest {
			mean, e := metrics.Summary(d)
			all = append(all, comparison{c, mean, e})
		}
	}
	return all
}

// verdicts count cells, and name those in which the library is worse.
func (s *store) verdicts(b *strings.Builder) {
	b.WriteString("\n## Where dpglm loses, ties and wins\n\n" +
		"A cell is a set under an ε. It is lost or won where the mean over splits of the difference of losses is more than two of its standard errors " +
		"from 0; some are so by chance. Cells of fewer than five splits don't count. Neighbours are the same on both sides, and δ too, but for the lines that say otherwise. " +
		"Peers' parameters are the best on the rows held out.\n")
	head(b, "against", "its promise", "dpglm's promise", "ε", "lost", "tied", "won")
	var lost strings.Builder
	for _, delta := range []float64{s.Delta, 0} {
		for _, m := range s.makers(delta) {
			if m.who == ours {
				continue
			}
			s.against(b, &lost, maker{ours, m.relation, delta}, m)
			if delta == 0 {
				s.against(b, &lost, maker{ours, m.relation, s.Delta}, m)
			}
		}
	}
	if lost.Len() > 0 {
		b.WriteString("\nThe cells that dpglm loses, with the mean difference of losses and its standard error:\n\n" + lost.String())
	}
}

func (s *store) against(b, lost *strings.Builder, own, other maker) {
	counts := map[float64]*[3]int{}
	var order []float64
	for _, c := range s.compare(own, other) {
		if counts[c.epsilon] == nil {
			counts[c.epsilon] = new([3]int)
			order = append(order, c.epsilon)
		}
		v := c.verdict()
		counts[c.epsilon][1-v]++
		if v > 0 {
			fmt.Fprintf(lost, "- %s, ε = %g: by %.4g ± %.2g against %s, %s, δ = %g (dpglm: δ = %g)\n", c.set, c.epsilon, c.mean, c.standardError, other.who, other.relation, other.delta, own.delta)
		}
	}
	slices.Sort(order)
	promise := "the same"
	if own.delta != other.delta {
		promise = fmt.Sprintf("**weaker**: δ = %g", own.delta)
	}
	for _, epsilon := range order {
		n := counts[epsilon]
		line(b, other.who, fmt.Sprintf("%s, δ = %g", other.relation, other.delta), promise, fmt.Sprintf("%g", epsilon), fmt.Sprint(n[0]), fmt.Sprint(n[1]), fmt.Sprint(n[2]))
	}
}
