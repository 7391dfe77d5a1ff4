package main

import (
	"maps"
	"strings"
	"testing"
)

// Whatever is posted is refused, or it is one record of texts or more.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"age": 81.50, "ward": null}`, `[{"a": "b"}, {}]`, `[]`, `null`, `[null]`, `{"a": {"b": [1]}}`, `{"a": 1} {"b": 2}`, `{"a": true}`, `"x"`, ``, `[{"a": 1e999}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		count := 0
		err := decode(strings.NewReader(body), ".", func(record map[string]string) error {
			if count++; record == nil {
				t.Fatal("a record is nil")
			}
			return nil
		})
		if err == nil && count == 0 {
			t.Fatal("no record, and no error")
		}
	})
}

// Numbers of JSON have points, and are written as the schema's texts are.
func TestNumbersAsTheSchemaHasThem(t *testing.T) {
	var got map[string]string
	err := decode(strings.NewReader(`{"size": 1.234, "paid": "1.234,5", "n": 7}`), ",", func(record map[string]string) error {
		got = maps.Clone(record)
		return nil
	})
	if err != nil || got["size"] != "1,234" || got["paid"] != "1.234,5" || got["n"] != "7" {
		t.Errorf("%v (%v)", got, err)
	}
}
