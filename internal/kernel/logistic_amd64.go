//go:build !purego

package kernel

func hasLogistic() bool { return active == avx512 }

func addLogistic(g *float64, cols int, data *float64, stride, n, tile int, w, signed, shrink, e *float64, limit, offset, intercept float64) {
	addLogisticAVX512(g, cols, data, stride, n, tile, w, signed, shrink, e, limit, offset, intercept)
}
