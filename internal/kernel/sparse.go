package kernel

// The loops over sparse rows are plain Go on every machine. They wait for indices and
// scattered numbers: several partial sums gain nothing, AVX-512's gathers a quarter of
// the scores' time in rows of 100 entries and none in rows of 10, and Go checks the
// indices, which belong to the caller. Products are rounded before they are added,
// also where a compiler would fuse the two.

// SparseDots sets z[k] to ⟨x_k, v⟩ for rows x_k that have the values from start[k]
// to end[k] in the columns of indices.
func SparseDots(z []float64, start, end, indices []int, values, v []float64) {
	for k := range z {
		var sum float64
		row := values[start[k]:end[k]]
		for i, j := range indices[start[k]:end[k]] {
			sum += float64(row[i] * v[j])
		}
		z[k] = sum
	}
}

// AddSparse adds Σ c[k]·x_k to g, row by row.
func AddSparse(g, c []float64, start, end, indices []int, values []float64) {
	for k, factor := range c {
		row := values[start[k]:end[k]]
		for i, j := range indices[start[k]:end[k]] {
			g[j] += float64(factor * row[i])
		}
	}
}
