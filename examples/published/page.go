package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// apart is the number of standard errors beyond which a cell is lost or won.
const apart = 2

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// page is the text of what a store has.
type page struct {
	o       *options
	s       *store
	found   []entry
	missing []string
}

func (p page) text(args []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Published tables\n\nMeasured on %s by\n\n    go run ./examples/published%s\n\n", time.Now().UTC().Format("2 January 2006"), task.PublicArgs(args))
	fmt.Fprintf(&b, "The library under the protocols of published tables, told what each paper takes as public, and nothing chosen: %d repetitions. "+
		"The program's documentation says which repositories FOLDER has. **Theirs** are read from files of these, or were run by us where it says so. "+
		"Replace-one is a promise for a row in place of another; add-or-remove is for one more or less, about half as strict, and what most papers have; there the library's public bound on the number of rows is that number itself.\n", p.o.repetitions)
	p.verdicts(&b)
	for _, q := range p.o.papers {
		p.paper(&b, q)
	}
	p.absent(&b)
	return b.String()
}

// verdict is 1 where our loss is larger by more than two standard errors of the difference, −1 where it is smaller, and 0 for a tie.
// A figure of one run says nothing about its error, and has none; one without runs is a published number, taken as it stands.
func verdict(ours, theirs figure) (v int, standardError float64, known bool) {
	if theirs.runs == 1 || !finite(ours.standardError) {
		return 0, 0, false
	}
	e := ours.standardError
	if theirs.runs > 1 {
		e = math.Hypot(e, theirs.standardError)
	}
	switch d := ours.mean - theirs.mean; {
	case d > apart*e:
		return 1, e, true
	case -d > apart*e:
		return -1, e, true
	}
	return 0, e, true
}

// constant is the method that predicts 0.
const constant = "constant 0"

// best stands for the smallest of a paper's private methods, in each cell.
var best = method{name: "the best of these, but the constant, in each cell"}

// against is a method's figure in a cell.
func (e entry) against(m method, epsilon float64) (figure, bool) {
	if m != best {
		return e.theirs(m.name, epsilon)
	}
	var least figure
	found := false
	for _, m := range e.paper.methods {
		if m.relation == "" {
			continue
		}
		if f, ok := e.theirs(m.name, epsilon); ok && finite(f.mean) && (!found || f.mean < least.mean) {
			least, found = f, true
		}
	}
	return least, found
}

// rivals are whom a paper's verdicts are against: its methods but for the one without privacy, and the best of them.
func (q paper) rivals() (all []method) {
	private := 0
	for _, m := range q.methods {
		if m.name != "not private" {
			all = append(all, m)
		}
		if m.relation != "" {
			private++
		}
	}
	if private > 1 {
		all = append(all, best)
	}
	return all
}

// verdicts name what is lost, first, and count cells.
func (p page) verdicts(b *strings.Builder) {
	var lost, counts strings.Builder
	for _, q := range p.o.papers {
		if !slices.ContainsFunc(p.found, func(e entry) bool { return e.paper.name == q.name }) {
			continue
		}
		fmt.Fprintf(&counts, "\n%s, %s:\n", q.title, q.measure)
		titles := []string{"against", "its promise", "dpglm's promise"}
		for _, epsilon := range q.epsilons {
			titles = append(titles, fmt.Sprintf("ε = %g", epsilon))
		}
		head(&counts, titles...)
		for _, m := range q.rivals() {
			for _, relation := range q.relations {
				cells := []string{m.name, cmp.Or(m.relation, "–"), relation}
				for _, epsilon := range q.epsilons {
					cells = append(cells, p.count(&lost, q, m, relation, epsilon))
				}
				line(&counts, cells...)
			}
		}
	}
	b.WriteString("\n## Where dpglm loses\n\nThe cells that it loses to a paper's own proposal under the same promise, or to the constant 0, with the difference and its standard error:\n\n")
	b.WriteString(cmp.Or(lost.String(), "none\n"))
	p.rises(b)
	b.WriteString("\n## Lost, tied and won\n\nA cell is a set under an ε, written lost/tied/won: lost or won where the difference of means is more than two of its standard errors from 0, " +
		"which are ours and theirs together. In brackets, on how many sets our mean is the smaller one, whatever the errors. Some are so by chance, and cells of one set are no independent evidence. " +
		"The best in each cell is chosen by the figures themselves, which favours theirs. A figure of a single run of theirs, whose error nobody knows, isn't counted; a number without an error is taken as it stands.\n")
	b.WriteString(counts.String())
}

