package metrics

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// Row is a line of a table: a model and its metrics, or why there are none.
type Row struct {
	Name    string
	Metrics []Metric
	Reason  string
}

// Print writes a table under a heading, with the columns of the first row.
func Print(out io.Writer, heading string, rows ...Row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, heading)
	for _, m := range rows[0].Metrics {
		fmt.Fprintf(w, "\t%s", m.Name)
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		fmt.Fprint(w, r.Name)
		for _, m := range r.Metrics {
			fmt.Fprintf(w, "\t%v", m)
		}
		if len(r.Metrics) == 0 {
			fmt.Fprintf(w, "\t%s", r.Reason)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// Mean returns the mean of each metric over runs of the same loss.
func Mean(runs [][]Metric) []Metric {
	var means []Metric
	for j := range runs[0] {
		mean, _ := Summary(column(runs, j))
		means = append(means, Metric{runs[0][j].Name, mean})
	}
	return means
}

func column(runs [][]Metric, j int) []float64 {
	var values []float64
	for _, run := range runs {
		values = append(values, run[j].Value)
	}
	return values
}

// Summary returns the mean of the values that are defined, and its standard error,
// which a single value doesn't have.
func Summary(values []float64) (mean, standardError float64) {
	var n, sum, squares float64
	for _, v := range values {
		if !math.IsNaN(v) {
			n, sum = n+1, sum+v
		}
	}
	mean = sum / n
	for _, v := range values {
		if !math.IsNaN(v) {
			squares += (v - mean) * (v - mean)
		}
	}
	if n < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}
