package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// law is that of the run's estimate.
func (v *inferring) law(level float64) *law {
	dim := len(v.theta)
	l := &law{
		weights: v.toWeights(), inverse: v.inverse,
		hessian: v.hessian.noise, scatter: v.scatter.noise / v.n,
		quantile: distuv.UnitNormal.Quantile((1 + level) / 2),
	}
	if v.short != nil {
		l.short = v.short.Noise(dim)
	}
	lost := v.lost()
	for k, value := range v.spectrum.Values {
		if lost || value < v.floor {
			l.drowned = append(l.drowned, v.spectrum.Vector(k))
		}
	}
	l.covariance = linalg.Sandwich(1/v.n, v.inverse, v.scatter)
	// Noise, what the clip cuts off, and what the Hessian's change leaves. The points' mean
	// error is what H̃'s noise multiplies.
	variance, bow := v.stepErrors()
	gap := mat.NewDense(dim, 1, nil)
	for _, s := range v.steps {
		for j, at := range s.from {
			gap.Set(j, 0, gap.At(j, 0)+s.weight*(at-v.theta[j]))
		}
	}
	l.covariance.AddSym(l.covariance, linalg.Sandwich(variance, v.inverse, v.short.Noise(dim)))
	l.covariance.AddSym(l.covariance, linalg.Sandwich(1, v.inverse, v.missing()))
	var far mat.SymDense
	far.SymOuterK(v.shrunk, gap)
	l.covariance.AddSym(l.covariance, linalg.Sandwich(1, v.inverse, linalg.Shaken(&far, l.hessian*l.hessian)))
	var bent mat.SymDense
	bent.ScaleSym(bow/float64(dim), v.inverse)
	l.covariance.AddSym(l.covariance, &bent)
	l.hidden = v.typical(lost)
	l.seen, l.curved = v.curved(len(l.drowned))
	return l
}

// widenFor adds what estimated thresholds add to the covariance: their distances and the scale of
// scores make up for each other, which is along the weights, and their mean is the intercept's.
func (v *inferring) widenFor(l *law) {
	if v.doubt == nil {
		return
	}
	along := slices.Clone(v.theta)
	if v.constant > 0 {
		along[v.d] = 0
		l.covariance.SetSym(v.d, v.d, l.covariance.At(v.d, v.d)+v.doubt.shifted)
	}
	l.covariance.SymRankOne(l.covariance, v.doubt.spread, mat.NewVecDense(len(along), along))
}

// curved is the mean curvature that is seen along the drowned directions, as a fraction of the
// floor, and a bound on it, four standard deviations above: directions in which rows don't
// differ at all, as levels that don't occur, leave noise of mean 0 there.
func (v *inferring) curved(drowned int) (seen, most float64) {
	if drowned == 0 {
		return 1, 1
	}
	n := float64(drowned)
	seen = math.Max(0, floats.Sum(v.spectrum.Values[:drowned])/n/v.floor)
	return seen, math.Min(1, seen+4/math.Sqrt(2*n*float64(len(v.theta))))
}

// typical is the squared coefficient of a direction that moves scores as much as those do
// that are determined, on average, if its curvature is the floor. A drowned direction's
// estimate is held back, and may miss as much.
func (v *inferring) typical(lost bool) float64 {
	if lost {
		return 0
	}
	from := slices.Clone(v.theta)
	if v.constant > 0 {
		from[v.d] -= v.bias
	}
	var moved, directions float64
	for k, value := range v.spectrum.Values {
		if value >= v.floor {
			along := floats.Dot(from, v.spectrum.Vector(k))
			moved += value * along * along
			directions++
		}
	}
	return moved / math.Max(directions, 1) / v.floor
}

// stepErrors are the variance of noise in the steps' mean gradient, in each coordinate, and
// the square of what the Hessian's change leaves, in the norm of scores.
func (v *inferring) stepErrors() (variance, bow float64) {
	for _, s := range v.steps {
		variance += math.Pow(s.weight*s.noise, 2)
		bow += s.weight * math.Sqrt(s.bow)
	}
	return variance, bow * bow
}

// lost reports whether scores may be so far off that no estimate is close: by 2 in a typical
// row, or for a count or an amount, whose mean is no longer close to linear in them, by .4. Or
// if rows that tell much have hidden in the noise, so that the clip cuts them off: a rare class,
// labels far from others, or all that aren't the same.
func (v *inferring) lost() bool {
	switch kind := v.loss.Labels(); {
	case v.blind:
		return true
	case kind == losses.Real:
		return v.besideMean()
	case kind == losses.Binary && (v.cutOff() || v.separated()):
		return true
	}
	limit := 2.0
	if losses.LinkOf(v.loss) == losses.Log {
		limit = 0.4
	}
	variance, bow := v.stepErrors()
	square := mat.Trace(linalg.Sandwich(variance, v.inverse, v.short.Noise(len(v.theta)))) + mat.Trace(v.inverse)*bow/float64(len(v.theta))
	return square > limit*limit
}

// besideMean reports whether predictions of the squared loss have another mean than labels, by
// 3.5 standard deviations. A tenth of the spread of scores is allowed for: the rows' centre,
// where the intercept is the mean, is released too.
func (v *inferring) besideMean() bool {
	if v.constant == 0 {
		return false
	}
	u, b := v.apart(v.theta)
	variance, _ := v.stepErrors()
	variance += v.scatter.At(v.d, v.d) / v.n
	sd := math.Hypot(v.facts.noise, math.Sqrt(variance)*v.inverse.At(v.d, v.d))
	return math.Abs(b-v.bias) > 3.5*math.Hypot(sd, 0.1*floats.Norm(u, 2))
}

// cutOff reports whether gradients of classes vary by less than two fifths of what their
// likelihood says, and three standard deviations of noise can't explain it. Those of a person's
// rows may cancel.
func (v *inferring) cutOff() bool {
	noise := v.scatterNoise() * mat.Norm(v.short.From(v.inverse), 2) / float64(len(v.theta))
	return v.dispersion()+float64(3*noise) < 0.4/float64(max(1, v.shape.PersonRows))
}

// separated reports whether the features tell the classes of nearly all rows: scores that differ
// by more than 3, or a curvature of less than a sixth of the constant model's. The minimum is
// far out then, or there is none, and steps end on the way.
func (v *inferring) separated() bool {
	if v.constant == 0 {
		return false
	}
	constant := make([]float64, v.d+1)
	constant[v.d] = v.bias
	curvature := v.hessian.At(v.d, v.d)
	return curvature < v.facts.curvature/6 || v.scoreNorm(constant) > 9*curvature
}

// toWeights are the rows that turn θ into the weights of encoded rows.
func (v *inferring) toWeights() *mat.Dense {
	l := mat.NewDense(v.shape.Dim, len(v.theta), nil)
	for k := range v.d {
		var shift float64
		for j := range v.d {
			a := v.frame.Matrix.At(j, k)
			l.Set(j, k, a)
			if v.frame.Centre != nil {
				shift += float64(a * v.frame.Centre[j])
			}
		}
		if v.constant > 0 {
			l.Set(v.d, k, -shift)
		}
	}
	if v.constant > 0 {
		l.Set(v.d, v.d, 1)
	}
	return l
}
