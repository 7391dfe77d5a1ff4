package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Labels is what the labels' released mean tells of the loss, and the intercept that it starts.
type Labels struct {
	Curvature    float64 // φ'' under the constant model
	Steepest     float64 // the largest φ'' anywhere
	Minority     float64 // the rarer class's fraction, at most 1
	Apart        float64 // S: the bound on φ' by which the intercept is released apart; 0 for no
	Means        float64 // M: the bound on the means that the model says of counts, which are released then; 0 for φ' itself
	Typical      float64 // the clip over √(1 + d_eff), where nothing can be measured
	Residual     float64 // variance of φ', roughly
	Mean         float64
	Noise        float64   // standard deviation of the mean
	Missed       float64   // see Mean
	Bias         float64   // the intercept at the start
	Biases       []float64 // those of each column of scores
	Shifted      float64   // mean offset of the scores
	ShiftedNoise float64   // its deviation

	told drawn
}

// drawn are the labels' noisy sums, times the shares of the releases that they are the means of.
type drawn struct {
	sums   []float64
	shares float64
}

// Start releases the labels' mean: with all there is, where nothing else can be had.
func (x *Run) Start() (Labels, error) {
	var l Labels
	total, constant := tuning.CountsShare, x.Hopeless()
	if constant { // there is a mean alone, which needs both alike
		total = half
	}
	err := x.TotalBesideLabels(total)
	if err == nil && !constant && x.Hopeless() { // as rows come to less than is stated
		err = x.TotalBesideLabels(tuning.MostShare)
	}
	if err != nil {
		return l, err
	}
	for range 2 { // where a first one tells of fewer rows than there may be, what they take
		share := x.meanShare() - l.told.shares
		if x.Hopeless() {
			share = x.Pool.Left
		}
		if share <= l.told.shares/2 { // less isn't worth a pass
			break
		}
		if err := x.tell(&l, share); err != nil || x.Pool.Spent() {
			return l, err
		}
	}
	for !x.Pilot && l.Minority < 1 && l.Noise > l.Minority/tuning.RareKnown && !x.Pool.Spent() {
		share := math.Min(l.told.shares, tuning.MostShare-l.told.shares)
		if share <= 0 { // and all there is where that is too little by far
			if l.Noise < l.Minority/2 {
				break
			}
			share = x.Pool.Left
		}
		if err := x.tell(&l, share); err != nil {
			return l, err
		}
	}
	if x.Pool.Spent() {
		return l, nil
	}
	if err := x.scaleResiduals(&l); err != nil {
		return l, err
	}
	if l.Means > 0 && tuning.MeanKnown*math.Hypot(l.Noise, l.Missed) > l.Mean || x.interceptHidden(l) { // all that will be known of the intercept
		if err := x.tell(&l, tuning.AgainShare); err != nil {
			return l, err
		}
	}
	return l, nil
}

// meanShare is the share of μ² with which the labels' mean is known well enough, for the number of rows that is known so far.
func (x *Run) meanShare() float64 {
	scale := 1.0
	switch x.Problem.Loss.Labels() {
	case losses.Count:
		scale = x.Problem.Facts.LabelBound
	case losses.Amount:
		scale = tuning.GammaRatio
	}
	least := tuning.LeastShare
	if x.Pilot { // which has but a part of μ²
		least = tuning.MeanLeastSharePilot
		if x.Problem.Loss.Labels() == losses.Binary {
			least = tuning.MeanLeastShareClasses
		}
	}
	return math.Min(math.Max(math.Pow(tuning.MeanKnown*scale/x.NMu(), 2), least), tuning.MostShare)
}

// interceptHidden reports whether the slope of counts' intercept can't be seen in its noise.
func (x *Run) interceptHidden(l Labels) bool {
	return losses.LinkOf(x.Problem.Loss) == losses.Log && !x.Pilot && tuning.MeanKnown*curator.Slope{Apart: l.Apart, Means: l.Means}.ApartBound() > x.NMu()*l.Curvature
}

const (
	leastMean = 1e-9 // a mean is held to: one of 0 has no logarithm
	farScores = 30   // so far beyond thresholds all rows are on one side
)

// LabelEnds are the ends of the labels' range.
func (p Problem) LabelEnds() (low, high float64) {
	switch y := p.Facts.LabelBound; p.Loss.Labels() {
	case losses.Binary:
		return 0, 1
	case losses.Count, losses.Amount:
		return 0, y
	default:
		return -y, y
	}
}

