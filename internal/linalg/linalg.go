package linalg

import "gonum.org/v1/gonum/mat"

// Spectrum is a symmetric matrix by its eigenvalues, ascending.
type Spectrum struct {
	Values  []float64
	vectors *mat.Dense
}

// Decompose returns the spectrum of m, and false where it isn't found.
func Decompose(m mat.Symmetric) (*Spectrum, bool) {
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return nil, false
	}
	s := &Spectrum{Values: e.Values(nil), vectors: new(mat.Dense)}
	e.VectorsTo(s.vectors)
	return s, true
}

// Vector is the k-th eigenvector.
func (s *Spectrum) Vector(k int) []float64 { return mat.Col(nil, k, s.vectors) }

// Map is the matrix with the same eigenvectors and the values f(λ).
func (s *Spectrum) Map(f func(float64) float64) *mat.SymDense {
	out := mat.NewSymDense(len(s.Values), nil)
	for k, l := range s.Values {
		out.SymRankOne(out, f(l), s.vectors.ColView(k))
	}
	return out
}

// Product is a·b.
func Product(a, b mat.Matrix) *mat.Dense {
	var m mat.Dense
	m.Mul(a, b)
	return &m
}

// Sandwich is factor·a·m·aᵀ, m being symmetric.
func Sandwich(factor float64, a, m mat.Matrix) *mat.SymDense {
	p := Product(Product(a, m), a.T())
	n, _ := p.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, factor*(p.At(i, j)+p.At(j, i))/2)
		}
	}
	return s
}

// Shaken is E[N·m·N] for a symmetric N of independent normal numbers, of the given
// variance on the diagonal and half of it elsewhere, as the noise of packed matrices is:
//
//	E[N_ik·N_lj] = ½·variance·(δ_il·δ_kj + δ_ij·δ_kl), hence ½·variance·(m + tr(m)·I)
func Shaken(m *mat.SymDense, variance float64) *mat.SymDense {
	n := m.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	out.ScaleSym(variance/2, m)
	trace := mat.Trace(out)
	for j := range n {
		out.SetSym(j, j, out.At(j, j)+trace)
	}
	return out
}

// Identity is the unit matrix.
func Identity(n int) *mat.DiagDense {
	one := mat.NewDiagDense(n, nil)
	for j := range n {
		one.SetDiag(j, 1)
	}
	return one
}
