package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/internal/linalg"
)

// shortenLevels keeps rows of rare levels from being much longer than others in what Hessians are
// released in: noise in all directions grows with the longest rows' squares.
func (v *inferring) shortenLevels() error {
	short, err := v.shorten(math.Max(v.longestLevel(1), 1.5*math.Sqrt(float64(v.d))))
	if err != nil || short == nil {
		return err
	}
	short = v.beside(short)
	v.pilot = short.Stretch(v.pilot)
	held := v.spectrum.Map(func(l float64) float64 { return math.Max(l, v.floor) }) // which is for round ones
	v.curvedAt, v.hessian.SymDense, v.floor = v.pilot, short.Into(held), 0
	if err := v.invert(); err != nil {
		return err
	}
	v.floor = v.spectrum.Values[0]
	return nil
}

// frameGradients chooses the coordinates that gradients are released in, and their scatter: those
// in which rows of rare levels are as short as others. A Hessian there would tell too little of
// such levels.
func (v *inferring) frameGradients() error {
	short, err := v.shortening(v.longestLevel(1))
	if err != nil {
		return err
	}
	if v.gradients = v.framed; short == nil {
		return nil
	}
	v.short = v.beside(short)
	_, v.gradients, err = v.changed(short)
	return err
}

// beside is a change of the coordinates beside an intercept, where there is one.
func (v *inferring) beside(c *linalg.Change) *linalg.Change {
	if v.constant > 0 {
		return c.Beside()
	}
	return c
}
