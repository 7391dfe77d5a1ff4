package sketch

import (
	"math"
	"math/rand/v2"

	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/mechanisms"
)

// Map is a linear map, safe for concurrent use. It is shown private rows: only this
// package can implement it.
type Map interface {
	oblivious()
	// Dims returns k and d.
	Dims() (k, d int)
	// Apply sets dst, of length k, to Φx.
	Apply(dst, x []float64)
	// ApplySparse sets dst to Φx for the x with the given nonzeros.
	ApplySparse(dst []float64, indices []int, values []float64)
	// Transpose sets dst, of length d, to Φᵀw.
	Transpose(dst, w []float64)
}

// dense is a map with a stored matrix, row by row of its transpose: d×k.
type dense struct {
	k, d int
	data []float64
}

// NewGaussian has independent N(0, 1/k) entries. It stores d·k numbers.
func NewGaussian(k, d int, seed uint64) Map {
	r := rand.New(mechanisms.NewSeededSource(seed))
	return specified{newDense(k, d, r.NormFloat64), Spec{Kind: "gaussian", K: k, D: d, Seed: seed}}
}

// NewRademacher has independent entries ±1/√k. It stores d·k numbers.
func NewRademacher(k, d int, seed uint64) Map {
	src := mechanisms.NewSeededSource(seed)
	var word, left uint64
	return specified{newDense(k, d, func() float64 {
		if left == 0 {
			word, left = src.Uint64(), 64
		}
		bit := word & 1
		word, left = word>>1, left-1
		return 2*float64(bit) - 1
	}), Spec{Kind: "rademacher", K: k, D: d, Seed: seed}}
}

func newDense(k, d int, entry func() float64) Map {
	m := &dense{k, d, make([]float64, k*d)}
	scale := 1 / math.Sqrt(float64(k))
	for i := range m.data {
		m.data[i] = scale * entry()
	}
	return m
}

func (m *dense) oblivious() {}

func (m *dense) Dims() (k, d int) { return m.k, m.d }

func (m *dense) Apply(dst, x []float64) {
	clear(dst)
	kernel.AddScaled(dst, m.data, m.k, x)
}

func (m *dense) ApplySparse(dst []float64, indices []int, values []float64) {
	clear(dst)
	for i, j := range indices {
		kernel.AddScaled(dst, m.data[j*m.k:], m.k, values[i:i+1])
	}
}

func (m *dense) Transpose(dst, w []float64) {
	kernel.Dots(dst, m.data, m.k, w)
}

// sparse has a few entries ±1/√s in each column, one in each of s blocks of rows
// (Kane and Nelson 2014).
type sparse struct {
	k, d, s int
	rows    []int32 // of column j's entries, from j·s
	signs   []float64
}

// columnEntries is how many entries a column of the sparse map has, where k is
// no smaller.
const columnEntries = 8

// NewSparse has min(k, 8) nonzeros in each column: it is for sparse rows, whose
// images it makes in time proportional to their nonzeros.
func NewSparse(k, d int, seed uint64) Map {
	s := min(k, columnEntries)
	m := &sparse{k, d, s, make([]int32, d*s), make([]float64, d*s)}
	r := rand.New(mechanisms.NewSeededSource(seed))
	value := 1 / math.Sqrt(float64(s))
	for i := range m.rows {
		b := i % s
		lo, hi := b*k/s, (b+1)*k/s
		m.rows[i] = int32(lo + r.IntN(hi-lo))
		m.signs[i] = value
		if r.Uint64()>>63 == 1 {
			m.signs[i] = -value
		}
	}
	return specified{m, Spec{Kind: "sparse", K: k, D: d, Seed: seed}}
}

func (m *sparse) oblivious() {}

func (m *sparse) Dims() (k, d int) { return m.k, m.d }

func (m *sparse) add(dst []float64, j int, v float64) {
	for i := j * m.s; i < (j+1)*m.s; i++ {
		dst[m.rows[i]] += float64(m.signs[i] * v)
	}
}

func (m *sparse) Apply(dst, x []float64) {
	clear(dst)
	for j, v := range x {
		if v != 0 {
			m.add(dst, j, v)
		}
	}
}

func (m *sparse) ApplySparse(dst []float64, indices []int, values []float64) {
	clear(dst)
	for i, j := range indices {
		m.add(dst, j, values[i])
	}
}

func (m *sparse) Transpose(dst, w []float64) {
	for j := range dst {
		var sum float64
		for i := j * m.s; i < (j+1)*m.s; i++ {
			sum += float64(m.signs[i] * w[m.rows[i]])
		}
		dst[j] = sum
	}
}