// Total releases how many rows of the largest weight all come to, and the mean offset, where
// these aren't known.
func (x *Run) Total(share float64) error {
	if !x.Problem.Facts.Totalled() {
		return nil
	}
	noise := x.Problem.TotalsNoise() / (x.Problem.Mu * math.Sqrt(share))
	first := x.firstRows(noise)
	answer, err := x.Sums.Totals(x.Task.Ctx, first, x.Problem.ExposurePower(noise))
	sums, err := x.Pool.Draw(share, answer, err)
	if err != nil {
		return err
	}
	x.N, x.NNoise, x.shifted = x.Problem.Totals(sums, noise)
	x.totals = Mean{Value: x.N, Noise: x.NNoise}
	x.shiftedNoise = x.Problem.Facts.largestOffset() * noise / x.N
	if !x.Problem.Facts.EachRow {
		return nil
	}
	most := float64(x.Problem.Facts.PersonRows)
	rows := float64(first) * math.Max(sums[1], noise)
	if sums[2] > rowsSurely*noise {
		rows = math.Max(rows, most*sums[2])
	}
	x.each = x.N / math.Min(rows, most*x.N)
	x.shifted = x.Problem.meanOffset(math.Max(sums[2], noise), sums[exposuresAt:], noise)
	return nil
}

// TotalBesideLabels is Total before labels' sums are released, which tell how many rows there are where that is secret.
func (x *Run) TotalBesideLabels(share float64) error {
	if !x.Problem.Facts.TotalledBesideLabels() {
		return nil
	}
	return x.Total(share)
}

// exposuresAt is where those of rows are in totals of persons of whom each row counts.
const exposuresAt = 3

// rowsSurely is how many deviations of its noise all rows' total must be for it to be taken, and not that of the first of
// each person, or that of exposures, and not of their powers.
const rowsSurely = 2

// firstRows is how many rows of a person are counted where all of them would be hidden: as many as leave noise of half of
// the persons.
func (x *Run) firstRows(noise float64) int {
	most := half * x.N / noise
	return int(math.Max(1, math.Min(most, float64(x.Problem.Facts.PersonRows))))
}

// Totals reads noisy totals, each with noise of the given standard deviation: how many rows there
// are, with the noise in that, and their mean offset, that of the mean exposure for counts and amounts, as a constant
// rate has it.
func (p Problem) Totals(sums []float64, noise float64) (n, nNoise, shifted float64) {
	n = float64(p.Facts.Rows)
	if p.Facts.Weighted || p.Facts.Absent || p.Facts.AddRemove {
		n, nNoise = math.Min(n, math.Max(sums[0], math.Max(1, noise))), noise
	}
	return n, nNoise, p.meanOffset(n, sums[1:], noise)
}

// WideExposures reports whether exposures may differ so much that their sum is asked for as powers, too.
func (p Problem) WideExposures() bool {
	return p.Loss.Labels().FromZero() && p.Facts.OffsetRange[1]-p.Facts.OffsetRange[0] > tuning.WideExposures
}

// ExposurePower is what exposures are raised to in totals of a noise for their sum to stand out if all were the least that there may be, at most 1; 0 where they
// aren't wide.
func (p Problem) ExposurePower(noise float64) float64 {
	if !p.WideExposures() {
		return 0
	}
	factor := math.Log(float64(p.Facts.Rows) / (tuning.Outstanding * noise))
	return math.Min(1, math.Max(1, factor)/(p.Facts.OffsetRange[1]-p.Facts.OffsetRange[0]))
}

// meanOffset is that of n rows whose offsets, as Totals has them, have noisy sums: of exposures, or where noise hides these of their powers, by which it is a
// power mean of exposures, between the geometric and the arithmetic one.
func (p Problem) meanOffset(n float64, sums []float64, noise float64) (shifted float64) {
	low, high := p.Facts.OffsetRange[0], p.Facts.OffsetRange[1]
	if shifted = p.Facts.largestOffset() * sums[0] / n; p.Loss.Labels().FromZero() {
		shifted = high + math.Log(math.Max(sums[0], noise)/n)
		if p.WideExposures() && sums[0] < rowsSurely*noise {
			shifted = high + math.Log(math.Max(sums[1], noise)/n)/p.ExposurePower(noise)
		}
	}
	return math.Min(math.Max(shifted, low), high)
}

