//go:build !purego

package kernel

func addMoments(c, x, y []float64, stride, rows, width int) {
	switch active {
	case avx512:
		addMomentsAVX512(c, x, y, stride, rows, width)
	case avx2:
		addMomentsAVX2(c, x, y, stride, rows, width)
	default:
		addMomentsGo(c, x, y, stride, rows, width)
	}
}

func addMomentsAVX512(c, x, y []float64, stride, rows, width int) {
	switch width {
	case 24:
		moments8x24AVX512(&c[0], &x[0], &y[0], 8*stride, rows)
	case 16:
		moments8x16AVX512(&c[0], &x[0], &y[0], 8*stride, rows)
	default:
		moments8x8AVX512(&c[0], &x[0], &y[0], 8*stride, rows)
	}
}

// addMomentsAVX2 divides the block, for which it has too few registers.
func addMomentsAVX2(c, x, y []float64, stride, rows, width int) {
	for i := 0; i < momentsWidth; i += 4 {
		if width == 24 {
			moments4x12AVX2(&c[i*stride], &x[i], &y[0], 8*stride, rows)
			moments4x12AVX2(&c[i*stride+12], &x[i], &y[12], 8*stride, rows)
			continue
		}
		for j := 0; j < width; j += 8 {
			moments4x8AVX2(&c[i*stride+j], &x[i], &y[j], 8*stride, rows)
		}
	}
}
