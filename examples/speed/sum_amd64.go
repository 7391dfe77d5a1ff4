//go:build !purego

package main

import "golang.org/x/sys/cpu"

func addParts(s *[32]float64, x []float64) {
	switch {
	case cpu.X86.HasAVX512F:
		sumAVX512(&s[0], &x[0], len(x))
	case cpu.X86.HasAVX2:
		sumAVX2(&s[0], &x[0], len(x))
	default:
		addPartsGo(s, x)
	}
}
