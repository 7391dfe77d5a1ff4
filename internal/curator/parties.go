package curator

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Parties hold rows, each some, and answer with sums over these, which an Aggregator adds up.
type (
	Parties    = questions.Parties
	Aggregator = questions.Aggregator
	Descent    = questions.Descent
)

// OpenParties returns the data of all parties' rows.
func OpenParties(p Parties, enc Encoding, labelCentre, labelBound float64) (*Data, error) {
	table, err := questions.NewParties(p, enc)
	if err != nil {
		return nil, err
	}
	return &Data{&held{table: table, labelCentre: labelCentre, labelBound: labelBound, rows: release.NewRows()}}, nil
}

// Agree has parties that hold the rows check them, and their labels under a loss, and agree to
// the questions of a fit. It returns the data that are asked these. Of data from Against, parties
// check that labels are one of so many classes as the fit says, and take the same class against
// the rest.
func (d *Data) Agree(ctx context.Context, loss losses.Loss, of Descent) (*Data, error) {
	if !d.Parties() {
		return d, nil
	}
	sums, err := d.Under(loss)
	if err != nil {
		return nil, err
	}
	agreed := *d.held
	if agreed.table, err = questions.Agree(ctx, sums.s, of); err != nil {
		return nil, err
	}
	return &Data{&agreed}, nil
}

// Parties reports whether parties hold the rows.
func (d *Data) Parties() bool { return d.table.Place.Parties() }
