package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// stepShare is the part of what is left for steps that the t-th has: they grow as 1, 2, 3, …, as earlier ones
// count less where they began far off.
func stepShare(t int) float64 {
	return 2 * float64(t+1) / (tuning.NewtonSteps * (tuning.NewtonSteps + 1))
}

// settled is the step after which the Hessian is released again where it depends on the point.
const settled = 1

// newtonStep began at a point, with noise of the given standard deviation in the mean
// gradient.
type newtonStep struct {
	from   []float64
	mean   []float64 // g̃/n
	noise  float64
	share  float64 // of the gradients' part of the budget
	weight float64 // of its estimate
	missed float64 // square of what it may miss, in the norm of scores
}

// newton is the steps from the pilot, and where they led.
type newton struct {
	in      *space
	clip    clipping
	theta   []float64
	scatter noisy // J̃₊ per row
	steps   []newtonStep
	shrunk  float64 // fraction of the way from the pilot that isn't noise

	steepness Steepness
}

// distance is the square of a point's from theta, in the norm of scores.
func (v *newton) distance(from []float64) float64 { return v.in.curve.distance(v.theta, from) }

// walk releases gradients, the Hessian after the second of them where it depends on the point, and before the
// last their scatter. It sets theta to the mean of the estimates u − H̃⁻¹g̃/n, and H̃ to what it is there. The
// points u are shortened towards the pilot: the noise of a step, fed back, would leave the range in which
// the loss is close to a parabola.
func (v *newton) walk(done int) error {
	again := 0.0
	if v.in.varies() {
		again = v.in.curveShare()
	}
	left, at, total := v.in.steps()-again, v.in.pilot, 0.0
	v.theta = at
	for t := range tuning.NewtonSteps {
		u, b := v.in.split(at)
		if sum := floats.Sum(u) + b; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return check.Fail(check.ErrBound, "point", sum, "must be finite")
		}
		if t == tuning.NewtonSteps-1 {
			if err := v.spread(u, b); err != nil {
				return err
			}
		}
		share := left * stepShare(t)
		answer, err := v.in.frame.In.Gradient(v.in.run.Task.Ctx, u, b, v.in.held)
		g, err := v.in.run.Pool.Draw(share, answer, err)
		if err != nil {
			return err
		}
		floats.Scale(1/v.in.run.N, g)
		v.steps = append(v.steps, newtonStep{from: at, mean: g, noise: v.in.run.Problem.Deviation(share, answer) / v.in.run.N, share: stepShare(t)})
		total += stepShare(t)
		v.combine()
		at = v.shortened(v.in.run.Problem.Deviation(left*total, answer) / v.in.run.N)
		if t == settled && v.in.varies() {
			if err := v.in.curveAt(at, again); err != nil {
				return err
			}
		}
		v.in.run.Task.Progress(done+t+1, done+tuning.NewtonSteps)
	}
	if err := v.moveHessian(); err != nil {
		return err
	}
	if v.in.curve.hidden != nil {
		v.theta = v.in.curve.apart(v.theta, v.in.pilot)
		floats.Add(v.theta, v.in.pilot)
	} else if unseen := v.in.curve.unseen(); len(unseen) > 0 && estimate.Quiet(v.in.run.NMu(), v.in.run.D) {
		v.shorten(unseen)
	}
	return nil
}

// shorten moves theta along directions to where features' weights are nearest to those that the pilot began at, which are 0 without a prior: gradients
// there are noise, which coordinates made for such directions stretch to weights of any size.
func (v *newton) shorten(directions [][]float64) {
	along := mat.NewDense(len(v.theta), len(directions), nil)
	for k, direction := range directions {
		along.SetCol(k, direction)
	}
	features := v.in.toWeights().Slice(0, v.in.run.D, 0, len(v.theta))
	var moves mat.Dense
	moves.Mul(features, along)
	var s mat.SVD
	if !s.Factorize(&moves, mat.SVDThin) {
		return
	}
	rank := s.Rank(distinct)
	if rank < 1 { // the intercept alone
		return
	}
	var weights, by, way mat.VecDense
	weights.MulVec(features, mat.NewVecDense(len(v.theta), v.theta))
	weights.SubVec(&weights, mat.NewVecDense(v.in.run.D, v.in.begun))
	s.SolveVecTo(&by, &weights, rank)
	way.MulVec(along, &by)
	floats.Sub(v.theta, way.RawVector().Data)
}

// distinct is a singular value over the largest, below which directions of weights are but rounding.
const distinct = 1e-12

