package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// verifyBudget checks a budget, and the entries beside it. Opening has it refused where a checksum
// doesn't fit, and reading the entries where one of theirs doesn't; what is left isn't held against them
// there.
func verifyBudget(ctx context.Context, path string) (*verdict, error) {
	if err := task.Exists("budget", path); err != nil {
		return nil, err
	}
	if task.IsModel(path) {
		return nil, fmt.Errorf("-budget %s: this is a model; -budget wants what csvfit budget made", path)
	}
	b, err := budgetfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("-budget %w", err)
	}
	total, err := b.Total()
	if err != nil {
		return nil, err
	}
	entries, left, err := atRest(ctx, b)
	if err != nil {
		return nil, err
	}
	v := &verdict{flag: "budget", path: path}
	v.check("checksum of the total", fmt.Sprintf("%q", total.Data), "that of each byte", true)
	v.check("checksums of the entries", fmt.Sprintf("%d entries", len(entries)), "those of each line, in their order", true)
	for _, e := range entries {
		v.ledgers = append(v.ledgers, statement{"entry " + e.ID, e.Ledger, e.GivenBack.IsZero()})
		if err := v.claims(v.ledgers[len(v.ledgers)-1]); err != nil {
			return nil, err
		}
	}
	if err := v.sum(total); err != nil {
		return nil, err
	}
	if err := v.account(b, total, entries, left); err != nil {
		return nil, err
	}
	v.guarantee = fmt.Sprintf("%s, for all that is charged to it together; %v\n%s", totalOf(total), b, openEntries(b, entries))
	v.budgetLeaves(entries)
	return v, nil
}

// atRest reads the entries, and what is left, while nobody spends.
func atRest(ctx context.Context, b *budgetfile.File) (entries []budgetfile.Entry, left mechanisms.Remaining, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, left, err
		}
		before, err := b.Remaining()
		if err != nil {
			return nil, left, err
		}
		if entries, err = b.Entries(); err != nil {
			return nil, left, fmt.Errorf("-budget %w", err)
		}
		if left, err = b.Remaining(); err != nil || left == before {
			return entries, left, err
		}
	}
}

// claimOf is a total as a claim.
func claimOf(total budgetfile.Total) mechanisms.Claim {
	return mechanisms.Claim{Group: total.Group, Epsilon: total.Epsilon, Delta: total.Delta}
}

// totalOf says what a budget promises.
func totalOf(total budgetfile.Total) string {
	return fmt.Sprintf("%v, unit: %v", budgetOf(claimOf(total), total.Unit), total.Unit)
}

// sum checks that all ledgers that count, composed, are within the total. That they are is
// implied by what the account is, but for ledgers that are chosen by what was released before:
// for these the total holds, and their sum is no guarantee.
func (v *verdict) sum(total budgetfile.Total) error {
	var counted []*dpglm.Ledger
	for _, of := range v.ledgers {
		if of.counts {
			counted = append(counted, of.ledger)
		}
	}
	if counted == nil {
		v.check("sum of all that count", totalOf(total), "nothing", true)
		return nil
	}
	all, err := mechanisms.Sequential("all that count", counted...)
	if errors.Is(err, dpglm.ErrModel) { // too many to compose
		v.leave("sum of all that count", err.Error())
		return nil
	}
	if err != nil {
		v.check("sum of all that count", totalOf(total), "none: "+err.Error(), false)
		return nil
	}
	found, holds, err := recomputed(all, claimOf(total))
	if err != nil {
		return err
	}
	if all.Unit() != total.Unit {
		holds, found = false, found+", for "+all.Unit().String()
	}
	v.check("sum of all that count", totalOf(total), found, holds)
	return nil
}

