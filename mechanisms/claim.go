package mechanisms

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/digits"
)

// Claim is what a [Ledger] says of itself in a line: the budget that it was planned
// for, who is protected by it, and among how many. Its numbers are what was asked
// for; what the releases are follows from the ledger's tree, and printing says so
// where that is more.
type Claim struct {
	Unit    string  `json:"unit,omitempty"`    // what is protected; "" stands for one row, replaced by another
	Group   int     `json:"group,omitempty"`   // rows that are protected together, where that is more than one
	Rows    int     `json:"rows,omitempty"`    // n; 0 where it isn't known
	Epsilon float64 `json:"epsilon,omitempty"` // ε, with Delta, or
	Delta   float64 `json:"delta,omitempty"`
	Mu      float64 `json:"mu,omitempty"` // μ of Gaussian DP
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

func (c Claim) validate() error {
	if math.IsNaN(c.Epsilon+c.Delta+c.Mu) || math.Min(c.Epsilon, math.Min(c.Delta, c.Mu)) < 0 || c.Delta >= 1 || c.Rows < 0 || c.Group < 0 {
		return check.Fail(check.ErrModel, "ledger.claim", nil, "must hold no negative number and a delta below 1")
	}
	return nil
}

// describe returns the claim's line, with the numbers that the ledger has, and notes
// about it.
func (l *Ledger) describe() []string {
	c := *l.claim
	unit := c.Unit
	switch {
	case unit == "" && c.Group > 1:
		unit = fmt.Sprintf("any %s rows (replace-one)", thousands(c.Group))
	case unit == "":
		unit = "one row (replace-one)"
	}
	promise, kept := l.promise(c)
	line := fmt.Sprintf("%s, unit: %s", promise, unit)
	if c.Rows > 0 {
		line += ", n = " + thousands(c.Rows)
	}
	lines := []string{line}
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

// Beyond these ε and μ, which at δ = 1e-6 is an ε of 12, whoever guesses whether
// a row is there may well be right.
const (
	maxTelling   = 10
	maxTellingMu = 2
)

// promise returns the claim if the ledger keeps it, else what it keeps instead.
func (l *Ledger) promise(c Claim) (text string, kept bool) {
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
		epsilon := math.Inf(1)
		if c.Delta > 0 {
			epsilon, _ = l.GroupEpsilon(group, c.Delta)
		} else if g, err := l.group(group); err == nil {
			epsilon = g.profile.Loss()
		}
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
