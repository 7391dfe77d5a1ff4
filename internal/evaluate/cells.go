package evaluate

import "math"

// points are so many scores in a cell, for means over it.
const points = 8

// cells are the ends of cells of scores, increasing.
type cells []float64

// ends are those of all cells between edges, the outermost ones as wide as rows are taken to
// reach beyond.
func ends(edges []float64, beyond float64) cells {
	return append(append(cells{edges[0] - beyond}, edges...), edges[len(edges)-1]+beyond)
}

// within is the i-th of the points of a cell.
func within(low, high float64, i int) float64 {
	return low + float64((high-low)*(float64(i)+0.5)/points)
}

// spread are the counts of cells at their points. From one point to the next rows change by a factor, that by which the cells on either
// side of a cell differ. Rows that scores tell apart don't lie alike in a cell: ones are at its upper end, zeros at its lower.
func (c cells) spread(counts []float64, noise float64) []float64 {
	dense, out := c.dense(counts, noise), make([]float64, 0, points*len(counts))
	for k, rows := range counts {
		low, high := max(k-1, 0), min(k+1, len(counts)-1)
		rise := 0.0 // of the logarithm, to the next point
		if apart := (c[high] + c[high+1] - c[low] - c[low+1]) / 2; apart > 0 {
			rise = (dense[high] - dense[low]) / apart * (c[k+1] - c[k]) / points
		}
		var parts [points]float64
		sum := 0.0
		for i := range points {
			at := float64(i)
			if rise > 0 { // the largest is 1
				at -= points - 1
			}
			parts[i] = math.Exp(rise * at)
			sum += parts[i]
		}
		for _, part := range parts {
			out = append(out, rows*part/sum)
		}
	}
	return out
}

// dense are logarithms of how many rows there are in cells for their width. A standard deviation of noise and a row are added,
// spread evenly over all, so that noise hardly makes a difference. A cell without a width is as dense as the one before.
func (c cells) dense(counts []float64, noise float64) []float64 {
	list, even := make([]float64, len(counts)), (noise+1)*float64(len(counts))/(c[len(counts)]-c[0])
	for k, rows := range counts {
		switch width := c[k+1] - c[k]; {
		case width > 0:
			list[k] = math.Log(math.Max(rows, 0)/width + even)
		case k > 0:
			list[k] = list[k-1]
		default:
			list[k] = math.Log(even)
		}
	}
	return list
}
