package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"strconv"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// writeCSV writes a line for each metric of each fit. Seeds are those of the
// splits, so that two versions of a method can be compared split by split.
func writeCSV(path string, all []*experiment) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
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
	if err := w.Error(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
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
