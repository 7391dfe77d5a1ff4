package questions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Narrow rows in place, of which many tiles are added at once, have the gradient of the same
// rows tile by tile, to the last bit: with one block and several, with an end of any length,
// with rows beyond the bound or none, and with rows of a wider matrix.
func TestLogisticAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, n := range []int{5, 96, 104, 2000, 9001, 20_000} {
		for _, d := range []int{1, 3, 10, 12, 16} {
			wide := randomMatrix(r, n, d+1, 1)
			x := wide.Slice(0, n, 0, d).(*mat.Dense)
			y := make([]float64, n)
			for i := range y {
				y[i] = float64(r.IntN(2))
			}
			bounds := []encoding.Encoding{encoding.NewIdentity(d, 100, false), encoding.NewIdentity(d, math.Sqrt(float64(d)), true), affine(t, d, true)}
			for k, enc := range bounds {
				for _, clip := range []float64{0.4, math.Inf(1)} {
					at, one := sumsOf(t, x, y, 0, enc, losses.Logistic{}), sumsOf(t, opaque{x}, y, 0, enc, losses.Logistic{})
					w := randomVector(r, enc.Dim(), 1.5)
					got, want := make([]float64, enc.Dim()), make([]float64, enc.Dim())
					if err := at.Gradient(ctx, got, w, clip); err != nil {
						t.Fatal(err)
					}
					if err := one.Gradient(ctx, want, w, clip); err != nil {
						t.Fatal(err)
					}
					if what := fmt.Sprintf("%d × %d, encoding %d, clip %g", n, d, k, clip); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("%s: %v at once, %v tile by tile", what, got, want)
					}
				}
			}
		}
	}
}

// Rows that count shares, whose scores have offsets, or that are in another order than the
// caller's, aren't added at once, wherever they lie.
func TestLogisticAtOnceIsForPlainRows(t *testing.T) {
	const n, d = 700, 3
	r := rand.New(rand.NewPCG(63, 64))
	x, y, off := randomMatrix(r, n, d, 1), make([]float64, n), make([]float64, n)
	o := rows.Owners{Weights: make([]float64, n), Heavy: 1}
	for i := range n {
		y[i], off[i], o.Weights[i] = float64(r.IntN(2)), 2*r.Float64()-1, r.Float64()
	}
	enc := encoding.NewIdentity(d, 1, true)
	file := inFile(t, x, y, enc)
	w := randomVector(r, enc.Dim(), 1.5)
	for name, of := range map[string]func(t *rows.Table) (*rows.Table, []int, []float64){
		"shares": func(table *rows.Table) (*rows.Table, []int, []float64) {
			owned, order, err := rows.Own(table, o)
			if err != nil {
				t.Fatal(err)
			}
			return owned, order, nil
		},
		"offsets": func(table *rows.Table) (*rows.Table, []int, []float64) {
			return table, nil, off
		},
		"order": func(table *rows.Table) (*rows.Table, []int, []float64) {
			order := rand.New(rand.NewPCG(1, 2)).Perm(n)[:n/2]
			return table.Pick(order), order, nil
		},
	} {
		gradient := func(table *rows.Table) []float64 {
			table, order, off := of(table)
			labels := y
			if len(order) > 0 {
				labels = blocks.Gather(y, order)
			}
			s, err := NewSums(table, labels, 0, 1, losses.Logistic{})
			if err != nil {
				t.Fatal(err)
			}
			if off != nil {
				s = s.Shift(off, rows.Range{-1, 1})
			}
			g := make([]float64, s.Dim())
			if err := s.Gradient(ctx, g, w, 0.4); err != nil {
				t.Fatal(err)
			}
			return g
		}
		want := gradient(mustTable(t, opaque{x}, enc))
		for where, table := range map[string]*rows.Table{"memory": mustTable(t, x, enc), "a file": file} {
			if got := gradient(table); !slices.Equal(got, want) {
				t.Errorf("%s in %s: %v, tile by tile %v", name, where, got, want)
			}
		}
	}
}
