package sketch

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpglm/dpglm/mechanisms"
)

// hadamard is the subsampled randomised Hadamard transform √(p/k)·R·H·D: random
// signs D, the orthonormal Walsh–Hadamard matrix H of the next power of two
// p ≥ d, and k of its rows R (Ailon and Chazelle 2009, Tropp 2011). It stores d
// signs and k row numbers, and takes O(p·log p) time.
type hadamard struct {
	k, d    int
	signs   []float64
	rows    []int
	scale   float64
	buffers sync.Pool
}

// NewHadamard is for dense rows.
func NewHadamard(k, d int, seed uint64) Map {
	p := 1
	for p < max(d, k) {
		p *= 2
	}
	m := &hadamard{k: k, d: d, signs: make([]float64, d), scale: 1 / math.Sqrt(float64(k))}
	r := rand.New(mechanisms.NewSeededSource(seed))
	for j := range m.signs {
		m.signs[j] = 1
		if r.Uint64()>>63 == 1 {
			m.signs[j] = -1
		}
	}
	m.rows = r.Perm(p)[:k]
	m.buffers.New = func() any { b := make([]float64, p); return &b }
	return specified{m, Spec{Kind: "hadamard", K: k, D: d, Seed: seed}}
}

func (m *hadamard) oblivious() {}

func (m *hadamard) Dims() (k, d int) { return m.k, m.d }

func (m *hadamard) Apply(dst, x []float64) {
	b := m.buffers.Get().(*[]float64)
	defer m.buffers.Put(b)
	clear(*b)
	for j, v := range x {
		(*b)[j] = m.signs[j] * v
	}
	m.sample(dst, *b)
}

func (m *hadamard) ApplySparse(dst []float64, indices []int, values []float64) {
	b := m.buffers.Get().(*[]float64)
	defer m.buffers.Put(b)
	clear(*b)
	for i, j := range indices {
		(*b)[j] = m.signs[j] * values[i]
	}
	m.sample(dst, *b)
}

func (m *hadamard) sample(dst, b []float64) {
	transform(b)
	for i, row := range m.rows {
		dst[i] = m.scale * b[row]
	}
}

func (m *hadamard) Transpose(dst, w []float64) {
	b := m.buffers.Get().(*[]float64)
	defer m.buffers.Put(b)
	clear(*b)
	for i, row := range m.rows {
		(*b)[row] = m.scale * w[i]
	}
	transform(*b)
	for j := range dst {
		dst[j] = m.signs[j] * (*b)[j]
	}
}

// transform is the Walsh–Hadamard transform without normalisation, in place.
func transform(b []float64) {
	for h := 1; h < len(b); h *= 2 {
		for lo := 0; lo < len(b); lo += 2 * h {
			for i := lo; i < lo+h; i++ {
				b[i], b[i+h] = b[i]+b[i+h], b[i]-b[i+h]
			}
		}
	}
}
