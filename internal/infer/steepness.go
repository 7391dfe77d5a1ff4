package infer

import (
	"math"

	"gonum.org/v1/gonum/floats"
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
		v.steepness.Mean, v.steepness.Noise = v.in.labels.Mean, v.in.labels.Noise
		if last := len(v.theta) - 1; v.in.constant > 0 { // along the intercept gradients are errors of prediction
			v.steepness.Noise = math.Hypot(v.steepness.Noise, math.Sqrt(v.scatter.m.At(last, last)/v.in.run.N))
		}
		return nil
	case v.in.countsScores():
		return v.countScores()
	}
	v.steepness.Mean = 1
	return nil
}

// Cells of a histogram of scores are narrow enough for a mean density to be off by half a hundredth, and beyond the last
// edge probabilities hardly change.
const (
	scoreCells    = 24
	farLogOdds    = 6.0
	farNormalised = 3.5
)

// countScores releases how many rows of each class have scores in cells, over which they are taken to be spread
// evenly: the density's mean over a cell is what the probability rises by. The question is φ', which tells the class
// and the score.
func (v *newton) countScores() error {
	loss, n := v.in.run.Problem.Loss, v.in.run.N
	link, far := losses.LinkOf(loss), farLogOdds
	density := func(s float64) float64 { return link.Mean(s) * link.Mean(-s) }
	if link == losses.ProbitLink {
		far, density = farNormalised, distuv.UnitNormal.Prob
	}
	width := 2 * far / scoreCells
	const ones = scoreCells + 2 // place of the first edge of theirs: they fall, and 0 lies between
	var edges [ones + scoreCells + 1]float64
	for i := range scoreCells + 1 {
		s := far - width*float64(i)
		edges[i], edges[ones+i] = loss.Deriv(s, -1), loss.Deriv(s, 1)
	}
	u, b := v.in.split(v.theta)
	answer, err := v.in.frame.In.Slopes(v.in.run.Task.Ctx, edges[:], u, b, curator.Ends{})
	counts, err := v.in.run.Pool.Draw(tuning.SteepnessShare, answer, err)
	if err != nil {
		return err
	}
	var square, noise, constant, stretch float64
	for i := range scoreCells {
		part, top := (counts[i+1]+counts[ones+i+1])/n, far-width*float64(i)
		rise, second := (link.Mean(top)-link.Mean(top-width))/width, (density(top)-density(top-width))/width
		v.steepness.Mean += part * rise
		square += part * rise * rise
		noise += 2 * rise * rise
		constant += part * second
		stretch += part * second * (top - width/2 - b)
	}
	noise *= math.Pow(v.in.run.Problem.Facts.Positive(), 2) / (v.in.run.NMu() * v.in.run.NMu() * tuning.SteepnessShare)
	v.steepness.Noise = math.Sqrt(noise + math.Max(0, square-v.steepness.Mean*v.steepness.Mean)/n)
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
