package dpglm

import "math"

// shortenLevels keeps rows of rare levels from being much longer than others in what Hessians are
// released in: noise in all directions grows with the longest rows' squares.
func (v *inferring) shortenLevels() error {
	short, err := v.shorten(math.Max(v.longestLevel(), 1.5*math.Sqrt(float64(v.d))))
	if err != nil || short == nil {
		return err
	}
	if v.constant > 0 {
		short = short.Beside()
	}
	v.pilot = short.Stretch(v.pilot)
	if v.hessian.SymDense == nil {
		return nil
	}
	v.curvedAt, v.hessian.SymDense = v.pilot, short.Into(v.hessian.SymDense)
	return v.invert()
}

// frameGradients chooses the coordinates that gradients are released in, and their scatter: those
// in which rows of rare levels are as short as others. A Hessian there would tell too little of
// such levels.
func (v *inferring) frameGradients() error {
	short, err := v.shortening(v.longestLevel())
	if err != nil {
		return err
	}
	v.short, v.gradients = short, v.framed
	if short == nil {
		return nil
	}
	if v.constant > 0 {
		v.short = short.Beside()
	}
	_, v.gradients, err = v.changed(short)
	return err
}
