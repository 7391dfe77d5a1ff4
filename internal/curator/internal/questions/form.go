package questions

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"reflect"
	"strings"

	"github.com/dpglm/dpglm/internal/check"
)

// encode is a question as it is sent, with the form of what it asks: Go's gob leaves out what a receiver's types don't have, and a party
// of another version would add something else without a word.
func (of sentAsked) encode() ([]byte, error) {
	of.Form = of.form()
	var sent bytes.Buffer
	err := gob.NewEncoder(&sent).Encode(of)
	return sent.Bytes(), err
}

// decodeSent is the question that was sent, which must have the form of this version's.
func decodeSent(sent []byte) (of sentAsked, err error) {
	if err := gob.NewDecoder(bytes.NewReader(sent)).Decode(&of); err != nil {
		return of, fmt.Errorf("%w: question: %w", check.ErrConfig, err)
	}
	if form := of.form(); of.Form != form {
		return of, check.Fail(check.ErrConfig, "form of the question", fmt.Sprintf("%q", of.Form), fmt.Sprintf("must be %q: driver and parties must have one version of dpglm", form))
	}
	return of, nil
}

// form is of the types of a question and of what it asks: their fields' names and types.
func (of sentAsked) form() string {
	var b strings.Builder
	types := []reflect.Type{reflect.TypeFor[sentAsked]()}
	if of.Of != nil && of.Of.Of != nil {
		types = append(types, reflect.TypeOf(of.Of.Of))
	}
	for _, t := range types {
		describe(&b, t)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return fmt.Sprintf("%x", sum[:8])
}

// describe writes a type's fields, as far as they are sent, and those of what it is made of.
func describe(b *strings.Builder, t reflect.Type) {
	b.WriteString(t.String())
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		describe(b, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				b.WriteString(" " + f.Name + " ")
				describe(b, f.Type)
			}
		}
	}
	b.WriteString(";")
}
