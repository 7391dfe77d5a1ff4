package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
)

// Ordinal is the negative log-likelihood of a level y ∈ {0, …, K−1} in the proportional-odds
// model P(y > k) = σ(z − θ_k) with K−1 thresholds θ_0 < θ_1 < …, σ the logistic
// function: −log(σ(θ_y − z) − σ(θ_{y−1} − z)), the first term being 1 for the last level and
// the second 0 for the first. Thresholds are public, such as 0, 2, 4: an intercept moves all
// together, and how far apart they lie says how the levels compare. Wrong distances make wrong
// coefficients. [OrdinalFromFractions] makes them of what part of the rows each level is expected to
// have; or they are estimated, where Levels is given in their place. With two levels and the
// threshold 0 it is the logistic loss.
//
// It is the sum of the logistic losses at both thresholds, and a constant. The derivative is
// σ(z − θ_y) + σ(z − θ_{y−1}) − 1, where the outer terms are 0 and 1; hence between −1 and 1,
// and the second derivative, σ' twice, at most ½.
//
// Labels are counts: a number between two levels is rounded down, and one above the last
// level counts as it. Scores are on the thresholds' scale; Probabilities makes levels of them.
type Ordinal struct {
	Thresholds []float64 // increasing; not to be changed after first use
	// Levels is K, from 2 to 100, where the thresholds are to be estimated, privately, and none are
	// given. dpglm.Auto, StandardisedGD and Infer do that; others refuse it. 0 means that Thresholds
	// are given. The loss's values are then those of equal fractions, until it is trained.
	Levels int `json:",omitempty"`
}

// mostLevels is how many may be estimated.
const mostLevels = 100

// Estimated reports whether the thresholds are to be estimated.
func (l Ordinal) Estimated() bool { return l.Thresholds == nil && l.Levels != 0 }

// Filled is the loss with the thresholds of equal fractions where they are to be estimated.
func (l Ordinal) Filled() Ordinal {
	if !l.Estimated() {
		return l
	}
	thresholds := make([]float64, l.Levels-1)
	for k := range thresholds {
		thresholds[k] = math.Log(float64(k+1)) - math.Log(float64(l.Levels-k-1))
	}
	return Ordinal{Thresholds: thresholds}
}

// Name is "ordinal[θ_0 θ_1 …]", or "ordinal of K levels" where they are to be estimated.
func (l Ordinal) Name() string {
	if l.Estimated() {
		return fmt.Sprintf("ordinal of %d levels", l.Levels)
	}
	return fmt.Sprintf("ordinal%g", l.Thresholds)
}

// Labels is Count.
func (Ordinal) Labels() Labels { return Count }

// Validate checks the thresholds, of which there must be one or more. The error says how far they
// may lie from 0 and from each other.
func (l Ordinal) Validate() error {
	switch {
	case l.Levels != 0 && l.Thresholds != nil:
		return check.Fail(check.ErrConfig, "Ordinal.Levels", l.Levels, "must be 0 where Thresholds are given")
	case l.Levels < 0 || l.Levels == 1 || l.Levels > mostLevels:
		return check.Fail(check.ErrConfig, "Ordinal.Levels", l.Levels, fmt.Sprintf("must lie between 2 and %d, or be 0", mostLevels))
	case l.Estimated():
		return nil
	}
	if len(l.Thresholds) == 0 {
		return check.Fail(check.ErrConfig, "Ordinal.Thresholds", nil, "must not be empty")
	}
	last := -largestThreshold
	for k, v := range l.Thresholds {
		if !(v >= last && v <= largestThreshold) || k > 0 && !(v-last >= leastGap) {
			return check.Fail(check.ErrConfig, "Ordinal.Thresholds", l.Thresholds,
				fmt.Sprintf("must increase by %g or more, within ±%g", leastGap, largestThreshold))
		}
		last = v
	}
	return nil
}

// Thresholds that are farther out are most likely mistakes; of levels between closer ones
// hardly any row is.
const (
	largestThreshold = 1e6
	leastGap         = 1e-6
)

