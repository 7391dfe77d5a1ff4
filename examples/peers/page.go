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

// maker is who makes models, with what promise.
type maker struct {
	who, relation string
	delta         float64
}

// cell is a set under an ε.
type cell struct {
	set     string
	epsilon float64
}

// page is the text of all that a store has.
func page(s *store, args []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Other libraries\n\nMeasured on %s by\n\n    go run ./examples/peers%s\n\n", time.Now().UTC().Format("2 January 2006"), task.PublicArgs(args))
	fmt.Fprintf(&b, "Each set's rows, at most %d, drawn by the seed, are split %d times; a share of %g is held out. "+
		"Peers and dpglm have the same rows, ranges and budgets. **Of a peer's parameters the best on the rows held out count**, "+
		"in each cell and split: that favours peers, as nobody could choose so. dpglm is `Auto`, with nothing chosen. "+
		"Promises: replace-one is for a row in place of another, add-or-remove for one row more or less, which is "+
		"about half as strict. For the latter, dpglm has its exact number of rows as the public bound.\n", s.Rows, len(s.splits()), s.HeldOut)
	s.verdicts(&b)
	s.lossTable(&b, s.Delta)
	s.lossTable(&b, 0)
	s.figureTable(&b)
	s.peersTable(&b)
	s.missing(&b)
	return b.String()
}

// splits are the numbers of all splits, ascending.
func (s *store) splits() (all []int) {
	for _, r := range s.all {
		all = append(all, r.Split)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// cells are all, sets by name and ε ascending.
func (s *store) cells() (all []cell) {
	for _, r := range s.all {
		if c := (cell{r.Set, r.Epsilon}); r.Epsilon > 0 && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b cell) int {
		return cmp.Or(strings.Compare(a.set, b.set), cmp.Compare(a.epsilon, b.epsilon))
	})
	return all
}

// makers are those of a δ, the library first.
func (s *store) makers(delta float64) (all []maker) {
	for _, r := range s.all {
		if m := (maker{r.Who, r.Relation, r.Delta}); r.Epsilon > 0 && r.Delta == delta && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	place := func(m maker) int {
		if m.who == ours {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b maker) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a.who, b.who), strings.Compare(b.relation, a.relation))
	})
	return all
}

// results are a maker's in a cell, by split.
func (s *store) results(c cell, m maker) map[int]result {
	all := map[int]result{}
	for _, r := range s.all {
		if r.Set == c.set && r.Epsilon == c.epsilon && r.Who == m.who && r.Relation == m.relation && r.Delta == m.delta && r.Refused == "" {
			all[r.Split] = r
		}
	}
	return all
}

// values are a figure's over splits, in their order.
func (s *store) values(c cell, m maker, of func(result) float64) (v []float64) {
	all := s.results(c, m)
	for _, i := range s.splits() {
		if r, ok := all[i]; ok {
			v = append(v, of(r))
		}
	}
	return v
}

func lossOf(r result) float64 { return r.Loss }

func head(b *strings.Builder, fields ...string) {
	fmt.Fprintln(b)
	line(b, fields...)
	fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", len(fields)))
}

func line(b *strings.Builder, fields ...string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(fields, " | "))
}

// lossTable has the mean losses of all makers of a δ.
func (s *store) lossTable(b *strings.Builder, delta float64) {
	all := s.makers(delta)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Losses, δ = %g\n\nMeans over splits with their standard errors; small is good. In brackets, where not all splits have a model: how many. "+
		"Peers' parameters are the best on the rows held out.\n", delta)
	fields := []string{"set", "loss", "ε", "constant"}
	for _, m := range all {
		fields = append(fields, m.who+", "+m.relation)
	}
	head(b, append(fields, "not private")...)
	for _, c := range s.cells() {
		base := cell{c.set, 0}
		row := []string{c.set, s.measure(c.set), fmt.Sprintf("%g", c.epsilon), s.mean(base, maker{who: constant})}
		for _, m := range all {
			row = append(row, s.mean(c, m))
		}
		line(b, append(row, s.mean(base, maker{who: nonPrivate}))...)
	}
}

// measure is that of a set's losses.
func (s *store) measure(set string) string {
	for _, r := range s.all {
		if r.Set == set && r.Measure != "" {
			return r.Measure
		}
	}
	return none
}

const none = "–"

