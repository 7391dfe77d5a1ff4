//go:build !amd64 || purego

package kernel

func dots(z, data []float64, stride int, w []float64) { dotsGo(z, data, stride, w) }

func addScaled(g, data []float64, stride int, c []float64) { addScaledGo(g, data, stride, c) }

func addNarrow(g, data []float64, stride int, c []float64) { addNarrowGo(g, data, stride, c) }
