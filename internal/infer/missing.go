package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// cutLength is how long what is cut off is, per row. Counts and amounts whose gradients vary
// more than the loss takes them to have tails that are longer than a law of the bulk tells.
func (v *newton) cutLength() float64 {
	length := v.clip.cut.length / v.in.run.N
	if kind := v.in.run.Problem.Loss.Labels(); kind == losses.Binary || kind == losses.Real || v.scatter.m == nil {
		return length
	}
	return length * math.Sqrt(math.Min(math.Max(v.dispersion(), 1), tuning.DispersionMost))
}

// restored is the mean of what the clip cuts off of a mean gradient, at a point.
// Where scores hardly differ large gradients aren't where they are large.
func (v *newton) restored(at []float64) []float64 {
	whole, norm := v.alongWeights(at)
	length := v.cutLength()
	floats.Scale(length*v.clip.cut.along.mean/math.Max(norm, tuning.AlongLeast), whole)
	if v.in.constant > 0 {
		whole[v.in.run.D] = length * v.clip.cut.constant.mean
	}
	return whole
}

// missing is the square of what the clip may cut off of a mean gradient beside what is
// restored, by direction.
func (v *newton) missing() *mat.SymDense {
	dim := len(v.theta)
	m := v.in.short.Noise(dim)
	m.ScaleSym(v.clip.cut.across, m)
	if v.in.constant > 0 {
		m.SetSym(v.in.run.D, v.in.run.D, v.clip.cut.across+v.clip.cut.constant.variance)
	}
	if along, norm := v.alongWeights(v.theta); norm > 0 {
		m.SymRankOne(m, v.clip.cut.along.variance/(norm*norm), mat.NewVecDense(dim, along))
	}
	length := v.cutLength()
	m.ScaleSym(length*length, m)
	return m
}

// alongWeights is a gradient in the direction of the weights at a point, and their norm, both of
// the coordinates that gradients are clipped in.
func (v *newton) alongWeights(at []float64) (gradient []float64, norm float64) {
	u := slices.Clone(v.in.short.Stretch(at))
	if v.in.constant > 0 {
		u[v.in.run.D] = 0
	}
	return v.in.short.Stretch(u), floats.Norm(u, 2)
}

// dispersion is the gradients' variance over the Hessian, on average, which is 1 where
// labels have the variance that a likelihood says.
func (v *newton) dispersion() float64 {
	return mat.Trace(linalg.Product(v.in.curve.inverse, v.scatter.m)) / float64(len(v.theta))
}
