package questions

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// Whoever adds answers up is told what a message asks for: a plan, of as many numbers as rows have weights or as its sums have at most, or a
// question, of as many as it says, with its bound. What is neither, or both, or of another form, is refused.
func TestMessagesAreRead(t *testing.T) {
	sent := func(m partyMessage) string {
		if m.Protocol == "" {
			m.Protocol = partyProtocol
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	enc := encoding.NewIdentity(3, 1, true)
	plan := partyPlan{Rows: enc, Loss: json.RawMessage("{}")}
	sums, none := plan, plan
	sums.Numbers, none.Rows.Columns = 7, 0
	gradient, sum := partyQuestion{Bound: 5, Weights: numbersOf(4)}, partyQuestion{Bound: 6, Numbers: 2, Asked: []byte{1}}
	whole := sent(partyMessage{Question: &gradient})
	for name, c := range map[string]struct {
		message string
		want    Asked // nothing for what is refused
	}{
		"a plan of gradients": {sent(partyMessage{Plan: &plan}), Asked{Plan: true, Dim: 4}}, "a plan of sums": {sent(partyMessage{Plan: &sums}), Asked{Plan: true, Dim: 7}},
		"a gradient": {whole, Asked{Dim: 4, Bound: 5}}, "a sum": {sent(partyMessage{Question: &sum}), Asked{Dim: 2, Bound: 6}},
		"a plan for no columns": {sent(partyMessage{Plan: &none}), Asked{}}, "both": {sent(partyMessage{Plan: &plan, Question: &sum}), Asked{}}, "neither": {sent(partyMessage{}), Asked{}},
		"another protocol": {sent(partyMessage{Protocol: "dpglm parties 0", Question: &sum}), Asked{}}, "nothing": {"", Asked{}}, "half": {whole[:len(whole)/2], Asked{}},
		"another field": {whole[:len(whole)-1] + `,"more":1}`, Asked{}},
	} {
		got, err := ReadMessage([]byte(c.message))
		if refused := c.want == (Asked{}); got != c.want || refused != (err != nil) || err != nil && !errors.Is(err, check.ErrConfig) && !errors.Is(err, check.ErrShape) {
			t.Errorf("%s: %+v (%v)", name, got, err)
		}
	}
}
