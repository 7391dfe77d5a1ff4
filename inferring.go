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
	curveShare   = 0.06  // the Hessian
	firstShare   = 0.03  // the one at the pilot, where there is another at a later point
	clipShare    = 0.04  // the histogram of gradient norms, by which the wide clip is chosen
	lengthShare  = 0.03  // that of rows' norms, where a rare class may hide in the noise
	scatterShare = 0.02
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
	more     float64         // factor of the Hessians' shares: more where directions would drown
	pilot    []float64
	theta    []float64

	longest  float64   // bound on √φ”·‖(x̃, 1)‖
	hessian  shaky     // H̃ per row, in the pilot's frame
	curvedAt []float64 // its point
	floor    float64
	spectrum *linalg.Spectrum // of H̃
	inverse  *mat.SymDense    // of H̃, eigenvalues held to the floor
	round    *mat.Dense       // S: (x̃, 1) = S·(x̃', 1), x̃' being the frame in which H̃ is round

	clip    float64
	cut     cutting // by the clip
	scatter shaky   // J̃₊ per row, in the round frame
	steps   []newtonStep
	shrunk  float64 // fraction of the way from the pilot that isn't noise
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
	v.longest = h.seen(v.n*math.Min(0.02, math.Max(0.002, 0.02*math.Pow(6500/v.nmu(), 4))), 3)
	share := curveShare * v.more
	if v.bent() {
		share = firstShare * v.more
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
	v.curvedAt = theta
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
