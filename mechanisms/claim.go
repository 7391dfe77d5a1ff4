package mechanisms

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/digits"
)

// Claim is what a [Ledger] says of itself in a line, beside its [Unit]: the budget that it
// was planned for, how many of the unit it protects, and among how many. Its numbers are what
// was asked for; what the releases are follows from the ledger's tree, and printing says so
// where that is more.
type Claim struct {
	Group      int     `json:"group,omitempty"`       // how many are protected together, where that is more than one
	Rows       int     `json:"rows,omitempty"`        // n, of rows or persons as the unit is, or a public bound on it for AddRemove; 0 where it isn't known
	PersonRows int     `json:"person_rows,omitempty"` // the most rows of a person that count; 0 where the unit is no person
	Alike      bool    `json:"alike,omitempty"`       // whether each person counts alike, and not each of the rows that count
	Occur      bool    `json:"occur,omitempty"`       // whether Rows is the number of persons who have rows, which then is public
	Epsilon    float64 `json:"epsilon,omitempty"`     // ε, with Delta, or
	Delta      float64 `json:"delta,omitempty"`
	Mu         float64 `json:"mu,omitempty"` // μ of Gaussian DP
}

// WithClaim returns a copy that prints and marshals the claim.
func (l *Ledger) WithClaim(c Claim) *Ledger {
	if l == nil {
		return nil
	}
	with := *l
	with.claim = &c
	return &with
}

// Claim returns what WithClaim set.
func (l *Ledger) Claim() (Claim, bool) {
	if l == nil || l.claim == nil {
		return Claim{}, false
	}
	return *l.claim, true
}

func (c Claim) validate(u Unit) error {
	if (c.PersonRows != 0 || c.Occur || c.Alike) && u.Of != Person {
		return check.Fail(check.ErrModel, "ledger.claim.person_rows", c.PersonRows, fmt.Sprintf("must be of a ledger for persons, not for %v", u))
	}
	if math.IsNaN(c.Epsilon+c.Delta+c.Mu) || math.Min(c.Epsilon, math.Min(c.Delta, c.Mu)) < 0 || c.Delta >= 1 || min(c.Rows, c.Group, c.PersonRows) < 0 {
		return check.Fail(check.ErrModel, "ledger.claim", nil, "must hold no negative number and a delta below 1")
	}
	return nil
}

// lines returns the claim's line, with the numbers that the ledger has, and notes
// about it.
func (c Claim) lines(l *Ledger) []string {
	promise, kept := c.promise(l)
	lines := []string{l.unit.line(promise, c)}
	if l.unit.Neighbours == AddRemove {
		lines[0] += "; as replace-one at most " + c.replaced(l)
	}
	note := func(when bool, text string) {
		if when {
			lines = append(lines, "NOTE: "+text)
		}
	}
	note(!kept, fmt.Sprintf("more than the %s that it was planned for", c.budget()))
	note(c.Rows > 0 && c.Delta >= 1/float64(c.Rows), "δ is no smaller than 1/n: may publish whole rows")
	note(c.Epsilon > maxTelling || c.Mu > maxTellingMu, "so large a budget promises next to nothing")
	note(c.Mu == 0 && c.Epsilon < c.Delta, "ε is smaller than δ: were they swapped?")
	return lines
}

// line is a guarantee with its unit, and n where that is known.
func (u Unit) line(promise string, c Claim) string {
	line := fmt.Sprintf("%s, unit: %s", promise, u.any(c.Group, c.PersonRows))
	switch {
	case c.Rows > 0 && u.Neighbours == AddRemove:
		line += ", n secret, at most " + thousands(c.Rows)
	case c.Rows > 0:
		line += ", n = " + thousands(c.Rows)
	}
	switch {
	case c.Alike:
		line += ", each person counts alike"
	case c.PersonRows > 1:
		line += ", each row counts alike"
	}
	if u.Of == Label {
		line += "; who is in the table, and all else about them, is public"
	}
	if c.Occur {
		line += "; how many persons have rows is public"
	}
	return line
}

// replaced says what a ledger for one more or less promises where one is replaced by another.
func (c Claim) replaced(l *Ledger) string {
	c.Group = 2 * max(c.Group, 1)
	if c.Mu > 0 {
		c.Mu = l.GroupMu(c.Group)
	} else {
		c.Epsilon = groupEpsilon(l, c.Group, c.Delta)
	}
	return c.budget()
}

// summary is the line of a ledger that claims nothing itself: what its parts' claims have in
// common, and the (ε, δ) of all at the largest δ that a part claims; ε, or μ, if none does.
func (l *Ledger) summary() string {
	c, _ := l.common()
	c.Mu = 0
	group := max(c.Group, 1)
	if c.Epsilon = groupEpsilon(l, group, c.Delta); c.Delta == 0 && math.IsInf(c.Epsilon, 1) {
		c.Mu = l.GroupMu(group)
	}
	return l.unit.line(c.budget(), c)
}

// common is what the claims below agree on, and the largest of their δ. There are none where
// a release claims nothing.
func (l *Ledger) common() (c Claim, claims bool) {
	if l.claim != nil {
		return *l.claim, true
	}
	claims = len(l.children) > 0
	for i, p := range l.children {
		of, ok := p.common()
		claims = claims && ok
		if i == 0 {
			c = of
			continue
		}
		c.Delta, c.Occur = math.Max(c.Delta, of.Delta), c.Occur || of.Occur
		if c.Group != of.Group {
			c.Group = 0
		}
		if c.Rows != of.Rows {
			c.Rows = 0
		}
		if c.PersonRows != of.PersonRows || c.Alike != of.Alike {
			c.PersonRows, c.Alike = 0, false
		}
	}
	return c, claims
}

// Beyond these ε and μ, which at δ = 1e-6 is an ε of 12, whoever guesses whether
// a row is there may well be right.
const (
	maxTelling   = 10
	maxTellingMu = 2
)

// promise returns the claim if the ledger keeps it, else what it keeps instead.
func (c Claim) promise(l *Ledger) (text string, kept bool) {
	group := max(c.Group, 1)
	switch {
	case c.Mu > 0:
		if mu := l.GroupMu(group); mu > c.Mu {
			c.Mu, kept = mu, mu <= c.Mu*claimMargin
			break
		}
		kept = true
	case l.GroupWithin(group, c.Epsilon, c.Delta):
		kept = true
	default:
		epsilon := groupEpsilon(l, group, c.Delta)
		c.Epsilon, kept = epsilon, epsilon <= c.Epsilon*claimMargin
	}
	return c.budget(), kept
}

// claimMargin is for another processor's rounding.
const claimMargin = 1 + 1e-6

func (c Claim) budget() string {
	switch {
	case c.Mu > 0:
		return digits.RoundedUp(c.Mu) + "-GDP"
	case c.Delta == 0:
		return digits.RoundedUp(c.Epsilon) + "-DP"
	}
	return fmt.Sprintf("(ε = %s, δ = %s)-DP", digits.RoundedUp(c.Epsilon), digits.RoundedUp(c.Delta))
}

// thousands writes 28155 as 28,155.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// WithCallerNoise returns a copy that says that its noise was drawn from a
// source which the caller injected: the guarantee then holds only against those
// who cannot predict that source.
func (l *Ledger) WithCallerNoise() *Ledger {
	if l == nil {
		return nil
	}
	c := *l
	c.seeded = true
	return &c
}

// CallerNoise reports whether the noise came from a caller's source.
func (l *Ledger) CallerNoise() bool {
	if l == nil {
		return false
	}
	for _, c := range l.children {
		if c.CallerNoise() {
			return true
		}
	}
	return l.seeded
}
