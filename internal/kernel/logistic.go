package kernel

// AddLogistic does at once what a pass of the logistic loss does with n rows
// x_k = data[k·stride : k·stride+len(w)], which have norms, whose signs are those of their
// labels y_k = ±1, and, unless shrink is nil, factors s_k ≤ 1, which are 1 otherwise. With c_k
// the LogisticSlope(z_k, y_k) at the score z_k = s_k·(⟨x_k, w⟩ + offset) + intercept, held by
// Clip, and e_k = c_k·s_k, it adds Σ e_k·x_k to the first len(w) numbers of g, Σ e_k to the
// next and Σ c_k to the last one.
//
// The bits are those of Dots, LogisticSlopes, Clip and AddScaled for tiles of so many rows,
// one after the other, and of four partial sums of the e_k, and of the c_k, of a tile. It
// does as many rows as it has a faster way for, of which it returns the number; e has room
// for 8 numbers.
func AddLogistic(g, data []float64, stride, n, tile int, w, signed, shrink, e []float64, limit, offset, intercept float64) int {
	if n%tile%8 > 0 {
		n -= n % tile
	}
	if n == 0 || tile%8 > 0 || !AddsLogistic(len(w)) {
		return 0
	}
	fits(n, len(data), stride, len(w))
	var factors *float64
	if shrink != nil {
		factors = &shrink[:n][0]
	}
	addLogistic(&g[:len(w)+2][0], len(w), &data[0], stride, n, tile, &w[0], &signed[:n][0], factors, &e[:8][0], limit, offset, intercept)
	return n
}

// AddsLogistic reports whether AddLogistic has a faster way for rows of so many numbers.
func AddsLogistic(cols int) bool { return hasLogistic() && cols > 0 && cols <= narrow }
