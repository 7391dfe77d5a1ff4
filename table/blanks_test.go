package table

import (
	"strings"
	"testing"
)

// A schema of kinds alone shows what is left to fill in, and the reader names all of it at once, by line and column.
func TestBlanksAreMarkedAndRefusedTogether(t *testing.T) {
	s := Schema{Version: Version, Label: "y", Person: "who", Followup: &Followup{End: "exit"}, Columns: []Column{
		{Name: "age", Kind: Numeric}, {Name: "n", Kind: Count}, {Name: "town", Kind: Categorical}, {Name: "y", Kind: Binary}, {Name: "day", Kind: Date}, {Name: "g", Kind: OneHot},
		{Name: "full", Kind: Numeric, Range: []float64{0, 1}}, {Name: "who", Kind: ID}}}
	text := s.String()
	_, err := ParseSchema([]byte(text))
	says(t, "kinds only", err, ErrSchema,
		`key "max_rows" is still to be filled in; it must be a whole number`, `element 1 of key "cuts" is still`,
		`column "age": element 1 of key "range" is still to be filled in; it must be a finite number`, `column "age": element 2`,
		`column "n": key "cap"`, `column "town": element 1 of key "levels"`, `column "y": element 1 of key "positive"`, `column "y": element 1 of key "negative"`,
		`column "day": key "origin"`, `column "day": key "from"`, `column "day": key "to"`, `column "g": element 1 of key "levels"`)
	if strings.Contains(err.Error(), `"full"`) || strings.Count(text, toFill) != len(strings.Split(err.Error(), "\n")) {
		t.Errorf("%s\n%v", text, err)
	}
	begun, err := Init([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ParseSchema([]byte(begun.String()))
	says(t, "Init", err, ErrSchema, `key "label" is still to be filled in; it must be the name of the column to predict`, `column "b": key "kind" is still to be filled in; it must be numeric, count`)
}
