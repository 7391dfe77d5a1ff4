//go:build !amd64 || purego

package kernel

func dotsBlocks([]float64, int, []float64, int, []float64, int) int { return 0 }

func addBlocks([]float64, int, int, []float64, int, []float64, int) int { return 0 }
