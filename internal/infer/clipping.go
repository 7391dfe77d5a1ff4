package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// clipping is the clip of gradients, and what it cuts off.
type clipping struct {
	in         *space
	bound      float64
	unresolved bool // whether the histogram told nothing of it
	cut        clipBias
}

// choose chooses the wide clip at the pilot, by a histogram of the gradients' norms: it
// makes the variance of noise and the square of what isn't known of what the clip cuts off
// small together. Where there may be a group far above the rest, or but noise, it looks again.
func (v *clipping) choose() error {
	dim := float64(len(v.in.pilot))
	edges := histogram.Geometric(tuning.WideClipTop*v.in.run.Problem.LargestSlope()*math.Sqrt(dim), math.Sqrt2, tuning.WideClipEdges)
	h, free, err := v.widerNorms(edges)
	if err != nil {
		return err
	}
	v.cut = biasOf(v.in.run.Problem.Asked, v.in.labels, v.in.run.D)
	l, low := h.FromSeen().Upper(v.eventFraction(), v.cut.power)
	if h.Doubtful(l, low) {
		second, err := v.gradientNorms(edges)
		if err != nil {
			return err
		}
		h = h.Average(second)
		l, low = h.FromSeen().Upper(v.eventFraction(), v.cut.power)
	}
	noise := 2 / (v.in.run.Problem.Mu * math.Sqrt(v.in.run.Pool.Left-tuning.ScatterShare))
	if v.in.run.Problem.Loss.Labels() == losses.Real {
		if err := v.residualSkew(l, low); err != nil {
			return err
		}
	}
	if v.in.constant == 0 {
		v.cut.constant = biasTerm{}
	}
	v.bound = l.Balanced(low, edges[0], math.Sqrt(dim)*noise, math.Sqrt(v.cut.all(dim)))
	if v.in.run.Problem.Loss.Labels() == losses.Binary { // a few rows of a rare level may go unseen
		v.bound *= tuning.RareRowRoom
	}
	if tuning.HiddenClass*h.Noise > v.in.labels.Minority*v.in.run.N { // the rarer class may hide in the noise
		if err := v.coverMinority(); err != nil {
			return err
		}
	}
	v.bound = max(v.bound, free, v.covering(h))
	v.cut.length, v.unresolved = l.Excess(v.bound), v.bound < tuning.Unresolved*edges[len(edges)-1]
	if v.in.run.Problem.Loss.Labels() == losses.Real {
		v.cut.length *= l.ExcessFactor()
	}
	return nil
}

// beyondHistogram is a clip for gradients beyond a histogram of norms, where that shows some: eight times
// its largest edge, or less if noise were more than a fifth of what sampling makes a gradient vary
// by, which the median of norms tells, or in the scatter a tenth of that variance.
func (v *clipping) beyondHistogram(h histogram.Tails) float64 {
	if h.Above[0] <= math.Max(0.5, tuning.BeyondSurely*h.Noise) {
		return 0
	}
	median := h.Edges[h.First(func(int) float64 { return h.Rows / 2 })] / math.Sqrt(float64(len(v.in.pilot)))
	gradient := tuning.FreeGradient * v.in.run.Problem.Mu * math.Sqrt((v.in.run.Pool.Left-tuning.ScatterShare)*v.in.run.N)
	scatter := math.Sqrt(tuning.FreeScatter * v.in.run.NMu() * math.Sqrt(tuning.ScatterShare/2))
	return math.Min(tuning.BeyondFactor*h.Edges[0], median*math.Min(gradient, scatter))
}

// covering is an edge that no gradient is longer than, as far as noise lets single ones be seen,
// and if noise of such a clip is a fiftieth of what sampling makes a gradient vary by; else 0.
func (v *clipping) covering(h histogram.Tails) float64 {
	if h.Noise >= tuning.SeenSingly || h.Above[0] > 0.5 {
		return 0
	}
	median := h.Edges[h.First(func(int) float64 { return h.Rows / 2 })] / math.Sqrt(float64(len(v.in.pilot)))
	edge := h.Smallest(0.5, tuning.BeyondSurely)
	if edge <= tuning.CoveringNoise*v.in.run.Problem.Mu*math.Sqrt((v.in.run.Pool.Left-tuning.ScatterShare)*v.in.run.N)*median {
		return edge
	}
	return 0
}