// Mean draws the labels' mean with a share.
func (x *Run) Mean(share float64) (Labels, error) {
	var l Labels
	return l, x.tell(&l, share)
}

// tell draws the labels' mean with a share, and takes what was drawn before into account.
func (x *Run) tell(l *Labels, share float64) error {
	answer, err := x.Sums.Labels(x.Task.Ctx)
	told, err := x.Pool.Draw(share, answer, err)
	if err != nil {
		return err
	}
	sums, shares := make([]float64, len(told)), l.told.shares+share
	copy(sums, l.told.sums)
	floats.AddScaled(sums, share, told)
	of := slices.Clone(sums)
	floats.Scale(1/shares, of)
	var mean Mean
	before := x.N
	mean, x.N, x.NNoise = x.Problem.MeanLabel(of, 1/(x.Problem.Mu*math.Sqrt(shares)), x.totals.Value, x.totals.Noise)
	if x.each > 0 { // all rows come to the number of persons as it is known now
		x.each = math.Max(x.each*x.N/before, 1/float64(x.Problem.Facts.PersonRows))
	}
	*l = x.Problem.Labels(x.N, x.shifted, mean)
	l.told, l.ShiftedNoise = drawn{sums, shares}, x.shiftedNoise
	// A pilot's clip holds counts' intercept with the rest: steps that follow mend what it cuts
	// off, and noise would cost more.
	if !x.Problem.Facts.Intercept {
		l.Bias, l.Apart = 0, 0
	} else if x.Pilot && x.Problem.Loss.Labels() == losses.Count {
		l.Apart = 0
	}
	if l.Apart > 0 && x.Problem.predicts() {
		exposed := math.Exp(x.Problem.Facts.OffsetRange[1] - x.shifted) // the largest exposure over the mean one
		if most := l.Mean * exposed * math.Max(tuning.MeansLeast, x.NMu()/tuning.MeansOver); tuning.MeansLess*most < l.Apart {
			l.Means = most
		}
	}
	l.Biases = []float64{l.Bias}
	return nil
}

// predicts reports whether φ' of counts is the mean that a model says of them less the label. Such means are as large as the labels on average, and what their
// sum differs from the labels' known one by is the intercept's slope; φ' may be as large as a label.
func (p Problem) predicts() bool {
	_, poisson := p.Loss.(losses.CappedPoisson)
	return poisson && !p.Facts.EachRow
}

// slope is how gradients are held to a clip, with the intercept's slope apart in a frame of so many dimensions: by k for the variances of noise in scores by
// these and by the intercept to be smallest together, (4C² + (κk)²)·(d + S²/k²) where k moves by κ.
func (l Labels) slope(clip, effective float64, f Facts) curator.Slope {
	s := curator.Slope{Clip: clip, Apart: l.Apart, Means: l.Means}
	s.Constant = math.Sqrt(2 * clip * s.ApartBound() / math.Sqrt(effective) / l.moves(1, f))
	return s
}

// moves is by how much the intercept's coordinate moves that is apart: a slope in ±k by 2k, and a mean in [0, k] by k.
func (l Labels) moves(k float64, f Facts) float64 {
	if l.Means > 0 {
		return f.fractions() * k
	}
	return 2 * k
}

// uniform is 1 over the variance of a law that is uniform on a range of 1.
const uniform = 12

// Mean is a noisy mean of labels, with its standard error, and what shortened places may have beside it.
type Mean struct{ Value, Noise, Missed float64 }

