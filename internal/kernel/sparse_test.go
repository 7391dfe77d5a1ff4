package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Scores and sums of sparse rows with any number of entries take them in order and
// round each product. Rows of one number of entries come alone, and in tiles with rows
// of others.
func TestSparseRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for entries := range mostLength + 1 {
		testSparseRows(t, r, []int{entries})
		testSparseRows(t, r, []int{r.IntN(20), entries, 0, r.IntN(20), entries})
	}
	for rows := range 257 { // all heights of tiles
		sizes := make([]int, rows)
		for k := range sizes {
			sizes[k] = r.IntN(8)
		}
		testSparseRows(t, r, sizes)
	}
}

// testSparseRows tests a tile whose rows have the given numbers of entries.
func testSparseRows(t *testing.T, r *rand.Rand, sizes []int) {
	t.Helper()
	for _, k := range kinds {
		testSparseNumbers(t, r, k, sizes)
	}
}

func testSparseNumbers(t *testing.T, r *rand.Rand, k kind, sizes []int) {
	t.Helper()
	dim := 1
	for _, n := range sizes {
		dim = max(dim, n+r.IntN(10))
	}
	var start, end, indices []int
	for _, n := range sizes {
		start = append(start, len(indices))
		columns := r.Perm(dim)[:n]
		slices.Sort(columns)
		indices = append(indices, columns...)
		end = append(end, len(indices))
	}
	v, sum, values, z := make([]float64, dim), make([]float64, dim), make([]float64, len(indices)), make([]float64, len(sizes))
	for _, x := range [][]float64{v, sum, values, z} { // z is overwritten
		k.fill(r, x)
	}
	scores, want := make([]float64, len(sizes)), slices.Clone(sum)
	for k := range scores {
		for i := start[k]; i < end[k]; i++ {
			scores[k] += float64(values[i] * v[indices[i]])
		}
	}
	for k, c := range scores {
		for i := start[k]; i < end[k]; i++ {
			want[indices[i]] += float64(c * values[i])
		}
	}
	SparseDots(z, start, end, indices, values, v)
	sameBits(t, fmt.Sprintf("scores of rows of %v entries", sizes), z, scores)
	AddSparse(sum, scores, start, end, indices, values)
	sameBits(t, fmt.Sprintf("sum of rows of %v entries", sizes), sum, want)
}
