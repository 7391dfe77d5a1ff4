package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
)

// ReadSchemaFile reads a schema from a JSON file. See [ParseSchema]. It fails where there is
// no such file, and as ParseSchema does.
func ReadSchemaFile(path string) (Schema, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Schema{}, err
	}
	s, err := ParseSchema(data)
	if err != nil {
		return Schema{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ParseSchema reads a schema from JSON and validates it. It refuses what encoding/json
// would pass over: keys that it doesn't know, or knows in another case, keys that are
// repeated, and what follows the object.
func ParseSchema(data []byte) (Schema, error) {
	s, err := ParseDraft(data)
	if err == nil {
		err = s.Validate()
	}
	if err != nil {
		return Schema{}, err
	}
	return s, nil
}

// ParseDraft is ParseSchema without validating what the schema says: for one that lacks what [Observe] fills in.
func ParseDraft(data []byte) (Schema, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return Schema{}, fmt.Errorf("%w: it is empty; Init writes one to fill in", ErrSchema)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return Schema{}, fmt.Errorf("%w: it holds zero bytes, as UTF-16 does; save it as UTF-8", ErrSchema)
	}
	if first := bytes.TrimSpace(data)[0]; first != '{' {
		return Schema{}, fmt.Errorf("%w: it begins with %q; a schema is one JSON object and begins with {", ErrSchema, first)
	}
	if err := checkKeys(data); err != nil {
		return Schema{}, err
	}
	type plain Schema // without UnmarshalJSON
	var s plain
	if err := json.Unmarshal(data, &s); err != nil {
		return Schema{}, jsonError(data, err)
	}
	return Schema(s), nil
}

// UnmarshalJSON is ParseSchema.
func (s *Schema) UnmarshalJSON(data []byte) error {
	parsed, err := ParseSchema(data)
	if err == nil {
		*s = parsed
	}
	return err
}

// jsonError says on which line the error is, and what was expected.
func jsonError(data []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: line %d: not JSON: %w%s", ErrSchema, lineOf(data, syntax.Offset), err, commonSlip(err.Error()))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: not JSON: it ends too early", ErrSchema)
	}
	return fmt.Errorf("%w: not JSON: %w", ErrSchema, err)
}

// commonSlip says what most likely is behind a syntax error of encoding/json.
func commonSlip(text string) string {
	switch what, where, _ := strings.Cut(strings.TrimPrefix(text, "invalid character "), " "); {
	case strings.HasPrefix(where, "looking for beginning") && (what == "'}'" || what == "']'"):
		return "; the comma before it is one too many"
	case strings.HasPrefix(where, "after "):
		return "; a comma seems to be missing before it"
	case what == `'\''`:
		return `; JSON has its texts in quotes "`
	}
	return ""
}

func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
}

// describe says what JSON stands for a Go type.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem())
	case reflect.String:
		return `a text in quotes, such as "1"`
	case reflect.Int:
		return "a whole number, without quotes"
	case reflect.Float64:
		return "a finite number, without quotes"
	case reflect.Bool:
		return "true or false, without quotes"
	case reflect.Slice:
		return "a list in brackets, each element " + describe(t.Elem())
	}
	return "an object, in braces"
}

// wanted is describe for what a key stands for.
func wanted(t reflect.Type, what string) string {
	switch what {
	case `key "kind"`:
		return list(kinds(), "or")
	case `key "label"`:
		return "the name of the column to predict"
	}
	return describe(t)
}

// checkKeys looks at the keys of all objects, each of which must be a field of the Go type
// that the object stands for, spelled alike, and occur once; and at their values, which
// must be what JSON has for such a field.
func checkKeys(data []byte) error {
	k := keyChecker{data: data, d: json.NewDecoder(bytes.NewReader(data))}
	k.d.UseNumber()
	if err := k.value(reflect.TypeFor[Schema](), "", "the schema"); err != nil {
		return err
	}
	if _, err := k.d.Token(); !errors.Is(err, io.EOF) {
		return k.fail("something follows the object; a schema is one JSON object")
	}
	return errors.Join(k.blanks...)
}

