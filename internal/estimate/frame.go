package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/internal/vector"
)

// Frame is coordinates of a run's rows.
type Frame struct {
	run       *Run
	At        curator.Frame
	In        *curator.Framed
	Signal    []float64 // of each direction, the fraction of its second moment that isn't noise; nil without moments
	Effective float64   // dimension
	Spread    float64   // noise of the centre, in each coordinate
	wide      bool      // whether there are too many features for moments of pairs
}

// Standardise releases the frame.
func (r *Run) Standardise() (*Frame, error) {
	x := &Frame{run: r, At: curator.Frame{Each: r.each}}
	if r.D > MostFeatures {
		return x, x.scaleColumns()
	}
	return x, x.standardise()
}

func (x *Frame) standardise() error {
	bound := x.run.Task.Data.Facts().Bound
	plain, err := x.run.Frame(curator.Frame{Each: x.run.each})
	if err != nil {
		return err
	}
	top := bound
	if x.run.Problem.Facts.Intercept {
		if err := x.centre(plain, bound); err != nil {
			return err
		}
		top += vector.Norm(x.At.Centre)
		if plain, err = x.run.Frame(x.At); err != nil {
			return err
		}
	}
	h, err := x.run.MomentNorms(math.Min(math.Max(tuning.CountsShare, tuning.AlikeShare/x.run.NMu()), tuning.MomentsShare), histogram.Geometric(top, math.Sqrt2, tuning.NormEdges), plain)
	if err != nil {
		return err
	}
	normBound := math.Max(h.Carrying(half), h.Smallest(x.run.N*x.run.fading(), 1))
	normBound = math.Min(top, normBound*x.run.loose())
	if err = x.whitenBy(plain, normBound, tuning.MomentsShare); err != nil {
		return err
	}
	return x.secondMoments()
}

