package mechanisms

import (
	"encoding/json"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// ledgerJSON is the encoded form of a node. It decodes its parts in one pass:
// with a decoder for each part, deep nesting would be read over and over.
type ledgerJSON struct {
	Kind        Kind          `json:"kind"`
	Label       string        `json:"label,omitempty"`
	Mu          float64       `json:"mu,omitempty"`
	Epsilon     float64       `json:"epsilon,omitempty"`
	Ratio       float64       `json:"ratio,omitempty"`
	LogDet      float64       `json:"log_det,omitempty"`
	Releases    int           `json:"releases,omitempty"`
	Dim         int           `json:"dim,omitempty"`
	CallerNoise bool          `json:"caller_noise,omitempty"`
	Parts       []*ledgerJSON `json:"parts,omitempty"`
}

// MarshalJSON writes the tree.
func (l *Ledger) MarshalJSON() ([]byte, error) { return json.Marshal(l.encode()) }

func (l *Ledger) encode() *ledgerJSON {
	j := &ledgerJSON{l.kind, l.label, l.mu, l.epsilon, l.ratio, l.logDet, l.releases, l.dim, l.seeded, nil}
	for _, c := range l.children {
		j.Parts = append(j.Parts, c.encode())
	}
	return j
}

// UnmarshalJSON reads a tree that MarshalJSON wrote, and refuses one that no
// computation of this library could have made.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	var j *ledgerJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	decoded, err := j.decode(0)
	if err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	*l = *decoded
	return nil
}

func (j *ledgerJSON) decode(depth int) (*Ledger, error) {
	if j == nil || depth > maxDepth {
		return nil, check.Fail(check.ErrModel, "ledger", nil, fmt.Sprintf("must have no empty part and be nested at most %d deep", maxDepth))
	}
	l := &Ledger{kind: j.Kind, label: j.Label, mu: j.Mu, epsilon: j.Epsilon, ratio: j.Ratio, logDet: j.LogDet, releases: j.Releases, dim: j.Dim, seeded: j.CallerNoise}
	for _, p := range j.Parts {
		c, err := p.decode(depth + 1)
		if err != nil {
			return nil, err
		}
		l.children = append(l.children, c)
	}
	return l.complete()
}
