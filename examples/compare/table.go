package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const note = `Note: the scores are computed from raw data: they are for the curator, not for release,
and a choice made by them is not private. The noise is drawn from known seeds, so that the
numbers can be repeated: none of these models protects anybody.
`

// row is a method and its cells by ε.
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

// print writes a line for each method and ε, with all metrics, and what must be
// known to read them.
func (e *experiment) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s loss: each fit is (ε, %.3g)-differentially private for replacing one of %d rows,\n", e.data, e.problem.Loss.Name(), e.delta, e.rows)
	b.WriteString("every parameter at its default.\n")
	b.WriteString(e.aboutReferences())
	fmt.Fprintf(&b, "\nOn the rows held out, %s\n", e.spread())
	lines := [][]string{append([]string{"method", "ε"}, e.metrics...)}
	for _, c := range e.cells {
		lines = append(lines, e.line(c.name, fmt.Sprintf("%g", c.epsilon), c))
	}
	lines = append(lines, e.line("non-private", "∞", &e.plain), e.line("constant", "", &e.constant))
	align(&b, lines)
	if reasons := e.reasons(); len(reasons) > 0 {
		fmt.Fprintf(&b, "\n– stands for no result:\n")
		for _, r := range reasons {
			fmt.Fprintf(&b, "  %s\n", r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (e *experiment) spread() string {
	if e.seeds == 1 {
		return "one seed"
	}
	return fmt.Sprintf("mean ± standard error over %d seeds", e.seeds)
}

func (e *experiment) line(name, epsilon string, c *cell) []string {
	line := []string{name, epsilon}
	for _, m := range e.metrics {
		line = append(line, c.format(m))
	}
	return line
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

// reasons says why all scores of a model are missing.
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
