package main

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// blocks is a data set of the shape that the paper's Theorem 4 uses, for the squared loss
// ½(⟨w, x⟩ − y)² at X = Y = H = 1: rows of block j are the basis vector e_j, with labels
// ±1 of mean b = B/√count, and what is left are rows of zeros. Its minimiser is b in each
// of count coordinates, of norm B, and its excess risk is known in closed form, as every
// block has the same fraction of the rows.
type blocks struct {
	n, d   int
	count  int     // blocks
	rows   int     // of each
	radius float64 // B
}

// worst is the instance of curvature near h, the fraction of the rows in each block, with as
// many blocks as there is room for: noise costs most where many directions count.
func worst(n, d int, radius, h float64) (blocks, bool) {
	rows := max(1, int(math.Round(float64(n)*h)))
	if rows > n {
		return blocks{}, false
	}
	b := blocks{n: n, d: d, count: min(d, n/rows), rows: rows, radius: radius}
	return b, b.mean() <= 1
}

// theorem4 is the instance of the proof of Theorem 4, whose p is a share of nonzero rows.
func theorem4(n, d int, radius, epsilon float64) (blocks, bool) {
	ne := float64(n) * epsilon
	p := min(1, math.Pow(float64(d), 1.5)/(radius*ne))
	count := max(1, int(math.Round(math.Pow(p*radius*ne, 2.0/3))))
	rows := int(p * float64(n) / float64(count)) // no more than there is room for
	b := blocks{n: n, d: d, count: count, rows: rows, radius: radius}
	return b, rows > 0 && count <= d && count*rows <= n && b.mean() <= 1
}

// mean is the mean label of a block, and each coordinate of the minimiser.
func (b blocks) mean() float64 { return b.radius / math.Sqrt(float64(b.count)) }

func (b blocks) curvature() float64 { return float64(b.rows) / float64(b.n) }

// labels has as many of 1 as fit, then -1, and one between them that makes the mean exact.
func (b blocks) labels() []float64 {
	y := make([]float64, b.rows)
	sum := b.mean() * float64(b.rows)
	for i := range y {
		left := float64(b.rows - i - 1) // labels of -1 yet to come
		y[i] = math.Max(-1, math.Min(1, sum+left))
		sum -= y[i]
	}
	return y
}

func (b blocks) data() (*dpglm.Dataset, error) {
	y := make([]float64, b.n)
	block := b.labels()
	for j := range b.count {
		copy(y[j*b.rows:], block)
	}
	return basisRows(b.n, b.d, b.count, b.rows, y)
}

func (b blocks) problem() dpglm.Problem {
	return dpglm.Problem{Loss: losses.Squared{}, Radius: b.radius}
}

// excess is L(w) − L(w*).
func (b blocks) excess(w []float64) float64 {
	sum := 0.0
	for _, v := range w[:b.count] {
		sum += (v - b.mean()) * (v - b.mean())
	}
	return b.curvature() / 2 * sum
}

func (b blocks) String() string {
	return fmt.Sprintf("%d blocks of %d rows", b.count, b.rows)
}

// basisRows makes the data set of rows e_j, rows of them for each of count blocks.
func basisRows(n, d, count, rows int, y []float64) (*dpglm.Dataset, error) {
	used := count * rows
	indptr, indices, values := make([]int, n+1), make([]int, used), make([]float64, used)
	for i := range n {
		indptr[i+1] = min(i+1, used)
	}
	for i := range used {
		indices[i], values[i] = i/rows, 1
	}
	x, err := dpglm.NewSparse(n, d, indptr, indices, values)
	if err != nil {
		return nil, err
	}
	return dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1, Label: 1})
}