// MeanLabel reads the labels' noisy sums of n rows, a number that has a standard deviation of its own; unit is that of noise over sensitivity, in
// engines' units. Where the number of rows is secret the first two are those of which the total is that number: they tell it, too, beside what is known
// of it where it has noise, and their total is held to what it may be by the same number for both. How far the mean is from the middle of a range that means of real labels
// and of classes may lie anywhere in is the best linear function of the sum, for a mean that is uniform there and a number of rows known with noise.
// Places of counts and amounts in steps fall, as none can be above that in the step before; beyond the first they are shortened by James and Stein's rule, so that noise above counts as 0.
func (p Problem) MeanLabel(sums []float64, unit, n, nNoise float64) (Mean, float64, float64) {
	low, high := p.LabelEnds()
	steps := curator.LabelSteps(p.Loss.Labels(), high)
	width, each := steps[0]-low, unit*math.Sqrt(float64(len(steps)))
	above, noise := sums[0]-n*(low+high)/2, each*width // of the sum of labels over the middle of the first step
	switch {
	case p.Facts.AddRemove:
		each *= p.Facts.Positive()
		known := nNoise
		above, noise, nNoise = width*(sums[1]-sums[0])/2, width*each/math.Sqrt2, math.Sqrt2*each
		total := sums[0] + sums[1]
		if known > 0 { // weighed by how well both are known
			a, b := math.Pow(known, -2), math.Pow(nNoise, -2)
			total, nNoise = (n*a+total*b)/(a+b), 1/math.Sqrt(a+b)
		}
		n = math.Min(float64(p.Facts.Rows), math.Max(total, math.Max(1, nNoise)))
		sums = sums[1:]
	case len(steps) > 1:
		above = width * (sums[0] - n/2)
	}
	if kind := p.Loss.Labels(); kind == losses.Real || kind == losses.Binary {
		noisy := (nNoise*nNoise + uniform*noise*noise/(width*width)) / n
		above *= n / (n + noisy)
	}
	mean := Mean{Value: low + width/2 + above/n, Noise: noise / n}
	if len(steps) > 1 {
		places := []float64{(mean.Value - low) / width}
		for _, sum := range sums[1:] {
			places = append(places, sum/n)
		}
		mean = climbed(falling(places), steps, mean.Noise, each/n)
	}
	off := mean.Value // what a sum over n has of n's error; the middle of the first step has none where two sums tell n
	if p.Facts.AddRemove {
		off -= low + width/2
	}
	mean.Noise = math.Hypot(mean.Noise, off*nNoise/n)
	return mean, n, nNoise
}

// climbed is the mean of labels that reach places of steps, of which none is above the one before: those beyond the first ones alike are
// shortened by James and Stein's rule for the noise of one. A place may be larger than what that leaves by as much as noise takes, of those that are left
// nothing the first one's, as the next ones are no larger, and less the longer their steps are: where labels have a variance what these add falls.
func climbed(places, steps []float64, first, noise float64) Mean {
	mean := Mean{Noise: first}
	before := 1.0 // what is kept of the place before
	for j, place := range places {
		kept := 1.0
		if place != places[0] {
			kept = JamesStein(noise*noise, math.Pow(math.Max(place, 0), 2))
		}
		mean.Value += float64(steps[j] * place * kept)
		if j > 0 {
			mean.Noise = math.Hypot(mean.Noise, steps[j]*noise*math.Sqrt(kept))
		}
		if before > 0 {
			mean.Missed = math.Hypot(mean.Missed, steps[j]*noise*math.Sqrt(1-kept))
		}
		before = kept
	}
	return mean
}

// falling is the isotonic regression of numbers, which fall or stay: neighbours that rise become their mean.
func falling(v []float64) []float64 {
	var means []float64
	var sizes []int
	for _, x := range v {
		means, sizes = append(means, x), append(sizes, 1)
		for k := len(means) - 1; k > 0 && means[k-1] < means[k]; k-- {
			both := sizes[k-1] + sizes[k]
			means[k-1] = (float64(means[k-1]*float64(sizes[k-1])) + float64(means[k]*float64(sizes[k]))) / float64(both)
			sizes[k-1] = both
			means, sizes = means[:k], sizes[:k]
		}
	}
	out := make([]float64, 0, len(v))
	for k, mean := range means {
		out = append(out, slices.Repeat([]float64{mean}, sizes[k])...)
	}
	return out
}

// Labels reads the noisy mean of n labels whose scores have a mean offset.
func (p Problem) Labels(n, shifted float64, of Mean) Labels {
	mean, noise := of.Value, of.Noise
	low, high := p.LabelEnds()
	k := p.Loss.Constants(check.Everywhere, p.Facts.LabelBound)
	l := Labels{Steepest: k.Smoothness, Minority: 1, Noise: noise, Missed: of.Missed, Shifted: shifted}
	kind := p.Loss.Labels()
	if (kind == losses.Binary || kind == losses.Count) && !math.IsInf(k.Lipschitz, 1) {
		l.Apart = k.Lipschitz
	}
	switch kind {
	case losses.Binary:
		floor := math.Min(0.5, math.Max(noise, 2/n))
		q := math.Min(math.Max(mean, floor), 1-floor)
		l.Mean, l.Minority, l.Typical = q, math.Min(q, 1-q), 0.5
		l.Bias = l.constant(p.Loss)
		l.Residual = l.Curvature
	case losses.Count, losses.Amount:
		l.Mean = math.Max(math.Min(math.Max(mean, math.Min(noise, high/2)), high), leastMean)
		l.Minority = math.Min(1, l.Mean)
		l.Bias = l.constant(p.Loss)
		l.Residual = l.Curvature
	default:
		width := high - low
		l.Mean = math.Min(math.Max(mean, low), high)
		l.Bias = l.Mean
		l.vary(k, width/tuning.RealResidual)
	}
	l.Bias -= shifted
	return l
}

