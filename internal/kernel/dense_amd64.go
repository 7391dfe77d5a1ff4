//go:build !purego

package kernel

func dots(z, data []float64, stride int, w []float64) {
	switch active {
	case avx512:
		dotsAVX512(&z[0], len(z), &data[0], stride, &w[0], len(w))
	case avx2:
		dotsAVX2(&z[0], len(z), &data[0], stride, &w[0], len(w))
	default:
		dotsGo(z, data, stride, w)
	}
}

func addScaled(g, data []float64, stride int, c []float64) {
	switch active {
	case avx512:
		addScaledAVX512(&g[0], len(g), &data[0], stride, &c[0], len(c))
	case avx2:
		addScaledAVX2(&g[0], len(g), &data[0], stride, &c[0], len(c))
	default:
		addScaledGo(g, data, stride, c)
	}
}

// addNarrow gives the assembly as many columns at a time as it has registers for.
func addNarrow(g, data []float64, stride int, c []float64) {
	switch active {
	case avx512:
		addNarrowAVX512(&g[0], len(g), &data[0], stride, &c[0], len(c))
	case avx2:
		for j := 0; j < len(g); j += 4 {
			addNarrowAVX2(&g[j], min(len(g)-j, 4), &data[j], stride, &c[0], len(c))
		}
	default:
		addNarrowGo(g, data, stride, c)
	}
}
