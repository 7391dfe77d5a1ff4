package tabular

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/mechanisms"
)

// Split deals the rows 0 … n−1 into a training and a test part at random, by a
// public seed and without looking at them; each part is in ascending order. The
// test part has the given share of the rows, rounded.
func Split(n int, testShare float64, seed uint64) (train, test []int) {
	order := rand.New(mechanisms.NewSeededSource(seed)).Perm(n)
	cut := int(math.Round(testShare * float64(n)))
	test, train = order[:cut], order[cut:]
	slices.Sort(test)
	slices.Sort(train)
	return train, test
}

// Take copies the given rows of a matrix.
func Take(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	part := mat.NewDense(len(rows), d, nil)
	for k, i := range rows {
		part.SetRow(k, x.RawRowView(i))
	}
	return part
}

// TakeLabels copies the given labels.
func TakeLabels(y []float64, rows []int) []float64 {
	part := make([]float64, len(rows))
	for k, i := range rows {
		part[k] = y[i]
	}
	return part
}
