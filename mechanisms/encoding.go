package mechanisms

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// ledgerJSON is the encoded form of a node. It decodes its parts in one pass:
// with a decoder for each part, deep nesting would be read over and over.
type ledgerJSON struct {
	Version int `json:"version,omitempty"` // of the root
	node
	CallerNoise bool          `json:"caller_noise,omitempty"`
	Unit        *Unit         `json:"unit,omitempty"`
	Claim       *Claim        `json:"claim,omitempty"`
	Parts       []*ledgerJSON `json:"parts,omitempty"`
}

// version is the format of encoded ledgers and accountants.
const version = 1

// MarshalJSON writes the tree. It fails for an empty ledger.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	if _, err := l.composition(); err != nil {
		return nil, err
	}
	j := l.encode()
	j.Version = version
	return json.Marshal(j)
}

func (l *Ledger) encode() *ledgerJSON {
	j := &ledgerJSON{node: l.node, CallerNoise: l.seeded, Claim: l.claim}
	if l.unit != (Unit{}) {
		j.Unit = &l.unit
	}
	for _, c := range l.children {
		j.Parts = append(j.Parts, c.encode())
	}
	return j
}

// UnmarshalJSON reads a tree that MarshalJSON wrote. It refuses one that no
// computation of this library could have made, another version, and fields that
// this one doesn't have.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	if l == nil {
		return check.Fail(check.ErrModel, "ledger", nil, "must not be nil")
	}
	var j *ledgerJSON
	if err := decodeStrictly(data, &j); err != nil {
		return err
	}
	if j == nil {
		return check.Fail(check.ErrModel, "ledger", nil, "must not be empty")
	}
	if err := knownVersion(j.Version); err != nil {
		return err
	}
	j.Version = 0
	decoded, err := j.decode(0)
	if err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	*l = *decoded
	return nil
}

func decodeStrictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	return nil
}

func knownVersion(v int) error {
	if v != version {
		return check.Fail(check.ErrModel, "version", v, fmt.Sprintf("must be %d", version))
	}
	return nil
}

func (j *ledgerJSON) decode(depth int) (*Ledger, error) {
	if j == nil || depth > maxDepth || j.Version != 0 {
		return nil, check.Fail(check.ErrModel, "ledger", nil, fmt.Sprintf("must have no empty part, be nested at most %d deep and have one version", maxDepth))
	}
	l := &Ledger{node: j.node, seeded: j.CallerNoise, claim: j.Claim}
	for _, p := range j.Parts {
		c, err := p.decode(depth + 1)
		if err != nil {
			return nil, err
		}
		l.children = append(l.children, c)
	}
	return l.decoded(j.Unit)
}

// decoded completes a node, whose unit must be one that is known, and whose claim one about
// that. A node whose parts have a unit says so itself.
func (l *Ledger) decoded(u *Unit) (*Ledger, error) {
	if u != nil {
		l.unit = *u
		if err := u.known(check.ErrModel); err != nil {
			return nil, err
		}
	}
	if u == nil && len(l.children) > 0 && l.children[0].unit != (Unit{}) {
		return nil, check.Fail(check.ErrModel, "ledger.unit", nil, "must be that of the parts")
	}
	if l.claim != nil {
		if err := l.claim.validate(l.unit); err != nil {
			return nil, err
		}
	}
	return l.complete()
}
