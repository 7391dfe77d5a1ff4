package mechanisms

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// Unit is what a guarantee protects, and against which change of it. Guarantees for
// different units don't add up. The zero Unit is none: a mechanism that is told a sensitivity
// isn't told what moves by that, so that its ledger has no unit until [Ledger.WithUnit] states
// one.
//
// How many rows of a person count is no part of it. Whoever reads at most five rows of a
// person and whoever reads at most ten promise the same, that all rows of that person may be
// exchanged for others, however many, and such promises add up.
type Unit struct {
	Of         Protected  `json:"of"`
	Neighbours Neighbours `json:"neighbours"`
}

// Protected is the kind of what a unit protects.
type Protected string

// The kinds.
const (
	Row    Protected = "row"    // one row, whoever it is about
	Person Protected = "person" // all rows of one person, however many
	Label  Protected = "label"  // the label of one row: who is in the table, and all else about them, is public
)

// Neighbours says how neighbouring data sets differ in what is protected.
type Neighbours string

// ReplaceOne has one in the place of another. How many there are is public.
const ReplaceOne Neighbours = "replace-one"

// AddRemove has one more or less. How many there are is secret.
//
// What is μ-GDP for this is 2μ-GDP for ReplaceOne, and ε-DP 2ε-DP, as a replacement is one less and one more:
// [Ledger.GroupDelta] and [Ledger.GroupMu] of two are the numbers to compare with those of others.
const AddRemove Neighbours = "add/remove"

// OneRow is the unit of guarantees for one row that is replaced by another.
func OneRow() Unit { return Unit{Row, ReplaceOne} }

// AddRemove is the unit for one more or less of the same.
func (u Unit) AddRemove() Unit {
	u.Neighbours = AddRemove
	return u
}

// OnePerson is the unit of guarantees for one person with all rows, who is replaced by another
// one.
func OnePerson() Unit { return Unit{Person, ReplaceOne} }

// OneLabel is the unit of guarantees for the label of one row, in the place of which there is another one. Whoever knows all features,
// and who the rows are about, learns next to nothing about a label that the other labels don't tell. Nothing else
// is protected.
func OneLabel() Unit { return Unit{Label, ReplaceOne} }

// String names the unit, as in "one row (replace-one)".
func (u Unit) String() string { return u.any(1, 0) }

// any names so many of the unit; of persons, the most rows of each that count, if that isn't 0.
func (u Unit) any(group, personRows int) string {
	if u == (Unit{}) {
		return "no stated unit"
	}
	who := "one " + string(u.Of)
	if group > 1 {
		who = fmt.Sprintf("any %s %ss", thousands(group), u.Of)
	}
	if personRows > 0 {
		who += fmt.Sprintf(", of whom at most %s rows count each", thousands(personRows))
	}
	return fmt.Sprintf("%s (%s)", who, u.Neighbours)
}

// known refuses a unit that isn't one that guarantees of this library are for.
func (u Unit) known(kind error) error {
	if u != OneLabel() && (u.Of != Row && u.Of != Person || u.Neighbours != ReplaceOne && u.Neighbours != AddRemove) {
		return check.Fail(kind, "unit", fmt.Sprintf("{%q, %q}", u.Of, u.Neighbours), fmt.Sprintf("must be of a %q or a %q, with neighbours %q or %q, or of a %q with %q", Row, Person, ReplaceOne, AddRemove, Label, ReplaceOne))
	}
	return nil
}

// WithUnit returns a copy of a ledger without a unit that has the given one, which the caller
// answers for: all sensitivities are for that change. It fails for an empty ledger, an unknown
// unit, and a ledger that has another one.
func (l *Ledger) WithUnit(u Unit) (*Ledger, error) {
	if _, err := l.composition(); err != nil {
		return nil, err
	}
	if err := u.known(check.ErrConfig); err != nil {
		return nil, err
	}
	if l.unit != (Unit{}) && l.unit != u {
		return nil, check.Fail(check.ErrConfig, "unit", u, fmt.Sprintf("must be that of the ledger %q, %v", l.node.Label, l.unit))
	}
	with := *l
	with.unit = u
	return &with, nil
}

// Unit is what the ledger protects; the zero Unit where that isn't stated.
func (l *Ledger) Unit() Unit {
	if l == nil {
		return Unit{}
	}
	return l.unit
}

// unitOf is the unit of a ledger with these parts, own being its own. Parts with different ones, or
// of which only some have one, can't be added up. A ledger whose parts have none keeps its own.
func unitOf(own Unit, parts []*Ledger) (Unit, error) {
	for i, c := range parts {
		if first := parts[0]; c.unit != first.unit {
			return own, check.Fail(check.ErrConfig, "unit", c.unit, fmt.Sprintf("of %s can't be added to %v, the unit of %s", part(c, i), first.unit, part(first, 0)))
		}
	}
	if len(parts) == 0 || parts[0].unit == (Unit{}) {
		return own, nil
	}
	u := parts[0].unit
	if own != (Unit{}) && own != u {
		return own, check.Fail(check.ErrModel, "unit", own, fmt.Sprintf("must be that of the parts, %v", u))
	}
	return u, nil
}

// part names a part of a ledger.
func part(l *Ledger, at int) string {
	if l.node.Label == "" {
		return fmt.Sprintf("part %d", at+1)
	}
	return fmt.Sprintf("part %d, %q,", at+1, l.node.Label)
}
