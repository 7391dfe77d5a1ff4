package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// widen chooses the wide clip at the pilot, by a histogram of the gradients' norms: it
// makes the variance of noise and the square of what isn't known of what the clip cuts off
// small together. Where there may be a group far above the rest, or but noise, it looks again.
func (v *inferring) widen() error {
	dim := float64(len(v.pilot))
	edges := histogram.Geometric(4*v.longestSlope()*math.Sqrt(dim), math.Sqrt2, 26)
	h, free, err := v.furtherNorms(edges)
	if err != nil {
		return err
	}
	v.cut = v.cutting()
	l, low := h.FromSeen().Upper(v.eventful(), v.cut.power)
	if h.Doubtful(l, low) {
		second, err := v.gradientNorms(edges)
		if err != nil {
			return err
		}
		h = h.Average(second)
		l, low = h.FromSeen().Upper(v.eventful(), v.cut.power)
	}
	noise := 2 / (v.mu * math.Sqrt(v.pool.left-scatterShare))
	if v.loss.Labels() == losses.Real {
		if err := v.lean(l, low); err != nil {
			return err
		}
	}
	if v.constant == 0 {
		v.cut.constant = part{}
	}
	v.clip = l.Balanced(low, edges[0], math.Sqrt(dim)*noise, math.Sqrt(v.cut.all(dim)))
	if v.loss.Labels() == losses.Binary { // a few rows of a rare level may go unseen
		v.clip *= 1.15
	}
	if 15*h.Noise > v.facts.minority*v.n { // the rarer class may hide in the noise
		if err := v.coverMinority(); err != nil {
			return err
		}
	}
	v.clip = math.Max(v.clip, free)
	v.cut.length, v.blind = l.Excess(v.clip), v.clip < 4*edges[len(edges)-1]
	if v.loss.Labels() == losses.Real {
		v.cut.length *= l.ExcessFactor()
	}
	return nil
}

// freely is a clip for gradients beyond a histogram of norms, where that shows some: eight times
// its largest edge, or less if noise were more than a fifth of what sampling makes a gradient vary
// by, which the median of norms tells, or in the scatter a tenth of that variance.
func (v *inferring) freely(h histogram.Tails) float64 {
	if h.Above[0] <= 3*h.Noise {
		return 0
	}
	median := h.Edges[h.First(func(int) float64 { return h.Rows / 2 })] / math.Sqrt(float64(len(v.pilot)))
	gradient := 0.1 * v.mu * math.Sqrt((v.pool.left-scatterShare)*v.n)
	scatter := math.Sqrt(0.1 * v.nmu() * math.Sqrt(scatterShare/2))
	return math.Min(8*h.Edges[0], median*math.Min(gradient, scatter))
}

// furtherNorms are gradientNorms, of edges eight times as far up where some lie beyond and there is
// so little noise that a law of them would be the larger error; and the clip for those beyond.
func (v *inferring) furtherNorms(edges []float64) (h histogram.Tails, free float64, err error) {
	if h, err = v.gradientNorms(edges); err != nil {
		return h, 0, err
	}
	free = v.freely(h)
	if free > 0 && h.Noise < 0.3 { // single rows can be seen
		floats.Scale(8, edges)
		h, err = v.gradientNorms(edges)
	}
	return h, free, err
}

// gradientNorms releases how many gradients at the pilot are longer than edges.
func (v *inferring) gradientNorms(edges []float64) (histogram.Tails, error) {
	u, b := v.apart(v.short.Stretch(v.pilot))
	share := clipShare * math.Min(math.Max(3000/v.nmu(), 1), 3)
	answer, err := v.gradients.GradientNorms(v.ctx, edges, u, b, v.wide(1))
	return v.read(share, edges, answer, err)
}

