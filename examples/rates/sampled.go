package main

import (
	"math/rand/v2"

	"github.com/dpglm/dpglm"
)

// sampled is an i.i.d. sample of the population that blocks describe: a row is e_j with
// the probability of block j's share, its label ±1 of mean B/√count. The excess risk is
// the population's, so that it has the statistical error, too.
type sampled struct {
	blocks
	seed uint64
}

func (s sampled) data() (*dpglm.Dataset, error) {
	r := rand.New(rand.NewPCG(s.seed, 1))
	rows, labels := make([][]float64, s.count), 0
	for range s.n {
		j := r.IntN(s.n) / s.rows
		if j >= s.count {
			continue // a row of zeros
		}
		y := -1.0
		if r.Float64() < (1+s.mean())/2 {
			y = 1
		}
		rows[j] = append(rows[j], y)
		labels++
	}
	indptr, indices, values := make([]int, s.n+1), make([]int, 0, labels), make([]float64, 0, labels)
	y := make([]float64, 0, s.n)
	for j, block := range rows {
		for range block {
			indices, values = append(indices, j), append(values, 1)
		}
		y = append(y, block...)
	}
	for i := range s.n {
		indptr[i+1] = min(i+1, labels)
	}
	x, err := dpglm.NewSparse(s.n, s.d, indptr, indices, values)
	if err != nil {
		return nil, err
	}
	return dpglm.NewDataset(x, append(y, make([]float64, s.n-labels)...), dpglm.Bounds{Feature: 1, Label: 1})
}
