package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// The shares of μ² that inference takes beside the pilot's. What is left is for the gradients.
const (
	reachShare   = 0.015 // the histogram of √φ”·‖x̃‖
	curveShare   = 0.08  // the Hessian
	firstShare   = 0.04  // the one at the pilot, where there is another at a later point
	wideShare    = 0.03  // the first histogram of gradient norms
	clipShare    = 0.04  // the one by which the wide clip is chosen
	scatterShare = 0.05
)

// newtonShares are those of the steps, of what is left.
var newtonShares = []float64{0.2, 0.36, 0.44}

// inferring is a run of an inference after its pilot. A point is θ, the weights of the
// coordinates in the pilot's frame and, last, the intercept.
type inferring struct {
	*standardising
	frame    curator.Frame   // the pilot's
	flat     *curator.Framed // and its rows
	constant float64         // 1 with an intercept
	more     float64         // factor of the histograms' shares: more where counts would drown
	pilot    []float64
	theta    []float64

	longest  float64 // bound on √φ”·‖(x̃, 1)‖
	hessian  shaky   // H̃ per row, in the pilot's frame
	floor    float64
	spectrum *linalg.Spectrum // of H̃
	inverse  *mat.SymDense    // of H̃, eigenvalues held to the floor
	round    *mat.Dense       // S: (x̃, 1) = S·(x̃', 1), x̃' being the frame in which H̃ is round

	clip, excess float64 // and the square of what it may cut off, along a direction
	scatter      shaky   // J̃₊ per row, in the round frame
	steps        []newtonStep
	shrunk       float64 // fraction of the way from the pilot that isn't noise
}

// shaky is a matrix with noise of the given standard deviation in each packed number.
type shaky struct {
	*mat.SymDense
	noise float64
}

// newtonStep began at a point, with noise of the given standard deviation in the mean
// gradient of the round frame.
type newtonStep struct {
	from   []float64
	mean   []float64 // g̃/n
	noise  float64
	share  float64 // of the gradients' part of the budget
	weight float64 // of its estimate
	bow    float64 // square of what it may miss, in the norm of scores
}

// estimate releases what the estimate and its law are made of; done steps were before it.
func (v *inferring) estimate(done int) error {
	if err := v.curve(); err != nil {
		return err
	}
	if err := v.widen(); err != nil {
		return err
	}
	return v.newton(done)
}

// apart is the point of θ.
func (v *inferring) apart(theta []float64) (u []float64, b float64) {
	if v.constant > 0 {
		return theta[:v.d], theta[v.d]
	}
	return theta, 0
}

// curve chooses a bound on rows, releases the Hessian at the pilot, and moves to the
// frame in which it is round.
func (v *inferring) curve() error {
	f, dim := v.facts, len(v.pilot)
	u, b := v.apart(v.pilot)
	edges := cells(3*math.Sqrt(math.Min(f.steepest, 8*f.curvature)*float64(dim)), math.Pow(2, 0.25), 10)
	answer, err := v.framed.CurvatureNorms(v.ctx, edges, u, b, math.Max(v.constant, 1e-6), f.steepest)
	h, err := v.read(reachShare, edges, answer, err)
	if err != nil {
		return err
	}
	v.longest = h.seen(0.02*v.n, 3)
	share := curveShare * math.Min(v.more, 2)
	if v.bent() {
		share = firstShare * math.Min(v.more, 2)
	}
	packed, err := v.curveAt(v.framed, v.pilot, share)
	if err != nil {
		return err
	}
	v.flat = v.framed
	_, _, v.round, err = v.recentre(packed, v.floor, &iterate{u: slices.Clone(u), b: b})
	return err
}

// bent reports whether the Hessian depends on the point.
func (v *inferring) bent() bool { return v.loss.Labels() != losses.Real }

// curveAt releases the Hessian at a point of the pilot's frame, in which it is packed.
func (v *inferring) curveAt(in *curator.Framed, theta []float64, share float64) ([]float64, error) {
	u, b := v.apart(theta)
	answer, err := in.Hessian(v.ctx, u, b, v.constant, v.facts.steepest, v.longest)
	packed, err := v.pool.draw(share, answer, err)
	if err != nil {
		return nil, err
	}
	perRow := curator.Unpack(packed, len(theta))
	perRow.ScaleSym(1/v.n, perRow)
	v.hessian = shaky{perRow, math.Sqrt2 * v.longest * v.longest / (v.nmu() * math.Sqrt(share))}
	v.floor = math.Sqrt(2*float64(len(theta))) * v.hessian.noise // the noise's operator norm
	var ok bool
	if v.spectrum, ok = linalg.Decompose(perRow); !ok {
		return nil, errEigen
	}
	v.inverse = v.spectrum.Map(v.inverted)
	return packed, nil
}

// inverted is the inverse of an eigenvalue, which is held to the floor.
func (v *inferring) inverted(l float64) float64 { return 1 / math.Max(l, v.floor) }

// seen returns the smallest edge above which lie no more rows than allowed, or than z
// standard deviations of the noise, as seen from below: where cells above may hold few.
func (h reading) seen(allowed, z float64) float64 {
	for j := len(h.edges) - 1; j > 0; j-- {
		if h.tails[j] <= math.Max(allowed, z*h.sd(j)) {
			return h.edges[j]
		}
	}
	return h.edges[0]
}

