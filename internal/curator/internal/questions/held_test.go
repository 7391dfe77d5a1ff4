package questions

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/losses"
)

// astray is a loss that says of itself, for labels above 1, what no loss may.
type astray struct {
	losses.Squared
	says float64
}

func (l astray) Value(z, y float64) float64 {
	if y > 1 {
		return l.says
	}
	return l.Squared.Value(z, y)
}

func (l astray) Curvature(z, y float64) float64 {
	if y > 1 {
		return l.says
	}
	return l.Squared.Curvature(z, y)
}

// Sensitivities of scores and of Hessians don't rest on a loss's Value and Curvature:
// whatever these return of one row, the sums move by no more than was declared.
func TestSumsHoldWhatALossSaysOfItself(t *testing.T) {
	const n, limit, most, normBound = 40, 0.8, 1.5, 0.6
	r := rand.New(rand.NewPCG(1, 2))
	x, y := randomMatrix(r, n, 3, 0.5), randomVector(r, n, 1)
	w := []float64{0.3, -0.2, 0.1}
	answers := func(says float64) (scores, hessian []float64, score, distance float64) {
		labels := append([]float64{2}, y[1:]...)
		s := sumsOf(t, x, labels, 3, encoding.NewIdentity(3, 1, false), astray{says: says})
		scores = make([]float64, 1)
		if err := s.Losses(ctx, scores, [][]float64{w}, []float64{limit}); err != nil {
			t.Fatal(err)
		}
		f, err := NewFramed(ctx, s, whole, Frame{})
		if err != nil {
			t.Fatal(err)
		}
		if hessian, distance, err = heard(f.Hessian(ctx, w, 0, 0.3, most, normBound, Slope{})); err != nil {
			t.Fatal(err)
		}
		return scores, hessian, s.Bounds().LossSensitivity(limit), distance
	}
	plainScores, plain, score, distance := answers(0)
	for _, says := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e300, 1e300, -1, 5} {
		scores, hessian, _, _ := answers(says)
		if !(math.Abs(scores[0]-plainScores[0]) <= score) {
			t.Errorf("a loss of %g moves the score from %g to %g, more than %g", says, plainScores[0], scores[0], score)
		}
		var square float64
		for k, v := range hessian {
			square += (v - plain[k]) * (v - plain[k])
		}
		if !(math.Sqrt(square) <= distance) {
			t.Errorf("a curvature of %g moves the Hessian by %g, more than %g", says, math.Sqrt(square), distance)
		}
	}
}