// lean releases on which side predictions miss labels by most, by a histogram of how far they
// exceed them, down to about half of what would make a gradient as long as one of 25 is. It
// says how parts that are cut off add up: those of one sign do so along the intercept and, as
// labels lie furthest off where predictions are high, along the weights.
func (v *inferring) lean(l histogram.Law, low float64) error {
	for l.Above(low) > v.n/25 {
		low *= 1.05
	}
	const steps = 6
	edges := histogram.Geometric(2.8*low/math.Sqrt(float64(len(v.pilot))), math.Sqrt2, steps-1)
	for _, e := range slices.Backward(slices.Clone(edges)) {
		edges = append(edges, -e)
	}
	u, b := v.apart(v.pilot)
	answer, err := v.framed.Slopes(v.ctx, edges, u, b)
	h, err := v.read(leanShare, edges, answer, err)
	if err != nil {
		return err
	}
	mean, variance := h.Skew()
	v.cut.leaning(mean, variance, 4+v.spreadOfRows())
	return nil
}

// spreadOfRows is the mean square of coordinates, in units of the intercept's, which is d but
// for directions that have drowned.
func (v *inferring) spreadOfRows() (sum float64) {
	for j := range v.d {
		sum += v.hessian.At(j, j)
	}
	one := v.facts.curvature
	if v.constant > 0 {
		one = v.hessian.At(v.d, v.d)
	}
	return math.Max(0, math.Min(sum/one, float64(v.d)))
}

// eventful is the fraction of rows among which the longest gradients are: those with events
// where counts have few, and else all.
func (v *inferring) eventful() float64 {
	if losses.LinkOf(v.loss) == losses.Log {
		return v.facts.minority
	}
	return 1
}

// coverMinority raises the clip to the norm of a row's coordinates, times a slope that
// the rarer class has: 1, or 2 for counts, or that of the probit loss at the start. One that is
// as long as most of that class's gradients shows that it was seen.
func (v *inferring) coverMinority() error {
	slope := 1.0
	if losses.LinkOf(v.loss) == losses.ProbitLink {
		slope = v.facts.typical
	}
	if v.clip >= 0.7*slope*math.Sqrt(float64(len(v.pilot))) {
		return nil
	}
	edges := histogram.Geometric(4*math.Sqrt(float64(v.d)), math.Pow(2, 0.25), 12)
	h, err := v.lengths(lengthShare, edges, v.gradients)
	if err != nil {
		return err
	}
	if losses.LinkOf(v.loss) == losses.Log {
		slope = 2
	}
	v.clip = math.Max(v.clip, slope*math.Hypot(h.SmallestFromBelow(0.01*v.n, 2), v.constant))
	return nil
}

// cutting is what a clip cuts off: parts of gradients, of the given length all together,
// and what they add up to.
type cutting struct {
	length   float64
	power    float64 // likely one of the law of the largest gradients
	constant part    // along the intercept
	along    part    // along the weights of the other coordinates
	across   float64 // variance along any direction
}

// part is the sum of parts in a direction: its mean, of their length, and the variance of
// what it is beside that, of the length's square. Both hold what is not known of the length.
type part struct{ mean, variance float64 }

// leaning says how parts add up for real labels, of which a fraction with the given mean and
// variance is of predictions above the label beyond those below it. On 20 tables of wages, prices
// and scores they did with 0.85 of that fraction along the intercept and 1.2 of it along the
// weights, times the angle's cosine, the latter with a standard deviation of some 0.55.
func (c *cutting) leaning(mean, variance, columns float64) {
	square, root := float64(mean*mean)+variance, math.Sqrt(columns)
	c.constant = part{0.85 * mean / root, (0.1 + float64(0.2*square) + float64(0.7*variance)) / columns}
	c.along = part{1.2 * mean / root, (0.4 + float64(0.6*square) + float64(1.5*variance)) / columns}
}

// all is the variance in dim directions together.
func (c cutting) all(dim float64) float64 {
	return c.constant.variance + c.along.variance + float64(dim*c.across)
}

