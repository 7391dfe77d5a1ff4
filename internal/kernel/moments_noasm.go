//go:build !amd64 || purego

package kernel

func addMoments(c, x, y []float64, stride, rows, width int) {
	addMomentsGo(c, x, y, stride, rows, width)
}
