package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// space is the coordinates of an inference after its pilot. A point is θ, the weights of the
// coordinates and, last, the intercept: in the pilot's frame first, and then in the one in
// which the Hessian there is round.
type space struct {
	run      *estimate.Run
	labels   estimate.Labels
	frame    *estimate.Frame
	constant float64 // 1 with an intercept
	pilot    []float64
	begun    []float64 // features' weights that the pilot began at
	alone    bool      // whether weights are all that is asked for

	normBound float64       // bound on √φ”·‖(x̃, 1)‖
	cut       float64       // by how much the squares of longer ones exceed its, per row, as far as these stand out
	held      curator.Slope // how gradients are bounded, and with them how rows count
	typical   float64       // curvature along each direction before rows count less
	curve     curvature
}

// newSpace is a pilot's frame and point.
func newSpace(r *estimate.Run, l estimate.Labels, f *estimate.Frame, at estimate.Iterate) *space {
	v := &space{run: r, labels: l, frame: f}
	if v.pilot, _ = at.One(); r.Problem.Facts.Intercept {
		v.constant, v.pilot = 1, at.At[0]
	}
	v.held.Constant = v.constant
	return v
}

// split is the point of θ.
func (v *space) split(theta []float64) (u []float64, b float64) {
	if v.constant > 0 {
		return theta[:v.run.D], theta[v.run.D]
	}
	return theta, 0
}

// enframe moves to coordinates in which the Hessian at the pilot is round, so that noise in the
// next one hides all directions alike. Where it is that of second moments, and these are known, their frame is round.
func (v *space) enframe() error {
	hidden := func(known float64) bool { return known < tuning.CurvatureHidden }
	if !v.varies() && !slices.ContainsFunc(v.frame.Signal, hidden) { // the frame of second moments is round
		diagonal := slices.Clone(v.frame.Signal)
		if v.constant > 0 {
			diagonal = append(diagonal, 1)
		}
		floats.Scale(v.labels.Curvature, diagonal)
		return v.round(diagonal, v.labels.Curvature/2)
	}
	normBound, err := v.rowBound()
	if err != nil {
		return err
	}
	share := v.hessianShare(normBound, v.labels.Curvature, tuning.FirstCurveMostShare)
	packed, noise, err := v.hessianAt(v.pilot, normBound, share)
	if err != nil {
		return err
	}
	if err := v.turn(packed, v.operatorNorm(noise)); err != nil {
		return err
	}
	return v.shortenLevels()
}

// round takes the Hessian at the pilot to be diagonal. Where noise has its mean at 0 or below, the floor, which is above 0, is typical.
func (v *space) round(diagonal []float64, floor float64) error {
	if v.typical = floats.Sum(diagonal) / float64(len(diagonal)); !(v.typical > 0) {
		v.typical = floor
	}
	round := mat.NewSymDense(len(diagonal), nil)
	for k, value := range diagonal {
		round.SetSym(k, k, value)
	}
	v.curve = curvature{at: v.pilot, hessian: noisy{m: round}, floor: floor}
	if err := v.curve.invert(); err != nil {
		return err
	}
	return nil
}

// turn moves to the coordinates in which a packed Hessian, with noise of operator norm rho, is
// round. There it is diagonal, and what had half of its curvature hidden is at the floor.
func (v *space) turn(packed []float64, rho float64) error {
	u, b := v.split(v.pilot)
	t, err := v.recentre(packed, rho, u, b)
	if err != nil {
		return err
	}
	diagonal := t.Eigenvalues
	v.pilot = t.U
	if v.constant > 0 {
		v.pilot, diagonal = append(v.pilot, t.B), append(diagonal, t.Curvature)
	}
	return v.round(diagonal, t.Curvature/2)
}

// rowBound is a bound on rows' √φ”·‖(x̃, 1)‖ at the pilot, which few rows exceed: the fewer,
// the less noise there is to balance what is cut off of these. Rows of a rare level may be many
// times as long as others; it takes four standard deviations to say so, as one wrong answer in
// ten thousand would drown the Hessian.
func (v *space) rowBound() (float64, error) {
	f, dim := v.labels, float64(len(v.pilot))
	u, b := v.split(v.pilot)
	typical := tuning.RowTypical * math.Sqrt(math.Min(f.Steepest, tuning.StepCurvatureCount*f.Curvature)*dim)
	far := histogram.Geometric(tuning.RowFar*typical, 2, 2)
	edges := append(slices.Clone(far), histogram.Geometric(typical, math.Pow(2, tuning.FineEdges), tuning.RowEdges)...)
	answer, err := v.frame.In.CurvatureNorms(v.run.Task.Ctx, edges, u, b, math.Max(v.constant, noIntercept), f.Steepest, v.held)
	h, err := v.run.Read(tuning.RowBoundShare, edges, answer, err)
	if err != nil {
		return 0, err
	}
	shown := false
	for j := range len(far) + 1 {
		shown = shown || h.Above[j] > tuning.RowSurely*h.SD(j)
	}
	if !shown {
		h = h.From(len(far))
	}
	bound := h.SmallestFromBelow(v.run.N*math.Min(tuning.RowCut*dim/v.run.NMu(), tuning.RowCutMost), tuning.Surely)
	if v.run.Problem.Facts.EachRow { // few of whom may hold most of the curvature
		bound = math.Max(bound, h.Carrying(carried))
	}
	v.cut = h.Cut(bound) / v.run.N
	return bound, nil
}

// carried is the part of persons' curvature that the bound on it keeps: with a half of it Newton's steps would go twice as far
// as they should, and end nowhere.
const carried = 0.9

