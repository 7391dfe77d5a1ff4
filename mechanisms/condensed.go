package mechanisms

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// Condensed returns a ledger for adding up, without labels and claims: Gaussian releases are
// one leaf, and equal parts are there once, with how often. So the sum of many ledgers has a
// size that grows with the number of different parts which aren't Gaussian, not with theirs.
// It fails for an empty ledger and beyond the limits of a tree.
//
// # Privacy
//
// Its profile is the ledger's, or above it. Parts that aren't Gaussian are the same ones, as
// often. The leaf has the μ = √Σμ² of all Gaussian releases, rounded up by some 1e-15, and all
// their coordinates in one release: their number is whole, so that rounding up and then down
// to an integer is no less. The grids' slack asks for how far a row moves these, in σ and
// squared, too, and Σdμ² ≤ Σd·Σμ².
func (l *Ledger) Condensed() (*Ledger, error) {
	if _, err := l.composition(); err != nil {
		return nil, err
	}
	t := terms{at: map[string]int{}}
	if err := t.add(l, 1); err != nil {
		return nil, err
	}
	var parts []*Ledger
	if len(t.noise) > 0 {
		mu, coordinates := accounting.Compose(t.noise...).Noise()
		if coordinates >= math.MaxInt {
			return nil, check.Fail(check.ErrModel, "ledger", coordinates, "must have fewer coordinates of noise")
		}
		leaf, err := Gaussian{Mu: mu}.Ledger("", 1, int(coordinates))
		if err != nil {
			return nil, err
		}
		parts = append(parts, leaf)
	}
	for i, p := range t.parts {
		if n := t.copies[i]; n > 1 {
			var err error
			if p, err = (&Ledger{kind: KindSequential, releases: n, children: []*Ledger{p}}).complete(); err != nil {
				return nil, err
			}
		}
		parts = append(parts, p)
	}
	sum, err := Sequential("", parts...)
	if err != nil {
		return nil, err
	}
	sum.unit = l.unit
	return sum, nil
}

// terms are what a sum is made of.
type terms struct {
	noise  []*accounting.Sequence // Gaussian ones
	parts  []*Ledger              // others, no two of them equal
	copies []int
	at     map[string]int // the place of a part, by its encoded form
}

// mostCondensed limits the coordinates of what goes into the Gaussian leaf.
const mostCondensed = 1 << 49

// add counts n runs of a ledger's parts.
func (t *terms) add(l *Ledger, n int) error {
	_, coordinates := l.profile.Noise()
	switch {
	case l.profile.IsGaussian() && coordinates*float64(n) < mostCondensed:
		t.noise = append(t.noise, l.profile.Times(int64(n)))
		return nil
	case l.kind == KindSequential:
		for _, c := range l.children {
			if err := t.add(c, n*max(l.releases, 1)); err != nil {
				return err
			}
		}
		return nil
	}
	bare := l.bare()
	key, err := json.Marshal(bare)
	if err != nil {
		return err
	}
	i, known := t.at[string(key)]
	if !known {
		i, t.at[string(key)] = len(t.parts), len(t.parts)
		t.parts, t.copies = append(t.parts, bare), append(t.copies, 0)
	}
	t.copies[i] += n
	return nil
}

// bare is a copy without what accounting doesn't ask for.
func (l *Ledger) bare() *Ledger {
	b := *l
	b.label, b.claim, b.unit, b.seeded, b.children = "", nil, Unit{}, false, nil
	for _, c := range l.children {
		b.children = append(b.children, c.bare())
	}
	return &b
}

// mostRepeated limits the coordinates of a part that is repeated, so that sums of them are
// finite.
const mostRepeated = 0x1p100

// repeat makes the profile that of as many runs as a sequential node has.
func (l *Ledger) repeat() error {
	if l.releases == 0 {
		return nil
	}
	n := float64(l.releases)
	if _, coordinates := l.profile.Noise(); n*float64(l.profile.Copies()) > maxReleases || n*coordinates > mostRepeated {
		return check.Fail(check.ErrModel, "ledger.releases", l.releases, fmt.Sprintf("must not make more than %d releases", int64(maxReleases)))
	}
	l.profile = l.profile.Times(int64(l.releases))
	return nil
}