// count is lost/tied/won of a paper's sets under an ε, and on how many ours is smaller.
func (p page) count(lost *strings.Builder, q paper, m method, relation string, epsilon float64) string {
	var counts [3]int
	smaller := 0
	var names []string
	for _, e := range p.found {
		if e.paper.name != q.name {
			continue
		}
		ours, theirs, ok := p.pair(e, m, relation, epsilon)
		if !ok {
			continue
		}
		v, standardError, known := verdict(ours, theirs)
		if !known {
			continue
		}
		counts[1-v]++
		if ours.mean < theirs.mean {
			smaller++
		}
		if v > 0 {
			names = append(names, fmt.Sprintf("%s by %.2g ± %.1g", e.set, ours.mean-theirs.mean, standardError))
		}
	}
	if counts == [3]int{} {
		return "–"
	}
	if (m.own && relation == m.relation || m.name == constant && relation == added) && len(names) > 0 {
		fmt.Fprintf(lost, "- %s, ε = %g: %s\n", m.name, epsilon, strings.Join(names, "; "))
	}
	return fmt.Sprintf("%d/%d/%d (%d)", counts[0], counts[1], counts[2], smaller)
}

// pair are our figure in a cell and a method's. With the constant, which is known without error, it is our difference from it, and 0.
func (p page) pair(e entry, m method, relation string, epsilon float64) (ours, theirs figure, ok bool) {
	c := cell{e.paper.name, e.set, epsilon}
	if m.name == constant {
		ours, ok = p.s.aboveConstant(c, relation)
		return ours, figure{}, ok
	}
	if ours, ok = p.s.figure(c, relation); !ok {
		return ours, theirs, false
	}
	theirs, ok = e.against(m, epsilon)
	return ours, theirs, ok
}

// rises lists where our loss is larger at a larger ε, which no sampling error explains: of each set and promise the pair of ε's that are
// furthest apart, in standard errors.
func (p page) rises(b *strings.Builder) {
	var all strings.Builder
	for _, e := range p.found {
		if !e.paper.falls {
			continue
		}
		for _, relation := range e.paper.relations {
			worst, text := float64(apart), ""
			for j, larger := range e.paper.epsilons {
				for _, smaller := range e.paper.epsilons[:j] {
					before, ok := p.s.figure(cell{e.paper.name, e.set, smaller}, relation)
					after, also := p.s.figure(cell{e.paper.name, e.set, larger}, relation)
					if rise := (after.mean - before.mean) / math.Hypot(before.standardError, after.standardError); ok && also && rise > worst {
						worst, text = rise, fmt.Sprintf("%s at ε = %g, %s at ε = %g", before, smaller, after, larger)
					}
				}
			}
			if text != "" {
				fmt.Fprintf(&all, "- %s, %s: %s\n", e.set, relation, text)
			}
		}
	}
	if all.Len() > 0 {
		fmt.Fprintf(b, "\n## Where a larger budget makes dpglm worse\n\nBy more than %d standard errors, in the pair of ε's where it is most of these; some are so by chance, as a set has many pairs, "+
			"and where little is learnt the constant model may be better than what noise leaves.\n\n%s", apart, all.String())
	}
}