// account checks what is left: by the entries, taken once more from the total in their order.
func (v *verdict) account(b *budgetfile.File, total budgetfile.Total, entries []budgetfile.Entry, left mechanisms.Remaining) error {
	const what = "what is left"
	a, err := replayed(b, total, entries, "")
	if errors.Is(err, dpglm.ErrBudget) || errors.Is(err, dpglm.ErrConfig) { // an entry doesn't fit
		v.check(what, left.String(), "less: "+err.Error(), false)
		return nil
	}
	if err != nil {
		return err
	}
	now, err := a.Remaining()
	if err != nil {
		return err
	}
	v.check(what, left.String(), now.String(), near(left.Mu, now.Mu, 0) && near(left.Epsilon, now.Epsilon, 0))
	return nil
}

// replayed is an accountant that takes, and gives back, what the lines of the entries say, whose
// checksums were found to fit, up to the charge of an entry if one is named.
func replayed(b *budgetfile.File, total budgetfile.Total, entries []budgetfile.Entry, last string) (*mechanisms.Accountant, error) {
	a, err := mechanisms.NewGroupAccountant(total.Unit, total.Group, total.Epsilon, total.Delta)
	if err != nil || len(entries) == 0 {
		return a, err
	}
	beside, err := b.Releases(entries[0].ID)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(beside), "entries"))
	if err != nil {
		return nil, err
	}
	lines := 1 // the header's
	ledgers, charges := map[string]*dpglm.Ledger{}, map[string]mechanisms.Charge{}
	for _, e := range entries {
		ledgers[e.ID] = e.Ledger
		if lines++; !e.Begun.IsZero() || !e.GivenBack.IsZero() {
			lines++
		}
	}
	all := strings.SplitN(string(text), "\n", lines+1)
	for _, text := range all[1:min(lines, len(all))] {
		var line struct {
			Kind string `json:"kind"`
			ID   string `json:"id"`
		}
		_, object, _ := strings.Cut(text, " ")
		if err := json.Unmarshal([]byte(object), &line); err != nil {
			return nil, err
		}
		switch line.Kind {
		case "spent":
			charges[line.ID], err = a.Charge(ledgers[line.ID])
		case "given back":
			err = a.GiveBack(charges[line.ID])
		}
		if err != nil {
			return nil, fmt.Errorf("entry %s: %w", line.ID, err)
		}
		if line.ID == last {
			break
		}
	}
	return a, nil
}

// leftAfter is what was left when an entry had been charged, with all entries.
func leftAfter(b *budgetfile.File, id string) (entries []budgetfile.Entry, left mechanisms.Remaining, err error) {
	total, err := b.Total()
	if err != nil {
		return nil, left, err
	}
	if entries, err = b.Entries(); err != nil {
		return nil, left, err
	}
	a, err := replayed(b, total, entries, id)
	if err != nil {
		return nil, left, err
	}
	left, err = a.Remaining()
	return entries, left, err
}

// openEntries lists entries that were given back, or whose fits haven't come to their end.
func openEntries(b *budgetfile.File, entries []budgetfile.Entry) string {
	var lines []string
	for _, e := range entries {
		if end := became(b, e); end != "" {
			lines = append(lines, fmt.Sprintf("entry %s, %s%s", e.ID, e.Label, end))
		}
	}
	if lines == nil {
		return "no entry is unfinished or was given back"
	}
	return strings.Join(lines, "\n")
}

// budgetLeaves lists what the file can't show of a budget.
func (v *verdict) budgetLeaves(entries []budgetfile.Entry) {
	v.leave("who wrote it", "the checksums are no signatures: whoever takes out an entry can make them anew")
	v.leave("all fits", "that all that was released of these data was charged, and nothing to a copy of the file")
	v.leave("data", "that fits were of the data of that name")
	v.leave("releases", "that each fit released what its entry plans, with that noise, and from the system's randomness: entries are from before any noise")
	for _, e := range entries {
		if !e.GivenBack.IsZero() {
			v.leave("given back", "that no noise was drawn: programs that keep to the order can't have")
			return
		}
	}
}
