package baseline

import (
	"math"

	"github.com/dpglm/dpglm/losses"
)

// curvatureStep is the distance from a score, as a share of it where it is above 1, at which slopes
// are compared: about the cube root of a float's precision.
const curvatureStep = 6e-6

// curvatureOf is the loss's second derivative, or where it states none, as losses.Custom does,
// what slopes differ by beside the score.
func curvatureOf(loss losses.Loss) func(z, y float64) float64 {
	if curvature, ok := losses.CurvatureOf(loss); ok {
		return curvature
	}
	return func(z, y float64) float64 {
		h := curvatureStep * math.Max(1, math.Abs(z))
		return (loss.Deriv(z+h, y) - loss.Deriv(z-h, y)) / (2 * h)
	}
}

// byRow is a loss whose labels are the rows' numbers.
type byRow struct {
	losses.Loss
	y, offsets, weights []float64
	curvature           func(z, y float64) float64
}

// ByRow returns a loss and labels that [Fit] takes for rows with offsets, which are added to their
// scores, and weights, by which their losses are multiplied; either may be nil. The labels are the
// rows' numbers, and stand for those in y: the loss is of these rows only.
func ByRow(loss losses.Loss, y, offsets, weights []float64) (losses.Loss, []float64) {
	numbers := make([]float64, len(y))
	for i := range numbers {
		numbers[i] = float64(i)
	}
	return byRow{loss, signed(y, loss.Labels()), offsets, weights, curvatureOf(loss)}, numbers
}

// Labels is Count, as of the rows' numbers.
func (byRow) Labels() losses.Labels { return losses.Count }

// plain is the loss that a row's is made of, and a row's label and weight by what [Fit] has in the label's place.
func plain(loss losses.Loss) (of losses.Loss, label, weight func(y float64) float64) {
	label, weight = func(y float64) float64 { return y }, func(float64) float64 { return 1 }
	r, ok := loss.(byRow)
	if !ok {
		return loss, label, weight
	}
	if r.weights != nil {
		weight = func(row float64) float64 { return r.weights[int(row)] }
	}
	return r.Loss, func(row float64) float64 { return r.y[int(row)] }, weight
}

// at is a function of a score and a label for a row.
func (r byRow) at(f func(z, y float64) float64, z, row float64) float64 {
	i, weight := int(row), 1.0
	if r.offsets != nil {
		z += r.offsets[i]
	}
	if r.weights != nil {
		weight = r.weights[i]
	}
	return weight * f(z, r.y[i])
}

// Value is that of the row.
func (r byRow) Value(z, row float64) float64 { return r.at(r.Loss.Value, z, row) }

// Deriv is that of the row.
func (r byRow) Deriv(z, row float64) float64 { return r.at(r.Loss.Deriv, z, row) }

// Curvature is that of the row.
func (r byRow) Curvature(z, row float64) float64 { return r.at(r.curvature, z, row) }
