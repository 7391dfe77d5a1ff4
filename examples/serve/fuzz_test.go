package main

import (
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
		err := decode(strings.NewReader(body), func(record map[string]string) error {
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
