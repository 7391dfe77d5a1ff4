package labelsonly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
)

// slope is how rows' terms are held.
func (x *fit) slope(limit float64) curator.Slope {
	p := curator.Slope{Clip: limit * x.space.cut, Cut: x.space.cut}
	if x.space.constant {
		p.Constant = 1
	}
	return p
}

// gradient releases Σ aᵢψᵢzᵢ, of slopes at a point, or of less labels, plus a middle and held to ±limit.
func (x *fit) gradient(at []float64, limit, middle, share float64, plain bool) (sum []float64, noise float64, err error) {
	p := x.slope(limit)
	p.Plain, p.Middle = plain, middle
	u, b := x.split(at)
	answer, err := x.in.Gradient(x.run.Task.Ctx, u, b, p)
	sum, err = x.run.Pool.Draw(share, answer, err)
	return sum, 2 * p.Clip / x.mu(share), err
}

// ofClasses releases the sum of classes, less all alike, and returns the mode.
func (x *fit) ofClasses() (*state, observation, error) {
	f := x.family.(several)
	k, dim := f.columns()+1, x.space.dim()
	zero := curator.ClassPoint{U: make([][]float64, k), B: make([]float64, k)}
	for c := range zero.U {
		zero.U[c] = make([]float64, len(x.space.moments))
	}
	p := x.slope(x.likely())
	answer, err := x.of.Gradient(x.run.Task.Ctx, zero, curator.ClassSlope{Clip: p.Cut, Constant: p.Constant, LabelAlone: true})
	share := x.run.Pool.Left
	flat, err := x.run.Pool.Draw(share, answer, err)
	if err != nil {
		return nil, observation{}, err
	}
	o := observation{sum: make([]float64, (k-1)*dim), noise: 2 * p.Clip / x.mu(share), scale: 1, unit: 1}
	for c := range k {
		for j, v := range f.contrasts.RawRowView(c) {
			floats.AddScaled(o.sum[j*dim:(j+1)*dim], -v, flat[c*dim:(c+1)*dim])
		}
	}
	at, err := x.space.solve(f, o, x.belief(x.start()), x.start())
	return at, o, err
}

// inTwo releases two sums: of labels less their mean, and of what the first one's estimate leaves.
func (x *fit) inTwo() (*state, observation, error) {
	total := x.run.Pool.Left - x.kept
	at := x.start()
	var of looks
	var o observation
	var s *state
	for _, part := range []float64{tuning.FirstLabels, 1 - tuning.FirstLabels} {
		l, err := x.look(at, part*total)
		if err != nil {
			return nil, o, err
		}
		of = append(of, l)
		for round := range mostRounds { // what ends cut off of counts is known the better the nearer a point is
			before := o
			if o, err = of.told(x, at); err != nil {
				return nil, o, err
			}
			if round > 0 && floats.Distance(o.sum, before.sum, 2) < near*o.noise {
				break
			}
			if s, err = x.space.solve(x.family, o, x.belief(x.start()), at); err != nil {
				return nil, o, err
			}
			at = s.theta
		}
	}
	return s, o, nil
}

// look is a sum of what a point leaves of labels.
type look struct {
	sum   []float64 // Σ aᵢψᵢzᵢ
	noise float64
	there []float64 // the sum of means at the point
	means []float64 // counts' there
	to    held
}

// look releases the sum with a share, a part of which is for how far residuals go.
func (x *fit) look(at []float64, share float64) (l look, err error) {
	of := tuning.ResidualsShare * share
	edges := residualEdges(x.family, x.run.Problem.Facts.LabelBound)
	u, b := x.split(at)
	answer, err := x.in.GradientNorms(x.run.Task.Ctx, edges, u, b, x.slope(1))
	h, err := x.run.Read(of, edges, answer, err)
	if err != nil {
		return l, err
	}
	if _, counted := x.family.(counts); counted {
		if l.means, err = meansOf(x.space, x.family, at); err != nil {
			return l, err
		}
	}
	share -= of
	if l.to, err = x.heldTo(h, l.means, share); err != nil {
		return l, err
	}
	x.limit, x.lost = l.to.below, l.to.lost
	x.unread = x.unread || !h.Readable() || mostly(l.means, tuning.MayHide*h.SD(len(edges)/2))
	if l.sum, l.noise, err = x.gradient(at, l.to.limit(), l.to.middle(), share, false); err != nil {
		return l, err
	}
	l.there, err = x.space.mean(x.family, at)
	return l, err
}

// mostly reports whether so many rows, those of the largest means, have more than half of all: noise hides what becomes of most labels then.
func mostly(means []float64, rows float64) bool {
	list := slices.Sorted(slices.Values(means))
	few := min(int(rows), len(list))
	return floats.Sum(list[len(list)-few:]) > floats.Sum(list)/2
}

// looks are sums in the order of their release.
type looks []look

