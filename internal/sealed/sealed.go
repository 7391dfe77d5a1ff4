// Package sealed puts a checksum into JSON objects, for files that people may read but must
// not edit, and bytes that must not change on their way; and reads JSON of which every field
// must be known and stand once ([Decode]).
//
// An object's last member is "sum", the SHA-256 of the object without it, in compact form
// (json.Compact): white space doesn't count, and all else does, the order of members, the
// digits of numbers and how strings are escaped included.
package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

const (
	member = `"sum":"sha256:`
	length = len(member) + 2*sha256.Size + len(`"}`)
)

// Errors of Open.
var (
	ErrNone  = errors.New(`there is no "sum" at its end: it was cut, or not written by this library`)
	ErrOther = errors.New(`the "sum" doesn't fit what is written: it was damaged, or changed by hand`)
)

// Marshal is json.Marshal of what makes an object, with its sum.
func Marshal(v any) ([]byte, error) {
	object, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Seal(object)
}

// Seal returns an object in compact form, with its sum.
func Seal(object []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, object); err != nil {
		return nil, err
	}
	compact := b.Bytes()
	if len(compact) < 2 || compact[0] != '{' {
		return nil, errors.New("only an object has a sum")
	}
	sum := sha256.Sum256(compact)
	comma := ","
	if len(compact) == 2 {
		comma = ""
	}
	return append(append(compact[:len(compact)-1], comma+member...), hex.EncodeToString(sum[:])+`"}`...), nil
}

// Open returns a sealed object without its sum, in compact form.
func Open(data []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	compact := b.Bytes()
	at := len(compact) - length
	if at < 1 || compact[0] != '{' || string(compact[at:at+len(member)]) != member || !bytes.HasSuffix(compact, []byte(`"}`)) {
		return nil, ErrNone
	}
	said := string(compact[at+len(member) : len(compact)-2])
	object := bytes.Clone(compact[:at])
	switch comma := len(object) > 1; { // as Seal sets it
	case comma != (object[len(object)-1] == ','):
		return nil, ErrNone
	case comma:
		object = object[:len(object)-1]
	}
	object = append(object, '}')
	if sum := sha256.Sum256(object); said != hex.EncodeToString(sum[:]) {
		return nil, ErrOther
	}
	return object, nil
}
