package estimate

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// MostFeatures is the largest number of features with second moments, which take its square of numbers.
const MostFeatures = 1000

// Facts are public numbers of the rows.
type Facts struct {
	Rows        int // or persons, where PersonRows isn't 0; at most so many where AddRemove
	Dim         int // weights, the intercept's included
	Intercept   bool
	LabelBound  float64
	PersonRows  int  // rows of a person at most
	EachRow     bool // whether each of these is to count alike, and not each person
	Weighted    bool // whether rows have weights
	Absent      bool // whether some of the persons may have no rows
	AddRemove   bool // whether how many rows there are is secret, and at most Rows
	OffsetRange [2]float64
}

// ByRows are those of rows that have weights, where each row of a person is to count.
func (f Facts) ByRows() Facts {
	f.EachRow, f.Weighted = false, f.Weighted || f.EachRow
	return f
}

// Features is the number of weights without the intercept's.
func (f Facts) Features() int {
	if f.Intercept {
		return f.Dim - 1
	}
	return f.Dim
}

// largestOffset is the largest magnitude of an offset.
func (f Facts) largestOffset() float64 {
	return math.Max(math.Abs(f.OffsetRange[0]), math.Abs(f.OffsetRange[1]))
}

// Totalled reports whether what rows come to is to be released: their weights, the persons who have some, or offsets.
func (f Facts) Totalled() bool { return f.AddRemove || f.TotalledBesideLabels() }

// TotalledBesideLabels is Totalled where labels' sums are released, which tell how many there are where that is secret.
func (f Facts) TotalledBesideLabels() bool {
	return f.EachRow || (f.Weighted || f.Absent) && !f.AddRemove || f.largestOffset() > 0
}

// Mu is what μ of a budget is to engines: sums of clipped vectors have noise of the deviation 2·clip/μ then,
// as under replace-one. Where neighbours have a row less, which moves such sums half as far, it is twice the budget's.
func (f Facts) Mu(budget float64) float64 {
	if f.AddRemove {
		return 2 * budget
	}
	return budget
}

// Positive is the deviation of noise in counts, times μ, and of noise in sums of products of vectors that are at most
// 1 long: a row more or less moves these by as much as sums of vectors, a replaced one by √2 where those move by 2.
func (f Facts) Positive() float64 {
	if f.AddRemove {
		return 2
	}
	return math.Sqrt2
}

// fractions is how far a sum of numbers from 0 to 1 moves, where one of vectors that are at most 1 long moves by 2.
func (f Facts) fractions() float64 {
	if f.AddRemove {
		return 2
	}
	return 1
}

// Deviation is what is in units of 1/μ, as engines have it, in those of a budget's.
func (f Facts) Deviation(v float64) float64 { return v / f.Mu(1) }

// TotalsNoise is the deviation of noise in Totals, times μ: see curator.Sums.Totals.
func (p Problem) TotalsNoise() float64 {
	f, numbers, apart := p.Facts, 1.0, 2.0
	if f.EachRow {
		numbers += 2
		if f.Weighted {
			apart++
		}
	}
	offsets := f.largestOffset() > 0
	if offsets {
		numbers++
	}
	if p.WideExposures() {
		numbers++
	}
	switch {
	case f.AddRemove:
		return 2 * math.Sqrt(numbers)
	case !offsets || p.Loss.Labels().FromZero():
		return math.Sqrt(numbers)
	}
	return math.Sqrt(numbers + apart)
}

// Problem is what is estimated, and with which budget.
type Problem struct {
	Facts    Facts
	Loss     losses.Loss // to descend along
	Asked    losses.Loss // before it was smoothed
	Mu       float64     // see Facts.Mu
	Fraction float64     // of the pool's μ², whose root Mu has
	Classes  int         // where all of several have a score; else 0
	Prior    [][]float64 // weights of encoded rows, of each column of scores, that are public; nil for none
}

// Share is the same with a fraction of all μ².
func (p Problem) Share(fraction float64) Problem {
	p.Mu *= math.Sqrt(fraction)
	p.Fraction *= fraction
	return p
}

// NMu is n·μ, by which noise is measured against sums; as far as public numbers tell.
func (p Problem) NMu() float64 { return float64(p.Facts.Rows) * p.Mu }

// Hopeless reports whether rows and budget make for no more than the constant model: weights of
// rows can but make for less.
func (p Problem) Hopeless() bool { return p.NMu() < tuning.LeastNMu }

// kinked is for a loss whose curvature near its minimum may be far above that at the
// start, so that a step by the latter could be too long.
func (p Problem) kinked() bool {
	return p.Loss.Labels() == losses.Real && !math.IsInf(p.Loss.Constants(check.Everywhere, p.Facts.LabelBound).Lipschitz, 1)
}

// lopsided is the part of two slopes that they differ by where that isn't rounding.
const lopsided = 1e-6

// heldByFew reports whether, where the loss is least, the longest gradients are those of few rows, which hold scores back, so that a clip below them lets
// scores go: of two classes those of rows on the wrong side, of real labels those on the side on which slopes are larger.
func (p Problem) heldByFew() bool {
	y := p.Facts.LabelBound
	up, down := p.Loss.Deriv(y, -y), -p.Loss.Deriv(-y, y)
	return p.Loss.Labels() == losses.Binary && p.Classes == 0 || p.Loss.Labels() == losses.Real && math.Abs(up-down) > lopsided*(up+down)
}

// LargestSlope is a bound on φ', or what it hardly ever exceeds near the minimum, for
// histograms of gradients to begin at.
func (p Problem) LargestSlope() float64 {
	if p.Loss.Labels() == losses.Amount { // by how many means an amount exceeds its own
		return tuning.GammaRatio
	}
	return math.Min(p.Loss.Constants(check.Everywhere, p.Facts.LabelBound).Lipschitz, 2*math.Max(p.Facts.LabelBound, 1))
}

// Task is what a fit works with: rows, which only answer questions, and the right to release
// the answers.
type Task struct {
	Ctx      context.Context
	Data     *curator.Data
	Allow    *release.Allowance
	Progress func(done, total int)
	Levels   func() [][]int // the columns of each group of levels
	Ranged   func() []int   // those that may have a range that is too wide
	// Under returns the sums of the rows under a loss; plans that train together ask together.
	Under func(losses.Loss) (*curator.Sums, error)
}
