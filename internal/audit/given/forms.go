package given

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
)

// Form is a way to give rows.
type Form struct {
	Name  string
	X     mat.Matrix
	Y     []float64
	Facts dpglm.Facts
	More  []dpglm.RowDetail
}

// Forms are rows of all kinds: dense and sparse, of one person each or of several, with weights
// and offsets, some longer than the bound and some with values outside of their ranges.
func Forms(n, d int) []Form {
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	persons, weights, offsets := make([]int, n), make([]float64, n), make([]float64, n)
	names, ranges := make([]string, d), map[string][2]float64{}
	for j := range d {
		names[j] = fmt.Sprint("c", j)
		ranges[names[j]] = [2]float64{-0.9, 0.8}
	}
	for i := range n {
		for j := range d {
			if r.IntN(3) > 0 {
				x.Set(i, j, r.Float64()*2-1)
			}
		}
		if x.At(i, 0)+x.At(i, 1) > r.NormFloat64()/2 {
			y[i] = 1
		}
		persons[i], weights[i], offsets[i] = r.IntN(n/2), r.Float64(), r.NormFloat64()
	}
	sparse := Sparsely(x)
	bounds := dpglm.Bounds{Feature: 1.5, Label: 1, Intercept: true}
	of := dpglm.Persons{Of: persons, Count: n / 2, MaxRows: 3}
	return []Form{
		{"dense", x, y, bounds, nil},
		{"sparse", sparse, y, bounds, nil},
		{"long bound", x, y, dpglm.Bounds{Feature: 10, Label: 1}, nil},
		{"schema", x, y, dpglm.Schema{Columns: names, Numeric: ranges, Label: 1, Intercept: true}, nil},
		{"sparse schema", sparse, y, dpglm.Schema{Columns: names, Numeric: ranges, Label: 1, Intercept: true}, nil},
		{"persons", x, y, bounds, []dpglm.RowDetail{of}},
		{"persons, weights, offsets", sparse, y, bounds, []dpglm.RowDetail{of, dpglm.Weights{Of: weights, Max: 0.8}, dpglm.Offsets{Of: offsets, Range: [2]float64{-1, 1}}}},
	}
}

// Sparsely is a dense matrix without its zeros.
func Sparsely(x *mat.Dense) *dpglm.Sparse {
	n, d := x.Dims()
	indptr, indices, values := []int{0}, []int(nil), []float64(nil)
	for i := range n {
		for j := range d {
			if v := x.At(i, j); v != 0 {
				indices, values = append(indices, j), append(values, v)
			}
		}
		indptr = append(indptr, len(indices))
	}
	s, err := dpglm.NewSparse(n, d, indptr, indices, values)
	if err != nil {
		panic(err)
	}
	return s
}
