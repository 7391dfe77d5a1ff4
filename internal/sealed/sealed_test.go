package sealed

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// An object with its sum is read as it was, whatever its white space, and each byte of it that
// is another one is an error.
func TestSealedObjects(t *testing.T) {
	for _, object := range []string{`{}`, `{"a":1}`, `{"a":[1,2.50,"é\u00e9 <&> \"}{"],"b":{"sum":"x"},"c":null}`} {
		whole, err := Seal([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		var wide bytes.Buffer
		if err := json.Indent(&wide, whole, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{whole, wide.Bytes()} {
			if got, err := Open(text); err != nil || string(got) != object {
				t.Errorf("%s is read as %s (%v)", text, got, err)
			}
		}
		for at := range whole {
			for mask := range 255 {
				bad := bytes.Clone(whole)
				bad[at] ^= byte(mask + 1)
				if got, err := Open(bad); err == nil {
					t.Fatalf("%s is read as %s", bad, got)
				}
			}
		}
		for end := range whole {
			if _, err := Open(whole[:end]); err == nil {
				t.Errorf("%s is read", whole[:end])
			}
		}
	}
}

func TestErrors(t *testing.T) {
	whole, err := Marshal(map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{
		string(bytes.Replace(whole, []byte("1"), []byte("2"), 1)):         ErrOther,
		string(bytes.Replace(whole, []byte(`a":1`), []byte(`a":1.0`), 1)): ErrOther,
		`{"a":1}`:                                ErrNone,
		`{}`:                                     ErrNone,
		`[]`:                                     ErrNone,
		string(whole[:len(whole)-1]) + `,"a":1}`: ErrNone,
	} {
		if _, err := Open([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	if _, err := Seal([]byte("[]")); err == nil {
		t.Error("a list has a sum")
	}
}