// combine sets theta to the mean of the steps' estimates, each weighted by its share of
// the budget, and less where it began so far off that a parabola isn't close.
func (v *newton) combine() {
	ways := make([][]float64, len(v.steps))
	for t, s := range v.steps {
		v.steps[t].weight = s.share
		var step mat.VecDense
		step.MulVec(v.in.curve.inverse, mat.NewVecDense(len(s.mean), s.mean))
		ways[t] = step.RawVector().Data
	}
	v.average(ways)
	if !v.in.varies() {
		return
	}
	for t := range v.steps {
		s := &v.steps[t]
		s.missed = v.nonlinearity(s.from)
		s.weight = s.share / (1 + s.missed/v.scoreVariance(s.noise))
	}
	v.average(ways)
}

// average sets theta to the mean of the points that the steps lead to, and makes weights sum to
// 1. Ways are H̃⁻¹ times gradients; where the Hessian grows along one, its mean over that way
// counts, for which it takes theta: three rounds settle it.
func (v *newton) average(ways [][]float64) {
	var total float64
	for _, s := range v.steps {
		total += s.weight
	}
	for t := range v.steps {
		v.steps[t].weight /= total
	}
	for range tuning.AverageRounds {
		theta := make([]float64, len(v.in.pilot))
		for t, s := range v.steps {
			growth := (v.in.growth(s.from) + v.in.growth(v.theta)) / 2
			floats.AddScaled(theta, s.weight, s.from)
			floats.AddScaled(theta, -s.weight/growth, ways[t])
		}
		v.theta = theta
	}
}

// moveHessian moves H̃, with its noise, from the point where it was released to theta.
func (v *newton) moveHessian() error {
	growth := v.in.growth(v.theta)
	if growth == 1 {
		return nil
	}
	var err error
	v.in.curve, err = v.in.curve.times(growth)
	return err
}

// nonlinearity is what a step from a point may miss as the Hessian changes on its way to theta, as
// a square in the norm of scores: it does so by a fraction as large as scores move, or as
// they do from where it was released if that is further, of which the step sees half, and
// half again where it knows the Hessian at both ends. Counts and amounts, whose curvature
// changes with their means, take more, though along the intercept that is known.
func (v *newton) nonlinearity(from []float64) float64 {
	square, fraction := v.distance(from), tuning.Nonlinear
	if losses.LinkOf(v.in.run.Problem.Loss) == losses.Log {
		fraction = tuning.NonlinearLog
	}
	further := square
	if v.in.curve.at != nil {
		further = math.Max(square, v.distance(v.in.curve.at))
	}
	return fraction * fraction * square * further * float64(len(from)) / mat.Trace(v.in.curve.hessian.m)
}

// scoreVariance is that of an estimate in the same norm, for the noise of its mean gradient.
func (v *newton) scoreVariance(noise float64) float64 {
	return noise * noise * mat.Trace(v.in.curve.inverse)
}

// shortened is theta, its distance from the pilot shortened by James and Stein's rule in
// the norm of scores; the first is also damped.
func (v *newton) shortened(noise float64) []float64 {
	square := v.distance(v.in.pilot)
	v.shrunk = estimate.JamesStein(v.scoreVariance(noise), square)
	gap := v.in.curve.apart(v.theta, v.in.pilot)
	fraction := v.shrunk
	if len(v.steps) == 1 {
		fraction *= v.in.damping(gap, v.shrunk*math.Sqrt(square*float64(len(gap))/mat.Trace(v.in.curve.hessian.m)))
	}
	at := slices.Clone(v.in.pilot)
	floats.AddScaled(at, fraction, gap)
	return at
}

// spread releases the scatter of clipped gradients at a point.
func (v *newton) spread(u []float64, b float64) error {
	answer, err := v.in.frame.In.Scatter(v.in.run.Task.Ctx, u, b, v.in.held)
	packed, err := v.in.run.Pool.Draw(tuning.ScatterShare, answer, err)
	if err != nil {
		return err
	}
	m := curator.Unpack(packed, len(v.in.pilot))
	m.ScaleSym(1/v.in.run.N, m)
	rounder := noisy{m, v.in.run.Problem.Deviation(tuning.ScatterShare, answer) / v.in.run.N}.towards(v.in.curve.standing())
	spectrum, ok := linalg.Decompose(rounder.m)
	if !ok {
		return errEigen
	}
	positive := spectrum.Map(func(l float64) float64 { return math.Max(l, 0) })
	v.scatter = noisy{positive, rounder.noise}
	return nil
}
