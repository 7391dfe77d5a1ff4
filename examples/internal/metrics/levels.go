package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// OfLevels compares the probabilities of K levels, n×K, with the levels that rows have, 0 to
// K−1: log_loss, the mean of −log of the level's own, at least [Saturated]; accuracy of
// the most likely level; and auc, the mean over [LevelAUC] where it is defined.
func OfLevels(p *mat.Dense, y []float64) []Metric {
	var loss, right, auc, defined float64
	for i, level := range y {
		row := p.RawRowView(i)
		loss -= math.Log(math.Max(row[int(level)], Saturated)) / float64(len(y))
		if floats.MaxIdx(row) == int(level) {
			right += 1 / float64(len(y))
		}
	}
	for _, v := range LevelAUC(p, y) {
		if !math.IsNaN(v) {
			auc, defined = auc+v, defined+1
		}
	}
	return []Metric{{"log_loss", loss}, {"accuracy", right}, {"auc", auc / defined}}
}

// LevelAUC is the [AUC] of each level's probability for rows of this level against all
// others; NaN where all or no rows are of it.
func LevelAUC(p *mat.Dense, y []float64) []float64 {
	_, k := p.Dims()
	of, ones := make([]float64, k), make([]float64, len(y))
	for level := range of {
		for i, v := range y {
			ones[i] = 0
			if int(v) == level {
				ones[i] = 1
			}
		}
		of[level] = AUC(mat.Col(nil, level, p), ones)
	}
	return of
}

// Confusion counts rows by their level, first, and the most likely one.
func Confusion(p *mat.Dense, y []float64) [][]int {
	_, k := p.Dims()
	counts := make([][]int, k)
	for level := range counts {
		counts[level] = make([]int, k)
	}
	for i, level := range y {
		counts[int(level)][floats.MaxIdx(p.RawRowView(i))]++
	}
	return counts
}
