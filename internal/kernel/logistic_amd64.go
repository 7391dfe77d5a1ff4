//go:build !purego

package kernel

func addLogistic(g *float64, cols int, data *float64, stride, n, tile int, w, y, norm, shrink, e *float64, limit, offset, intercept float64) int {
	if active != avx512 {
		return 0
	}
	addLogisticAVX512(g, cols, data, stride, n, tile, w, y, norm, shrink, e, limit, offset, intercept)
	return n
}
