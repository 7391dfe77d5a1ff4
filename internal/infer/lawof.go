package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/ordinal"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// law is that of the run's estimate.
func (v *newton) law() *Law {
	dim, curve := len(v.theta), v.in.curve
	l := &Law{
		Weights: v.in.toWeights(), Inverse: curve.inverse, Misfit: v.misfit(),
		Hessian: curve.hessian.noise, Scatter: v.scatter.noise / v.in.run.N, Steepness: v.steepness,
	}
	if v.unreliable() {
		for k := range curve.spectrum.Values {
			l.Drowned = append(l.Drowned, curve.spectrum.Vector(k))
		}
	} else {
		l.Drowned, l.Hidden = curve.drowned(), curve.typical(v.moved())
	}
	l.Seen, l.Curved = 1, 1
	// Levels may not occur, and where noise is next to none a direction that has drowned is one that other columns tell.
	if (len(v.in.run.Task.Levels()) > 0 || estimate.Quiet(v.in.run.NMu(), v.in.run.D)) && curve.hidden == nil {
		l.Seen, l.Curved = curve.flat(len(l.Drowned))
	}
	l.Covariance = linalg.Sandwich(1/v.in.run.N, curve.inverse, v.scatter.m)
	// Noise, what is cut off, and what the Hessian's change leaves. The points' mean error is what H̃'s
	// noise multiplies.
	variance, missed := v.stepErrors()
	gap := mat.NewDense(dim, 1, nil)
	for _, s := range v.steps {
		for j, at := range s.from {
			gap.Set(j, 0, gap.At(j, 0)+s.weight*(at-v.theta[j]))
		}
	}
	var far, changes mat.SymDense
	far.SymOuterK(v.shrunk, gap)
	changes.ScaleSym(missed/float64(dim), curve.inverse)
	for _, part := range []*mat.SymDense{
		linalg.Sandwich(variance, curve.inverse, linalg.Identity(dim)),
		linalg.Sandwich(1, curve.inverse, v.clip.missing()),
		linalg.Sandwich(1, curve.inverse, linalg.Shaken(&far, l.Hessian*l.Hessian)),
		&changes, l.Misfit,
	} {
		l.Covariance.AddSym(l.Covariance, part)
	}
	l.Lacked = v.lacked(l.Drowned)
	l.Adrift = slices.ContainsFunc(v.in.hiddenColumns(l.Drowned), func(part float64) bool { return part > mostly })
	return l
}

// misfit is the square of what rows that count less may change of an estimate, where the model isn't that of
// labels: along each direction as much as the part of its curvature that they took, in units of scores.
func (v *newton) misfit() *mat.SymDense {
	mean := mat.Trace(v.in.curve.hessian.m) / float64(len(v.theta))
	return v.in.curve.spectrum.Map(func(l float64) float64 {
		lost := math.Max(0, math.Min(1-l/mean, v.clip.lost))
		return math.Pow(tuning.Misfit*v.clip.unit*lost, 2)
	})
}

// lacked is by how much an estimate may be off for scores that it lacks: weights as far as they are nearer to 0, and the intercept to the mean threshold,
// which is 0 for classes; and the intercept of a log link by V/2, as means are e^(V/2) times as large where scores vary by V about a row's, as by a normal
// law. It is nil for nothing.
func (v *newton) lacked(drowned [][]float64) []float64 {
	loss, last := v.in.run.Problem.Loss, v.in.run.D
	variance := v.hiddenVariance(drowned)
	part, off := attenuation(loss, variance), make([]float64, len(v.theta))
	switch {
	case part > 0:
		floats.AddScaled(off, part, v.theta)
		if o, levels := loss.(losses.Ordinal); levels && v.in.constant > 0 {
			off[last] -= float64(part * stat.Mean(o.Thresholds, nil))
		}
	case variance > 0 && losses.LinkOf(loss) == losses.Log && v.in.constant > 0:
		off[last] = variance / 2
	default:
		return nil
	}
	return off
}

