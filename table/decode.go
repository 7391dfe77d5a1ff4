package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// ReadSchemaFile reads a schema from a JSON file. See [ParseSchema].
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
	if err := Schema(s).Validate(); err != nil {
		return Schema{}, err
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
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%w: line %d: %q is %s; it must be %s", ErrSchema, lineOf(data, wrong.Offset), wrong.Field, article(wrong.Value), describe(wrong.Type))
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: line %d: not JSON: %w", ErrSchema, lineOf(data, syntax.Offset), err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: not JSON: it ends too early", ErrSchema)
	}
	return fmt.Errorf("%w: not JSON: %w", ErrSchema, err)
}

func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
}

func article(s string) string {
	if strings.HasPrefix(s, "array") || strings.HasPrefix(s, "object") {
		return "an " + s
	}
	return "a " + s
}

// describe says what JSON stands for a Go type.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a finite number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list, each element " + describe(t.Elem())
	}
	return "an object"
}

// checkKeys looks at the keys of all objects: each must be a field of the Go type that
// the object stands for, spelled alike, and occur once.
func checkKeys(data []byte) error {
	k := keyChecker{data: data, d: json.NewDecoder(bytes.NewReader(data))}
	k.d.UseNumber()
	if err := k.value(reflect.TypeFor[Schema](), "the schema"); err != nil {
		return err
	}
	if _, err := k.d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: line %d: something follows the object; a schema is one JSON object", ErrSchema, lineOf(data, k.d.InputOffset()))
	}
	return nil
}

type keyChecker struct {
	data []byte
	d    *json.Decoder
}

// value consumes one value, which is to become a t.
func (k *keyChecker) value(t reflect.Type, what string) error {
	token, err := k.d.Token()
	if err != nil {
		return jsonError(k.data, err)
	}
	switch token {
	case json.Delim('{'):
		return k.object(t, what)
	case json.Delim('['):
		element := t
		if t.Kind() == reflect.Slice {
			element = t.Elem()
		}
		for i := 1; k.d.More(); i++ {
			if err := k.value(element, fmt.Sprintf("element %d of %s", i, what)); err != nil {
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

// object consumes what follows a brace. A type without fields, where an object is out
// of place, is left to json.Unmarshal.
func (k *keyChecker) object(t reflect.Type, what string) error {
	fields := jsonFields(t)
	seen := map[string]bool{}
	for k.d.More() {
		token, err := k.d.Token()
		if err != nil {
			return jsonError(k.data, err)
		}
		key, _ := token.(string)
		at := lineOf(k.data, k.d.InputOffset())
		if seen[key] {
			return fmt.Errorf("%w: line %d: key %s is repeated in %s; write it once", ErrSchema, at, quote(key), what)
		}
		seen[key] = true
		field, ok := fields[key]
		if !ok && fields != nil {
			return fmt.Errorf("%w: line %d: %s has no key %s%s; it may have %s", ErrSchema, at, what, quote(key), didYouMean(key, fieldNames(t)), list(fieldNames(t), "and"))
		}
		if !ok {
			field = t
		}
		if err := k.value(field, "key "+quote(key)); err != nil {
			return err
		}
	}
	_, err := k.d.Token()
	if err != nil {
		return jsonError(k.data, err)
	}
	return nil
}

// jsonFields returns the types of a struct's fields by their JSON keys; nil for other
// types.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Type{}
	for i, name := range fieldNames(t) {
		fields[name] = t.Field(i).Type
	}
	return fields
}

// fieldNames are the JSON keys of a struct's fields, all of which have one.
func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
