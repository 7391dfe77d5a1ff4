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

// law is what is known of the error of an estimate θ: made of released numbers. A
// combination of coordinates, ⟨c, θ⟩, is given by its factors c.
type law struct {
	weights    *mat.Dense // of encoded rows, by θ
	covariance *mat.SymDense
	drowned    [][]float64 // orthonormal directions of which the data say nothing
	hidden     float64     // square of what the estimate may miss along each of them
	seen       float64     // mean curvature along them, as a fraction of the floor
	curved     float64     // and what it may be

	inverse          *mat.SymDense // of H̃
	hessian, scatter float64       // noise of H̃ and of J̃/n, the latter in shorter coordinates S·x̃
	short            *mat.SymDense // S⁻²; nil where these are the others
	quantile         float64       // of the normal law, for the intervals' level
}

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

// finite reports whether the covariance is one.
func (l *law) finite() bool {
	sum := mat.Sum(l.covariance)
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// of are the weights of encoded rows at a point.
func (l *law) of(theta []float64) []float64 {
	rows, _ := l.weights.Dims()
	w := mat.NewVecDense(rows, nil)
	w.MulVec(l.weights, mat.NewVecDense(len(theta), theta))
	return w.RawVector().Data
}

// tells reports whether any weight is determined, or the difference of a level from the next one of
// its group: all levels beside an intercept have no more.
func (l *law) tells(groups [][]int) bool {
	rows, _ := l.weights.Dims()
	for j := range rows {
		if l.determines(l.weights.RawRowView(j)) {
			return true
		}
	}
	for _, group := range groups {
		for k := 1; k < len(group); k++ {
			c := slices.Clone(l.weights.RawRowView(group[k]))
			floats.Sub(c, l.weights.RawRowView(group[k-1]))
			if l.determines(c) {
				return true
			}
		}
	}
	return false
}

// undetermined is the part of a combination that may lie in drowned directions: that
// much noise in the eigenvectors can bring about, where a coefficient is determined.
const undetermined = 0.3

// determines reports whether the data determine a combination: little of it lies in
// drowned directions, and what that may add to its error, beyond what noise in the
// eigenvectors makes of nothing, is a quarter of its variance at most. Where more than a
// quarter of the directions have drowned, such noise may itself hide a part, whose error
// is as large as that of the rest at most, by the curvature that is seen along them.
func (l *law) determines(c []float64) bool {
	inside, noise := l.drownedPart(c)
	var all float64
	for _, x := range c {
		all += x * x
	}
	v := mat.NewVecDense(len(c), c)
	variance := math.Max(0, mat.Inner(v, l.covariance, v))
	if 4*len(l.drowned) > len(c) && l.hidden*noise*l.seen > variance {
		return false
	}
	return inside <= undetermined*undetermined*all && 4*l.hidden*l.beyond(inside, noise) <= variance
}

// drownedPart is the square of a combination's part in drowned directions, and what noise
// in the eigenvectors makes of nothing, on average: in a part the variance ½σ²·‖Λ⁻¹c‖², Λ
// being H̃ without these directions and σ its noise.
func (l *law) drownedPart(c []float64) (inside, noise float64) {
	v := mat.NewVecDense(len(c), c)
	var a mat.VecDense
	a.MulVec(l.inverse, v)
	for _, direction := range l.drowned {
		part := mat.NewVecDense(len(c), direction)
		along := mat.Dot(part, v)
		inside += along * along
		a.AddScaledVec(&a, -mat.Dot(part, &a), part)
	}
	return inside, float64(len(l.drowned)) * l.hessian * l.hessian / 2 * mat.Dot(&a, &a)
}

// beyond is what of a part in drowned directions noise doesn't explain: where these are seen
// to be flat, up to three standard deviations of what it makes of nothing.
func (l *law) beyond(inside, noise float64) float64 {
	likely := 1 + (1-l.seen)*math.Sqrt(18/math.Max(1, float64(len(l.drowned))))
	return math.Max(0, inside-noise*likely)
}

// standardError is that of a combination, +Inf where it isn't determined.
func (l *law) standardError(c []float64) float64 {
	if !l.determines(c) {
		return math.Inf(1)
	}
	about := l.combine(c)
	return math.Sqrt(about.covariance(about))
}

// combination is what the law tells of one.
type combination struct {
	factors, image []float64 // c, and the covariance times it
	hidden         []float64 // what may be missed along each drowned direction
	longer         float64   // factor of its standard error
}

func (l *law) combine(c []float64) combination {
	var image mat.VecDense
	image.MulVec(l.covariance, mat.NewVecDense(len(c), c))
	a := combination{factors: c, image: image.RawVector().Data, longer: l.longer(c)}
	size := math.Sqrt(l.hidden * l.real(c))
	for _, direction := range l.drowned {
		a.hidden = append(a.hidden, float64(size*floats.Dot(c, direction)))
	}
	return a
}

// covariance is that of two combinations, each made longer by its factor, and of what drowned
// directions may add to them.
func (a combination) covariance(b combination) float64 {
	return (floats.Dot(a.image, b.factors) + floats.Dot(a.hidden, b.hidden)) * a.longer * b.longer
}

// real is the fraction of a combination's part in drowned directions that counts: all but
// what noise makes of a part in directions that are flat.
func (l *law) real(c []float64) float64 {
	inside, noise := l.drownedPart(c)
	return math.Min(1, (l.beyond(inside, noise)+noise*l.curved)/math.Max(inside, 1e-300))
}

// longer is the factor ≥ 1 by which a standard error grows for the noise of H̃ and J̃. Where
// the computed one is 1 + m + s·Z times the right one, m and s small, an interval of z of
// them loses 2zφ(z)·(z²s²/2 − m) of its coverage, and 2zφ(z)·κ is what a factor 1 + κ
// brings. With a = H̃⁻¹c and b = Cov·c, the variance changes by −2aᵀNb + … for the noise N
// of H̃ and by aᵀN'a for that of J̃/n, whose means and variances are known. Close to
// drowning higher orders of the noise of H̃ cost as much again: trials on collinear columns
// chose their factor.
func (l *law) longer(c []float64) float64 {
	var a, b, shaken mat.VecDense
	v := mat.NewVecDense(len(c), c)
	a.MulVec(l.inverse, v)
	b.MulVec(l.covariance, v)
	variance := mat.Dot(v, &b)
	if variance == 0 {
		return 1
	}
	ab := mat.Dot(&a, &b)
	curve := 2 * l.hessian * l.hessian * (mat.Dot(&a, &a)*mat.Dot(&b, &b) + ab*ab)
	stretched := mat.Dot(&a, &a)
	if l.short != nil {
		stretched = mat.Inner(&a, l.short, &a)
	}
	spread := math.Pow(l.scatter*stretched, 2)
	s2 := (curve + spread) / (4 * variance * variance)
	shaken.MulVec(linalg.Shaken(l.inverse, l.hessian*l.hessian), &b)
	second := 2*mat.Dot(&a, &shaken) + mat.Inner(&a, linalg.Shaken(l.covariance, l.hessian*l.hessian), &a)
	m := second/(2*variance) - s2/2
	z2 := l.quantile * l.quantile
	higher := math.Pow(z2*curve/(4*variance*variance), 2)
	return 1 + math.Min(1, math.Max(0, float64(z2*s2/2)+higher-m))
}
