//go:build !purego

package kernel

func sum(s *[32]float64, x []float64) {
	switch active {
	case avx512:
		sumAVX512(&s[0], &x[0], len(x))
	case avx2:
		sumAVX2(&s[0], &x[0], len(x))
	default:
		sumGo(s, x)
	}
}