// cutting is how cut parts add up. Two classes surprise where scores are large, on both
// sides, which adds up along the weights as far as rows are long in their direction.
// Counts and amounts exceed their means by more than they fall short of them, as does the
// rarer of two classes: that adds up along the intercept, by the angle between it and a row
// of d columns, and for counts as variable as their mean along the weights too. Residuals
// cancel but where one side is longer: leaning. Fractions of classes are about those of made-up
// populations. In 14 real tables and five made-up populations those of counts are 0.7 of that
// angle's cosine along the intercept, with a standard deviation of 0.36, and 0.2 and 0.6 along
// the weights; 0.5 is taken there, as made-up counts of heavy tails have 0.9. A rare level of a group, all of whose rows are long in one
// direction, is what across is for, in classes and in counts of few events.
func (v *inferring) cutting() (c cutting) {
	columns := 4 + float64(v.d)
	root := math.Sqrt(columns)
	c = cutting{power: 0.8, constant: part{0, 0.9 / columns}, along: part{0, 1.1 / columns}, across: 0.006}
	switch v.problem.Loss.(type) {
	case losses.Logistic, losses.Probit:
		rare := 1 - 2*v.facts.minority
		c.constant = part{math.Copysign(0.8*rare/root, v.facts.mean-0.5), (0.1 + float64(0.2*rare)) / columns}
		c.along = part{(1.7 - float64(1.3*rare)) / root, 0.6 / columns}
		c.across = 0.08
	case losses.Squared:
		c.power, c.across = 0.5, 0.008
	case losses.Poisson:
		off := 0.2 + float64(0.25*(1-v.facts.minority)) // rare counts differ more
		c.constant, c.along = part{-0.8 / root, off / columns}, part{-0.5 / root, 0.3 / columns}
		c.power, c.across = 0.6, math.Max(0.004, float64(0.04*(1-2*v.facts.minority)))
	case losses.NegativeBinomial:
		c.constant, c.along = part{-0.95 / root, 0.12 / columns}, part{0, 0.4 / columns}
		c.power, c.across = 0.6, 0.01
	case losses.Gamma:
		c.constant, c.along = part{-0.8 / root, 0.25 / columns}, part{0, 0.6 / columns}
		c.power, c.across = 0.6, 0.02
	}
	return c
}

// cutLength is how long what is cut off is, per row. Counts and amounts whose gradients vary
// more than the loss takes them to have tails that are longer than a law of the bulk tells.
func (v *inferring) cutLength() float64 {
	length := v.cut.length / v.n
	if kind := v.loss.Labels(); kind == losses.Binary || kind == losses.Real || v.scatter.SymDense == nil {
		return length
	}
	return length * math.Sqrt(math.Min(math.Max(v.dispersion(), 1), 16))
}

// restored is the mean of what the clip cuts off of a mean gradient, at a point.
// Where scores hardly differ large gradients aren't where they are large.
func (v *inferring) restored(at []float64) []float64 {
	whole, norm := v.alongWeights(at)
	length := v.cutLength()
	floats.Scale(length*v.cut.along.mean/math.Max(norm, 0.25), whole)
	if v.constant > 0 {
		whole[v.d] = length * v.cut.constant.mean
	}
	return whole
}

// missing is the square of what the clip may cut off of a mean gradient beside what is
// restored, by direction.
func (v *inferring) missing() *mat.SymDense {
	dim := len(v.theta)
	m := v.short.Noise(dim)
	m.ScaleSym(v.cut.across, m)
	if v.constant > 0 {
		m.SetSym(v.d, v.d, v.cut.across+v.cut.constant.variance)
	}
	if along, norm := v.alongWeights(v.theta); norm > 0 {
		m.SymRankOne(m, v.cut.along.variance/(norm*norm), mat.NewVecDense(dim, along))
	}
	length := v.cutLength()
	m.ScaleSym(length*length, m)
	return m
}

// alongWeights is a gradient in the direction of the weights at a point, and their norm, both of
// the coordinates that gradients are clipped in.
func (v *inferring) alongWeights(at []float64) (gradient []float64, norm float64) {
	u := slices.Clone(v.short.Stretch(at))
	if v.constant > 0 {
		u[v.d] = 0
	}
	return v.short.Stretch(u), floats.Norm(u, 2)
}

// dispersion is the gradients' variance over the Hessian, on average, which is 1 where
// labels have the variance that a likelihood says.
func (v *inferring) dispersion() float64 {
	return mat.Trace(linalg.Product(v.inverse, v.scatter)) / float64(len(v.theta))
}