// attenuation is by what part weights are larger than those of a model that lacks scores of a variance. Mean probabilities are then those at scores √(1 + V)
// times nearer to 0, or √(1 + logisticScale·V) times. Real labels' weights, and those of a log link, don't depend on what is lacked.
func attenuation(loss losses.Loss, variance float64) float64 {
	switch {
	case loss.Labels() == losses.Real || losses.LinkOf(loss) == losses.Log:
		return 0
	case losses.LinkOf(loss) != losses.ProbitLink:
		variance *= logisticScale
	}
	return math.Sqrt(1+variance) - 1
}

// logisticScale is (16√3/15π)², by which a logistic law is close to a normal one [Zeger, Liang and Albert 1988, "Models for longitudinal data"].
const logisticScale = 256. * 3 / (225 * math.Pi * math.Pi)

// hiddenVariance is what scores of columns that noise hides may have: as much for each as there is along a direction that is determined, on average and less
// what noise makes.
func (v *newton) hiddenVariance(drowned [][]float64) float64 {
	columns := floats.Sum(v.in.hiddenColumns(drowned))
	if columns == 0 {
		return 0
	}
	c, from := v.in.curve, v.moved()
	curvature := c.spectrum.Values[len(from)-1]
	if v.in.constant > 0 {
		curvature = c.hessian.m.At(v.in.run.D, v.in.run.D)
	}
	noise, _ := v.stepErrors()
	sum, directions := 0.0, 0.0
	for k, value := range c.spectrum.Values {
		if value >= c.floor {
			sum += float64(value*math.Pow(floats.Dot(from, c.spectrum.Vector(k)), 2)) - float64(noise/math.Max(value, tiny))
			directions++
		}
	}
	return columns * math.Max(0, sum) / math.Max(1, directions) / math.Max(math.Max(curvature, c.floor), tiny)
}

// hiddenColumns are those columns that may have a range that is too wide, as far as noise hides their variance: the parts in drowned
// directions that scores have which are of one column alone. Of columns that are alike it is next to nothing, though what tells them apart has drowned.
// Other columns aren't counted: what zeros and ones add to scores varies the less the rarer ones are. Where all directions have drowned there are none.
func (v *space) hiddenColumns(drowned [][]float64) (parts []float64) {
	ranged, columns := v.run.Task.Ranged(), v.run.D
	if len(drowned) == 0 || len(drowned) == len(v.pilot) {
		return nil
	}
	var alone mat.Dense
	if err := alone.Inverse(v.frame.At.Matrix); err != nil {
		if condition, ok := err.(mat.Condition); !ok || math.IsInf(float64(condition), 1) {
			return slices.Repeat([]float64{1}, min(len(drowned), len(ranged)))
		}
	}
	for _, j := range ranged {
		score, inside := alone.ColView(j), 0.0
		for _, direction := range drowned {
			inside += math.Pow(mat.Dot(mat.NewVecDense(columns, direction[:columns]), score), 2)
		}
		if all := mat.Dot(score, score); all > 0 {
			parts = append(parts, inside/all)
		}
	}
	return parts
}

// mostly is the part of a column's scores from which on noise hides them.
const mostly = 0.5

// moved is theta less the constant model.
func (v *newton) moved() []float64 {
	from := slices.Clone(v.theta)
	if v.in.constant > 0 {
		from[v.in.run.D] -= v.in.labels.Bias
	}
	return from
}

// widenFor adds what estimated thresholds add to the covariance: their distances and the scale of
// scores make up for each other, which is along the weights, and their mean is the intercept's. What scores lack has them nearer to their mean.
func (v *newton) widenFor(d ordinal.Doubt, l *Law) {
	along := slices.Clone(v.theta)
	if v.in.constant > 0 {
		along[v.in.run.D] = 0
		l.Covariance.SetSym(v.in.run.D, v.in.run.D, l.Covariance.At(v.in.run.D, v.in.run.D)+d.Mean)
	}
	l.Covariance.SymRankOne(l.Covariance, d.Scale, mat.NewVecDense(len(along), along))
	loss, levels := v.in.run.Problem.Loss.(losses.Ordinal)
	part := attenuation(v.in.run.Problem.Loss, v.hiddenVariance(l.Drowned))
	if l.Thresholds = d.Thresholds; d.Thresholds == nil || !levels || !(part > 0) {
		return
	}
	apart := slices.Clone(loss.Thresholds)
	floats.AddConst(-stat.Mean(apart, nil), apart)
	l.Thresholds = mat.NewSymDense(len(apart), nil)
	l.Thresholds.SymRankOne(d.Thresholds, part*part, mat.NewVecDense(len(apart), apart))
}

