package dpglm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/vector"
)

// metric is a positive definite matrix by its eigenvectors.
type metric struct {
	values  []float64
	vectors *mat.Dense // nil for the identity
}

// roundMetric returns the given multiple of the identity, for any dimension.
func roundMetric(value float64) *metric { return &metric{values: []float64{value}} }

// newMetric returns scale·(M₊ + damping·I), M₊ being m with its negative eigenvalues
// set to zero. It is not ok where the eigenvalues' iteration does not converge.
func newMetric(m mat.Symmetric, scale, damping float64) (_ *metric, ok bool) {
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return nil, false
	}
	v := &metric{e.Values(nil), new(mat.Dense)}
	e.VectorsTo(v.vectors)
	for i, x := range v.values {
		v.values[i] = scale * (math.Max(x, 0) + damping)
	}
	return v, true
}

// step sets w to w − (V + ridge·I)⁻¹g; g is overwritten.
func (m *metric) step(w, g []float64, ridge float64) {
	if m.vectors == nil {
		vector.AddScaled(w, -1/(m.values[0]+ridge), g)
		return
	}
	step, along := mat.NewVecDense(len(g), g), mat.NewVecDense(len(g), nil)
	along.MulVec(m.vectors.T(), step)
	for i, v := range m.values {
		along.SetVec(i, along.AtVec(i)/(v+ridge))
	}
	step.MulVec(m.vectors, along)
	floats.Sub(w, g)
}
