package dpglm

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// String prints the table that statistics packages print, and what isn't determined.
func (f *Inference) String() string {
	if f.made() != nil {
		return "empty inference"
	}
	var b strings.Builder
	if f.note != "" {
		b.WriteString(f.note + "\n")
	}
	fmt.Fprintf(&b, "%s regression, n = %d, %s, unit: %v\n", f.model.kind(), f.rows, f.budget, f.model.ledger.Unit())
	tail := 100 * (1 - f.confidence) / 2
	lines, unknown := [][]string{{"", "coef", "std err", "z", "P>|z|", fmt.Sprintf("[%.4g%%", tail), fmt.Sprintf("%.4g%%]", 100-tail)}}, 0
	for _, c := range f.coefficients {
		line := []string{c.Name, fmt.Sprintf("%.4g", c.Estimate), "inf", "", "", "", ""}
		if c.Undetermined() {
			unknown++
		} else {
			line = append(line[:2], fmt.Sprintf("%.4g", c.StandardError), fmt.Sprintf("%.2f", c.Z), fmt.Sprintf("%.3f", c.P), fmt.Sprintf("%.4g", c.Low), fmt.Sprintf("%.4g", c.High))
		}
		lines = append(lines, line)
	}
	align(&b, lines)
	if f.note != "" {
		return b.String()
	}
	b.WriteString("Standard errors are robust and include the noise for privacy. Intervals cover the\n" +
		"coefficients of the population whose rows are held to their public bounds.\n")
	if unknown > 0 {
		fmt.Fprintf(&b, "inf: the data, under this much noise, don't determine %d of the coefficients.\n", unknown)
	}
	return b.String()
}

// align writes lines of cells, the first to the left and the others to the right.
func align(b *strings.Builder, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for k, cell := range line {
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		text := fmt.Sprintf("%-*s", widths[0], line[0])
		for k, cell := range line[1:] {
			text += fmt.Sprintf("  %*s", widths[k+1], cell)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}
