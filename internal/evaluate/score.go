package evaluate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
)

// Score is a released model's score of a row, ⟨Weights, x⟩ + Offset.
type Score struct {
	Weights []float64 // of the features, without the intercept
	Offset  float64
	Bound   float64 // of a score, and offsets that rows have, in magnitude
}

// NewScore takes a model's weights, the last an intercept's if there is one, and what is added to
// its scores; rowBound is that of a row's norm without the intercept's 1, and offsets of the
// rows' own. It fails where scores may be too large.
func NewScore(weights []float64, intercept bool, offset, rowBound, offsets float64) (Score, error) {
	features := len(weights)
	if intercept {
		features--
		offset += weights[features]
	}
	s := Score{Weights: slices.Clone(weights[:features]), Offset: offset}
	s.Bound = float64(rowBound*vector.Norm(s.Weights)) + math.Abs(s.Offset) + offsets
	if !(s.Bound <= check.MaxScale) {
		return s, check.Fail(check.ErrModel, "largest score", s.Bound, fmt.Sprintf("must be at most %g", check.MaxScale))
	}
	return s, nil
}

// farthest is the largest score of classes that is told from larger ones: beyond it
// probabilities round to 1.
const farthest = 30

// scaled is the score times a factor.
func (s Score) scaled(by float64) Score {
	weights := slices.Clone(s.Weights)
	floats.Scale(by, weights)
	return Score{Weights: weights, Offset: s.Offset * by, Bound: s.Bound}
}
