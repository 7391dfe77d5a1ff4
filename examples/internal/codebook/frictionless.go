package codebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dpglm/dpglm/table"
)

// tableSchema is what is read of a Table Schema.
type tableSchema struct {
	Fields  []field   `json:"fields"`
	Missing *[]string `json:"missingValues"`
}

type field struct {
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Format      string            `json:"format"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	True        []string          `json:"trueValues"`
	False       []string          `json:"falseValues"`
	Decimal     string            `json:"decimalChar"`
	Group       string            `json:"groupChar"`
	Categories  []json.RawMessage `json:"categories"`
	Ordered     bool              `json:"categoriesOrdered"`
	Constraints struct {
		Enum    []json.RawMessage `json:"enum"`
		Minimum json.RawMessage   `json:"minimum"`
		Maximum json.RawMessage   `json:"maximum"`
	} `json:"constraints"`
}

func parseFrictionless(text []byte, data string) (*Book, error) {
	var p struct {
		tableSchema
		Resources []struct {
			Name   string          `json:"name"`
			Path   json.RawMessage `json:"path"`
			Schema json.RawMessage `json:"schema"`
		} `json:"resources"`
	}
	if err := decode(text, &p); err != nil {
		return nil, err
	}
	if p.Fields != nil {
		return p.book()
	}
	if len(p.Resources) == 0 {
		return nil, errors.New(`it is JSON with neither "resources", as a datapackage.json has, nor "fields", as a Table Schema has`)
	}
	at, names := -1, []string{}
	for i, r := range p.Resources {
		names = append(names, r.Name)
		base := filepath.Base(data)
		bare, _, _ := strings.Cut(base, ".")
		if r.Name == bare || filepath.Base(plain(r.Path)) == base {
			at = i
		}
	}
	if len(p.Resources) == 1 {
		at = 0
	}
	if at < 0 {
		return nil, fmt.Errorf("it describes several files, %s, and none is %s: rename one, or leave the others out", strings.Join(names, ", "), filepath.Base(data))
	}
	var s tableSchema
	if schema := p.Resources[at].Schema; len(schema) == 0 || schema[0] != '{' {
		return nil, fmt.Errorf(`resource %d, %q, has no "schema" that is an object: put it in the place of a link`, at+1, names[at])
	} else if err := decode(schema, &s); err != nil {
		return nil, fmt.Errorf("resource %d, %q: %w", at+1, names[at], err)
	}
	return s.book()
}

// decode reads JSON, and says where it isn't.
func decode(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: not JSON: %w", 1+bytes.Count(text[:syntax.Offset], []byte("\n")), err)
	case errors.As(err, &kind):
		return fmt.Errorf("line %d: %s is a %s, and must be another kind of value", 1+bytes.Count(text[:kind.Offset], []byte("\n")), strings.TrimPrefix(kind.Field, "tableSchema."), kind.Value)
	}
	return err
}

// plain is a JSON text, number or true as a file has it.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

func (s tableSchema) book() (*Book, error) {
	b := new(Book)
	for _, f := range s.Fields {
		v, err := f.variable()
		if err != nil {
			return nil, err
		}
		if f.Decimal == "," {
			b.Decimal = ","
		}
		b.Variables = append(b.Variables, v)
	}
	if s.Missing != nil {
		b.Missing = []string{}
		b.addMissing(*s.Missing)
	}
	return b, nil
}

func (f field) variable() (v Variable, err error) {
	v.Name, v.Label, v.Kind, v.Ordered = f.Name, f.Title, typed(f.Type), f.Ordered
	if v.Label == "" {
		v.Label = f.Description
	}
	if f.Type != "" && f.Type != "any" && v.Kind == "" {
		v.Kind = table.Ignored // an object, a place on earth
	}
	for _, raw := range f.Categories {
		var of struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(raw, &of) == nil && of.Value != nil {
			raw = of.Value
		}
		v.Levels = append(v.Levels, plain(raw))
	}
	if v.Levels == nil {
		for _, raw := range f.Constraints.Enum {
			v.Levels = append(v.Levels, plain(raw))
		}
	}
	if err := v.bounds(plain(f.Constraints.Minimum), plain(f.Constraints.Maximum)); err != nil {
		return v, err
	}
	v.settle()
	switch v.Kind {
	case table.Binary:
		if f.Type == "boolean" && v.Positive == nil {
			v.Positive, v.Negative = []string{"true", "True", "TRUE", "1"}, []string{"false", "False", "FALSE", "0"}
		}
		if f.True != nil && f.False != nil {
			v.Positive, v.Negative = f.True, f.False
		}
	case table.Numeric:
		v.Thousands = f.Group
	case table.Date:
		if layout := layoutOf(f.Format); layout != "" {
			v.Layouts = []string{layout}
		} else if f.Type == "datetime" {
			v.Layouts = []string{"2006-01-02T15:04:05Z07:00"}
		}
	}
	return v, nil
}

// layoutOf is a pattern such as %d.%m.%Y as package time has it; empty for the default.
func layoutOf(pattern string) string {
	if !strings.Contains(pattern, "%") {
		return ""
	}
	return strings.NewReplacer("%Y", "2006", "%y", "06", "%m", "01", "%d", "02", "%H", "15", "%M", "04", "%S", "05", "%b", "Jan", "%B", "January").Replace(pattern)
}
