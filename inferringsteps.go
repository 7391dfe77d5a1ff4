package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// newton releases gradients with the wide clip, the Hessian after the first of them where it
// depends on the point, and before the last their scatter. It sets theta to
// the mean of the estimates u − H̃⁻¹g̃/n, and H̃ to what it is there. The points u are
// shortened towards the pilot: the noise of a step, fed back, would leave the range in which
// the loss is close to a parabola.
func (v *inferring) newton(done int) error {
	again := 0.0
	if v.bent() {
		again = v.curveShare()
	}
	left, at, total := v.pool.left-scatterShare-again, v.pilot, 0.0
	var first shaky
	for t, fraction := range newtonShares {
		u, b := v.apart(v.short.Stretch(at))
		if sum := floats.Sum(u) + b; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return check.Fail(ErrBound, "point", sum, "must be finite")
		}
		if t == len(newtonShares)-1 {
			if err := v.spread(u, b); err != nil {
				return err
			}
		}
		share := left * fraction
		answer, err := v.gradients.Gradient(v.ctx, u, b, v.wide(v.clip))
		g, err := v.pool.draw(share, answer, err)
		if err != nil {
			return err
		}
		g = v.short.Stretch(g)
		floats.Scale(1/v.n, g)
		v.steps = append(v.steps, newtonStep{from: at, mean: g, noise: v.gradientNoise(share), share: fraction})
		total += fraction
		if err := v.combine(first); err != nil {
			return err
		}
		at = v.shortened(v.gradientNoise(left * total))
		if t == 0 && v.bent() {
			first = v.hessian
			if err := v.curveAt(at, again); err != nil {
				return err
			}
		}
		v.progress(done+t+1, done+len(newtonShares))
	}
	return v.settle()
}

// combine sets theta to the mean of the steps' estimates, each weighted by its share of
// the budget, and less where it began so far off that a parabola isn't close. What the clip
// is expected to have cut off of their gradients is restored.
func (v *inferring) combine(first shaky) error {
	ways := make([][]float64, len(v.steps))
	for t, s := range v.steps {
		v.steps[t].weight = s.share
		inverse := v.inverse
		if t == 0 && first.SymDense != nil {
			var err error
			if inverse, err = v.between(first); err != nil {
				return err
			}
		}
		var step mat.VecDense
		whole := v.restored(s.from)
		floats.Add(whole, s.mean)
		step.MulVec(inverse, mat.NewVecDense(len(whole), whole))
		ways[t] = step.RawVector().Data
	}
	v.arrive(ways)
	if !v.bent() {
		return nil
	}
	for t := range v.steps {
		s := &v.steps[t]
		s.bow = v.bowAt(s.from)
		s.weight = s.share / (1 + s.bow/v.scoreVariance(s.noise))
	}
	v.arrive(ways)
	return nil
}