// vary is for real labels that are so far from the constant model, under a loss with such constants.
func (l *Labels) vary(k losses.Constants, deviation float64) {
	slope := deviation * k.Smoothness
	l.Steepest, l.Curvature, l.Typical = k.Smoothness, k.Smoothness, tuning.Surely*slope
	if !math.IsInf(k.Lipschitz, 1) {
		l.Curvature = math.Min(k.Smoothness, k.Lipschitz/(deviation*math.Sqrt(math.Pi/2))) // 2φ′ times the density of normal errors
		l.Typical, slope = math.Min(l.Typical, k.Lipschitz), math.Min(slope, k.Lipschitz)
	}
	l.Residual = slope * slope
}

// constant is the score of a constant model of the labels' mean; it sets the curvature there,
// which is the variance of φ' too if the loss is a likelihood, and a typical slope.
func (x *Labels) constant(l losses.Loss) float64 {
	q := x.Mean
	if e, ok := l.(losses.Extended); ok {
		l = e.Inner
	}
	switch l := l.(type) {
	case losses.NegativeBinomial:
		x.Curvature = q / (1 + float64(l.Dispersion*q))
		x.Typical = x.Curvature + math.Sqrt(x.Curvature)
		return math.Log(q)
	case losses.Gamma:
		x.Curvature, x.Minority, x.Typical = 1, 1, 2
		return math.Log(math.Max(q, l.Least))
	case losses.Ordinal:
		return x.middle(l)
	}
	switch link := losses.LinkOf(l); {
	case l.Labels().FromZero():
		x.Curvature, x.Typical = q, q+math.Sqrt(q)
		return math.Log(q)
	case link == losses.Logit:
		x.Curvature = q * (1 - q)
	case link == losses.ProbitLink:
		bias := distuv.UnitNormal.Quantile(q)
		density := distuv.UnitNormal.Prob(bias)
		x.Curvature, x.Typical = density*density/(q*(1-q)), density/x.Minority
		return bias
	default:
		x.Curvature = x.Steepest
		bias := math.Log(q / (1 - q))
		return math.Copysign(math.Min(1, math.Abs(bias)), bias)
	}
	return math.Log(q / (1 - q))
}

// middle is the score at which levels have their mean.
func (x *Labels) middle(l losses.Ordinal) float64 {
	last := float64(len(l.Thresholds))
	bias := crossing(l.Thresholds[0]-farScores, l.Thresholds[len(l.Thresholds)-1]+farScores, func(z float64) bool {
		var mean float64
		for k, p := range l.Probabilities(z) {
			mean += float64(float64(k) * p)
		}
		return mean < x.Mean
	})
	x.Curvature, x.Minority, x.Typical = 0, math.Min(x.Minority, math.Max(last-x.Mean, leastMean)), 0.5
	for k, p := range l.Probabilities(bias) {
		x.Curvature += float64(p * l.Curvature(bias, float64(k)))
	}
	return bias
}

// most is the largest fraction of gradients that a clip may shorten.
func (l Labels) most() float64 { return 0.5 * l.Minority }

// flattest is the curvature at the constant model, or the largest one where that is less.
func (l Labels) flattest() float64 { return math.Min(l.Curvature, l.Steepest) }

// bearable is the variance that noise may bring into scores of one column: of classes, whose scores have a scale of their own, however rare one is, so much
// of that scale; else so much of the slopes' variance. Along many columns, which have but a scale each, most of it is noise of such as few rows have, so that
// real labels, counts and amounts bear no more there of what a slope is off by than classes do of their scale.
func (l Labels) bearable(p Problem, wide bool) float64 {
	switch {
	case p.Loss.Labels() == losses.Binary:
		return math.Pow(tuning.BearableClasses, 2) / l.Steepest
	case wide:
		return math.Pow(tuning.BearableClasses/l.flattest(), 2) * l.Residual
	}
	return math.Pow(tuning.BearableNoise, 2) * l.Residual
}
