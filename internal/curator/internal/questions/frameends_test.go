package questions

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// A frame is taken up to the ends of what each of its numbers may be, and refused beyond: how far it stretches rows of length 1, how many
// numbers it has for features, and what goes with what.
func TestFramesAreTakenUpToTheirEnds(t *testing.T) {
	const d = 3
	enc := encoding.NewIdentity(d, 1, false)
	scale := func(v float64) Frame { return Frame{Scale: []float64{0, v, 0}} }
	matrix := func(rows, cols int) Frame {
		m := mat.NewDense(rows, cols, nil)
		m.Set(0, 0, 1)
		return Frame{Matrix: m}
	}
	stretch := func(v float64) Frame { f := matrix(d, 2); f.Matrix.Set(0, 0, v); return f }
	each := func(v, bound float64) Frame { return Frame{Each: v, NormBound: bound} }
	base := func(n int, bound float64) Frame { return Frame{Base: numbersOf(n), NormBound: bound} }
	for name, c := range map[string]struct {
		f    Frame
		want error // nil for what is taken
	}{
		"plain": {Frame{}, nil}, "short": {Frame{NormBound: 1}, nil},
		"large": {scale(0.99e100), nil}, "larger": {scale(1.01e100), check.ErrBound}, "small": {scale(1.01e-100), nil}, "smaller": {scale(0.99e-100), check.ErrBound},
		"nothing": {scale(0), nil}, "no number": {scale(math.NaN()), check.ErrBound}, "endless": {scale(math.Inf(-1)), check.ErrBound},
		"large axis": {stretch(-0.99e100), nil}, "larger axis": {stretch(-1.01e100), check.ErrBound}, "small axis": {stretch(1.01e-100), nil}, "smaller axis": {stretch(0.99e-100), check.ErrBound},
		"far": {Frame{Centre: []float64{0.99e100, 0, 0}}, nil}, "farther": {Frame{Centre: []float64{0, 0, 1.01e100}}, check.ErrBound},
		"one axis": {matrix(d, 1), nil}, "all axes": {matrix(d, d), nil}, "too many axes": {matrix(d, d+1), check.ErrShape},
		"fewer features": {matrix(d-1, 1), check.ErrShape}, "more features": {matrix(d+1, 1), check.ErrShape},
		"a scale less": {Frame{Scale: numbersOf(d - 1)}, check.ErrShape}, "a scale more": {Frame{Scale: numbersOf(d + 1)}, check.ErrShape},
		"a centre less": {Frame{Centre: numbersOf(d - 1)}, check.ErrShape}, "a centre more": {Frame{Centre: numbersOf(d + 1)}, check.ErrShape},
		"each": {each(1, 0), nil}, "least each": {each(math.SmallestNonzeroFloat64, 0), nil}, "most each": {each(check.MaxScale, 0), nil},
		"more each": {each(math.Nextafter(check.MaxScale, math.Inf(1)), 0), check.ErrConfig}, "each below": {each(-1, 0), check.ErrConfig}, "each, short": {each(1, 1), check.ErrConfig},
		"each of no number": {each(math.NaN(), 0), check.ErrConfig},
		"base":              {base(d, 0), nil}, "base beside": {base(d+1, 0), nil}, "a base less": {base(d-1, 0), check.ErrShape}, "a base more": {base(d+2, 0), check.ErrShape},
		"base, short": {base(d, 1), check.ErrShape},
	} {
		m, err := newFrameMap(c.f, &enc)
		if !errors.Is(err, c.want) || (m == nil) != (c.want != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
