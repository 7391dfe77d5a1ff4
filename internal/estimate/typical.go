package estimate

import (
	"math"

	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Typical is what accuracy, and nothing else, hopes of rows: of which only bounds are known.
type Typical struct {
	Row      float64 // norm
	Label    float64 // magnitude
	Variance float64 // of the scores under the best weights
}

// What rows and labels are taken to measure, in units of their bounds.
const (
	typicalRow   = 0.75
	typicalLabel = 0.25
)

// The variances of scores: of classes' as much as the logistic law has, whose noise on a latent scale tells their labels, so that half of
// what is on that scale is told by features; of counts' rates that differ by a factor of e^½.
const (
	classScores  = math.Pi * math.Pi / 3
	countScores  = 0.25
	amountScores = 2
)

// TypicalOf takes what a loss makes of rows and labels of these bounds.
func TypicalOf(l losses.Loss, rowBound, labelBound float64) Typical {
	row, label := typicalRow*rowBound, typicalLabel*labelBound
	labels := l.Labels()
	switch {
	case labels == losses.Real, labels == losses.Amount && losses.LinkOf(l) == losses.Identity:
		return Typical{row, label, label * label}
	case labels == losses.Count:
		return Typical{row, math.Max(label, 1), countScores}
	case labels == losses.Amount:
		return Typical{row, 0, amountScores}
	default:
		return Typical{row, 0, classScores}
	}
}

// StartShare is the mean's part of μ²: where that is enough, one for which it is known to a
// hundredth of the labels' range; and the most that it may be.
func (f Facts) StartShare(l losses.Loss, mu float64) (share, most float64) {
	scale := 1.0
	most = tuning.StartMostShare
	switch l.Labels() {
	case losses.Real:
		scale = tuning.StartReal // as labels vary by less of their range
	case losses.Count:
		scale, most = f.LabelBound, tuning.StartMostShareCount
	case losses.Amount:
		scale = tuning.GammaRatio
	}
	return math.Min(math.Max(math.Pow(tuning.StartKnown*scale/(float64(f.Rows)*mu), 2), tuning.StartLeastShare), most), most
}
