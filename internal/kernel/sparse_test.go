package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Scores and sums of sparse rows, empty ones among them, take the entries in order and
// round each product.
func TestSparseRows(t *testing.T) {
	const rows, dim = 40, 30
	r := rand.New(rand.NewPCG(5, 6))
	var start, end, indices []int
	for range rows {
		start = append(start, len(indices))
		for j := range dim {
			if r.IntN(4) == 0 {
				indices = append(indices, j)
			}
		}
		end = append(end, len(indices))
	}
	start, end = append(start, 7), append(end, 7)
	v, z := make([]float64, dim), make([]float64, rows+1)
	sum, values := make([]float64, dim), make([]float64, len(indices))
	for _, x := range [][]float64{v, sum, values} {
		fill(r, x)
	}
	want := slices.Clone(sum)
	z[rows] = 5
	SparseDots(z, start, end, indices, values, v)
	scores := make([]float64, len(z))
	for k := range scores {
		for i := start[k]; i < end[k]; i++ {
			scores[k] += float64(values[i] * v[indices[i]])
		}
	}
	sameBits(t, "scores", z, scores)
	AddSparse(sum, z, start, end, indices, values)
	for k, c := range z {
		for i := start[k]; i < end[k]; i++ {
			want[indices[i]] += float64(c * values[i])
		}
	}
	sameBits(t, "sums", sum, want)
}
