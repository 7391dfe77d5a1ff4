package infer

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
)

// turned is a point in the coordinates in which a Hessian is round.
type turned struct {
	U           []float64
	B           float64
	Curvature   float64   // along the intercept, which all directions have
	Eigenvalues []float64 // but for noise, of the Hessian in the new coordinates
}

// recentre moves the frame, and a point, to a packed Hessian's coordinates; rho is the operator
// norm of its noise.
func (v *space) recentre(packed []float64, rho float64, from []float64, b float64) (t turned, err error) {
	d := v.run.D
	inner, shift, curvature := v.centred(packed, rho)
	var e mat.EigenSym
	if !e.Factorize(inner, true) {
		return t, errEigen
	}
	values := e.Values(nil)
	var a, both, along mat.Dense
	e.VectorsTo(&a)
	along.Mul(v.frame.At.Matrix, &a)
	t = turned{U: make([]float64, d), B: b, Curvature: curvature, Eigenvalues: make([]float64, d)}
	for k, value := range values {
		positive := math.Max(value, 0)
		long := v.run.Task.Data.Facts().Bound * mat.Norm(along.ColView(k), 2) // the longest row there is
		scale := math.Min(math.Sqrt(curvature/(positive+rho)), stretchMost/long)
		t.Eigenvalues[k] = value * scale * scale
		for i := range d {
			t.U[k] += float64(a.At(i, k)*from[i]) / scale // A' has orthogonal columns
			a.Set(i, k, a.At(i, k)*scale)
		}
	}
	both.Mul(v.frame.At.Matrix, &a)
	centre := v.frame.At.Centre
	if v.run.Problem.Facts.Intercept {
		if centre, err = v.moved(shift); err != nil {
			return t, err
		}
		for j, m := range shift {
			t.B += float64(m * from[j])
		}
	}
	v.frame.At = curator.Frame{Centre: centre, Matrix: &both, Each: v.frame.At.Each}
	v.frame.In, err = v.run.Frame(v.frame.At)
	return t, err
}

// stretchMost is how long a row may be made at most: sums of thousands of rows declare to round by up to 2⁻⁴⁰ of the longest one's square, so that in
// coordinates stretched further what rounding hides is as large as a row, and noise that hides it is, too.
const stretchMost = 0x1p20

// centred is what a Hessian per row has beside the intercept once the centre has moved by a shift,
// in coordinates, at which the two are independent; and the curvature along the intercept, or the
// mean one.
func (v *space) centred(packed []float64, rho float64) (inner *mat.SymDense, shift []float64, curvature float64) {
	d := v.run.D
	dim := d
	if v.run.Problem.Facts.Intercept {
		dim++
	}
	h := curator.Unpack(packed, dim)
	h.ScaleSym(1/v.run.N, h)
	shift = make([]float64, d)
	if v.run.Problem.Facts.Intercept {
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
func (v *space) moved(shift []float64) ([]float64, error) {
	var solved mat.Dense
	if err := solved.Solve(v.frame.At.Matrix.T(), mat.NewDense(v.run.D, 1, shift)); err != nil {
		if _, inaccurate := err.(mat.Condition); !inaccurate {
			return nil, errEigen
		}
	}
	centre := make([]float64, v.run.D)
	for j := range centre {
		centre[j] = solved.At(j, 0)
		if v.frame.At.Centre != nil {
			centre[j] += v.frame.At.Centre[j]
		}
	}
	return centre, nil
}
