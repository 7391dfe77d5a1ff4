//go:build !purego

package kernel

// block is how many rows and vectors a block of the assembly has.
const block = 4

// dotsBlocks does DotsMany for as many vectors of weights as it returns. What blocks leave
// of the rows goes to Dots.
func dotsBlocks(z []float64, n int, data []float64, stride int, w []float64, cols int) (done int) {
	whole := n &^ (block - 1)
	if active != avx512 || whole == 0 {
		return 0
	}
	for ; (done+block)*cols <= len(w); done += block {
		dotsBlockAVX512(&z[done*n], n, whole, &data[0], stride, &w[done*cols], cols)
		for j := done; whole < n && j < done+block; j++ {
			Dots(z[j*n+whole:(j+1)*n], data[whole*stride:], stride, w[j*cols:(j+1)*cols])
		}
	}
	return done
}

// addBlocks does AddScaledMany for as many sums as it returns.
func addBlocks(g []float64, gStride, cols int, data []float64, stride int, c []float64, n int) (done int) {
	whole := n &^ (block - 1)
	if active != avx512 || whole == 0 {
		return 0
	}
	for ; (done+block)*n <= len(c); done += block {
		addBlockAVX512(&g[done*gStride], gStride, cols, &data[0], stride, &c[done*n], n, whole)
		for j := done; whole < n && j < done+block; j++ {
			AddScaled(g[j*gStride:j*gStride+cols], data[whole*stride:], stride, c[j*n+whole:(j+1)*n])
		}
	}
	return done
}