// inRound is a point in the round frame.
func (v *inferring) inRound(theta []float64) (u []float64, b float64) {
	out := mat.NewVecDense(len(theta), nil)
	out.MulVec(v.round.T(), mat.NewVecDense(len(theta), theta))
	return v.apart(out.RawVector().Data)
}

// wide is how gradients are held to a clip in the round frame.
func (v *inferring) wide(clip float64) curator.Slope {
	return curator.Slope{Clip: clip, Constant: v.constant}
}

// widen chooses the wide clip at the pilot, by a histogram of all magnitudes and one
// around its result.
func (v *inferring) widen() error {
	u, b := v.inRound(v.pilot)
	edges := cells(4*v.longestSlope()*math.Sqrt(float64(v.d+1)), 2, 12)
	var h reading
	var rough float64 // the first one's result
	for _, share := range []float64{wideShare * v.more, clipShare * v.more} {
		answer, err := v.framed.GradientNorms(v.ctx, edges, u, b, v.wide(1))
		if h, err = v.read(share, edges, answer, err); err != nil {
			return err
		}
		if share == wideShare*v.more {
			rough = h.rough()
			edges = cells(3*rough, math.Pow(2, 0.25), 12)
		}
	}
	aligned := 0.2 // large counts exceed their means by more than small ones fall short
	switch v.loss.Labels() {
	case losses.Binary: // ones among rows that have few, as long as these hide in the noise
		aligned = math.Min(0.5, math.Max(0.05, 2000/v.nmu()))
	case losses.Real:
		aligned = 0.025
	}
	v.clip, v.excess = h.balanced(rough, 2/(v.mu*math.Sqrt(v.pool.left-scatterShare)), aligned)
	if v.loss.Labels() == losses.Binary {
		v.clip *= 1.08 // such ones have one direction and are long
	}
	if h.sd(4) > 0.05*v.facts.minority*v.n { // the rarer class may hide in the noise
		return v.coverMinority()
	}
	return nil
}

// coverMinority raises the clip to the norm of a row's coordinates, times a slope that
// the rarer class has: 1, or 2 for counts, or that of the probit loss at the start.
func (v *inferring) coverMinority() error {
	edges := cells(4*math.Sqrt(float64(v.d)), math.Pow(2, 0.25), 12)
	h, err := v.read(wideShare, edges, v.framed.Lengths(edges), nil)
	if err != nil {
		return err
	}
	slope := 1.0
	switch losses.LinkOf(v.loss) {
	case losses.Log:
		slope = 2
	case losses.ProbitLink:
		slope = v.facts.typical
	}
	v.clip = math.Max(v.clip, slope*math.Hypot(h.seen(0.01*v.n, 2), v.constant))
	return nil
}

// balanced returns the clip at which the variance of noise, (noise·clip)², and the square
// of what it cuts off along a direction are smallest together, and the latter; aligned is
// the part of that square which is taken to lie in any one direction. Beyond the edge
// from which the noise hides counts these are taken to fall exponentially, as they did
// from four times as many. That edge is no further from another histogram's, rough, than
// different noise makes likely.
func (h reading) balanced(rough, noise, aligned float64) (clip, excess float64) {
	near, count := h.level(1)
	if near == h.edges[len(h.edges)-1] { // nothing seen
		near = rough
	}
	near = math.Min(math.Max(near, 0.5*rough), 1.6*rough)
	far, _ := h.level(4)
	scale := math.Max((near-far)/math.Log(4), 0.05*near)
	best := math.Inf(1)
	for k := range 60 {
		c := near * (1 + 0.05*float64(k))
		over := aligned * math.Pow(count*scale*math.Exp(-(c-near)/scale), 2)
		if total := math.Pow(noise*c, 2) + over; total < best {
			best, clip, excess = total, c, over
		}
	}
	return clip, excess
}

// rough is a level that is hardly noise, where there is one, and else the next best.
func (h reading) rough() (edge float64) {
	for _, times := range []float64{1.4, 1, 0.7, 0.5} {
		if edge, _ = h.level(times); edge > h.edges[len(h.edges)-1] {
			break
		}
	}
	return edge
}

// level is where, seen from above, counts begin to exceed a thousandth of the rows and
// 2.5 standard deviations of their noise, so many times, and that count; between edges it
// interpolates logarithms. An edge counts that isn't alone: counts below it are not much
// smaller.
func (h reading) level(times float64) (edge, count float64) {
	limit := func(j int) float64 { return times * math.Max(0.001*h.n, 2.5*h.sd(j)) }
	last := len(h.edges) - 1
	for j, e := range h.edges {
		alone := h.tails[j] <= limit(j)
		for k := j + 1; k <= min(j+2, last); k++ {
			alone = alone || h.tails[k] <= 0.7*limit(k)
		}
		if alone {
			continue
		}
		count = limit(j)
		if j == 0 {
			return e, count
		}
		above := math.Max(math.Min(h.tails[j-1], count), count/8)
		part := math.Log(h.tails[j]/count) / math.Log(h.tails[j]/above)
		return e * math.Pow(h.edges[j-1]/e, math.Min(1, part)), count
	}
	return h.edges[last], limit(last)
}
