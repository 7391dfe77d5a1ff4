package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// printOverall writes, for each kind of label, the metric to judge by: a line for
// each set and method, and for each method the mean over sets of what the private
// models lose against the non-private ones.
func printOverall(w io.Writer, all []*experiment) error {
	var b strings.Builder
	for _, metric := range firstMetrics(all) {
		of := slices.DeleteFunc(slices.Clone(all), func(e *experiment) bool { return e.metrics[0] != metric })
		fmt.Fprintf(&b, "\nHeld-out %s of %d set(s), %s\n", title(metric), len(of), all[0].spread())
		lines := [][]string{append(append([]string{"set", "method"}, epsilonHeads(all[0])...), "non-private", "constant")}
		for _, e := range of {
			for _, r := range e.table() {
				line := []string{e.name, r.name}
				for _, c := range r.cells {
					line = append(line, c.format(metric))
				}
				lines = append(lines, append(line, e.plain.format(metric), e.constant.format(metric)))
			}
		}
		for i, r := range of[0].table() {
			lines = append(lines, append(append([]string{"mean excess", r.name}, meanExcesses(of, i)...), "", ""))
		}
		align(&b, lines)
	}
	b.WriteString("\nThe mean excess is how much worse than the non-private model, over sets where both have a result.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// firstMetrics are the metrics to judge by, in order of appearance.
func firstMetrics(all []*experiment) []string {
	var names []string
	for _, e := range all {
		if !slices.Contains(names, e.metrics[0]) {
			names = append(names, e.metrics[0])
		}
	}
	return names
}

func epsilonHeads(e *experiment) []string {
	var heads []string
	for _, epsilon := range e.epsilons {
		heads = append(heads, fmt.Sprintf("ε = %g", epsilon))
	}
	return heads
}

// meanExcesses are those of the i-th method, by ε.
func meanExcesses(all []*experiment, i int) []string {
	var means []string
	for k := range all[0].epsilons {
		var lost []float64
		for _, e := range all {
			metric := e.metrics[0]
			private, ok := e.table()[i].cells[k].summarise(metric)
			plain, also := e.plain.summarise(metric)
			if !ok || !also {
				lost = append(lost, math.NaN())
			} else if metrics.LowerIsBetter(metric) {
				lost = append(lost, private.mean-plain.mean)
			} else {
				lost = append(lost, plain.mean-private.mean)
			}
		}
		mean, _ := metrics.Summary(lost)
		means = append(means, number(mean))
	}
	return means
}
