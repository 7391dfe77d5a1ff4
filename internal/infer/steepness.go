package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Steepness is by how much the mean of a row's label changes with its score, on average over rows: what turns a
// coefficient into an average marginal effect. Its Mean is 0 where there is none.
type Steepness struct {
	Mean  float64
	Noise float64   // standard deviation, but for what θ adds
	By    []float64 // derivative by θ
}

// countsScores reports whether a histogram of scores tells the steepness, which takes a share of μ².
func (v *space) countsScores() bool {
	return !v.alone && v.run.Problem.Loss.Labels() == losses.Binary
}

// steepen finds the steepness. Of counts and amounts it is their mean, of classes the mean of the density that
// their probability has at a row's score.
func (v *newton) steepen() error {
	v.steepness.By = make([]float64, len(v.theta))
	switch _, levels := v.in.run.Problem.Loss.(losses.Ordinal); {
	case levels:
		return nil
	case losses.LinkOf(v.in.run.Problem.Loss) == losses.Log:
		v.ofLogLink()
		return nil
	case v.in.countsScores():
		return v.countScores()
	}
	v.steepness.Mean = 1
	return nil
}

// ofLogLink is the steepness of counts and amounts, the labels' mean with all that its noise may hide, whose variance is that of labels about their means, by the gradients along
// the intercept, and that of means, both as scores of a normal law have them, of variance s². In coordinates in which rows are round and centred
// as the Hessian weighs them, by μ^γ, the mean moves along θ by (1−γ)·s²'s part of each: γ is 1 for counts whose variance is their mean, 0 for
// amounts. What θ tells so is left out of the rest.
func (v *newton) ofLogLink() {
	mean, last := v.in.labels.Mean, len(v.theta)-1
	v.steepness.Mean, v.steepness.Noise = mean, math.Hypot(v.in.labels.Noise, v.in.labels.Missed)
	if v.in.constant == 0 || !(mean > 0) {
		return
	}
	beside := slices.Clone(v.theta)
	beside[last] = 0
	held := v.in.curve.held()
	var along mat.VecDense
	along.MulVec(held, mat.NewVecDense(len(beside), beside))
	along.ScaleVec(1/held.At(last, last), &along)
	spread := mat.Dot(&along, mat.NewVecDense(len(beside), beside))
	offsets := v.in.run.Problem.Facts.OffsetRange // taken to be anywhere in their range
	far := math.Min(spread+math.Pow(offsets[1]-offsets[0], 2)/uniform, mostSpread)
	square, power := mean*mean*math.Exp(far), 0.0
	variance := square // of labels about their means, over what the Hessian weighs them by
	switch l := v.in.run.Problem.Asked.(type) {
	case losses.Poisson:
		variance, power = mean, 1
	case losses.NegativeBinomial:
		variance, power = mean+float64(l.Dispersion*square), 1/(1+l.Dispersion*mean)
	}
	dispersion := v.scatter.m.At(last, last) / held.At(last, last)
	for j := range last {
		v.steepness.By[j] = mean * (1 - power) * along.AtVec(j)
	}
	told := mean * mean * (1 - power) * (1 - power) * spread * dispersion / held.At(last, last)
	v.steepness.Noise = math.Hypot(v.steepness.Noise, math.Sqrt((math.Max(0, dispersion*variance-told)+square-mean*mean)/v.in.run.N))
}

// mostSpread is the largest variance of scores by which means vary: beyond, labels' range holds them.
const mostSpread = 4

// Beyond the last edge of a histogram of scores probabilities hardly change.
const (
	farLogOdds    = 6.0
	farNormalised = 3.5
)

// Coordinates are how many numbers a release has at most beside those of moments: weights, or cells of a histogram of scores, of each class
// and what lies beyond.
func Coordinates(dim int, l losses.Loss) int {
	if l.Labels() == losses.Binary {
		return max(dim, 2*(mostScoreCells+2))
	}
	return dim
}

const mostScoreCells = 384

// scoreCells is how many it has. What the law of scores within cells hides falls with their number m, where rows have few scores, and what
// noise there is grows as √m/nμ: they are alike where m grows as (nμ)^⅔. With 24 cells noise is 3 % of the mean density at n·μ = 2400.
func scoreCells(nmu float64) int {
	more := math.Pow(nmu/leastCellsNMu, cellsGrowth)
	return int(math.Round(math.Min(leastScoreCells*math.Max(1, more), mostScoreCells)))
}

const (
	leastScoreCells = 24
	leastCellsNMu   = 2400
	cellsGrowth     = 2. / 3
	uniform         = 12 // 1 over the variance of a law that is uniform on a range of 1
)

// countScores releases how many rows of each class have scores in cells, over which they are taken to be spread
// evenly: the density's mean over a cell is what the probability rises by. Where rows have few scores, all of a cell may be anywhere in it,
// which is part of the noise. The question is φ', which tells the class and the score.
func (v *newton) countScores() error {
	loss, n := v.in.run.Problem.Loss, v.in.run.N
	link, far := losses.LinkOf(loss), farLogOdds
	density := func(s float64) float64 { return link.Mean(s) * link.Mean(-s) }
	if link == losses.ProbitLink {
		far, density = farNormalised, distuv.UnitNormal.Prob
	}
	cells := scoreCells(v.in.run.NMu())
	width, ones := 2*far/float64(cells), cells+2 // place of the first edge of theirs: they fall, and 0 lies between
	edges := make([]float64, ones+cells+1)
	for i := range cells + 1 {
		s := far - width*float64(i)
		edges[i], edges[ones+i] = loss.Deriv(s, -1), loss.Deriv(s, 1)
	}
	u, b := v.in.split(v.theta)
	answer, err := v.in.frame.In.Slopes(v.in.run.Task.Ctx, edges, u, b, curator.Ends{})
	counts, err := v.in.run.Pool.Draw(tuning.CountsShare, answer, err)
	if err != nil {
		return err
	}
	var square, noise, within, constant, stretch float64
	for i := range cells {
		part, top := (counts[i+1]+counts[ones+i+1])/n, far-width*float64(i)
		rise, second := (link.Mean(top)-link.Mean(top-width))/width, (density(top)-density(top-width))/width
		v.steepness.Mean += part * rise
		square += part * rise * rise
		noise += 2 * rise * rise
		within += math.Pow(part*second*width, 2) / uniform
		constant += part * second
		stretch += part * second * (top - width/2 - b)
	}
	noise *= math.Pow(v.in.run.Problem.Facts.Positive(), 2) / (v.in.run.NMu() * v.in.run.NMu() * tuning.CountsShare)
	v.steepness.Noise = math.Sqrt(noise + within + math.Max(0, square-v.steepness.Mean*v.steepness.Mean)/n)
	v.steepness.Noise = math.Hypot(v.steepness.Noise, v.steepness.Mean*v.in.run.NNoise/n)
	// Coordinates are round: of rows of a score s their mean is u·(s−b)/‖u‖².
	if length := floats.Dot(u, u); length > 0 {
		floats.AddScaled(v.steepness.By[:len(u)], stretch/length, u)
	}
	if v.in.constant > 0 {
		v.steepness.By[len(u)] = constant
	}
	return nil
}
