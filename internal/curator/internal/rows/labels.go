package rows

import (
	"math"

	"github.com/dpglm/dpglm/losses"
)

// MapLabel maps a label into the domain of a kind, and reports whether it lay there.
func MapLabel(kind losses.Labels, y, centre, bound float64) (float64, bool) {
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

func LabelRule(kind losses.Labels) string {
	if kind == losses.Binary {
		return "must be 1, or 0 or −1 for the other class"
	}
	return "must not be negative"
}

// Range is a public one, of numbers that are held to it.
type Range [2]float64

// Largest is the largest magnitude.
func (r Range) Largest() float64 { return math.Max(math.Abs(r[0]), math.Abs(r[1])) }