// stepErrors are the variance of noise in the steps' mean gradient, in each coordinate, and
// the square of what the Hessian's change leaves, in the norm of scores.
func (v *newton) stepErrors() (variance, missed float64) {
	for _, s := range v.steps {
		variance += math.Pow(s.weight*s.noise, 2)
		missed += s.weight * math.Sqrt(s.missed)
	}
	return variance, missed * missed
}

// unreliable reports whether scores may be so far off that no estimate is close: by 2 in a typical
// row, or for a count or an amount, whose mean is no longer close to linear in them, by .4; classes are told
// apart; or labels far from others have hidden in the noise, so that the clip cuts them off.
func (v *newton) unreliable() bool {
	limit := tuning.ScoresOff
	switch {
	case v.clip.unresolved:
		return true
	case v.in.run.Problem.Loss.Labels() == losses.Real:
		gap, sd := v.meanGap()
		return gap > tuning.MeanOff*sd
	case losses.LinkOf(v.in.run.Problem.Loss) == losses.Log:
		limit = tuning.ScoresOffLog
	case v.in.run.Problem.Loss.Labels() == losses.Binary && v.separated():
		return true
	}
	variance, missed := v.stepErrors()
	curvature := mat.Trace(v.in.curve.hessian.m) / float64(len(v.theta))
	return v.scoreVariance(math.Sqrt(variance))+missed > limit*limit*curvature
}

// separated reports whether the features may tell the classes of nearly all rows: scores that differ
// by more than 3, less what noise makes of them and with its standard deviation, or a curvature of less than a
// sixth of the constant model's. The minimum is far out then, or there is none, and steps end on the way.
func (v *newton) separated() bool {
	if v.in.constant == 0 {
		return false
	}
	constant := make([]float64, v.in.run.D+1)
	constant[v.in.run.D] = v.in.labels.Bias
	variance, _ := v.stepErrors()
	curvature := v.in.curve.hessian.m.At(v.in.run.D, v.in.run.D)
	noise := v.scoreVariance(math.Sqrt(variance))
	scores := math.Sqrt(math.Max(0, v.distance(constant)-noise)) + math.Sqrt(noise)
	return curvature < v.in.labels.Curvature/tuning.SeparatedCurvature || scores > tuning.SeparatedScores*math.Sqrt(curvature)
}

// meanGap is by how much predictions of the squared loss have another mean than labels, with the deviation that noise and the spread of scores explain:
// the rows' centre, where the intercept is the mean, is released too, of rows that were shortened, and half of that spread is allowed for. Where each row
// counts, the labels' mean is that of persons who count alike, which tells nothing of it.
func (v *newton) meanGap() (gap, sd float64) {
	if v.in.run.Problem.Loss.Labels() != losses.Real || v.in.constant == 0 || v.in.run.Problem.Facts.EachRow {
		return 0, 0
	}
	last := v.in.run.D
	u, b := v.in.split(v.theta)
	variance, _ := v.stepErrors()
	variance += v.scatter.m.At(last, last) / v.in.run.N
	own := math.Sqrt(variance) * v.in.curve.inverse.At(last, last)
	for _, noise := range []float64{own, v.in.labels.Noise, v.in.labels.ShiftedNoise, tuning.MeanRoom * floats.Norm(u, 2)} {
		sd = math.Hypot(sd, noise)
	}
	return math.Abs(b - v.in.labels.Bias), sd
}

// allowForMean has intervals allow for rows that may have been cut off, which noise hid from the clip's histogram, where predictions and labels differ in the
// mean by more than noise explains at a level of 95 %: along the intercept for all of it, and along the weights for as much as noise doesn't explain.
func (v *newton) allowForMean() {
	gap, sd := v.meanGap()
	unexplained := gap*gap - float64(math.Pow(estimate.TwoSided95*sd, 2))
	if !(unexplained > 0) {
		return
	}
	inverse := v.in.curve.inverse.At(v.in.run.D, v.in.run.D)
	v.clip.cut, v.clip.gap = math.Max(v.clip.cut, math.Sqrt(unexplained)/inverse), math.Max(v.clip.gap, gap/inverse)
}
