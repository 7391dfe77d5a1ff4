package evaluate

import (
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/losses"
)

// grades makes figures of counts of rows of levels, in cells of scores.
type grades struct {
	k      int
	likely []int       // of each cell, its most likely level
	mean   [][]float64 // of each level, its mean probability in each cell
	loss   [][]float64 // and the mean of −log of that
	square []float64   // of each cell, the mean sum of squared probabilities
	order  [][]int     // of each level, cells by its mean probability, the least first
}

func newGrades(l losses.Ordinal, edges []float64, beyond float64) *grades {
	c := &grades{k: len(l.Thresholds) + 1}
	at := ends(edges, beyond)
	c.mean, c.loss = make([][]float64, c.k), make([][]float64, c.k)
	for j := range len(at) - 1 {
		mean, loss, square := make([]float64, c.k), make([]float64, c.k), 0.0
		for i := range points {
			z := within(at[j], at[j+1], i)
			for y, q := range l.Probabilities(z) {
				mean[y] += q / points
				loss[y] += l.Value(z, float64(y)) / points
				square += float64(q*q) / points
			}
		}
		for y := range c.k {
			c.mean[y], c.loss[y] = append(c.mean[y], mean[y]), append(c.loss[y], loss[y])
		}
		c.square = append(c.square, square)
		c.likely = append(c.likely, floats.MaxIdx(l.Probabilities((at[j]+at[j+1])/2)))
	}
	for y := range c.k {
		order := make([]int, len(c.square))
		for j := range order {
			order[j] = j
		}
		sort.SliceStable(order, func(a, b int) bool { return c.mean[y][order[a]] < c.mean[y][order[b]] })
		c.order = append(c.order, order)
	}
	return c
}

// of are the counts of a level.
func (c *grades) of(y int, counts []float64) []float64 {
	return counts[y*len(c.square) : (y+1)*len(c.square)]
}

// confusion is how many rows of each level are taken for each.
func (c *grades) confusion(counts []float64) []float64 {
	list := make([]float64, c.k*c.k)
	for y := range c.k {
		for j, v := range c.of(y, counts) {
			list[y*c.k+c.likely[j]] += v
		}
	}
	return list
}

// figures are those of all rows, then those of each level.
func (c *grades) figures(counts [][]float64) []reading {
	var n, loss, brier float64
	for y := range c.k {
		for j, v := range c.of(y, counts[0]) {
			n += v
			loss += float64(v * c.loss[y][j])
			brier += float64(v * (1 - 2*c.mean[y][j] + c.square[j]))
		}
	}
	list := append(confused(c.confusion(counts[0]), n, c.k), c.areas(ranked, counts[0])...)
	return append(list, reading{logLoss, loss / n}, reading{brierSum, brier / n})
}

// areas are those under the ROC curves of levels' probabilities, and their mean.
func (c *grades) areas(by ranking, counts []float64) (list []reading) {
	rows := make([]float64, len(c.square))
	for y := range c.k {
		floats.Add(rows, c.of(y, counts))
	}
	for y := range c.k {
		list = append(list, c.area(by, y, c.of(y, counts), rows))
	}
	return withMean(list)
}

// area is that of a level.
func (c *grades) area(by ranking, y int, own, rows []float64) reading {
	ones, zeros := make([]float64, len(own)), make([]float64, len(own))
	for k, j := range c.order[y] {
		ones[k], zeros[k] = own[j], rows[j]-own[j]
	}
	return by(area.of(y), ones, zeros)
}