// Probabilities are those of the levels at a score.
func (l Ordinal) Probabilities(z float64) []float64 {
	l = l.Filled()
	p := make([]float64, len(l.Thresholds)+1)
	for k := range p {
		p[k] = math.Exp(-l.at(z, k))
	}
	return p
}

// level is a label's.
func (l Ordinal) level(y float64) int {
	return int(math.Max(0, math.Min(y, float64(len(l.Thresholds)))))
}

// Value is the loss.
func (l Ordinal) Value(z, y float64) float64 {
	l = l.Filled()
	return l.at(z, l.level(y))
}

// at is the logistic losses at both thresholds, and a constant: with a = z − θ_{k−1} and
// b = θ_k − z,
//
//	−log(σ(b) − σ(−a)) = log(1 + e^(−a)) + log(1 + e^(−b)) − log(1 − e^(−(a+b)))
func (l Ordinal) at(z float64, k int) float64 {
	var v float64
	if k > 0 {
		v += softplus(l.Thresholds[k-1] - z)
	}
	if k < len(l.Thresholds) {
		v += softplus(z - l.Thresholds[k])
	}
	if k > 0 && k < len(l.Thresholds) {
		v -= math.Log(-math.Expm1(l.Thresholds[k-1] - l.Thresholds[k]))
	}
	return v
}

// Deriv is σ(z − θ_y) + σ(z − θ_{y−1}) − 1.
func (l Ordinal) Deriv(z, y float64) float64 {
	l = l.Filled()
	return l.slope(z, l.level(y))
}

func (l Ordinal) slope(z float64, k int) float64 {
	var d float64
	if k > 0 {
		d += kernel.LogisticSlope(z-l.Thresholds[k-1], 1)
	}
	if k < len(l.Thresholds) {
		d += kernel.LogisticSlope(z-l.Thresholds[k], -1)
	}
	return d
}

// Curvature is the sum of σ' at the level's thresholds.
func (l Ordinal) Curvature(z, y float64) float64 {
	var h float64
	l = l.Filled()
	k := l.level(y)
	if k > 0 {
		h += float64(bump(z - l.Thresholds[k-1]))
	}
	if k < len(l.Thresholds) {
		h += float64(bump(z - l.Thresholds[k]))
	}
	return h
}

// bump is σ'(t), as accurate as the logistic loss's curvature.
func bump(t float64) float64 {
	s := sigmoid(-math.Abs(t))
	return s * (1 - s)
}

// ordinalError bounds relative errors of sums of two or three positive terms.
const ordinalError = 1e-13

// Constants are attained at z = ±Z, at the first and the last level where slopes are meant,
// but for the smoothness: each of two thresholds adds its largest part, which no score need
// do for both, so that it is too large by at most a factor 2.
func (l Ordinal) Constants(z, _ float64) Constants {
	l = l.Filled()
	up, last := 1+ordinalError, len(l.Thresholds)
	k := Constants{Slope: up * math.Max(l.slope(z, 0), -l.slope(-z, last)), Lipschitz: 1}
	before := 0.0
	for j := range last + 1 {
		k.AtZero = math.Max(k.AtZero, up*l.at(0, j))
		k.Value = math.Max(k.Value, up*math.Max(l.at(-z, j), l.at(z, j)))
		steepest := 0.0
		if j < last {
			steepest = bump(math.Max(0, math.Abs(l.Thresholds[j])-z))
		}
		k.Smoothness = math.Max(k.Smoothness, up*(before+steepest))
		before = steepest
	}
	return k
}

var ordinalDiameters diameters

// Diameter is what spread finds for slopes from those of the last level to those of the
// first, which rise with the score.
func (l Ordinal) Diameter(z, y float64) float64 {
	l = l.Filled()
	last := len(l.Thresholds)
	return ordinalDiameters.within(2*l.Constants(z, y).Slope, z, [3]float64{l.Thresholds[0], l.Thresholds[last-1]},
		func(t float64) float64 { return l.slope(t, last) }, func(t float64) float64 { return l.slope(t, 0) })
}