// widerNorms are gradientNorms, of edges eight times as far up where some lie beyond and there is
// so little noise that a law of them would be the larger error; and the clip for those beyond.
func (v *clipping) widerNorms(edges []float64) (h histogram.Tails, free float64, err error) {
	if h, err = v.gradientNorms(edges); err != nil {
		return h, 0, err
	}
	free = v.beyondHistogram(h)
	if free > 0 && h.Noise < tuning.SeenSingly { // single rows can be seen
		floats.Scale(tuning.BeyondFactor, edges)
		h, err = v.gradientNorms(edges)
	}
	return h, free, err
}

// gradientNorms releases how many gradients at the pilot are longer than edges.
func (v *clipping) gradientNorms(edges []float64) (histogram.Tails, error) {
	u, b := v.in.split(v.in.short.Stretch(v.in.pilot))
	share := tuning.WideClipShare * math.Min(math.Max(tuning.WideClipMore/v.in.run.NMu(), 1), tuning.WideClipMost)
	answer, err := v.in.gradients.GradientNorms(v.in.run.Task.Ctx, edges, u, b, v.in.slope(1))
	return v.in.run.Read(share, edges, answer, err)
}

// residualSkew releases on which side predictions miss labels by most, by a histogram of how far they
// exceed them, down to about half of what would make a gradient as long as one of 25 is. It
// says how parts that are cut off add up: those of one sign do so along the intercept and, as
// labels lie furthest off where predictions are high, along the weights.
func (v *clipping) residualSkew(l histogram.Law, low float64) error {
	for l.Above(low) > v.in.run.N/tuning.SkewRows {
		low *= skewStep
	}
	edges := histogram.Geometric(tuning.SkewTop*low/math.Sqrt(float64(len(v.in.pilot))), math.Sqrt2, tuning.SkewEdges-1)
	for _, e := range slices.Backward(slices.Clone(edges)) {
		edges = append(edges, -e)
	}
	u, b := v.in.split(v.in.pilot)
	answer, err := v.in.frame.In.Slopes(v.in.run.Task.Ctx, edges, u, b)
	h, err := v.in.run.Read(tuning.SkewShare, edges, answer, err)
	if err != nil {
		return err
	}
	mean, variance := h.Skew()
	v.cut.skewed(mean, variance, tuning.CutDirections+v.spreadOfRows())
	return nil
}

// skewStep is how finely the length of a law's largest rows is looked for.
const skewStep = 1.05

// spreadOfRows is the mean square of coordinates, in units of the intercept's, which is d but
// for directions that have drowned.
func (v *clipping) spreadOfRows() (sum float64) {
	for j := range v.in.run.D {
		sum += v.in.curve.hessian.m.At(j, j)
	}
	one := v.in.labels.Curvature
	if v.in.constant > 0 {
		one = v.in.curve.hessian.m.At(v.in.run.D, v.in.run.D)
	}
	return math.Max(0, math.Min(sum/one, float64(v.in.run.D)))
}

// eventFraction is the fraction of rows among which the longest gradients are: those with events
// where counts have few, and else all.
func (v *clipping) eventFraction() float64 {
	if losses.LinkOf(v.in.run.Problem.Loss) == losses.Log {
		return v.in.labels.Minority
	}
	return 1
}

// coverMinority raises the clip to the norm of a row's coordinates, times a slope that
// the rarer class has: 1, or 2 for counts, or that of the probit loss at the start. One that is
// as long as most of that class's gradients shows that it was seen.
func (v *clipping) coverMinority() error {
	slope := 1.0
	if losses.LinkOf(v.in.run.Problem.Loss) == losses.ProbitLink {
		slope = v.in.labels.Typical
	}
	if v.bound >= tuning.CoveredSlope*slope*math.Sqrt(float64(len(v.in.pilot))) {
		return nil
	}
	edges := histogram.Geometric(tuning.LengthTop*math.Sqrt(float64(v.in.run.D)), math.Pow(2, tuning.FineEdges), tuning.LengthEdges)
	h, err := v.in.run.Lengths(tuning.LengthShare, edges, v.in.gradients)
	if err != nil {
		return err
	}
	if losses.LinkOf(v.in.run.Problem.Loss) == losses.Log {
		slope = 2
	}
	v.bound = math.Max(v.bound, slope*math.Hypot(h.SmallestFromBelow(tuning.CoveredRows*v.in.run.N, 2), v.in.constant))
	return nil
}
