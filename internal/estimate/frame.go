package estimate

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// Frame is coordinates of a run's rows.
type Frame struct {
	run       *Run
	At        curator.Frame
	In        *curator.Framed
	Signal    []float64 // of each direction, the fraction of its second moment that isn't noise; nil without moments
	Effective float64   // dimension
	Spread    float64   // noise of the centre, in each coordinate
	hessian   bool      // whether a second stage is planned
}

// Standardise releases the frame. It reports where the features are many and no direction stands
// out of the noise: of classes, as scores of other labels have units, and steps by columns don't.
func (r *Run) Standardise() (x *Frame, few bool, err error) {
	x = &Frame{run: r}
	few, err = x.standardise()
	return x, few, err
}

func (x *Frame) standardise() (few bool, err error) {
	d, nmu := float64(x.run.D), x.run.NMu()
	bound := x.run.Task.Data.Facts().Bound
	plain, err := x.run.Sums.Frame(x.run.Task.Ctx, curator.Frame{})
	if err != nil {
		return false, err
	}
	top := bound
	if x.run.Problem.Facts.Intercept {
		if err := x.centre(plain, bound); err != nil {
			return false, err
		}
		top += vector.Norm(x.At.Centre)
		if plain, err = x.run.Sums.Frame(x.run.Task.Ctx, x.At); err != nil {
			return false, err
		}
	}
	share := math.Min(math.Max(tuning.AlikeShare/nmu, tuning.LengthsShare), tuning.AlikeMostShare)
	h, err := x.run.Lengths(share, histogram.Geometric(top, math.Sqrt2, tuning.AlikeEdges), plain)
	if err != nil {
		return false, err
	}
	normBound := math.Max(h.Carrying(), h.Smallest(x.run.N*x.run.fading(tuning.FadingFirst), 1))
	if x.run.big() {
		normBound = math.Min(top, normBound*math.Max(1, math.Sqrt(tuning.FreeMoments*nmu*math.Sqrt(tuning.MomentsShare)/(2*math.Pow(d, noiseGrowth)))))
	}
	top, err = x.whitenBy(plain, normBound, tuning.MomentsShare)
	if err != nil {
		return false, err
	}
	if x.run.D > tuning.MostWhitened && top < tuning.StandingLeast && x.run.Problem.Loss.Labels() == losses.Binary {
		return true, nil
	}
	return false, x.secondMoments()
}

// centre releases the features' mean.
func (x *Frame) centre(plain *curator.Framed, bound float64) error {
	edges := histogram.Geometric(bound, math.Sqrt2, tuning.NormEdges)
	h, err := x.run.Lengths(tuning.LengthsShare, edges, plain)
	if err != nil {
		return err
	}
	normBound := x.run.rowNormBound(h, tuning.CentreCut, bound)
	answer, err := plain.Sum(x.run.Task.Ctx, normBound)
	sum, err := x.run.Pool.Draw(tuning.CentreShare, answer, err)
	if err != nil {
		return err
	}
	for j := range sum {
		sum[j] /= x.run.N
	}
	x.Spread = 2 * normBound / (x.run.NMu() * math.Sqrt(tuning.CentreShare))
	var square float64
	for _, a := range sum {
		square += float64(a * a)
	}
	factor := JamesStein(float64(len(sum))*(x.Spread*x.Spread), square)
	for j := range sum {
		sum[j] *= factor
	}
	x.Spread *= factor
	x.At.Centre = sum
	return nil
}

// roundFrame scales all features alike.
func (x *Frame) roundFrame(scale float64) (err error) {
	x.At.Scale = make([]float64, x.run.D)
	for j := range x.At.Scale {
		x.At.Scale[j] = scale
	}
	x.Effective = tuning.AlikeEffective
	x.In, err = x.run.Sums.Frame(x.run.Task.Ctx, x.At)
	return err
}

