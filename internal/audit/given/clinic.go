package given

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	tables "github.com/dpglm/dpglm/table"
)

// ClinicSchema has a column of each kind, a missing value and an interaction.
const ClinicSchema = `{
  "version": 1,
  "label": "readmitted",
  "columns": [
    {"name": "age", "kind": "numeric", "range": [20, 100], "square": true},
    {"name": "days", "kind": "numeric", "range": [1, 100], "log": true, "missing": "indicator"},
    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery", "other"], "other": "other"},
    {"name": "readmitted", "kind": "binary", "positive": ["yes"], "negative": ["no"]}
  ],
  "interactions": [["age", "ward"]]
}`

// Clinic is a made-up table of so many rows: the old, and surgery's patients, come back.
func Clinic(t testing.TB, schema string, rows int) *tables.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("ward,readmitted,age,days\n")
	for range rows {
		ward, age, days := r.IntN(4), 20+80*r.Float64(), "NA"
		if r.IntN(5) > 0 {
			days = fmt.Sprint(1 + r.IntN(99))
		}
		label := "no"
		if age+20*float64(ward%2)+20*r.NormFloat64() > 70 {
			label = "yes"
		}
		fmt.Fprintf(&b, "%s,%s,%.1f,%s\n", []string{"medicine", "surgery", "eyes", "other"}[ward], label, age, days)
	}
	return ReadTable(t, schema, b.String())
}

// ClinicModel is a model of that table.
func ClinicModel(t testing.TB) *dpglm.Model {
	t.Helper()
	data, err := dpglm.NewTableDataset(Clinic(t, ClinicSchema, 3000))
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Auto(ctx, data, logistic, dpglm.ApproxDP(2, 1e-6), Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
