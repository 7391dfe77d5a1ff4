//go:build !purego

package kernel

func exps(x []float64) {
	switch active {
	case avx512:
		expsAVX512(&x[0], len(x))
	case avx2:
		expsAVX2(&x[0], len(x))
	default:
		expsGo(x)
	}
}

func logisticSlopes(z, y []float64) {
	switch active {
	case avx512:
		logisticSlopesAVX512(&z[0], len(z), &y[0])
	case avx2:
		logisticSlopesAVX2(&z[0], len(z), &y[0])
	default:
		logisticSlopesGo(z, y)
	}
}

func clip(c, norm []float64, limit float64) {
	switch active {
	case avx512:
		clipAVX512(&c[0], len(c), &norm[0], limit)
	case avx2:
		clipAVX2(&c[0], len(c), &norm[0], limit)
	default:
		clipGo(c, norm, limit)
	}
}
