package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

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
	for dim := 1; dim <= mostLength; dim++ {
		m, want, k := NewMoments(dim), zeros(dim), kinds[dim/2%len(kinds)]
		for _, rows := range []int{0, 1, 2, 11} {
			a := make([]float64, rows*m.Stride)
			for i := range rows {
				k.fill(r, a[i*m.Stride:][:dim])
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

// The same for all heights of tiles.
func TestMomentsOfTiles(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for i := range 130 * len(kinds) {
			rows, k := i/len(kinds), kinds[i%len(kinds)]
			for _, dim := range []int{1, 8, 13, 24} {
				m, want := NewMoments(dim), zeros(dim)
				a := make([]float64, rows*m.Stride)
				for i := range rows {
					k.fill(r, a[i*m.Stride:][:dim])
				}
				m.AddRows(a, rows)
				momentsByDefinition(want, a, m.Stride, rows)
				checkMoments(t, m, want)
			}
		}
	})
}

func zeros(dim int) [][]float64 {
	rows := make([][]float64, dim)
	for j := range rows {
		rows[j] = make([]float64, dim)
	}
	return rows
}

// A sparse row of any number of entries adds the products of each two of them, once.
func TestSparseMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for entries := range mostLength + 1 {
		dim := 1 + entries + r.IntN(20)
		for _, k := range kinds {
			m, want := NewMoments(dim), zeros(dim)
			columns, values := r.Perm(dim)[:entries], make([]float64, entries)
			slices.Sort(columns)
			k.fill(r, values)
			m.AddSparse(columns, values)
			for i, j := range columns {
				for l, other := range columns[i:] {
					want[j][other] = math.FMA(values[i], values[i+l], want[j][other])
				}
			}
			checkMoments(t, m, want)
		}
	}
}

// Rows that are mostly zeros give the same sum whether or not only their entries are
// added.
func TestSparseMomentsAreThoseOfFullRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for dim := 1; dim <= 40; dim++ {
			full, sparse := NewMoments(dim), NewMoments(dim)
			const rows = 20
			a := make([]float64, rows*full.Stride)
			for i := range rows {
				row := a[i*full.Stride:][:dim]
				columns, values := r.Perm(dim)[:r.IntN(dim/3+1)], []float64{}
				slices.Sort(columns)
				for _, j := range columns {
					row[j] = nasty(r)
					values = append(values, row[j])
				}
				sparse.AddSparse(columns, values)
			}
			full.AddRows(a, rows)
			for j := range dim {
				for k := j; k < dim; k++ {
					if x, y := full.Sum[j*full.Stride+k], sparse.Sum[j*full.Stride+k]; x != y { // 0 and −0 are one
						t.Fatalf("dim %d, element %d, %d: %x for full rows, %x for sparse ones", dim, j, k, x, y)
					}
				}
			}
		}
	})
}

// Adding a sum adds each element once.
func TestAddMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for dim := 1; dim <= mostLength; dim++ {
		a, b, want := NewMoments(dim), NewMoments(dim), zeros(dim)
		numbers := kinds[dim%len(kinds)]
		numbers.fill(r, a.Sum)
		numbers.fill(r, b.Sum)
		for j := range dim {
			for k := j; k < dim; k++ {
				want[j][k] = a.Sum[j*a.Stride+k] + b.Sum[j*b.Stride+k]
			}
		}
		a.Add(b)
		checkMoments(t, a, want)
	}
}
