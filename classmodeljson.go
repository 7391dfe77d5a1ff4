package dpglm

import (
	"fmt"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// classModelFormat is that of the JSON of models of several classes, whose versions are
// those of other models.
const classModelFormat = "dpglm class model"

// classModelJSON is a model of several classes.
type classModelJSON struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Library string `json:"library"`
	// Loss and Link are those of one class against the rest, and missing for softmax.
	Loss string          `json:"loss,omitempty"`
	Link losses.Link     `json:"link,omitempty"`
	Unit mechanisms.Unit `json:"unit"`
	mechanisms.Claim
	Columns int `json:"columns"`
	factsJSON
	Levels  []string    `json:"levels"`  // the classes' names
	Weights [][]float64 `json:"weights"` // of each class
	Ledger  *Ledger     `json:"ledger"`
}

// MarshalJSON writes the model. It fails for a model that was neither trained nor decoded.
func (m *ClassModel) MarshalJSON() ([]byte, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	j := classModelJSON{Format: classModelFormat, Version: modelVersion, Library: m.library, Loss: m.loss, Link: m.link, Columns: m.columns,
		factsJSON: newFactsJSON(m.facts), Levels: m.Levels(), Weights: m.weights, Ledger: m.ledger}
	j.Claim, j.Unit = claimed(m.ledger)
	return sealed.Marshal(j)
}

// UnmarshalJSON reads a model that MarshalJSON wrote, and refuses what [Model.UnmarshalJSON]
// refuses.
func (m *ClassModel) UnmarshalJSON(data []byte) error {
	if m == nil {
		return check.Fail(ErrModel, "model", nil, "must not be nil")
	}
	j, err := decodeModel[classModelJSON](data, classModelFormat)
	if err != nil {
		return err
	}
	d := ClassModel{j.Weights, j.Loss, j.Link, nil, j.Columns, j.Ledger, j.Library}
	if d.facts, err = j.facts(); err != nil {
		return err
	}
	if (d.loss == "") != (d.link == "") || d.link != "" && !d.link.Suits(losses.Binary) {
		return check.Fail(ErrModel, "loss, link", fmt.Sprintf("%q, %q", d.loss, d.link), "must be those of a loss with binary labels, or both missing")
	}
	if len(d.weights) < 2 || len(d.weights) > maxClasses {
		return check.Fail(ErrModel, "weights", len(d.weights), fmt.Sprintf("must be of 2 to %d classes", maxClasses))
	}
	if names := d.Levels(); len(names) != len(d.weights) || !slices.Equal(names, j.Levels) {
		return check.Fail(ErrModel, "levels", j.Levels, fmt.Sprintf("must be %q, of %d classes", names, len(d.weights)))
	}
	for _, w := range d.weights {
		if err := stored(d.ledger, d.facts, d.columns, w); err != nil {
			return fmt.Errorf("%w: %w", ErrModel, err)
		}
	}
	if claim, unit := claimed(d.ledger); claim != j.Claim || unit != j.Unit {
		return check.Fail(ErrModel, "rows, person_rows, group, unit, epsilon, delta, mu", nil, "must be those that the ledger claims")
	}
	*m = d
	return nil
}
