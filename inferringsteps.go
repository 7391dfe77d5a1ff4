package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
)

// newton releases gradients with the wide clip, the Hessian once more after the first of
// them where it depends on the point, and before the last their scatter. It sets theta to
// the mean of the estimates u − H̃⁻¹g̃/n. The points u are shortened towards the pilot: the
// noise of a step, fed back, would leave the range in which the loss is close to a
// parabola.
func (v *inferring) newton(done int) error {
	again := v.nextCurveShare()
	left, at, total := v.pool.left-scatterShare-again, v.pilot, 0.0
	var first shaky
	for t, fraction := range newtonShares {
		u, b := v.inRound(at)
		if sum := floats.Sum(u) + b; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return check.Fail(ErrBound, "point", sum, "must be finite")
		}
		if t == len(newtonShares)-1 {
			if err := v.spread(u, b); err != nil {
				return err
			}
		}
		share := left * fraction
		answer, err := v.framed.Gradient(v.ctx, u, b, v.wide(v.clip))
		g, err := v.pool.draw(share, answer, err)
		if err != nil {
			return err
		}
		floats.Scale(1/v.n, g)
		v.steps = append(v.steps, newtonStep{from: at, mean: g, noise: v.gradientNoise(share), share: fraction})
		total += fraction
		if err := v.combine(first); err != nil {
			return err
		}
		at = v.shortened(v.gradientNoise(left * total))
		if t == 0 && v.bent() {
			first = v.hessian
			if _, err := v.curveAt(v.flat, at, again); err != nil {
				return err
			}
		}
		v.progress(done+t+1, done+len(newtonShares))
	}
	return nil
}

// nextCurveShare is that of the second Hessian, where there is one: more where the first
// one's smallest eigenvalue is within four times the noise to come, and else less.
func (v *inferring) nextCurveShare() float64 {
	if !v.bent() {
		return 0
	}
	floor := v.floor * math.Sqrt(firstShare/curveShare)
	near := 4 * floor / math.Max(v.spectrum.Values[0], floor)
	return curveShare * v.more * math.Min(math.Max(near*near, 0.5), 2)
}

// combine sets theta to the mean of the steps' estimates, each weighted by its share of
// the budget, and less where it began so far off that a parabola isn't close. What the clip
// is expected to have cut off of their gradients is restored.
func (v *inferring) combine(first shaky) error {
	estimates := make([][]float64, len(v.steps))
	for t, s := range v.steps {
		v.steps[t].weight = s.share
		inverse := v.inverse
		if t == 0 && first.SymDense != nil {
			var err error
			if inverse, err = v.between(first); err != nil {
				return err
			}
		}
		var old, step mat.VecDense
		u, _ := v.inRound(s.from)
		whole := v.restored(u)
		floats.Add(whole, s.mean)
		old.MulVec(v.round, mat.NewVecDense(len(whole), whole))
		step.MulVec(inverse, &old)
		estimates[t] = slices.Clone(s.from)
		floats.Sub(estimates[t], step.RawVector().Data)
	}
	v.average(estimates)
	if !v.bent() {
		return nil
	}
	for t := range v.steps {
		s := &v.steps[t]
		s.bow = v.bowAt(s.from)
		s.weight = s.share / (1 + s.bow/v.scoreVariance(s.noise))
	}
	v.average(estimates)
	return nil
}

// between is the inverse of the mean of the Hessians at the first step's point and the
// next: that over the way it goes, up to second order.
func (v *inferring) between(first shaky) (*mat.SymDense, error) {
	var mean mat.SymDense
	mean.AddSym(first, v.hessian)
	mean.ScaleSym(0.5, &mean)
	spectrum, ok := linalg.Decompose(&mean)
	if !ok {
		return nil, errEigen
	}
	return spectrum.Map(v.inverted), nil
}

