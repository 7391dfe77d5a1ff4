package rows

import (
	"context"
	"encoding/gob"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/kernel"
)

// weigh sets weights to those of the rows of a tile that starts at row lo.
type weigh func(weights []float64, rows tile, lo int)

// moments asks for Σᵢ xᵢxᵢᵀ over the bounded rows, Dim×Dim.
type moments struct{ nothing }

func (*moments) cut(t *Table) cut { return t.inMoments(t.enc.Dim()) }

func (*moments) adder(s *Sums) adder {
	return s.t.momentsAdder(func(weights []float64, _ tile, _ int) {
		for k := range weights {
			weights[k] = 1
		}
	})
}

// momentsAdder adds Σᵢ weights_i·xᵢxᵢᵀ, with weights of 0 or
// more. It takes O(n·Dim²) time, less for sparse rows without a schema, and for each
// goroutine Dim² numbers.
func (t *Table) momentsAdder(f weigh) adder {
	l := t.momentsLayout()
	return func(a *workspace, rows tile, lo int) {
		t.momentsTile(a.momentsRoom(t, l, t.enc.Dim()), rows, lo, f)
	}
}

// inMoments is the cut of dim×dim second moments.
func (t *Table) inMoments(dim int) cut {
	return cut{t.momentsLayout(), len(kernel.NewMoments(dim).Sum), dim}
}

// sumMoments is sum for second moments.
func (s *Sums) sumMoments(ctx context.Context, q asked) (*mat.SymDense, error) {
	total := kernel.NewMoments(q.cut(s.t).dim)
	err := s.sum(ctx, total.Sum, q)
	return symmetric(total), err
}

// symmetric is the matrix of a sum.
func symmetric(total *kernel.Moments) *mat.SymDense {
	var m mat.SymDense
	m.SetRawSymmetric(blas64.Symmetric{N: total.Dim, Stride: total.Stride, Data: total.Sum, Uplo: blas.Upper})
	return &m
}

// momentsLayout has fewer blocks than a gradient's, as merging one costs Dim², and
// at least so many rows a tile that reading and writing all sums for them is cheap.
func (t *Table) momentsLayout() blocks.Layout {
	const tileRows = 128
	l := blocks.Layout{N: t.layout.N, TileRows: tileRows, Persons: t.Persons}
	return l.Cut(min(max(l.N/max(4*tileRows, 2*t.enc.Dim()), 2), 64))
}

// momentsRounding bounds the Frobenius distance between how far Moments, without
// weights, moves when one row is replaced, as computed, and the exact difference of
// the two rows' xxᵀ. With m rows a block and B blocks:
//
//   - blocks without the replaced row have the same bits. An element of the block
//     with it is the end of a chain of m fused multiply-adds, off by γ_m times the
//     sum of its terms' magnitudes, and the matrix of these sums has norm at most
//     m·X²: γ_m·m·X² in each table;
//   - each of the B merges rounds a sum of norm at most n·X², in each table;
//   - an encoded row is off by slack·X, and its xxᵀ by twice slack·X², for both rows.
func (t *Table) momentsRounding() float64 {
	l, x := t.momentsLayout(), t.enc.FeatureBound()
	return x * x * (float64(2.2*encoding.Unit*l.Chain(0)) + float64(4.1*t.enc.Slack()))
}

// momentsRoom is what one goroutine needs for second moments.
type momentsRoom struct {
	weights []float64 // of the tile's rows
	norms   []float64 // and what else belongs to these
	row     []float64 // one row in a frame
	open    []float64 // of a person's rows, what has been added up so far
	encoded []float64 // encoded rows, times the roots of their weights
	values  []float64 // of a sparse row, likewise
	columns []int     // of these values, the intercept's included
	sum     kernel.Moments
}