// residualEdges are those of a histogram of residuals; those of counts, of which one that isn't 0 is 1, fall below that as far as a release has room.
func residualEdges(f family, bound float64) []float64 {
	top, k := 2*bound, tuning.NormEdges
	if _, of := f.(counts); of && top > 1 {
		k = min(max(k, int(math.Ceil(math.Log(top)/math.Log(math.Sqrt2)))), mostEdges)
	}
	return histogram.Geometric(top, math.Sqrt2, k)
}

// mostEdges leave a histogram as many cells as the smallest release of a pool has coordinates.
const mostEdges = 60

// told is what looks tell of labels' sum together, those with less noise more.
func (list looks) told(x *fit, at []float64) (o observation, err error) {
	last := list[len(list)-1].to
	o = observation{sum: make([]float64, len(at)), scale: last.scale, unit: list[0].to.unit}
	c, err := newCounted(x, at)
	if err != nil {
		return o, err
	}
	weights, cutOff, noise := 0.0, 0.0, 0.0
	for _, l := range list {
		whole := 1 / (1 - l.to.lost)
		weight := math.Pow(l.noise*whole, -2)
		if c == nil {
			weight = 1 / (l.to.risk * whole * whole)
		}
		weights += weight
		cutOff += weight * whole * l.to.cutOff
		noise = math.Hypot(noise, weight*whole*l.noise)
		floats.AddScaled(o.sum, weight, l.there)
		floats.AddScaled(o.sum, -weight*whole, l.sum)
		if c != nil {
			if err := c.addBeyond(&o, l, weight); err != nil {
				return o, err
			}
		}
	}
	floats.Scale(1/weights, o.sum)
	o.noise, x.cutOff = noise/weights, cutOff/weights
	if c != nil {
		floats.Scale(1/weights, c.beyond)
		c.cutOff /= weights
		c.addMean(&o, x.labels)
		x.cutOff = c.cutOff
		return o, nil
	}
	return o, addMean(x, &o, last, at)
}

// addMean has the labels' mean tell the constant's sum of numbers, too, by inverse variances of noise and what is seen to be cut off. That may all lie to one side, and so
// may what noise hides of it, which is likely where labels are skewed: along the constant it is an error of the sum.
func addMean(x *fit, o *observation, to held, at []float64) error {
	if !x.space.constant {
		return nil
	}
	means, err := meansOf(x.space, x.family, at)
	if err != nil {
		return err
	}
	sum, noise := constantSum(x.space, x.labels, means)
	whole := 1 / (1 - to.lost)
	part := o.combine(sum, math.Hypot(o.noise, whole*to.cutOff), noise)
	o.beside = part * whole * (to.cutOff + to.hidden)
	return nil
}

// constantSum is what the labels' mean tells of the constant's sum, of which nothing is cut off: all of the sum of labels but 1 − a of each, which is taken to be its
// mean.
func constantSum(x *space, l estimate.Labels, means []float64) (sum, noise float64) {
	sum = x.n * l.Mean
	for i, v := range means {
		sum -= float64((1 - x.factors[i]) * v)
	}
	return sum, x.n * math.Hypot(l.Noise, l.Missed)
}

// combine has the constant's sum, with an error of a deviation, be what another number says of it, too, with its own; it returns what part of it the first one has.
func (o *observation) combine(sum, own, other float64) (part float64) {
	last, one, two := len(o.sum)-1, own*own, other*other
	part = two / (one + two)
	o.sum[last] = float64(part*o.sum[last]) + float64((1-part)*sum)
	o.constant = other * math.Sqrt(one/(one+two))
	return part
}

// counted is what counts are taken to be at a point.
type counted struct {
	space  *space
	means  []float64
	whole  []float64 // Σ aᵢzᵢ
	beyond []float64 // Σ aᵢeᵢzᵢ: by how much labels exceed what is held of them
	cutOff float64   // by how much in all, as far as a histogram or the law tells
}

// newCounted is nil of numbers.
func newCounted(x *fit, at []float64) (c *counted, err error) {
	f, of := x.family.(counts)
	if !of {
		return nil, nil
	}
	c = &counted{space: x.space, beyond: make([]float64, len(at))}
	if c.means, err = meansOf(x.space, f, at); err != nil {
		return nil, err
	}
	c.whole, err = x.space.weighted(slices.Repeat([]float64{1}, len(c.means)))
	return c, err
}

// addBeyond adds, with a weight, what a look's ends have cut off of counts, as the law of their means says.
func (c *counted) addBeyond(o *observation, l look, weight float64) error {
	e := l.beyond(c.means, o.scale)
	off, err := c.space.weighted(e)
	if err != nil {
		return err
	}
	c.cutOff += float64(weight * math.Max(floats.Norm(e, 1), l.to.cutOff))
	floats.AddScaled(c.beyond, weight, off)
	floats.AddScaled(o.sum, weight, off)
	floats.AddScaled(o.sum, weight*l.to.middle(), c.whole)
	return nil
}