// paper is a paper's table.
func (p page) paper(b *strings.Builder, q paper) {
	fmt.Fprintf(b, "\n## %s\n\n%s", q.title, q.protocol)
	if q.delta != squareOfRows {
		fmt.Fprintf(b, " δ = %g.", q.delta)
	}
	fmt.Fprintf(b, " Repository: %s, read at commit %s.\n\nThe %s; small is good.\n", q.repository, q.commit, q.measure)
	titles := []string{"set", "rows × columns", "ε"}
	for _, relation := range q.relations {
		titles = append(titles, "dpglm, "+relation)
	}
	for _, m := range q.methods {
		titles = append(titles, strings.TrimSuffix(m.name+", "+m.relation, ", "))
	}
	head(b, titles...)
	for _, e := range p.found {
		if e.paper.name != q.name {
			continue
		}
		for _, epsilon := range q.epsilons {
			if q.shown != nil && !slices.Contains(q.shown, epsilon) {
				continue
			}
			cells := []string{e.set, fmt.Sprintf("%d × %d", e.rows, e.columns), fmt.Sprintf("%g", epsilon)}
			for _, relation := range q.relations {
				cells = append(cells, p.own(cell{q.name, e.set, epsilon}, relation))
			}
			for _, m := range q.methods {
				text := "–"
				if f, ok := e.theirs(m.name, epsilon); ok {
					text = f.String()
				}
				cells = append(cells, text)
			}
			line(b, cells...)
		}
	}
	p.estimates(b, q)
}

// own is our figure in a cell, with the number of repetitions where some were refused.
func (p page) own(c cell, relation string) string {
	f, ok := p.s.figure(c, relation)
	switch {
	case !ok:
		return "–"
	case f.runs < p.o.repetitions:
		return fmt.Sprintf("%s (%d)", f, f.runs)
	}
	return f.String()
}

// estimates are those of a paper whose table is about one.
func (p page) estimates(b *strings.Builder, q paper) {
	all := map[promise][]float64{}
	for _, r := range p.s.all {
		if r.Paper == q.name && r.Estimates != nil {
			k := promise{r.Epsilon, q.delta, r.Relation}
			all[k] = append(all[k], r.Estimates...)
		}
	}
	if len(all) == 0 {
		return
	}
	b.WriteString("\nThe estimates of dpglm, over repetitions:\n")
	head(b, "ε", "promise", "mean", "standard deviation", "repetitions")
	for _, epsilon := range q.epsilons {
		for _, relation := range q.relations {
			if v := all[promise{epsilon, q.delta, relation}]; len(v) > 1 {
				mean, e := metrics.Summary(v)
				line(b, fmt.Sprintf("%g", epsilon), relation, fmt.Sprintf("%.4g", mean), fmt.Sprintf("%.2g", e*math.Sqrt(float64(len(v)))), fmt.Sprint(len(v)))
			}
		}
	}
}

// absent lists what there is no figure of, and why.
func (p page) absent(b *strings.Builder) {
	b.WriteString("\n## What isn't there\n\n")
	for _, m := range p.missing {
		fmt.Fprintf(b, "- %s\n", m)
	}
	refused := map[string]int{}
	var order []string
	for _, r := range p.s.all {
		if r.Refused == "" {
			continue
		}
		k := fmt.Sprintf("%s, %s, ε = %g, %s: %s", r.Paper, r.Set, r.Epsilon, r.Relation, r.Refused)
		if refused[k] == 0 {
			order = append(order, k)
		}
		refused[k]++
	}
	slices.Sort(order)
	for _, k := range order {
		fmt.Fprintf(b, "- dpglm has no model: %s (%d repetitions)\n", k, refused[k])
	}
	b.WriteString(elsewhere)
}

// elsewhere are papers that the program doesn't run.
const elsewhere = `- TukeyEM (Amin, Joseph, Ribero, Vassilvitskii, ICLR 2023) and boosted AdaSSP (Tang and others, 2023): the latter's sets are those of the suites 297 and
  299 of OpenML, in no public repository that was found. By arXiv 2306.00920, R² is above 0 on four of 25 of them
- Of the sets of second-order methods, protein and Fashion-MNIST come from hosts of their own, and the made-up one is drawn anew in each run
- Of the 36 sets of AdaSSP's paper, its results file has 29; the others have no figures
`

func head(b *strings.Builder, titles ...string) {
	b.WriteString("\n")
	line(b, titles...)
	b.WriteString("|" + strings.Repeat("---|", len(titles)) + "\n")
}

func line(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
