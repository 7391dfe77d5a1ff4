//go:build !amd64 || purego

package kernel

func hasLogistic() bool { return false }

func addLogistic(_ *float64, _ int, _ *float64, _, _, _ int, _, _, _, _ *float64, _, _, _ float64) {}
