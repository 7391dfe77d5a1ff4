package questions

import (
	"bytes"
	"encoding/gob"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

// What another version asks is refused: gob would leave out a field that it has and this one doesn't.
func TestPartiesRefuseOtherForms(t *testing.T) {
	of := sentAsked{Class: -1, Of: &asking{Labels: sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}, Of: &framedSquares{}}}
	sent, err := of.encode()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := decodeSent(sent); err != nil || back.Form == "" {
		t.Fatalf("%+v: %v", back, err)
	}
	other := of
	other.Of = &asking{Labels: of.Of.Labels, Of: &framedLengths{}}
	if of.form() == other.form() {
		t.Error("two questions have one form")
	}
	for _, form := range []string{"", other.form()} {
		of.Form = form
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(of); err != nil {
			t.Fatal(err)
		}
		if _, err := decodeSent(b.Bytes()); !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), "one version") {
			t.Errorf("form %q: %v", form, err)
		}
	}
}

// A form tells of each field that is sent, at any depth, and of nothing else.
func TestDescribe(t *testing.T) {
	type inner struct{ A int }
	type first struct {
		B []*inner
		c int
	}
	var b strings.Builder
	describe(&b, reflect.TypeOf(first{c: 1}))
	if got, want := b.String(), "questions.first B []*questions.inner*questions.innerquestions.inner A int;;;;;"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