// hessianShare is the share at which the noise of a Hessian has an operator norm of a fifth of
// its mean curvature, within limits.
func (v *space) hessianShare(normBound, curvature, most float64) float64 {
	whole := v.operatorNorm(v.hessianNoise(normBound, 1))
	return math.Min(math.Max(math.Pow(tuning.CurveNoise*whole/curvature, 2), tuning.CurveLeastShare), most)
}

// curveShare is that of the Hessian in the coordinates in which the first one is round.
func (v *space) curveShare() float64 {
	return v.hessianShare(v.normBound, mat.Trace(v.curve.hessian.m)/float64(len(v.pilot)), tuning.CurveMostShare)
}

// hessianNoise is the standard deviation in each number of a packed Hessian per row.
func (v *space) hessianNoise(normBound, share float64) float64 {
	return v.run.Problem.Facts.Positive() * normBound * normBound / (v.run.NMu() * math.Sqrt(share))
}

// operatorNorm is about that of a symmetric matrix of such noise.
func (v *space) operatorNorm(noise float64) float64 {
	return math.Sqrt(2*float64(len(v.pilot))) * noise
}

// steps is the share of μ² that is left for gradients.
func (v *space) steps() float64 {
	left := v.run.Pool.Left - tuning.ScatterShare
	if v.countsScores() {
		left -= tuning.CountsShare
	}
	return left
}

// varies reports whether the Hessian depends on the point.
func (v *space) varies() bool { return v.run.Problem.Loss.Labels() != losses.Real }

// hessianAt releases the Hessian at a point, and tells its noise per row, as the answer declares it: where noise is next to none coordinates
// are so long that what rounding adds isn't little beside a row.
func (v *space) hessianAt(theta []float64, normBound, share float64) (packed []float64, noise float64, err error) {
	u, b := v.split(theta)
	answer, err := v.frame.In.Hessian(v.run.Task.Ctx, u, b, v.constant, v.labels.Steepest, normBound, v.held)
	packed, err = v.run.Pool.Draw(share, answer, err)
	return packed, v.run.Problem.Deviation(share, answer) / v.run.N, err
}

// curveAt releases the Hessian at a point that the law will be made of.
func (v *space) curveAt(theta []float64, share float64) error {
	packed, noise, err := v.hessianAt(theta, v.normBound, share)
	if err != nil {
		return err
	}
	perRow := curator.Unpack(packed, len(theta))
	perRow.ScaleSym(1/v.run.N, perRow)
	expected := v.curve
	v.curve = curvature{at: theta, hessian: noisy{perRow, noise}, floor: v.operatorNorm(noise)}
	if err := v.curve.invert(); err != nil {
		return err
	}
	return v.curve.hide(expected, v.cut)
}

// shortenLevels keeps rows of rare levels from being much longer than others in what Hessians are
// released in: noise in all directions grows with the longest rows' squares.
func (v *space) shortenLevels() error {
	short, err := v.frame.Shorten(math.Max(v.frame.LevelNormBound(), tuning.ShortHessian*math.Sqrt(float64(v.run.D))))
	if err != nil || short == nil {
		return err
	}
	short = v.beside(short)
	v.pilot = short.Stretch(v.pilot)
	v.curve.at, v.curve.hessian.m, v.curve.floor = v.pilot, short.Into(v.curve.held()), 0 // the floor is for round ones
	if err := v.curve.invert(); err != nil {
		return err
	}
	v.curve.floor = v.curve.spectrum.Values[0]
	return nil
}

// beside is a change of the coordinates beside an intercept, where there is one.
func (v *space) beside(c *linalg.Change) *linalg.Change {
	if v.constant > 0 {
		return c.Beside()
	}
	return c
}

// toWeights are the rows that turn θ into the weights of encoded rows.
func (v *space) toWeights() *mat.Dense {
	l := mat.NewDense(v.run.Problem.Facts.Dim, len(v.pilot), nil)
	for k := range v.run.D {
		var shift float64
		for j := range v.run.D {
			a := v.frame.At.Matrix.At(j, k)
			l.Set(j, k, a)
			if v.frame.At.Centre != nil {
				shift += float64(a * v.frame.At.Centre[j])
			}
		}
		if v.constant > 0 {
			l.Set(v.run.D, k, -shift)
		}
	}
	if v.constant > 0 {
		l.Set(v.run.D, v.run.D, 1)
	}
	return l
}

// growth is how much larger the Hessian is at a point than where it was released, at most 5
// times: what is known of it for a log link, where it changes with the mean along the intercept.
// It is that of the loss as it was given, which a cap doesn't make flat.
func (v *space) growth(at []float64) float64 {
	second, ok := losses.CurvatureOf(v.run.Problem.Asked)
	if !ok || losses.LinkOf(v.run.Problem.Loss) != losses.Log || v.constant == 0 {
		return 1
	}
	growth := second(at[v.run.D], v.labels.Mean) / second(v.curve.at[v.run.D], v.labels.Mean)
	if math.IsNaN(growth) { // both are beyond what numbers hold
		return 1
	}
	return math.Min(math.Max(growth, 1/tuning.GrowthMost), tuning.GrowthMost)
}

// damping is the fraction to go of a first step that moves scores by the given size, typically.
// Where means of counts grow, their curvature does, so that it goes too far: by s/ln(1+s) where
// all scores grow by as much, e^b−1 being what it takes for b.
func (v *space) damping(gap []float64, size float64) float64 {
	if v.run.Problem.Loss.Labels() != losses.Count || v.constant == 0 || gap[v.run.D] <= 0 || !(size > 0) { // NaN where H̃ is nothing but noise
		return 1
	}
	return math.Log1p(size) / size
}

// noIntercept stands for the coordinate of an intercept that isn't there: a question must have one.
const noIntercept = 1e-6
