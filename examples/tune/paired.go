package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

const (
	apart = 2 // standard errors beyond which a cell is better or worse
	far   = 4 // those beyond which it is named
)

// paired are the losses of two models on the same splits.
type paired struct {
	name     string
	budget   budget
	old, new []float64
}

// difference is the mean of new − old and its standard error.
func (p paired) difference() (mean, standardError float64) {
	d := make([]float64, len(p.old))
	for i, v := range p.new {
		d[i] = v - p.old[i]
	}
	return metrics.Summary(d)
}

// errors is the difference in standard errors; infinite where it is the same on all splits.
func (p paired) errors() float64 {
	mean, e := p.difference()
	if mean == 0 {
		return 0
	}
	return mean / e
}

func (p paired) worse() bool { return p.errors() > apart }

func (p paired) better() bool { return p.errors() < -apart }

func (p paired) verdict() string {
	switch e := math.Abs(p.errors()); {
	case p.worse() && e > far:
		return "worse, far"
	case p.worse():
		return "worse"
	case p.better() && e > far:
		return "better, far"
	case p.better():
		return "better"
	case slices.Equal(p.old, p.new):
		return "the same"
	}
	return "tied"
}

// byChance is how often a difference whose mean is 0 is beyond two standard errors on one side.
func (p paired) byChance() float64 {
	if slices.Equal(p.old, p.new) {
		return 0
	}
	return distuv.StudentsT{Sigma: 1, Nu: float64(len(p.old) - 1)}.CDF(-apart)
}

// meanOf is the mean of losses.
func meanOf(v []float64) float64 {
	mean, _ := metrics.Summary(v)
	return mean
}

// pair collects the losses of two cells on the splits that both have.
func pair(olds, news *file, a, b cell) (paired, error) {
	p := paired{name: b.Set, budget: b.budget}
	for _, split := range olds.splits() {
		old, ok := olds.results[key{a, split}]
		other, also := news.results[key{b, split}]
		if !ok || !also || old.Refused != "" || other.Refused != "" {
			continue
		}
		if old.Measure != other.Measure {
			return p, fmt.Errorf("%s, %v: %s in %s is %s in %s", b.Set, b.budget, old.Measure, olds.path, other.Measure, news.path)
		}
		p.old, p.new = append(p.old, old.Loss), append(p.new, other.Loss)
	}
	return p, nil
}

// splits are all of a file, ascending.
func (f *file) splits() []int {
	seen := map[int]bool{}
	for k := range f.results {
		seen[k.Split] = true
	}
	var all []int
	for s := range seen {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// sets are the names of all sets, ascending.
func (f *file) sets() []string {
	var all []string
	for k := range f.results {
		all = append(all, k.Set)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// budgets are all of a file, ascending.
func (f *file) budgets() []budget {
	seen := map[budget]bool{}
	for k := range f.results {
		if k.Model == fitted {
			seen[k.budget] = true
		}
	}
	var all []budget
	for b := range seen {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b budget) int { return cmp.Compare(a.size(), b.size()) })
	return all
}

// losses are those of a cell that were not refused.
func (f *file) losses(c cell) []float64 {
	var all []float64
	for _, split := range f.splits() {
		if r, ok := f.results[key{c, split}]; ok && r.Refused == "" {
			all = append(all, r.Loss)
		}
	}
	return all
}

// refusals lists what a file has no loss of, with the reason.
func (f *file) refusals(w io.Writer) {
	type refusal struct{ set, why string }
	counts := map[refusal]int{}
	for k, r := range f.results {
		if r.Refused != "" {
			counts[refusal{k.Set, r.Refused}]++
		}
	}
	if len(counts) > 0 {
		fmt.Fprintf(w, "\n%s has no loss of\n\n", f.path)
	}
	var lines []string
	for r, n := range counts {
		lines = append(lines, fmt.Sprintf("- %s, in %d results: %s\n", r.set, n, r.why))
	}
	slices.Sort(lines)
	fmt.Fprint(w, strings.Join(lines, ""))
}

// line writes a line of a table.
func line(w io.Writer, fields ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(fields, " | ")) }

// head writes a table's first lines.
func head(w io.Writer, fields ...string) {
	fmt.Fprintln(w)
	line(w, fields...)
	fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(fields)))
}

// digits are enough to see small differences of.
func digits(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.5g", v)
}