func (s *store) mean(c cell, m maker) string {
	v := s.values(c, m, lossOf)
	if len(v) == 0 {
		return none
	}
	mean, e := metrics.Summary(v)
	text := fmt.Sprintf("%.4g", mean)
	if !math.IsNaN(e) {
		text += fmt.Sprintf(" ± %.1g", e)
	}
	if len(v) < len(s.splits()) {
		text += fmt.Sprintf(" (%d)", len(v))
	}
	return text
}

// figureTable has the other figures at the middle ε.
func (s *store) figureTable(b *strings.Builder) {
	var epsilons []float64
	for _, c := range s.cells() {
		epsilons = append(epsilons, c.epsilon)
	}
	slices.Sort(epsilons)
	middle := median(slices.Compact(epsilons))
	fmt.Fprintf(b, "\n## Other figures, ε = %g\n\nMeans over splits of the models above, so that peers' are of the parameters that are the best on the rows held out. "+
		"A calibration slope of 1 is right, below it predictions are too bold; the mean error is the mean "+
		"prediction less the mean label. CPU seconds are of one fit, the median over a peer's parameters, without reading; "+
		"memory is the process's peak, with what it imports and the data.\n", middle)
	head(b, "set", "model", "promise", "AUC", "calibration slope", "R²", "deviance explained", "mean error", "CPU s", "peak MB")
	for _, c := range s.cells() {
		if c.epsilon != middle {
			continue
		}
		for _, delta := range []float64{s.Delta, 0} {
			for _, m := range s.makers(delta) {
				if len(s.results(c, m)) > 0 {
					line(b, s.figures(c, m)...)
				}
			}
		}
	}
}

func (s *store) figures(c cell, m maker) []string {
	row := []string{c.set, m.who, fmt.Sprintf("%s, δ = %g", m.relation, m.delta)}
	for _, name := range []string{"auc", "calibration_slope", "r2", "deviance_explained", "mean_error"} {
		mean, _ := metrics.Summary(s.values(c, m, func(r result) float64 {
			if v, ok := r.Figures[name]; ok {
				return v
			}
			return math.NaN()
		}))
		row = append(row, short(mean))
	}
	return append(row, short(median(s.values(c, m, func(r result) float64 { return r.CPU }))),
		fmt.Sprintf("%.0f", median(s.values(c, m, func(r result) float64 { return r.Peak }))))
}

func short(v float64) string {
	if math.IsNaN(v) {
		return none
	}
	return fmt.Sprintf("%.3g", v)
}

// peersTable lists who was run, in which version, and what a program of theirs takes.
func (s *store) peersTable(b *strings.Builder) {
	b.WriteString("\n## What was run\n")
	head(b, "library", "version", "what of it", "promise, and where it is said", "values chosen among", "lines of the program")
	line(b, ours, "this tree", "`Auto`", "both, in the ledger", "1", fmt.Sprint(programLines(ownProgram)))
	for _, p := range peers {
		configs := 0
		for _, r := range s.all {
			if r.Who == p.name {
				configs = max(configs, r.Configs)
			}
		}
		if configs > 0 {
			line(b, p.name, p.version(), p.what, p.relation+", "+p.neighbour, fmt.Sprintf("at most %d", configs), fmt.Sprint(p.lines()))
		}
	}
	b.WriteString("\nThe lines are those of the programs in `examples/peers/python`, and of `examples/peers/ours.go` for dpglm, without blank ones and comments, but with what only this comparison needs.\n")
}

// missing lists what has no model, with the reason.
func (s *store) missing(b *strings.Builder) {
	counts := map[string]int{}
	for _, r := range s.all {
		if r.Refused != "" {
			promise := ""
			if r.Epsilon > 0 {
				promise = fmt.Sprintf(", ε = %g, δ = %g, %s", r.Epsilon, r.Delta, r.Relation)
			}
			counts[fmt.Sprintf("- %s on %s%s: %s", r.Who, r.Set, promise, r.Refused)]++
		}
	}
	b.WriteString("\n## No model\n\n")
	var lines []string
	for text, n := range counts {
		lines = append(lines, fmt.Sprintf("%s (%d splits)\n", text, n))
	}
	for _, p := range peers {
		if !slices.ContainsFunc(s.all, func(r result) bool { return r.Who == p.name }) {
			lines = append(lines, fmt.Sprintf("- %s was not run: it was skipped, or -peers didn't name it\n", p.name))
		}
	}
	lines = append(lines, "- Opacus was not run: there is no program for it here\n")
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}
