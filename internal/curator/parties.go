package curator

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Parties hold rows, each some, and answer with sums of gradients, which an Aggregator adds up.
type (
	Parties    = rows.Parties
	Aggregator = rows.Aggregator
)

// OpenParties returns the data of all parties' rows.
func OpenParties(p Parties, enc Encoding, labelCentre, labelBound float64) (*Data, error) {
	table, err := rows.NewParties(p, enc)
	if err != nil {
		return nil, err
	}
	return &Data{&held{table: table, labelCentre: labelCentre, labelBound: labelBound, rows: release.NewRows()}}, nil
}

// Intake has parties that hold the rows check them, and their labels under a loss.
func (d *Data) Intake(ctx context.Context, loss losses.Loss) error {
	sums, err := d.Under(loss)
	if err != nil {
		return err
	}
	return sums.s.Intake(ctx)
}

// Parties reports whether parties hold the rows.
func (d *Data) Parties() bool { return d.table.Parties() }