// whitenBy releases second moments in a frame and moves to the one in which they are
// round. It returns the fraction of the moments in directions that stand out of the
// noise.
func (x *Frame) whitenBy(in *curator.Framed, normBound, share float64) (float64, error) {
	answer, err := in.Moments(x.run.Task.Ctx, normBound)
	packed, err := x.run.Pool.Draw(share, answer, err)
	if err != nil {
		return 0, err
	}
	rho := math.Sqrt(2*float64(x.run.D)) * math.Sqrt2 * normBound * normBound / (x.run.Problem.Mu * math.Sqrt(share))
	w, ok := whiten(packed, x.run.D, x.run.N, rho)
	if !ok {
		return 0, errEigen
	}
	if x.At.Matrix != nil {
		var both mat.Dense
		both.Mul(x.At.Matrix, w.axes)
		w.axes = &both
	}
	x.At.Matrix, x.Signal, x.Effective = w.axes, w.known, 1
	var out, all float64
	for k, v := range w.values {
		x.Effective += w.known[k]
		all += v
		if v > tuning.StandsOut*rho {
			out += v
		}
	}
	x.In, err = x.run.Sums.Frame(x.run.Task.Ctx, x.At)
	return out / math.Max(all, tiny), err
}

// secondMoments releases a second round of moments where it promises something, and settles
// whether the Hessian will be released.
func (x *Frame) secondMoments() error {
	d, nmu := float64(x.run.D), x.run.NMu()
	edges := histogram.Geometric(tuning.MomentsTop*math.Sqrt(d), math.Sqrt2, tuning.NormEdges)
	h, err := x.run.Lengths(tuning.LengthsShare, edges, x.In)
	if err != nil {
		return err
	}
	typical := math.Sqrt(x.Effective-1) / 2 // half of rows' root mean square, as far as that is known
	normBound := max(typical, math.Min(h.Carrying(), 2*math.Sqrt(d)), h.Smallest(x.run.N*x.run.fading(tuning.FadingAgain), 2))
	if x.run.big() {
		normBound = math.Min(edges[0], normBound*math.Max(1, math.Sqrt(tuning.FreeMoments*nmu*math.Sqrt(tuning.AgainShare)/(2*math.Pow(d, noiseGrowth)))))
	}
	drowned := 2 * math.Sqrt(d) * normBound * normBound / (nmu * math.Sqrt(tuning.AgainShare))
	if drowned <= tuning.AgainNoise && (x.Effective-1 < tuning.AgainEffective*d || x.run.big() || x.run.Pilot) {
		if _, err := x.whitenBy(x.In, normBound, tuning.AgainShare); err != nil {
			return err
		}
	}
	if x.run.Pilot {
		return nil
	}
	if x.hessian = nmu >= tuning.HessianFrom*math.Pow(d, noiseGrowth) && x.run.Sums.Curved() && !x.run.Problem.kinked(); !x.hessian {
		return nil
	}
	edges = histogram.Geometric(tuning.HessianTop*math.Sqrt(d), math.Sqrt2, tuning.HessianEdges)
	if h, err = x.run.Lengths(tuning.LengthsShare, edges, x.In); err != nil {
		return err
	}
	long := h.Smallest(tuning.HessianCut*x.run.N, tuning.EdgeSurely)
	x.hessian = math.Sqrt(2*(d+1))*math.Sqrt2*(long*long+1)/(nmu*math.Sqrt(tuning.HessianShare)) <= tuning.HessianNoise
	return nil
}

// noiseGrowth is the power of d by which noise in moments grows: rows' squares do as d, and the operator
// norm of noise of one size as √d.
const noiseGrowth = 1.5

// scores is their variance, as far as it is known.
func (x *Frame) scores(u []float64) (sum float64) {
	for j, known := range x.Signal {
		sum += float64(known * u[j] * u[j])
	}
	return sum
}

// For is the same frame for another run on the rows.
func (x *Frame) For(r *Run) *Frame {
	f := *x
	f.run = r
	return &f
}

// Weights maps a point to the weights of encoded rows.
func (x *Frame) Weights(u []float64, b float64) []float64 {
	w := x.features(u)
	for j, m := range x.At.Centre {
		b -= float64(m * w[j])
	}
	return x.run.Problem.Facts.weights(w, b)
}

// features are the weights of features that make the scores of a point.
func (x *Frame) features(u []float64) []float64 {
	w := make([]float64, x.run.D)
	if x.At.Matrix != nil {
		mat.NewVecDense(x.run.D, w).MulVec(x.At.Matrix, mat.NewVecDense(len(u), u))
		return w
	}
	for j, a := range x.At.Scale {
		w[j] = a * u[j]
	}
	return w
}

// frobenius is ‖A‖.
func (x *Frame) frobenius() float64 {
	if x.At.Matrix != nil {
		return mat.Norm(x.At.Matrix, 2)
	}
	return vector.Norm(x.At.Scale)
}