// addMean adds what the labels' mean tells of the constant's sum. Where that is more, by more than noise, as much more was cut off than the law says, or as much again; what is left is an error of the sum.
func (c *counted) addMean(o *observation, l estimate.Labels) {
	sum, noise := constantSum(c.space, l, c.means)
	if !c.space.constant || !(noise > 0) {
		return
	}
	last, one := len(o.sum)-1, float64(o.noise*o.noise)
	if more := sum - o.sum[last]; more > 0 {
		more *= estimate.JamesStein(one+float64(noise*noise), more*more)
		c.cutOff = math.Max(c.cutOff, more)
		added := math.Min(more, math.Max(0, c.beyond[last]))
		if added > 0 {
			floats.AddScaled(o.sum, added/c.beyond[last], c.beyond)
		}
		one += float64((more - added) * (more - added)) // which the law doesn't explain
	}
	o.combine(sum, math.Sqrt(one), noise)
}

// held is how means less labels are held: so far below 0 and so far above it.
type held struct {
	below, above float64
	cutOff       float64 // in sum, of numbers as far as it is seen
	hidden       float64 // what may be cut off beside, of numbers
	risk         float64 // of noise and of what is cut off
	lost         float64 // part of a mean's change that isn't seen, of numbers
	scale, unit  float64 // of residuals' variance, over what the family says that it is, and of scores
}

// limit is half of how far the ends are apart, and middle how far they are off 0.
func (h held) limit() float64  { return (h.below + h.above) / 2 }
func (h held) middle() float64 { return (h.below - h.above) / 2 }

// heldTo is what residuals are held to, for noise and some of what is cut off to be least together; means are those of rows, nil of numbers. No count is below 0, so that no
// mean exceeds one by more than the largest, and one that isn't 0 is 1 at least; of counts as much is cut off as the law of means says, or the histogram if that is more.
func (x *fit) heldTo(h histogram.Tails, means []float64, share float64) (to held, err error) {
	m, err := x.space.round(x.space.cut)
	if err != nil {
		return to, err
	}
	top, least, scale := math.Inf(1), 0.0, h.MeanSquare()
	if means != nil { // Poisson's law has the scale 1
		top, least, scale = floats.Max(means), 1, math.Max(1, scale/math.Max(floats.Sum(means)/x.space.n, tiny))
	}
	long := x.space.cut * x.space.cut // of numbers' rows that are cut off, which are the longest
	if means != nil {
		long = mat.Trace(m.twice) / x.space.n
	}
	mass, best := 0.0, math.Inf(1)
	for j, edge := range h.Edges {
		if j > 0 && edge < least {
			break
		}
		if j > 0 && h.Above[j] > math.Min(tuning.Surely*h.SD(j), x.run.N/2) {
			mass += h.Above[j] * (h.Edges[j-1] - edge)
		}
		of := held{below: edge, above: math.Min(edge, top), cutOff: mass, scale: scale, unit: 1}
		if means != nil {
			of.cutOff = math.Max(mass, floats.Norm(look{means: means, to: of}.beyond(means, scale), 1))
		}
		noise := 2 * of.limit() * x.space.cut / x.mu(share)
		of.risk = noise*noise*float64(x.space.dim()) + math.Pow(tuning.CutPart*of.cutOff, 2)*long
		if of.risk < best {
			best, to = of.risk, of
		}
	}
	if means != nil {
		return to, nil
	}
	law, _ := h.FromSeen().Upper(1, tuning.TailPower)
	to.hidden = math.Max(0, law.Excess(to.below)-to.cutOff) + h.MayExceed(to.below, law)
	to.lost = math.Min(math.Max(h.Over(to.below), 0)/x.run.N, half)
	if !(to.scale > 0) {
		to.scale = to.below * to.below
	}
	to.unit = math.Sqrt(to.scale)
	return to, nil
}

// beyond is by how much labels exceed what is held of them, for counts of such means and variances so many times as large.
func (l look) beyond(means []float64, scale float64) []float64 {
	of := make([]float64, len(means))
	for i, m := range means {
		high, low := l.means[i]+l.to.below, l.means[i]-l.to.above
		of[i] = excess(m, high, scale)
		if low > 0 {
			of[i] -= low - m + excess(m, low, scale)
		}
	}
	return of
}

// excess is by how much a count exceeds a number on average, 0 where it doesn't: one of a mean and a variance so many times as large, as much times one of Poisson's law.
func excess(mean, over, scale float64) float64 {
	mean, over = mean/scale, over/scale
	k := math.Floor(over)
	least := func(k float64) float64 { // how likely a count is so large
		if k <= 0 {
			return 1
		}
		return mathext.GammaIncReg(k, mean)
	}
	return scale * math.Max(0, mean*least(k)-over*least(k+1))
}