// arrive sets theta to the mean of the points that the steps lead to, and makes weights sum to
// 1. Ways are H̃⁻¹ times gradients; where the Hessian grows along one, its mean over that way
// counts, for which it takes theta: three rounds settle it.
func (v *inferring) arrive(ways [][]float64) {
	var total float64
	for _, s := range v.steps {
		total += s.weight
	}
	for t := range v.steps {
		v.steps[t].weight /= total
	}
	for range 3 {
		theta := make([]float64, len(v.pilot))
		for t, s := range v.steps {
			growth := 1.0 // the first way has the Hessians at both ends
			if t > 0 {
				growth = (v.growth(s.from) + v.growth(v.theta)) / 2
			}
			floats.AddScaled(theta, s.weight, s.from)
			floats.AddScaled(theta, -s.weight/growth, ways[t])
		}
		v.theta = theta
	}
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

// growth is how much larger the Hessian is at a point than where it was released, at most 5
// times: what is known of it for a log link, where it changes with the mean along the intercept.
// It is that of the loss as it was given, which a cap doesn't make flat.
func (v *inferring) growth(at []float64) float64 {
	second, ok := losses.CurvatureOf(v.problem.Loss)
	if !ok || losses.LinkOf(v.loss) != losses.Log || v.constant == 0 {
		return 1
	}
	growth := second(at[v.d], v.facts.mean) / second(v.curvedAt[v.d], v.facts.mean)
	if math.IsNaN(growth) { // both are beyond what numbers hold
		return 1
	}
	return math.Min(math.Max(growth, 0.2), 5)
}

// settle moves H̃, with its noise, from the point where it was released to theta.
func (v *inferring) settle() error {
	growth := v.growth(v.theta)
	if growth == 1 {
		return nil
	}
	var at mat.SymDense
	at.ScaleSym(growth, v.hessian)
	v.hessian = shaky{&at, v.hessian.noise * growth}
	v.floor *= growth
	return v.invert()
}

// bowAt is what a step from a point may miss as the Hessian changes on its way to theta, as
// a square in the norm of scores: it does so by a fraction as large as scores move, or as
// they do from where it was released if that is further, of which the step sees half, and
// half again where it knows the Hessian at both ends. Counts and amounts, whose curvature
// changes with their means, take more, though along the intercept that is known.
func (v *inferring) bowAt(from []float64) float64 {
	square, fraction := v.scoreNorm(from), 0.25
	if losses.LinkOf(v.loss) == losses.Log {
		fraction = 0.3
	}
	further := square
	if v.curvedAt != nil {
		further = math.Max(square, v.scoreNorm(v.curvedAt))
	}
	return fraction * fraction * square * further * float64(len(from)) / mat.Trace(v.hessian)
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
	return noise * noise * mat.Trace(v.short.From(v.inverse))
}

// gradientNoise is the standard deviation of a mean gradient's coordinates.
func (v *inferring) gradientNoise(share float64) float64 {
	return 2 * v.clip / (v.nmu() * math.Sqrt(share))
}

// shortened is theta, its distance from the pilot shortened by James and Stein's rule in
// the norm of scores; the first is also damped.
func (v *inferring) shortened(noise float64) []float64 {
	square := v.scoreNorm(v.pilot)
	v.shrunk = math.Max(0, 1-v.scoreVariance(noise)/math.Max(square, 1e-300))
	gap := slices.Clone(v.theta)
	floats.Sub(gap, v.pilot)
	fraction := v.shrunk
	if len(v.steps) == 1 {
		fraction *= v.damping(gap, v.shrunk*math.Sqrt(square*float64(len(gap))/mat.Trace(v.hessian)))
	}
	at := slices.Clone(v.pilot)
	floats.AddScaled(at, fraction, gap)
	return at
}

// damping is the fraction to go of a first step that moves scores by the given size, typically.
// Where means of counts grow, their curvature does, so that it goes too far: by s/ln(1+s) where
// all scores grow by as much, e^b−1 being what it takes for b.
func (v *inferring) damping(gap []float64, size float64) float64 {
	if v.loss.Labels() != losses.Count || v.constant == 0 || gap[v.d] <= 0 || !(size > 0) { // NaN where H̃ is nothing but noise
		return 1
	}
	return math.Log1p(size) / size
}

// spread releases the scatter of clipped gradients at a point.
func (v *inferring) spread(u []float64, b float64) error {
	answer, err := v.gradients.Scatter(v.ctx, u, b, v.wide(v.clip))
	packed, err := v.pool.draw(scatterShare, answer, err)
	if err != nil {
		return err
	}
	m := curator.Unpack(packed, len(v.pilot))
	m.ScaleSym(1/v.n, m)
	rounder := shaky{m, v.scatterNoise()}.towards(shaky{SymDense: v.short.Into(v.standing())})
	spectrum, ok := linalg.Decompose(rounder)
	if !ok {
		return errEigen
	}
	positive := spectrum.Map(func(l float64) float64 { return math.Max(l, 0) })
	v.scatter = shaky{v.short.From(positive), rounder.noise}
	return nil
}

// scatterNoise is the standard deviation in each number of the packed scatter per row.
func (v *inferring) scatterNoise() float64 {
	return math.Sqrt2 * v.clip * v.clip / (v.nmu() * math.Sqrt(scatterShare))
}

// standing is H̃ in the directions that stand out of its noise.
func (v *inferring) standing() *mat.SymDense {
	return v.spectrum.Map(func(l float64) float64 {
		if l < v.floor {
			return 0
		}
		return l
	})
}

// towards is a matrix moved towards a multiple of another by James and Stein's rule, with
// what noise that leaves: of the multiple all, which is little, of the rest as much as its
// factor's root. The other, which is I where it is 0, has the trace of the first.
func (s shaky) towards(other shaky) shaky {
	dim := s.SymmetricDim()
	aim := mat.NewSymDense(dim, nil)
	if total := mat.Trace(other); total > 0 {
		aim.ScaleSym(mat.Trace(s)/total, other.SymDense)
	} else {
		for j := range dim {
			aim.SetSym(j, j, mat.Trace(s)/float64(dim))
		}
	}
	var gap mat.SymDense
	gap.ScaleSym(-1, aim)
	gap.AddSym(s, &gap)
	free := float64(dim*(dim+1)/2 - 1)
	k := math.Max(0, 1-free*s.noise*s.noise/math.Max(math.Pow(mat.Norm(&gap, 2), 2), 1e-300))
	gap.ScaleSym(k, &gap)
	aim.AddSym(aim, &gap)
	return shaky{aim, s.noise * math.Sqrt(k+(1-k)/float64(dim))}
}