type keyChecker struct {
	data   []byte
	d      *json.Decoder
	last   json.Token // read by value
	blanks []error    // of what is still to be filled in
}

func (k *keyChecker) fail(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrSchema, lineOf(k.data, k.d.InputOffset()), fmt.Sprintf(format, args...))
}

// value consumes one value, what, which is to become a t. The object that it belongs to
// is of, with a colon and a space after it, or empty.
func (k *keyChecker) value(t reflect.Type, of, what string) error {
	token, err := k.d.Token()
	if err != nil {
		return jsonError(k.data, err)
	}
	k.last = token
	if text, ok := token.(string); ok && isBlank(text) {
		k.blanks = append(k.blanks, k.fail("%s%s is still to be filled in; it must be %s", of, what, wanted(t, what)))
		return nil
	}
	if is := misfit(token, t); is != "" {
		must := describe(t)
		if t.Kind() == reflect.Pointer && (what == `key "from"` || what == `key "to"`) { // of a condition
			must += `; of a date write how many days after its column's "origin" that is`
		}
		return k.fail("%s%s is %s; it must be %s", of, what, is, must)
	}
	switch token {
	case json.Delim('{'):
		return k.object(t, of, what)
	case json.Delim('['):
		for i := 1; k.d.More(); i++ {
			if err := k.value(t.Elem(), of, fmt.Sprintf("element %d of %s", i, what)); err != nil {
				return err
			}
		}
		_, err := k.d.Token()
		if err != nil {
			return jsonError(k.data, err)
		}
	}
	return nil
}

// misfit shows a token that can't become a t; it is empty for one that can. A null leaves
// any field as it is.
func misfit(token json.Token, t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	ok, shown := false, ""
	switch v := token.(type) {
	case json.Delim:
		ok, shown = t.Kind() == reflect.Struct, "an object"
		if v == '[' {
			ok, shown = t.Kind() == reflect.Slice, "a list"
		}
	case string:
		ok, shown = t.Kind() == reflect.String, quote(v)
	case json.Number:
		shown = v.String()
		if len(shown) > maxQuoted {
			shown = shown[:maxQuoted] + "…"
		}
		var err error
		switch t.Kind() {
		case reflect.Int:
			_, err = strconv.Atoi(v.String())
			ok = err == nil
		case reflect.Float64:
			_, err = v.Float64()
			ok = err == nil
		}
	case bool:
		ok, shown = t.Kind() == reflect.Bool, strconv.FormatBool(v)
	default:
		ok = true
	}
	if ok {
		return ""
	}
	return shown
}

// object consumes what follows a brace. A column is called by its name as soon as that was
// read.
func (k *keyChecker) object(t reflect.Type, of, what string) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	fields := jsonFields(t)
	seen := map[string]bool{}
	where := of
	if t == reflect.TypeFor[Column]() {
		where = what + ": "
	}
	for k.d.More() {
		token, err := k.d.Token()
		if err != nil {
			return jsonError(k.data, err)
		}
		key, _ := token.(string)
		if seen[key] {
			return k.fail("key %s is repeated in %s; write it once", quote(key), what)
		}
		seen[key] = true
		field, ok := fields[key]
		if !ok {
			return k.fail("%s has no key %s%s; it may have %s", what, quote(key), didYouMean(key, fieldNames(t)), list(fieldNames(t), "and"))
		}
		if err := k.value(field, where, "key "+quote(key)); err != nil {
			return err
		}
		if name, ok := k.last.(string); ok && key == "name" {
			what = "column " + quote(name)
			where = what + ": "
		}
	}
	_, err := k.d.Token()
	if err != nil {
		return jsonError(k.data, err)
	}
	return nil
}

// jsonFields returns the types of a struct's fields by their JSON keys.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = f.Type
		}
	}
	return fields
}
