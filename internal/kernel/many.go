package kernel

// DotsMany is Dots for several vectors of weights: those in w, of cols numbers each, of
// which the j-th has its products in z[j·n : (j+1)·n], n being how many rows there are. The
// bits are those of Dots.
func DotsMany(z, data []float64, stride int, w []float64, cols int) {
	many := len(w) / cols
	n := len(z) / many
	fits(n, len(data), stride, cols)
	_, _ = z[:many*n], w[:many*cols]
	done := 0
	if n > 0 && cols > narrow {
		done = dotsBlocks(z, n, data, stride, w, cols)
	}
	for j := done; j < many; j++ {
		Dots(z[j*n:(j+1)*n], data, stride, w[j*cols:(j+1)*cols])
	}
}

// AddScaledMany is AddScaled for several sums of cols numbers: the j-th begins at
// g[j·gStride], and has its factors in c[j·n : (j+1)·n]. The bits are those of AddScaled.
func AddScaledMany(g []float64, gStride, cols int, data []float64, stride int, c []float64, n int) {
	if n == 0 {
		return
	}
	many := len(c) / n
	fits(n, len(data), stride, cols)
	fits(many, len(g), gStride, cols)
	done := 0
	if cols > narrow {
		done = addBlocks(g, gStride, cols, data, stride, c, n)
	}
	for j := done; j < many; j++ {
		AddScaled(g[j*gStride:j*gStride+cols], data, stride, c[j*n:(j+1)*n])
	}
}
