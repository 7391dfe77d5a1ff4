package evaluate

// points are so many scores in a cell, for means over it.
const points = 8

// ends are those of all cells between edges, the outermost ones as wide as rows are taken to
// reach beyond.
func ends(edges []float64, beyond float64) []float64 {
	return append(append([]float64{edges[0] - beyond}, edges...), edges[len(edges)-1]+beyond)
}

// within is the i-th of the points of a cell.
func within(low, high float64, i int) float64 {
	return low + float64((high-low)*(float64(i)+0.5)/points)
}
