package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/digits"
	"github.com/dpglm/dpglm/mechanisms"
)

// roundingMargin is for another processor's rounding, as ledgers have it.
const roundingMargin = 1 + 1e-6

// statement is a ledger with what it claims.
type statement struct {
	name   string
	ledger *dpglm.Ledger
	counts bool // and wasn't given back
}

// budgetOf is what a claim asks for.
func budgetOf(c mechanisms.Claim, u mechanisms.Unit) dpglm.Budget {
	b := dpglm.ApproxDP(c.Epsilon, c.Delta)
	switch {
	case c.Mu > 0:
		b = dpglm.GDP(c.Mu)
	case c.Delta == 0:
		b = dpglm.PureDP(c.Epsilon)
	}
	if c.Group > 1 {
		b = b.ForGroups(c.Group)
	}
	if u.Neighbours == mechanisms.AddRemove {
		b = b.AddRemove()
	}
	if u == mechanisms.OneLabel() {
		b = b.LabelsOnly()
	}
	return b
}

// recomputed is what a ledger's releases come to together, in terms of a claim, and whether that
// is within it.
func recomputed(l *dpglm.Ledger, c mechanisms.Claim) (found string, holds bool, err error) {
	group := max(c.Group, 1)
	mu := l.GroupMu(group)
	switch {
	case c.Mu > 0:
		return digits.RoundedUp(mu) + "-GDP", mu <= c.Mu*roundingMargin, nil
	case c.Delta == 0:
		if l.GroupWithin(group, c.Epsilon*roundingMargin, 0) {
			return "within it at δ = 0", true, nil
		}
		return "more at δ = 0", false, nil
	}
	epsilon, err := l.GroupEpsilon(group, c.Delta)
	if err != nil {
		return "", false, err
	}
	found = fmt.Sprintf("(ε = %s, δ = %s)-DP", digits.RoundedUp(epsilon), digits.RoundedUp(c.Delta))
	if !math.IsInf(mu, 1) {
		found += fmt.Sprintf(", %s-GDP", digits.RoundedUp(mu))
	}
	return found, l.GroupWithin(group, c.Epsilon, c.Delta) || epsilon <= c.Epsilon*roundingMargin, nil
}

// claims checks what a ledger claims, and its parts.
func (v *verdict) claims(of statement) error {
	all, err := partsOf(of.ledger)
	if err != nil {
		return err
	}
	parts := 0
	for i, l := range all {
		c, claims := l.Claim()
		if i > 0 && !claims {
			continue
		}
		found, holds, err := recomputed(l, c)
		if err != nil {
			return err
		}
		switch {
		case i == 0 && !claims:
			v.check(of.name, "nothing", "with no ε, δ or μ to hold it against", false)
		case i == 0:
			v.check(of.name, budgetOf(c, l.Unit()).String(), found, holds)
		case !holds:
			v.check(of.name+", a part", budgetOf(c, l.Unit()).String(), found, false)
		default:
			parts++
		}
	}
	if parts > 0 {
		v.check(of.name+", parts", fmt.Sprintf("%d claims", parts), "within them", true)
	}
	if of.ledger.CallerNoise() {
		v.check(of.name+", noise", "a caller's source", "VOID against those who know its seed", false)
	}
	return nil
}

// partsOf are a ledger and all ledgers in it, itself the first.
func partsOf(l *dpglm.Ledger) ([]*dpglm.Ledger, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return partsIn(text)
}

func partsIn(text []byte) ([]*dpglm.Ledger, error) {
	var node struct {
		Version json.RawMessage              `json:"version"`
		Parts   []map[string]json.RawMessage `json:"parts"`
	}
	l := new(dpglm.Ledger)
	if err := json.Unmarshal(text, l); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &node); err != nil {
		return nil, err
	}
	all := []*dpglm.Ledger{l}
	for _, p := range node.Parts {
		p["version"] = node.Version
		text, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		inside, err := partsIn(text)
		if err != nil {
			return nil, err
		}
		all = append(all, inside...)
	}
	return all, nil
}

// within checks that a file's releases are those of a statement of another file, such as an entry of a
// budget, or a part of them: what was planned, before anything was known of the source of noise.
func (v *verdict) within(what, entry string, other *verdict) error {
	model, err := planOf(v.ledgers[0].ledger)
	if err != nil {
		return err
	}
	back := ""
	for _, of := range other.ledgers {
		all, err := partsOf(of.ledger)
		if err != nil {
			return err
		}
		plans := make([]string, len(all))
		for i, l := range all {
			if plans[i], err = planOf(l); err != nil {
				return err
			}
		}
		switch found := slices.Contains(plans, model); {
		case found && of.counts:
			v.check(what, entry, of.name, true)
			return nil
		case found:
			back = of.name
		}
	}
	if back != "" {
		v.check(what, entry, back+", which was given back", false)
		return nil
	}
	v.check(what, entry, "none", false)
	return nil
}

// planOf is a ledger as it was before it was known where the noise came from.
func planOf(l *dpglm.Ledger) (string, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(string(text), `"caller_noise":true,`, ""), nil
}
