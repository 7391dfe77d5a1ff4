package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const note = `Note: the scores are computed from raw data: they are for the curator, not for release,
and a choice made by them is not private. The noise is drawn from known seeds, so that the
numbers can be repeated: none of these models protects anybody.
`

// row is a line of a table: a name, and the scores of cells by column. The last
// column is ε = ∞.
type row struct {
	name  string
	cells []*cell
}

func (e *experiment) table() []row {
	var rows []row
	k := len(e.epsilons)
	for i := 0; i < len(e.cells); i += k {
		rows = append(rows, row{e.cells[i].name, e.cells[i : i+k]})
	}
	return rows
}

// print writes a table for each measure, and what must be known to read them.
func (e *experiment) print(w io.Writer, inferred []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s loss: each fit is (ε, %.3g)-differentially private for replacing one of %d rows,\n", e.data, e.problem.Loss.Name(), e.delta, e.rows)
	b.WriteString("every parameter at its default.\n")
	if len(inferred) > 0 {
		fmt.Fprintf(&b, "NOT COVERED by the guarantee, taken from the data: %s.\n", strings.Join(inferred, ", "))
	}
	for _, m := range e.measures {
		fmt.Fprintf(&b, "\nHeld-out %s, %s\n", m.title, e.spread())
		e.printMeasure(&b, m)
	}
	if reasons := e.reasons(); len(reasons) > 0 {
		fmt.Fprintf(&b, "\n– stands for no result:\n")
		for _, r := range reasons {
			fmt.Fprintf(&b, "  %s\n", r)
		}
	}
	b.WriteString("\n" + note)
	_, err := io.WriteString(w, b.String())
	return err
}

func (e *experiment) spread() string {
	if e.seeds == 1 {
		return "one seed"
	}
	return fmt.Sprintf("mean ± standard deviation of %d seeds", e.seeds)
}

func (e *experiment) printMeasure(b *strings.Builder, m measure) {
	lines := [][]string{{"method"}}
	for _, epsilon := range e.epsilons {
		lines[0] = append(lines[0], fmt.Sprintf("ε = %g", epsilon))
	}
	lines[0] = append(lines[0], "ε = ∞")
	for _, r := range e.table() {
		line := []string{r.name}
		for _, c := range r.cells {
			line = append(line, m.format(c))
		}
		lines = append(lines, append(line, ""))
	}
	blank := make([]string, len(e.epsilons))
	for _, last := range []struct {
		name string
		cell *cell
	}{{"non-private", &e.plain}, {m.floor, &e.constant}} {
		line := append([]string{last.name}, blank...)
		lines = append(lines, append(line, m.format(last.cell)))
	}
	align(b, lines)
}

// align writes the first column to the left and the others to the right.
func align(b *strings.Builder, lines [][]string) {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for j, s := range line {
			width[j] = max(width[j], utf8.RuneCountInString(s))
		}
	}
	for _, line := range lines {
		var text strings.Builder
		fmt.Fprintf(&text, "%-*s", width[0], line[0])
		for j, s := range line[1:] {
			fmt.Fprintf(&text, "  %*s", width[j+1], s)
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
}

// reasons says why scores are missing.
func (e *experiment) reasons() []string {
	var out []string
	for _, r := range e.table() {
		for i := 0; i < len(r.cells); {
			first := r.cells[i]
			var at []string
			for ; i < len(r.cells) && says(r.cells[i]) == says(first); i++ {
				at = append(at, fmt.Sprintf("%g", r.cells[i].epsilon))
			}
			if first.refusal != nil {
				out = append(out, fmt.Sprintf("%s at ε = %s: %s", r.name, strings.Join(at, ", "), says(first)))
			}
		}
	}
	for _, m := range e.measures {
		if slices.ContainsFunc(e.cells, func(c *cell) bool { return c.refusal == nil && c.scores[m.name] == nil }) {
			out = append(out, m.title+" is not defined: the labels held out are all alike")
		}
	}
	if e.plain.refusal != nil {
		out = append(out, "non-private: "+says(&e.plain))
	}
	return out
}

func says(c *cell) string {
	if c.refusal == nil {
		return ""
	}
	return c.refusal.Error()
}
