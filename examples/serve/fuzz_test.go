package main

import (
	"strings"
	"testing"
)

// Whatever is posted is refused, or it is records of texts.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"age": 81.50, "ward": null}`, `[{"a": "b"}, {}]`, `[]`, `null`, `[null]`, `{"a": {"b": [1]}}`, `{"a": 1} {"b": 2}`, `{"a": true}`, `"x"`, ``, `[{"a": 1e999}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		records, err := decode(strings.NewReader(body))
		if err != nil && records != nil {
			t.Fatalf("%v and %v", records, err)
		}
		for _, r := range records {
			if r == nil {
				t.Fatal("a record is nil")
			}
		}
	})
}
