package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// The shares of μ² that inference takes beside the pilot's. What is left is for the gradients.
const (
	reachShare   = 0.015 // each histogram of √φ”·‖x̃‖
	leastCurve   = 0.03  // a Hessian
	mostFirst    = 0.06  // the one at the pilot
	mostCurve    = 0.25  // the next
	clipShare    = 0.04  // the histogram of gradient norms, by which the wide clip is chosen
	leanShare    = 0.01  // and that of residuals on both sides
	lengthShare  = 0.03  // that of rows' norms, where a rare class may hide in the noise
	scatterShare = 0.02
)

// newtonShares are those of the steps, of what is left.
var newtonShares = []float64{0.2, 0.36, 0.44}

// inferring is a run of an inference after its pilot. A point is θ, the weights of the
// coordinates and, last, the intercept: in the pilot's frame first, and then in the one in
// which the Hessian there is round.
type inferring struct {
	*standardising
	constant float64 // 1 with an intercept
	pilot    []float64
	theta    []float64

	gradients *curator.Framed // the frame that gradients are released in
	short     *linalg.Change  // which is this one

	longest  float64   // bound on √φ”·‖(x̃, 1)‖
	hessian  shaky     // H̃ per row
	curvedAt []float64 // its point
	floor    float64
	spectrum *linalg.Spectrum // of H̃
	inverse  *mat.SymDense    // of H̃, eigenvalues held to the floor

	clip    float64
	blind   bool    // whether the histogram told nothing of it
	cut     cutting // by the clip
	scatter shaky   // J̃₊ per row
	steps   []newtonStep
	shrunk  float64 // fraction of the way from the pilot that isn't noise
}

// shaky is a matrix with noise of the given standard deviation in each packed number.
type shaky struct {
	*mat.SymDense
	noise float64
}