// centre releases the features' mean.
func (x *Frame) centre(plain *curator.Framed, bound float64) error {
	edges := histogram.Geometric(bound, math.Sqrt2, tuning.NormEdges)
	h, err := x.run.Lengths(tuning.CountsShare, edges, plain)
	if err != nil {
		return err
	}
	normBound := math.Max(h.Carrying(half), h.Smallest(x.run.N*x.run.fading(), 2))
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

// whitenBy releases second moments in a frame and moves to the one in which they are
// round.
func (x *Frame) whitenBy(in *curator.Framed, normBound, share float64) error {
	answer, err := in.Moments(x.run.Task.Ctx, normBound)
	packed, err := x.run.Pool.Draw(share, answer, err)
	if err != nil {
		return err
	}
	w, ok := whiten(packed, x.run.D, x.run.N, x.run.Problem.Facts.Positive()*normBound*normBound/(x.run.Problem.Mu*math.Sqrt(share)))
	if !ok {
		return errEigen
	}
	x.At.Matrix, x.At.Scale = x.after(w)
	x.Signal, x.Effective = w.known, 1+floats.Sum(w.known)
	x.In, err = x.run.Frame(x.At)
	return err
}

// after is the map to coordinates that follow the frame's: scales alone, which rows' norms take little time
// in, where there is nothing else and nothing that follows asks for a matrix.
func (x *Frame) after(w whitening) (*mat.Dense, []float64) {
	d := x.run.D
	if w.axes == nil && x.At.Matrix == nil && !x.run.Pilot && len(x.run.Task.Levels()) == 0 {
		scales := slices.Clone(w.scales)
		if x.At.Scale != nil {
			floats.Mul(scales, x.At.Scale)
		}
		return nil, scales
	}
	axes := w.axes
	if axes == nil {
		axes = mat.NewDense(d, d, nil)
		for j, scale := range w.scales {
			axes.Set(j, j, scale)
		}
	}
	if x.At.Scale != nil {
		for j, scale := range x.At.Scale {
			floats.Scale(scale, axes.RawRowView(j))
		}
	}
	if x.At.Matrix != nil {
		var both mat.Dense
		both.Mul(x.At.Matrix, axes)
		axes = &both
	}
	return axes, nil
}

// scaleColumns is the frame of rows with too many features for moments of pairs: rows are shortened,
// nothing is centred, and each column is scaled by its own noisy sum of squares. Rare columns aren't what
// counts, however large the budget.
func (x *Frame) scaleColumns() error {
	f := x.run.Task.Data.Facts()
	plain, err := x.run.Frame(curator.Frame{Each: x.run.each})
	if err != nil {
		return err
	}
	h, err := x.run.Lengths(tuning.CountsShare, histogram.Geometric(f.Bound, math.Sqrt2, tuning.NormEdges), plain)
	if err != nil {
		return err
	}
	normBound := h.Smallest(tuning.ColumnCut*x.run.N, 2)
	if x.run.Sums, err = x.run.Task.Data.Rebound(normBound, f.Constant, f.LabelBound).Under(x.run.Problem.Loss); err != nil {
		return err
	}
	if plain, err = x.run.Frame(curator.Frame{Each: x.run.each}); err != nil {
		return err
	}
	answer, err := plain.Squares(x.run.Task.Ctx)
	squares, err := x.run.Pool.Draw(tuning.MomentsShare, answer, err)
	if err != nil {
		return err
	}
	rare := tuning.ColumnRare * normBound * normBound
	x.wide = true
	x.At.Scale, x.Signal = round(squares, x.run.N, x.run.Problem.Facts.Positive()*normBound*normBound/(x.run.Problem.Mu*math.Sqrt(tuning.MomentsShare)))
	for j, scale := range x.At.Scale {
		held := 1 / math.Sqrt(math.Hypot(1, rare*scale*scale))
		x.At.Scale[j] *= held
		x.Signal[j] *= held * held
	}
	x.Effective = 1 + floats.Sum(x.Signal)
	x.In, err = x.run.Frame(x.At)
	return err
}

// secondMoments releases a second round of moments where more of a direction was hidden than is to be, and in any case where Newton's steps follow.
func (x *Frame) secondMoments() error {
	d, nmu := float64(x.run.D), x.run.NMu()
	edges := around(math.Sqrt(d), tuning.NormEdges)
	h, err := x.run.MomentNorms(tuning.CountsShare, edges, x.In)
	if err != nil {
		return err
	}
	typical := math.Sqrt(x.Effective-1) / 2 // half of rows' root mean square, as far as that is known
	normBound := max(typical, math.Min(h.Carrying(half), 2*math.Sqrt(d)), h.Smallest(x.run.N*x.run.fading(), 2))
	normBound = math.Min(edges[0], normBound*x.run.loose())
	drowned := 2 * math.Sqrt(d) * normBound * normBound / (nmu * math.Sqrt(tuning.AgainShare))
	hidden := 1 - (x.Effective-1)/d
	if drowned <= tuning.AgainNoise && (hidden > tuning.AgainNoise || x.run.Pilot) {
		return x.whitenBy(x.In, normBound, tuning.AgainShare)
	}
	return nil
}

// around are so many edges of half an octave about a number.
func around(middle float64, edges int) []float64 {
	return histogram.Geometric(middle*math.Pow(math.Sqrt2, float64(edges)/2), math.Sqrt2, edges)
}

// half is the part of second moments that a bound on rows keeps.
const half = 0.5

// noiseGrowth is the power of d by which noise in moments grows: rows' squares do as d, and the operator
// norm of noise of one size as √d.
const noiseGrowth = 1.5

// quietness is n·μ over that from which on noise is so little that a direction in which it hides curvature hardly matters to any score.
func quietness(nmu float64, d int) float64 {
	return nmu / (tuning.QuietFrom * math.Pow(float64(d), noiseGrowth))
}

// Quiet reports whether it is so little.
func Quiet(nmu float64, d int) bool { return quietness(nmu, d) >= 1 }

// scores is their variance, of all columns, as far as it is known.
func (x *Frame) scores(at [][]float64) (sum float64) {
	for _, u := range at {
		for j, known := range x.Signal {
			sum += float64(known * u[j] * u[j])
		}
	}
	return sum
}

// For is the same frame for another run on the rows, in which these count alike.
func (x *Frame) For(r *Run) *Frame {
	r.each = x.At.Each
	f := *x
	f.run = r
	return &f
}

// Weights maps a point to the weights of encoded rows, of each column.
func (x *Frame) Weights(at [][]float64) [][]float64 {
	list := make([][]float64, len(at))
	for c, of := range at {
		d := len(of) - 1
		w, b := x.features(of[:d]), of[d]
		for j, m := range x.At.Centre {
			b -= float64(m * w[j])
		}
		list[c] = x.run.Problem.Facts.weights(w, b)
	}
	return list
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
