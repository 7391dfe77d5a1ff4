package rows

import (
	"fmt"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
	"math"
)

// labelDomain says of labels in which losses' domains they lie.
type labelDomain struct {
	binary, whole bool // whether all are −1, 0 or 1, and whole numbers
	least, most   float64
}

// add takes in labels, the first of which is that of the given row.
func (d *labelDomain) add(labels []float64, row int) error {
	for i, y := range labels {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return check.Fail(check.ErrValue, fmt.Sprintf("label of row %d (counted from 1)", row+i+1), nil, "must be finite")
		}
		d.binary = d.binary && (y == 0 || y == 1 || y == -1)
		d.whole = d.whole && y == math.Trunc(y)
		d.least, d.most = math.Min(d.least, y), math.Max(d.most, y)
	}
	return nil
}

func (d *labelDomain) merge(o labelDomain) {
	d.binary, d.whole = d.binary && o.binary, d.whole && o.whole
	d.least, d.most = math.Min(d.least, o.least), math.Max(d.most, o.most)
}

func anyLabels() labelDomain {
	return labelDomain{binary: true, whole: true, least: math.Inf(1), most: math.Inf(-1)}
}

// mapLabel maps a label into the domain of a kind, and reports whether it lay there.
func mapLabel(kind losses.Labels, y, centre, bound float64) (float64, bool) {
	switch kind {
	case losses.Binary:
		if y > 0 {
			return 1, y == 1
		}
		return -1, y == 0 || y == -1
	case losses.Count, losses.Amount:
		return min(y, bound), y >= 0
	default:
		return min(max(y-centre, -bound), bound), true
	}
}

func labelRule(kind losses.Labels) string {
	if kind == losses.Binary {
		return "must be 1, or 0 or −1 for the other class"
	}
	return "must not be negative"
}