// momentsRoom is the workspace's for a block's sum.
func (a *workspace) momentsRoom(t *Table, l blocks.Layout, dim int) *momentsRoom {
	if m := a.moments; m == nil || m.sum.Dim != dim || len(m.weights) != l.TileRows || len(m.row) != t.enc.Dim() {
		of := *kernel.NewMoments(dim)
		a.moments = &momentsRoom{weights: make([]float64, l.TileRows), norms: make([]float64, l.TileRows), row: make([]float64, t.enc.Dim()), open: make([]float64, t.enc.Dim()+1),
			encoded: make([]float64, l.TileRows*of.Stride), sum: kernel.Moments{Dim: dim, Stride: of.Stride}}
	}
	a.moments.sum.Sum = a.sum
	return a.moments
}

// momentsTile adds the moments of the rows of a tile, in their order.
func (t *Table) momentsTile(a *momentsRoom, rows tile, lo int, f weigh) {
	weights := a.weights[:rows.rows]
	f(weights, rows, lo)
	t.Persons.Weigh(weights, lo)
	if rows.sparse && t.enc.Scale == nil && t.scatterPays(rows) {
		t.scatterTile(a, rows, lo, weights)
		return
	}
	kept := 0
	for k, weight := range weights {
		if weight != 0 {
			u := a.encoded[kept*a.sum.Stride:][:a.sum.Dim]
			t.encode(u, rows, lo, k)
			floats.Scale(math.Sqrt(weight), u)
			kept++
		}
	}
	a.sum.AddRows(a.encoded, kept)
}

func (t *Table) scatterTile(a *momentsRoom, rows tile, lo int, weights []float64) {
	for k, weight := range weights {
		if weight == 0 {
			continue
		}
		a.values = append(a.values[:0], rows.data[rows.start[k]:rows.end[k]]...)
		a.columns = append(a.columns[:0], rows.indices[rows.start[k]:rows.end[k]]...)
		floats.Scale(factor(t.shrink, lo+k), a.values)
		if t.enc.Intercept {
			a.values, a.columns = append(a.values, t.enc.Constant), append(a.columns, t.enc.Columns)
		}
		floats.Scale(math.Sqrt(weight), a.values)
		a.sum.AddSparse(a.columns, a.values)
	}
}

// Quadratic answers with the gradient sum of the squared loss without clip, in
// O(Dim²) for each w, from second moments and the gradient sum at zero.
type Quadratic struct {
	s       *Sums
	stride  int
	moments []float64 // both triangles, rows stride apart
	atZero  []float64
}

// Quadratic forms the moments, in two passes. The loss must be losses.Squared.
func (s *Sums) Quadratic(ctx context.Context) (*Quadratic, error) {
	dim := s.Dim()
	q := &Quadratic{s: s, atZero: make([]float64, dim)}
	if err := s.Gradient(ctx, q.atZero, make([]float64, dim), math.Inf(1)); err != nil {
		return nil, err
	}
	m, err := s.sumMoments(ctx, &moments{})
	if err != nil {
		return nil, err
	}
	upper := m.RawSymmetric()
	q.stride, q.moments = upper.Stride, upper.Data
	for j := range dim {
		for k := range j {
			q.moments[j*q.stride+k] = q.moments[k*q.stride+j]
		}
	}
	return q, nil
}

// Gradient sets dst to the gradient sum at w, moments·w + atZero.
func (q *Quadratic) Gradient(dst, w []float64) {
	kernel.Dots(dst, q.moments, q.stride, w)
	for j, v := range q.atZero {
		dst[j] += v
	}
}

// Sensitivity bounds the L2 distance between Gradient's answers at a w of norm r
// on neighbouring tables, as computed. In exact arithmetic the answer is the
// gradient sum. To what GradientSensitivity counts for the sum at zero, rounding
// adds that of the moments, times r, and that of the product and its sum with the
// one at zero: (Dim+2)·u·n·X·(X·r + S₀) in each answer, S₀ the largest slope at
// zero weights, of the offsets there are.
func (q *Quadratic) Sensitivity(r float64) float64 {
	n, dim, x := float64(q.s.Len()), float64(q.s.Dim()), q.s.FeatureBound()
	product := (dim + 2) * n * x * (float64(x*r) + q.s.Constants(0).Slope)
	return q.s.GradientSensitivity(r, math.Inf(1)) + float64(r*q.s.t.momentsRounding()) + float64(2.2*encoding.Unit*product)
}

func init() {
	gob.Register(&moments{})
}
