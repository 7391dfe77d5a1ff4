package rows

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// LabelDomain says of labels in which losses' domains they lie.
type LabelDomain struct {
	Binary, Whole bool // whether all are −1, 0 or 1, and whole numbers
	Least, Most   float64
}

// Add takes in labels, the first of which is that of the given row.
func (d *LabelDomain) Add(labels []float64, row int) error {
	for i, y := range labels {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return check.Fail(check.ErrValue, fmt.Sprintf("label of row %d (counted from 1)", row+i+1), nil, "must be finite")
		}
		d.Binary = d.Binary && (y == 0 || y == 1 || y == -1)
		d.Whole = d.Whole && y == math.Trunc(y)
		d.Least, d.Most = math.Min(d.Least, y), math.Max(d.Most, y)
	}
	return nil
}

func (d *LabelDomain) merge(o LabelDomain) {
	d.Binary, d.Whole = d.Binary && o.Binary, d.Whole && o.Whole
	d.Least, d.Most = math.Min(d.Least, o.Least), math.Max(d.Most, o.Most)
}

func AnyLabels() LabelDomain {
	return LabelDomain{Binary: true, Whole: true, Least: math.Inf(1), Most: math.Inf(-1)}
}
