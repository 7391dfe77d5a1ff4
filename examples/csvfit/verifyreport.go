package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/page"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// verifyReport checks a page: what it shows of the guarantee, by the ledger in it, and the schema's hash
// where the schema is given.
func verifyReport(path, schema string) (*verdict, error) {
	if err := task.Exists("report", path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	facts, err := page.Read(f)
	if err != nil {
		return nil, fmt.Errorf("-report %s: %w", path, err)
	}
	l := new(dpglm.Ledger)
	if err := json.Unmarshal([]byte(facts["ledger"]), l); err != nil {
		return nil, fmt.Errorf("-report %s: its ledger can't be read: %w", path, err)
	}
	v := &verdict{flag: "report", path: path, facts: facts, ledgers: []statement{{"guarantee", l, true}}}
	if err := v.claims(v.ledgers[0]); err != nil {
		return nil, err
	}
	epsilon, delta, err := page.Pair(l)
	if err != nil {
		return nil, err
	}
	for _, fact := range []struct{ what, name, found string }{{"protected", "protects", page.Protects(l)}, {"ε, as shown", "ε", epsilon}, {"δ, as shown", "δ", delta}} {
		v.check(fact.what, facts[fact.name], fact.found, facts[fact.name] == fact.found)
	}
	if err := v.schema(schema); err != nil {
		return nil, err
	}
	v.reportLeaves()
	v.guarantee = explained(l)
	return v, nil
}

// schema compares the hash of the schema on a page with that of a file.
func (v *verdict) schema(path string) error {
	const what = "schema, SHA-256"
	if path == "" {
		v.leave(what, "that it is of the schema: give that by -schema")
		return nil
	}
	if err := task.Exists("schema", path); err != nil {
		return err
	}
	sum, err := fileSum(path)
	v.check(what, v.facts["schema"], sum, v.facts["schema"] == sum)
	return err
}

// reportLeaves lists what a page can't show.
func (v *verdict) reportLeaves() {
	v.leave("who wrote it", "a page has no signature: compare it with the one that the curator gave out")
	v.leave("coefficients, figures", "that they are those which were released: the model's file has them (-model)")
	v.leave("date, program, commit", fmt.Sprintf("that it was %s, %s, %s", v.facts["date"], v.facts["program"], v.facts["commit"]))
	v.leave("command, SHA-256", "whoever knows the command can hash it: each of its words, from fit on, on a line of its own, without -resume and its entry")
	v.leave("choices, checks", "what is said to be up to the curator")
	if v.facts["entry"] == "" {
		v.leave("other fits", "that nothing else was released of the same rows: the page names no budget's file")
	}
}

// ofBudget checks what a page says of a budget.
func (v *verdict) ofBudget(path string) error {
	b, err := budgetfile.Open(path)
	if err != nil {
		return fmt.Errorf("-budget %w", err)
	}
	total, err := b.Total()
	if err != nil {
		return err
	}
	v.check("budget's total", v.facts["total"], totalOf(total), v.facts["total"] == totalOf(total))
	entries, left, err := leftAfter(b, v.facts["entry"])
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.ID == v.facts["entry"] {
			v.check("left after the fit", v.facts["left"], left.String(), v.facts["left"] == left.String())
			v.check("date", v.facts["date"], day(e.Time), v.facts["date"] == day(e.Time))
			return nil
		}
	}
	v.check("entry", v.facts["entry"], "none of "+path, false)
	return nil
}
