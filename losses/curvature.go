package losses

// Curved is a loss that states its second derivative, for methods that weigh
// rows by it. The losses of this package have it where φ' doesn't jump; Custom
// doesn't.
type Curved interface {
	// Curvature is φ''_y(z), or where φ'' jumps its limit from one side: an
	// element of the generalised Hessian. Where Constants holds, it lies in
	// [0, Constants.Smoothness].
	Curvature(z, y float64) float64
}

// CurvatureOf returns the curvature of l, and false if l has none. Extended makes
// it 0 beyond the limit and leaves it to the inner loss whether there is any.
func CurvatureOf(l Loss) (func(z, y float64) float64, bool) {
	if e, ok := l.(Extended); ok {
		inner, ok := CurvatureOf(e.Inner)
		if !ok {
			return nil, false
		}
		return func(z, y float64) float64 {
			if e.Hold(z) != z {
				return 0
			}
			return inner(z, y)
		}, true
	}
	if c, ok := l.(Curved); ok {
		return c.Curvature, true
	}
	return nil, false
}
