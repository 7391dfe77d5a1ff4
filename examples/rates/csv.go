package main

import (
	"encoding/csv"
	"os"
	"strconv"
)

// writeCSV writes all points.
func writeCSV(path string, points []measured) (err error) {
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
	rows := [][]string{{"panel", "curve", "x", "excess_risk", "standard_error"}}
	for _, m := range points {
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		rows = append(rows, []string{m.panel, m.curve, number(m.x), number(m.mean), number(m.stderr)})
	}
	return w.WriteAll(rows)
}
