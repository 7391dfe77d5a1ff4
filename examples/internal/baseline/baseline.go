// Package baseline fits a generalized linear model without privacy, to compare
// with. It depends on gonum and package losses only, so that it can be copied.
package baseline

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// The errors that Fit returns as they are.
var (
	ErrNotSmooth = errors.New("baseline: the loss has a kink") // which Newton's method can't fit
	ErrLabel     = errors.New("baseline: a count is negative")
)

// Rows are rows of features.
type Rows interface {
	Dims() (rows, columns int)
	// Row returns the values of row i and their columns, ascending; columns is
	// nil if the row has all of them. Both are only read.
	Row(i int) (columns []int, values []float64)
}

// Dense are the rows of a matrix.
type Dense struct{ *mat.Dense }

// Row returns row i.
func (d Dense) Row(i int) ([]int, []float64) { return nil, d.RawRowView(i) }

// Model is a linear model with an intercept.
type Model struct {
	Weights   []float64
	Intercept float64
}

// Scores returns ⟨w, x⟩ + intercept for each row.
func (m *Model) Scores(x Rows) []float64 {
	n, _ := x.Dims()
	z := make([]float64, n)
	for i := range z {
		z[i] = dot(x, i, m.Weights) + m.Intercept
	}
	return z
}

// Fit minimises the sum of the losses plus a ridge that is too small to matter but
// where the data leaves weights undetermined, e.g. for all levels of a group beside
// the intercept or for separable classes: see [newton] and, for very many columns,
// [lbfgs]. Binary labels are mapped to ±1 by their sign; other labels are taken as
// they are, but counts must not be negative. A Huber loss has its kinks no closer than
// a thousandth of what labels differ from the best constant, on average: where they are
// closer it is as good as the absolute loss, and nothing is gained but steps.
func Fit(x Rows, y []float64, loss losses.Loss) (*Model, error) {
	n, d := x.Dims()
	if n == 0 || n != len(y) {
		return nil, fmt.Errorf("baseline: %d labels for %d rows", len(y), n)
	}
	if math.IsInf(loss.Constants(1, 1).Smoothness, 1) {
		return nil, ErrNotSmooth
	}
	if loss.Labels() == losses.Count && slices.Min(y) < 0 {
		return nil, ErrLabel
	}
	y = signed(y, loss.Labels())
	loss = widened(loss, y)
	if d <= mostColumns && n*d <= mostValues {
		return newton(x, y, loss, curvatureOf(loss))
	}
	return lbfgs(x, y, loss)
}

// widened moves kinks apart that are so close that hardly a row lies between them.
func widened(loss losses.Loss, y []float64) losses.Loss {
	of, label, weight := plain(loss)
	h, ok := of.(losses.Huber)
	if !ok {
		return loss
	}
	best, sum, all := Constant(y, loss), 0.0, 0.0
	for _, v := range y {
		sum += weight(v) * math.Abs(label(v)-best)
		all += weight(v)
	}
	if all > 0 {
		h.Kappa = math.Max(h.Kappa, 1e-3*sum/all)
	}
	if r, ok := loss.(byRow); ok {
		r.Loss, r.curvature = h, curvatureOf(h)
		return r
	}
	return h
}

// steepness is what a ridge is measured by: the curvature of the parabola around each real
// label whose slopes at the best constant are the loss's, which for the squared loss is 1;
// so that a ridge is as small beside amounts, of whatever unit, as it is beside classes.
func steepness(y []float64, loss losses.Loss) float64 {
	of, label, weight := plain(loss)
	if of.Labels() != losses.Real {
		return 1
	}
	best, slopes, squares := Constant(y, loss), 0.0, 0.0
	for _, v := range y {
		off := best - label(v)
		slopes += loss.Deriv(best, v) * off
		squares += weight(v) * off * off
	}
	if !(slopes > 0) { // all labels are alike
		return 1
	}
	return slopes / squares
}

// Constant is the score that minimises the loss if it is given to all rows: for
// the usual losses that of the labels' mean, and of the more frequent class where
// there is no probability. It is sought among scores up to 35, where e^z is 10¹⁵, or
// among the labels.
func Constant(y []float64, loss losses.Loss) float64 {
	y = signed(y, loss.Labels())
	lo, hi := -35.0, 35.0
	if of, label, _ := plain(loss); of.Labels() == losses.Real {
		lo, hi = math.Inf(1), math.Inf(-1)
		for _, v := range y {
			lo, hi = math.Min(lo, label(v)), math.Max(hi, label(v))
		}
	}
	for range 100 {
		z, slope := lo+(hi-lo)/2, 0.0
		for _, v := range y {
			slope += loss.Deriv(z, v)
		}
		if slope < 0 {
			lo = z
		} else {
			hi = z
		}
	}
	return hi
}

func dot(x Rows, i int, w []float64) float64 {
	columns, values := x.Row(i)
	if columns == nil {
		return floats.Dot(values, w)
	}
	var z float64
	for k, j := range columns {
		z += values[k] * w[j]
	}
	return z
}

func signed(y []float64, labels losses.Labels) []float64 {
	mapped := append([]float64(nil), y...)
	if labels == losses.Binary {
		for i, v := range y {
			mapped[i] = -1
			if v > 0 {
				mapped[i] = 1
			}
		}
	}
	return mapped
}
