package main

import (
	"fmt"
	"strings"
	"testing"
)

// A number that the schema states, or a bound on it, is the plan's, as it is a fit's; another one is refused, and asked for where there is none.
func TestPlansForStatedNumbers(t *testing.T) {
	facts := `{"version": 1, "label": "y", %s "columns": [{"name": "who", "kind": %q}, {"name": "x", "kind": "numeric", "range": [0, 9]}, {"name": "y", "kind": "binary", "above": 0}]}`
	person := `"person": "who", "max_rows": 2, `
	for _, c := range []struct{ states, kind, first, ledger, other string }{
		{`"at_most": 500,`, "ignored", ", at most 500 rows, ", "n secret, at most 500;", `the schema's "at_most", 500, which a fit takes for the number of rows: leave -rows out`},
		{person + `"at_most": 300,`, "id", ", at most 300 persons, ", "n secret, at most 300,", `the schema's "at_most", 300, which a fit takes for the number of persons`},
		{person + `"persons": 400,`, "id", ", 400 persons, ", "n = 400,", `the schema's "persons", 400, which`},
	} {
		args := []string{"plan", "-schema", write(t, "s.json", fmt.Sprintf(facts, c.states, c.kind)), "-epsilon", "1"}
		planned, _ := csvfit(t, args...)
		if first, ledger, _ := strings.Cut(planned, "\n"); !strings.Contains(first, c.first) || !strings.Contains(ledger, c.ledger) {
			t.Errorf("%s: planned\n%s", c.states, planned)
		}
		for _, rows := range []string{"150", "700"} {
			checkExit(t, c.states, append(args, "-rows", rows), 2, "-rows "+rows+" must be "+c.other)
		}
	}
	for kind, states := range map[string]string{"ignored": "", "id": person} {
		of := map[string]string{"ignored": "rows", "id": "persons"}[kind]
		checkExit(t, of, []string{"plan", "-schema", write(t, "s.json", fmt.Sprintf(facts, states, kind)), "-epsilon", "1"}, 2, "-rows is missing: the number of "+of+" to train on")
	}
}

// More rows, or persons, than a schema's bound says are refused by its name.
func TestMoreThanAtMost(t *testing.T) {
	data := write(t, "d.csv", "who,x,y\na,1,0\nb,2,1\nc,3,1\n")
	facts := `{"version": 1, "label": "y", %s "at_most": 2, "columns": [{"name": "who", "kind": %q}, {"name": "x", "kind": "numeric", "range": [0, 9]}, {"name": "y", "kind": "binary", "above": 0}]}`
	for _, c := range []struct{ person, kind, says string }{
		{"", "ignored", "row 3 (counted from 1) must not be there: the public bound on the number of rows, a schema's at_most, is 2"},
		{`"person": "who", "max_rows": 1,`, "id", "person of row 3 (counted from 1) must be one of the 2 that there may be by the public bound on their number, a schema's at_most"},
	} {
		checkExit(t, c.says, []string{"fit", "-data", data, "-schema", write(t, "s.json", fmt.Sprintf(facts, c.person, c.kind)), "-epsilon", "1", "-delta", "0.01", "-method", "infer"}, 1, c.says)
	}
}
