package dpglm

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// rewhitened goes on from a first stage in coordinates in which the loss's Hessian is
// round, centred where the intercept is independent of the other coordinates.
func (x *standardising) rewhitened(first stage, at iterate) ([]float64, error) {
	d, nmu, f := float64(x.d), x.nmu(), x.facts
	constant := 0.0
	if x.shape.Intercept {
		constant = 1
	}
	most := math.Min(f.steepest, 8*f.curvature)
	edges := histogram.Geometric(4*math.Sqrt(most*(d+1)), math.Sqrt2, 20)
	answer, err := x.framed.CurvatureNorms(x.ctx, edges, at.u, at.b, math.Max(constant, 1e-6), f.steepest)
	h, err := x.read(lengthsShare, edges, answer, err)
	if err != nil {
		return nil, err
	}
	longest := h.Smallest(math.Min(0.05*x.n, 20*math.Sqrt(d)/x.mu), 3)
	longest = math.Max(longest, math.Sqrt(0.01*nmu*math.Sqrt(hessianShare)*f.curvature/(2*math.Sqrt(d+1))))
	rho := math.Sqrt(2*(d+1)) * math.Sqrt2 * longest * longest / (nmu * math.Sqrt(hessianShare))
	if rho/f.curvature > 0.15 || !x.shape.Intercept {
		return x.goOn(first, at)
	}
	answer, err = x.framed.Hessian(x.ctx, at.u, at.b, constant, f.steepest, longest)
	packed, err := x.pool.draw(hessianShare, answer, err)
	if err != nil {
		return nil, err
	}
	here, frame, framed := iterate{u: slices.Clone(at.u), b: at.b, clip: at.clip}, x.frame, x.framed
	curvature, moved, _, err := x.recentre(packed, rho, &at)
	if errors.Is(err, ErrBound) { // a Hessian of nothing but noise
		x.frame, x.framed = frame, framed
		return x.goOn(first, here)
	}
	if err != nil {
		return nil, err
	}
	var short *linalg.Change
	if x.shortens() {
		if short, err = x.shorten(x.longestLevel(1.2)); err != nil {
			return nil, err
		}
		at.u = short.Stretch(at.u)
	}
	s := stage{framed: x.framed, short: short, steps: 6, averaged: 3, size: 1 / curvature, clips: 0.015, choose: []int{0, 2}, curvature: curvature, effective: moved}
	if x.loss.Labels() == losses.Real {
		s.curvature = f.residual
	}
	s.share = x.pool.left - s.clips
	s.allowed = x.n * math.Min(10*math.Sqrt(moved)/nmu, x.most())
	if at, err = x.walk(s, at); err != nil {
		return nil, err
	}
	return x.back(at), nil
}

// goOn spends what is left on more steps of the first stage.
func (x *standardising) goOn(s stage, at iterate) ([]float64, error) {
	s.steps /= 2
	s.averaged = s.steps - s.steps/2
	s.choose, s.clips = []int{0, 2}, 0.015
	s.share = x.pool.left - s.clips
	at, err := x.walk(s, at)
	if err != nil {
		return nil, err
	}
	return x.back(at), nil
}

// recentre moves the frame and the point to the Hessian's coordinates. It returns the
// curvature along the intercept, which all directions then have, the effective
// dimension, and the eigenvalues, but for noise, of the Hessian in the new coordinates.
func (x *standardising) recentre(packed []float64, rho float64, at *iterate) (curvature, effective float64, round []float64, err error) {
	d := x.d
	dim := d
	if x.shape.Intercept {
		dim++
	}
	h := curator.Unpack(packed, dim)
	h.ScaleSym(1/x.n, h)
	shift := make([]float64, d) // of the centre, in coordinates
	if x.shape.Intercept {
		curvature = math.Max(h.At(d, d), rho)
		for j := range d {
			shift[j] = h.At(j, d) / curvature
		}
	} else {
		curvature = math.Max(mat.Trace(h)/float64(d), rho)
	}
	inner := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			inner.SetSym(i, j, h.At(i, j)-float64(shift[i]*shift[j]*curvature))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(inner, true) {
		return 0, 0, nil, errEigen
	}
	values := e.Values(nil)
	var a, both mat.Dense
	e.VectorsTo(&a)
	effective = 1
	round = make([]float64, d)
	u := make([]float64, d)
	for k, v := range values {
		positive := math.Max(v, 0)
		effective += positive / (positive + rho)
		scale := math.Sqrt(curvature / (positive + rho))
		round[k] = v * scale * scale
		for i := range d {
			u[k] += float64(a.At(i, k)*at.u[i]) / scale // A' has orthogonal columns
			a.Set(i, k, a.At(i, k)*scale)
		}
	}
	both.Mul(x.frame.Matrix, &a)
	centre := x.frame.Centre
	if x.shape.Intercept {
		if centre, err = x.moved(shift); err != nil {
			return 0, 0, nil, err
		}
		for j, m := range shift {
			at.b += float64(m * at.u[j])
		}
	}
	at.u = u
	x.frame = curator.Frame{Centre: centre, Matrix: &both}
	x.framed, err = x.sums.Frame(x.ctx, x.frame)
	return curvature, effective, round, err
}

// moved is the centre that lies at the given coordinates: x̃ − shift = Aᵀ(x − m) − shift,
// so that m moves by A^(−T)·shift.
func (x *standardising) moved(shift []float64) ([]float64, error) {
	var solved mat.Dense
	if err := solved.Solve(x.frame.Matrix.T(), mat.NewDense(x.d, 1, shift)); err != nil {
		if _, inaccurate := err.(mat.Condition); !inaccurate {
			return nil, errEigen
		}
	}
	centre := make([]float64, x.d)
	for j := range centre {
		centre[j] = solved.At(j, 0)
		if x.frame.Centre != nil {
			centre[j] += x.frame.Centre[j]
		}
	}
	return centre, nil
}
