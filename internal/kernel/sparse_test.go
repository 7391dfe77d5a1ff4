package kernel

import (
	"math/rand/v2"
	"testing"
)

// Scores and sums of sparse rows, empty ones among them, take the entries in order and
// round each product.
func TestSparseRows(t *testing.T) {
	const rows, dim = 40, 30
	r := rand.New(rand.NewPCG(5, 6))
	var start, end, indices []int
	var values []float64
	for range rows {
		start = append(start, len(indices))
		for j := range dim {
			if r.IntN(4) == 0 {
				indices, values = append(indices, j), append(values, nasty(r))
			}
		}
		end = append(end, len(indices))
	}
	start, end = append(start, 7), append(end, 7)
	v, z := make([]float64, dim), make([]float64, rows+1)
	sum, want := make([]float64, dim), make([]float64, dim)
	for j := range v {
		v[j] = nasty(r)
		sum[j] = nasty(r)
		want[j] = sum[j]
	}
	z[rows] = 5
	SparseDots(z, start, end, indices, values, v)
	for k := range z {
		var score float64
		for i := start[k]; i < end[k]; i++ {
			product := float64(values[i] * v[indices[i]])
			score += product
		}
		if z[k] != score {
			t.Errorf("row %d: score %x, want %x", k, z[k], score)
		}
	}
	AddSparse(sum, z, start, end, indices, values)
	for k, c := range z {
		for i := start[k]; i < end[k]; i++ {
			product := float64(c * values[i])
			want[indices[i]] += product
		}
	}
	for j := range sum {
		if sum[j] != want[j] {
			t.Errorf("column %d: %x, want %x", j, sum[j], want[j])
		}
	}
}
