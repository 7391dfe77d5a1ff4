package fuzz_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/dpglm/dpglm"
	tables "github.com/dpglm/dpglm/table"
)

// Whatever a record holds, a model refuses it with its place, or predicts a probability
// that doesn't depend on how the record was given.
func FuzzRecords(f *testing.F) {
	text, err := os.ReadFile("../../../testdata/model-v1-table.json")
	if err != nil {
		f.Fatal(err)
	}
	var m dpglm.Model
	if err := json.Unmarshal(text, &m); err != nil {
		f.Fatal(err)
	}
	f.Add("age", "70", "10", "surgery")
	f.Add("Age", "1e309", "0x1p-3", "other")
	f.Add("age", "-5", "NA", "\xff")
	f.Add("", " 7 ", "", "ward")
	f.Add("days", "NaN", "1_0", "medicine")
	f.Fuzz(func(t *testing.T, name, age, days, ward string) {
		x, err := m.Encode(map[string]string{name: age, "days": days, "ward": ward})
		y, errRow := m.EncodeRows([]string{"ward", name, "days"}, []string{ward, age, days})
		var at *tables.Error
		if err != nil && !errors.As(err, &at) || errRow != nil && !errors.As(errRow, &at) {
			t.Fatalf("%v, %v", err, errRow)
		}
		if err != nil || errRow != nil {
			if (err == nil) != (errRow == nil) && name == "age" {
				t.Fatalf("by name %v, by header %v", err, errRow)
			}
			return
		}
		p, errA := m.Means(x)
		q, errB := m.Means(y)
		if errA != nil || errB != nil || !(p[0] >= 0 && p[0] <= 1) || p[0] != q[0] {
			t.Fatalf("%v (%v), %v (%v)", p, errA, q, errB)
		}
	})
}
