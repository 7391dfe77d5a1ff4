//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// detect returns the best level that the processor and the operating system
// support.
func detect() level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return portable
	case x.HasAVX512F && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512BW && x.HasBMI2:
		return avx512
	default:
		return avx2
	}
}
