package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"strconv"
)

// writeCSV writes all points.
func writeCSV(path string, points []measured) error {
	rows := [][]string{{"panel", "curve", "x", "excess_risk", "standard_error"}}
	for _, m := range points {
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		rows = append(rows, []string{m.panel, m.curve, number(m.x), number(m.mean), number(m.stderr)})
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
