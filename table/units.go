package table

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// Units turns the weights of the features, and the intercept, into coefficients in the
// columns' own units: of x itself, of its logarithm, of days, and of products of these.
// Coefficient i belongs to feature i; those of levels, splines and indicators are the
// weights, but for what interactions move. The prediction is the same: the coefficients
// times the products, with the middle of the range for a missing number, plus the
// shifted intercept.
//
// It is a linear map, so that it can be applied to a covariance's columns too.
//
// It fails for another number of weights than features.
func (e *Encoder) Units(weights []float64, intercept float64) (coefficients []float64, shifted float64, err error) {
	if len(weights) != len(e.features) {
		return nil, 0, check.Fail(check.ErrShape, "len(weights)", len(weights), fmt.Sprintf("must equal the number of features, %d", len(e.features)))
	}
	out := make([]float64, len(weights))
	main := e.mainEffects()
	for i := range e.blocks {
		b := &e.blocks[i]
		w := weights[b.first : b.first+b.width()]
		switch b.shape {
		case line:
			s, t := b.a.interval().affine()
			out[b.first] += s * w[0]
			intercept += float64(t * w[0])
			copy(out[b.first+1:], w[1:])
		case square: // 2(sx+t)²−1
			s, t := b.a.interval().affine()
			out[b.first] = 2 * s * s * w[0]
			out[main[b.a]] += float64(4 * s * t * w[0])
			intercept += float64((float64(2*t*t) - 1) * w[0])
		case product: // (sx+t)(s'z+t')
			s, t := b.a.interval().affine()
			s2, t2 := b.b.interval().affine()
			out[b.first] = s * s2 * w[0]
			out[main[b.a]] += float64(s * t2 * w[0])
			out[main[b.b]] += float64(t * s2 * w[0])
			intercept += float64(t * t2 * w[0])
		case slopes: // sx+t at a level
			s, t := b.a.interval().affine()
			for k, v := range w {
				out[b.first+k] = s * v
				out[main[b.b]+k] += float64(t * v)
			}
		case onehot:
			for k, v := range w {
				out[b.first+k] += v
			}
		default:
			copy(out[b.first:], w)
		}
	}
	return out, intercept, nil
}

// mainEffects are the first features of the inputs' own blocks.
func (e *Encoder) mainEffects() map[*input]int {
	main := map[*input]int{}
	for _, b := range e.blocks {
		if _, ok := main[b.a]; !ok {
			main[b.a] = b.first
		}
	}
	return main
}
