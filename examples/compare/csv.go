package main

import (
	"encoding/csv"
	"os"
	"strconv"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// writeCSV writes a line for each metric of each fit. Seeds are those of the
// splits, so that two versions of a method can be compared split by split.
func writeCSV(path string, all []*experiment) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	w := csv.NewWriter(f)
	w.Write([]string{"set", "loss", "method", "epsilon", "seed", "metric", "value"}) // Error returns what fails
	for _, e := range all {
		set := []string{e.name, e.problem.Loss.Name()}
		for _, c := range e.cells {
			if c.refusal == nil {
				writeRuns(w, append(set, c.name, strconv.FormatFloat(c.epsilon, 'g', -1, 64)), c.runs)
			}
		}
		writeRuns(w, append(set, "non-private", "inf"), e.plain.runs)
		writeRuns(w, append(set, "constant", ""), e.constant.runs)
	}
	w.Flush()
	return w.Error()
}

func writeRuns(w *csv.Writer, model []string, runs [][]metrics.Metric) {
	for seed, run := range runs {
		for _, m := range run {
			value := ""
			if m.Defined() {
				value = strconv.FormatFloat(m.Value, 'g', -1, 64)
			}
			w.Write(append(model[:4:4], strconv.Itoa(seed+1), m.Name, value))
		}
	}
}