// newtonStep began at a point, with noise of the given standard deviation in the mean
// gradient.
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
	if err := v.frameGradients(); err != nil {
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

// curve moves to coordinates in which the Hessian at the pilot is round, so that noise in the
// next one hides all directions alike, and chooses the bound on rows there. Where the Hessian
// doesn't depend on the point it is released at once.
func (v *inferring) curve() error {
	longest, err := v.reach()
	if err != nil {
		return err
	}
	hidden := func(known float64) bool { return known < 0.8 }
	if !v.bent() && !slices.ContainsFunc(v.known, hidden) { // the frame of second moments is round
		v.longest = longest
		return v.curveAt(v.pilot, v.hessianShare(longest, v.facts.curvature, mostCurve))
	}
	share := v.hessianShare(longest, v.facts.curvature, mostFirst)
	packed, noise, err := v.hessianAt(v.pilot, longest, share)
	if err != nil {
		return err
	}
	if err := v.turn(packed, v.operatorNorm(noise)); err != nil {
		return err
	}
	if err := v.shortenLevels(); err != nil {
		return err
	}
	if v.longest, err = v.reach(); err != nil {
		return err
	}
	if v.bent() {
		return nil
	}
	return v.curveAt(v.pilot, v.curveShare())
}

// turn moves to the coordinates in which a packed Hessian, with noise of operator norm rho, is
// round. There it is diagonal, and what had half of its curvature hidden is at the floor.
func (v *inferring) turn(packed []float64, rho float64) error {
	u, b := v.apart(v.pilot)
	at := iterate{u: slices.Clone(u), b: b}
	curvature, _, diagonal, err := v.recentre(packed, rho, &at)
	if err != nil {
		return err
	}
	v.pilot = at.u
	if v.constant > 0 {
		v.pilot, diagonal = append(v.pilot, at.b), append(diagonal, curvature)
	}
	round := mat.NewSymDense(len(diagonal), nil)
	for k, value := range diagonal {
		round.SetSym(k, k, value)
	}
	v.curvedAt, v.hessian, v.floor = v.pilot, shaky{SymDense: round}, curvature/2
	return v.invert()
}

// reach is a bound on rows' √φ”·‖(x̃, 1)‖ at the pilot, which few rows exceed: the fewer,
// the less noise there is to balance what is cut off of these. Rows of a rare level may be many
// times as long as others; it takes four standard deviations to say so, as one wrong answer in
// ten thousand would drown the Hessian.
func (v *inferring) reach() (float64, error) {
	f, dim := v.facts, float64(len(v.pilot))
	u, b := v.apart(v.pilot)
	typical := 3 * math.Sqrt(math.Min(f.steepest, 8*f.curvature)*dim)
	far := histogram.Geometric(8*typical, 2, 2)
	edges := append(slices.Clone(far), histogram.Geometric(typical, math.Pow(2, 0.25), 10)...)
	answer, err := v.framed.CurvatureNorms(v.ctx, edges, u, b, math.Max(v.constant, 1e-6), f.steepest)
	h, err := v.read(reachShare, edges, answer, err)
	if err != nil {
		return 0, err
	}
	shown := false
	for j := range len(far) + 1 {
		shown = shown || h.Above[j] > 4*h.SD(j)
	}
	if !shown {
		h = h.From(len(far))
	}
	return h.SmallestFromBelow(v.n*math.Min(10*dim/v.nmu(), 0.05), 3), nil
}

// hessianShare is the share at which the noise of a Hessian has an operator norm of a fifth of
// its mean curvature, within limits.
func (v *inferring) hessianShare(longest, curvature, most float64) float64 {
	whole := v.operatorNorm(v.hessianNoise(longest, 1))
	return math.Min(math.Max(math.Pow(5*whole/curvature, 2), leastCurve), most)
}

// curveShare is that of the Hessian in the coordinates in which the first one is round.
func (v *inferring) curveShare() float64 {
	return v.hessianShare(v.longest, mat.Trace(v.hessian)/float64(len(v.pilot)), mostCurve)
}

// hessianNoise is the standard deviation in each number of a packed Hessian per row.
func (v *inferring) hessianNoise(longest, share float64) float64 {
	return math.Sqrt2 * longest * longest / (v.nmu() * math.Sqrt(share))
}

// operatorNorm is about that of a symmetric matrix of such noise.
func (v *inferring) operatorNorm(noise float64) float64 {
	return math.Sqrt(2*float64(len(v.pilot))) * noise
}

// bent reports whether the Hessian depends on the point.
func (v *inferring) bent() bool { return v.loss.Labels() != losses.Real }

// hessianAt releases the Hessian at a point, and tells its noise per row.
func (v *inferring) hessianAt(theta []float64, longest, share float64) (packed []float64, noise float64, err error) {
	u, b := v.apart(theta)
	answer, err := v.framed.Hessian(v.ctx, u, b, v.constant, v.facts.steepest, longest)
	packed, err = v.pool.draw(share, answer, err)
	return packed, v.hessianNoise(longest, share), err
}

// curveAt releases the Hessian at a point that the law will be made of.
func (v *inferring) curveAt(theta []float64, share float64) error {
	packed, noise, err := v.hessianAt(theta, v.longest, share)
	if err != nil {
		return err
	}
	perRow := curator.Unpack(packed, len(theta))
	perRow.ScaleSym(1/v.n, perRow)
	v.curvedAt, v.hessian, v.floor = theta, shaky{perRow, noise}, v.operatorNorm(noise)
	return v.invert()
}

// invert inverts the Hessian, its eigenvalues held to the floor.
func (v *inferring) invert() error {
	var ok bool
	if v.spectrum, ok = linalg.Decompose(v.hessian); !ok {
		return errEigen
	}
	v.inverse = v.spectrum.Map(v.inverted)
	return nil
}

// inverted is the inverse of an eigenvalue, which is held to the floor.
func (v *inferring) inverted(l float64) float64 { return 1 / math.Max(l, v.floor) }

// wide is how gradients are held to a clip.
func (v *inferring) wide(clip float64) curator.Slope {
	return curator.Slope{Clip: clip, Constant: v.constant}
}
