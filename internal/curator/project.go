package curator

import (
	"context"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/sketch"
)

// Project returns the rows' images under a public linear map, scaled down to the
// bound where they are longer, so that the bound holds for any row and map. Each
// image depends on its own row only. The intercept stays.
func (d *Data) Project(ctx context.Context, phi sketch.Map, bound float64) (*Data, error) {
	if _, columns := phi.Dims(); columns != d.table.Encoding().Columns {
		return nil, check.Fail(check.ErrShape, "map", columns, "must be for the rows' columns")
	}
	table, err := d.table.Project(ctx, phi, bound)
	if err != nil {
		return nil, err
	}
	return &Data{&held{table, d.labels, d.labelCentre, d.labelBound, d.rows}}, nil
}
