//go:build !amd64 || purego

package kernel

func exps(x []float64) { expsGo(x) }

func logisticSlopes(z, y []float64) { logisticSlopesGo(z, y) }

func clip(c, norm []float64, limit float64) { clipGo(c, norm, limit) }
