package estimate

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
)

// Turned is a point in the coordinates in which a Hessian is round.
type Turned struct {
	U           []float64
	B           float64
	Curvature   float64   // along the intercept, which all directions have
	Effective   float64   // dimension
	Eigenvalues []float64 // but for noise, of the Hessian in the new coordinates
}

// Recentre moves the frame, and a point, to a packed Hessian's coordinates; rho is the operator
// norm of its noise.
func (x *Frame) Recentre(packed []float64, rho float64, from []float64, b float64) (t Turned, err error) {
	d := x.run.D
	inner, shift, curvature := x.beside(packed, rho)
	var e mat.EigenSym
	if !e.Factorize(inner, true) {
		return t, errEigen
	}
	values := e.Values(nil)
	var a, both mat.Dense
	e.VectorsTo(&a)
	t = Turned{U: make([]float64, d), B: b, Curvature: curvature, Effective: 1, Eigenvalues: make([]float64, d)}
	for k, v := range values {
		positive := math.Max(v, 0)
		t.Effective += positive / (positive + rho)
		scale := math.Sqrt(curvature / (positive + rho))
		t.Eigenvalues[k] = v * scale * scale
		for i := range d {
			t.U[k] += float64(a.At(i, k)*from[i]) / scale // A' has orthogonal columns
			a.Set(i, k, a.At(i, k)*scale)
		}
	}
	both.Mul(x.At.Matrix, &a)
	centre := x.At.Centre
	if x.run.Problem.Facts.Intercept {
		if centre, err = x.moved(shift); err != nil {
			return t, err
		}
		for j, m := range shift {
			t.B += float64(m * from[j])
		}
	}
	x.At = curator.Frame{Centre: centre, Matrix: &both}
	x.In, err = x.run.Sums.Frame(x.run.Task.Ctx, x.At)
	return t, err
}

// beside is what a Hessian per row has beside the intercept once the centre has moved by a shift,
// in coordinates, at which the two are independent; and the curvature along the intercept, or the
// mean one.
func (x *Frame) beside(packed []float64, rho float64) (inner *mat.SymDense, shift []float64, curvature float64) {
	d := x.run.D
	dim := d
	if x.run.Problem.Facts.Intercept {
		dim++
	}
	h := curator.Unpack(packed, dim)
	h.ScaleSym(1/x.run.N, h)
	shift = make([]float64, d)
	if x.run.Problem.Facts.Intercept {
		curvature = math.Max(h.At(d, d), rho)
		for j := range d {
			shift[j] = h.At(j, d) / curvature
		}
	} else {
		curvature = math.Max(mat.Trace(h)/float64(d), rho)
	}
	inner = mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			inner.SetSym(i, j, h.At(i, j)-float64(shift[i]*shift[j]*curvature))
		}
	}
	return inner, shift, curvature
}

// moved is the centre that lies at the given coordinates: x̃ − shift = Aᵀ(x − m) − shift,
// so that m moves by A^(−T)·shift.
func (x *Frame) moved(shift []float64) ([]float64, error) {
	var solved mat.Dense
	if err := solved.Solve(x.At.Matrix.T(), mat.NewDense(x.run.D, 1, shift)); err != nil {
		if _, inaccurate := err.(mat.Condition); !inaccurate {
			return nil, errEigen
		}
	}
	centre := make([]float64, x.run.D)
	for j := range centre {
		centre[j] = solved.At(j, 0)
		if x.At.Centre != nil {
			centre[j] += x.At.Centre[j]
		}
	}
	return centre, nil
}
