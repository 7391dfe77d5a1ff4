package labelsonly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/tuning"
)

// public is a problem's public model: weights that it draws to, as far as labels agree.
type public struct {
	point []float64   // of coordinates of all columns of scores; nil where rows vary along none of its weights
	rest  [][]float64 // weights of features of each score along which no row varies, of which labels tell nothing
}

// newPublic is that of weights of encoded rows, whose scores are to vary by no more than most. Intercepts aren't used: labels tell theirs.
func newPublic(x *space, f family, weights [][]float64, most float64) (p public) {
	if weights == nil {
		return p
	}
	dim, columns := x.dim(), f.columns()
	point := make([]float64, columns*dim)
	for k, w := range weights {
		theta := x.coordinates(w[:x.d])
		rest := slices.Clone(w[:x.d])
		floats.Sub(rest, x.from(theta)[:x.d])
		p.rest = append(p.rest, rest)
		for c := range columns {
			floats.AddScaled(point[c*dim:(c+1)*dim], contrast(f, k, c), theta)
		}
	}
	if size := x.size(point, columns); size > 0 {
		p.point = point
		if size > most {
			floats.Scale(most/size, point)
			for _, w := range p.rest {
				floats.Scale(most/size, w)
			}
		}
	}
	return p
}

// largestOf is what scores of a model vary by at most: log-odds of any two classes, of which labels tell little more, and numbers no more than
// labels can.
func largestOf(f family, p estimate.Problem) float64 {
	switch f := f.(type) {
	case numbers:
		return p.Facts.LabelBound
	case several: // one of two scores is off their mean by half of the log-odds
		return tuning.PriorScores * math.Sqrt(float64(f.columns())/2)
	}
	return tuning.PriorScores
}

// size is the root mean square of rows' scores at a point, but for the constant: second moments of coordinates are the roots of columns'.
func (x *space) size(point []float64, columns int) float64 {
	sum, dim := 0.0, x.dim()
	for c := range columns {
		for k, v := range x.moments {
			sum += float64(math.Sqrt(v) * point[c*dim+k] * point[c*dim+k])
		}
	}
	return math.Sqrt(sum)
}

// contrast is what a score counts in a column.
func contrast(f family, score, column int) float64 {
	if f, classes := f.(several); classes {
		return f.contrasts.At(score, column)
	}
	return 1
}

// belief is that of weights before labels are asked.
func (x *fit) belief(constants []float64) belief {
	of := belief{variance: slices.Repeat(x.space.prior(), x.family.columns()), constants: constants, public: x.public.point}
	if _, counted := x.family.(counts); counted { // whose means are e^(V/2) times as large where scores have the variance V: that it is 1 is likely
		of.spread = float64(len(x.space.moments))
	}
	return of
}

// coordinates are those of weights of features, 0 for the constant: the point whose scores of rows, but for a number, are theirs.
func (x *space) coordinates(w []float64) []float64 {
	theta := make([]float64, x.dim())
	for k, v := range x.moments {
		for j, weight := range w {
			theta[k] += float64(x.axes.At(j, k) * weight / x.scale[j])
		}
		theta[k] *= math.Sqrt(math.Sqrt(v))
	}
	return theta
}
