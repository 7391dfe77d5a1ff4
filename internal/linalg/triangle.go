package linalg

import "gonum.org/v1/gonum/mat"

// Triangle are the rows of a symmetric matrix, from the diagonal on; none of nil.
func Triangle(m *mat.SymDense) [][]float64 {
	if m == nil {
		return nil
	}
	n := m.SymmetricDim()
	rows := make([][]float64, n)
	for i := range rows {
		for j := i; j < n; j++ {
			rows[i] = append(rows[i], m.At(i, j))
		}
	}
	return rows
}
