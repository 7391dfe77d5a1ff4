package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// nasty draws numbers of all magnitudes whose products stay finite, denormals and
// zeros among them.
func nasty(r *rand.Rand) float64 {
	switch v := math.Copysign(1+r.Float64(), r.Float64()-0.5); r.IntN(8) {
	case 0:
		return 0
	case 1:
		return math.Ldexp(v, -1074+r.IntN(60))
	case 2:
		return math.Ldexp(v, 400-r.IntN(800))
	default:
		return v
	}
}

// momentsByDefinition adds the rows one by one.
func momentsByDefinition(sum [][]float64, a []float64, stride, rows int) {
	for r := range rows {
		x := a[r*stride:]
		for j := range sum {
			for k := j; k < len(sum); k++ {
				sum[j][k] = math.FMA(x[j], x[k], sum[j][k])
			}
		}
	}
}

// Second moments are the chain of fused multiply-adds in the order of the rows, bit
// for bit, in all dimensions and for any number of rows, and stay so when rows
// arrive in parts.
func TestMoments(t *testing.T) { eachLevel(t, testMoments) }

func testMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for dim := 1; dim <= 70; dim++ {
		m, want := NewMoments(dim), make([][]float64, dim)
		for j := range want {
			want[j] = make([]float64, dim)
		}
		for _, rows := range []int{0, 1, 2, 13} {
			a := make([]float64, rows*m.Stride)
			for i := range rows {
				fill(r, a[i*m.Stride:][:dim])
			}
			m.AddRows(a, rows)
			momentsByDefinition(want, a, m.Stride, rows)
		}
		checkMoments(t, m, want)
	}
}

func checkMoments(t *testing.T, m *Moments, want [][]float64) {
	t.Helper()
	for j := range want {
		sameBits(t, fmt.Sprintf("dim %d, row %d", m.Dim, j), m.Sum[j*m.Stride+j:], want[j][j:])
	}
}

// Rows that are mostly zeros give the same sum when only their entries are added.
func TestSparseMoments(t *testing.T) { eachLevel(t, testSparseMoments) }

func testSparseMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for dim := 1; dim <= 40; dim++ {
		full, sparse := NewMoments(dim), NewMoments(dim)
		const rows = 20
		a := make([]float64, rows*full.Stride)
		for i := range rows {
			var columns []int
			var values []float64
			row := a[i*full.Stride:][:dim]
			fill(r, row)
			for j := range row {
				if r.IntN(3) > 0 {
					row[j] = 0
					continue
				}
				columns, values = append(columns, j), append(values, row[j])
			}
			sparse.AddSparse(columns, values)
		}
		full.AddRows(a, rows)
		for j := range dim {
			for k := j; k < dim; k++ {
				if x, y := full.Sum[j*full.Stride+k], sparse.Sum[j*full.Stride+k]; x != y {
					t.Fatalf("dim %d, element %d, %d: %x for full rows, %x for sparse ones", dim, j, k, x, y)
				}
			}
		}
	}
}

// Adding a sum adds each element once.
func TestAddMoments(t *testing.T) {
	a, b := NewMoments(5), NewMoments(5)
	a.AddSparse([]int{0, 3}, []float64{1, 2})
	b.AddSparse([]int{3, 4}, []float64{3, 5})
	a.Add(b)
	checkMoments(t, a, [][]float64{{1, 0, 0, 2, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 13, 15}, {0, 0, 0, 0, 25}})
}