// average sets theta to the estimates' mean, and makes weights sum to 1.
func (v *inferring) average(estimates [][]float64) {
	v.theta = make([]float64, len(v.pilot))
	var total float64
	for _, s := range v.steps {
		total += s.weight
	}
	for t := range v.steps {
		v.steps[t].weight /= total
		floats.AddScaled(v.theta, v.steps[t].weight, estimates[t])
	}
}

// bowAt is what a step from a point may miss as the Hessian changes on its way to theta, as
// a square in the norm of scores: it does so by a fraction as large as scores move, or as
// they do from where it was released if that is further, of which the step sees half, and
// half again where it knows the Hessian at both ends.
func (v *inferring) bowAt(from []float64) float64 {
	square := v.scoreNorm(from)
	further := square
	if v.curvedAt != nil {
		further = math.Max(square, v.scoreNorm(v.curvedAt))
	}
	return square * further / (16 * mat.Trace(v.hessian) / float64(len(from)))
}

// scoreNorm is the square of a point's distance from theta in the norm of H̃.
func (v *inferring) scoreNorm(from []float64) float64 {
	gap := slices.Clone(v.theta)
	floats.Sub(gap, from)
	h := v.spectrum.Map(func(l float64) float64 { return math.Max(l, v.floor) })
	g := mat.NewVecDense(len(gap), gap)
	return mat.Inner(g, h, g)
}

// scoreVariance is that of an estimate in the same norm, for the noise of its mean gradient.
func (v *inferring) scoreVariance(noise float64) float64 {
	return noise * noise * mat.Trace(linalg.Product(v.inverse, linalg.Product(v.round, v.round.T())))
}

// gradientNoise is the standard deviation of a mean gradient's coordinates.
func (v *inferring) gradientNoise(share float64) float64 {
	return 2 * v.clip / (v.nmu() * math.Sqrt(share))
}

// shortened is theta, its distance from the pilot shortened by James and Stein's rule in
// the norm of scores.
func (v *inferring) shortened(noise float64) []float64 {
	v.shrunk = math.Max(0, 1-v.scoreVariance(noise)/math.Max(v.scoreNorm(v.pilot), 1e-300))
	gap := slices.Clone(v.theta)
	floats.Sub(gap, v.pilot)
	at := slices.Clone(v.pilot)
	floats.AddScaled(at, v.shrunk, gap)
	return at
}

// spread releases the scatter of clipped gradients at a point of the round frame.
func (v *inferring) spread(u []float64, b float64) error {
	answer, err := v.framed.Scatter(v.ctx, u, b, v.wide(v.clip))
	packed, err := v.pool.draw(scatterShare, answer, err)
	if err != nil {
		return err
	}
	m := curator.Unpack(packed, len(v.pilot))
	m.ScaleSym(1/v.n, m)
	rounder := shaky{m, math.Sqrt2 * v.clip * v.clip / (v.nmu() * math.Sqrt(scatterShare))}.rounder()
	spectrum, ok := linalg.Decompose(rounder)
	if !ok {
		return errEigen
	}
	positive := spectrum.Map(func(l float64) float64 { return math.Max(l, 0) })
	v.scatter = shaky{positive, rounder.noise}
	return nil
}

// rounder is a matrix shortened towards its mean eigenvalue by James and Stein's rule, with
// what noise that leaves: of the mean all, which is little, of the rest as much as its
// factor's root.
func (s shaky) rounder() shaky {
	dim := s.SymmetricDim()
	mean := mat.Trace(s) / float64(dim)
	var square float64
	for i := range dim {
		for j := range dim {
			entry := s.At(i, j)
			if i == j {
				entry -= mean
			}
			square += entry * entry
		}
	}
	free := float64(dim*(dim+1)/2 - 1)
	k := math.Max(0, 1-free*s.noise*s.noise/math.Max(square, 1e-300))
	out := mat.NewSymDense(dim, nil)
	out.ScaleSym(k, s)
	for j := range dim {
		out.SetSym(j, j, out.At(j, j)+(1-k)*mean)
	}
	return shaky{out, s.noise * math.Sqrt(k+(1-k)/float64(dim))}
}
