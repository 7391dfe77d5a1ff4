package sealed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Decode reads an object, or a list of them, into v. It refuses fields that v doesn't have, and keys
// that an object repeats, the last of which encoding/json would take.
func Decode(data []byte, v any) error {
	if err := onceEach(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// onceEach refuses a key that is repeated in its object.
func onceEach(d *json.Decoder) error {
	var open []map[string]bool // nil for a list
	key := false               // whether a key comes next
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if name, ok := token.(string); ok && key {
			seen := open[len(open)-1]
			if seen[name] {
				return fmt.Errorf("field %q must not be repeated", name)
			}
			seen[name], key = true, false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}
