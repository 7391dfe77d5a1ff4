package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/tuning"
)

// Moments are released sums over rows (v, 1), v being a row in coordinates in which rows are about round, of which
// those longer than Bound are scaled down to it, the constant with them: such a row counts less.
type Moments struct {
	// Second is Σ (v, 1)(v, 1)ᵀ, with noise of deviation Noise in each number of its packed form.
	Second *mat.SymDense
	Noise  float64
	// Means and Squares are those of encoded features and of their squares, of rows as they are, with noise of these deviations; and
	// how many rows there are, N, with the deviation CountNoise where that is secret.
	Means, Squares         []float64
	MeanNoise, SquareNoise float64
	N, CountNoise          float64
	// Fourth is Σ ‖v‖²·vvᵀ, with noise of FourthNoise.
	Fourth      *mat.SymDense
	FourthNoise float64
	// Back maps (v, 1) to encoded features and the constant.
	Back *mat.Dense
	// Bound is that on ‖v‖, and Longer the part of rows that are longer, as far as a histogram tells. The operator norm
	// of noise in second moments and four times that part come to the least together.
	Bound, Longer float64
}

// Moments releases moments of pairs of features in a frame that is released first, and takes what is left of the pool.
func (p Problem) Moments(t Task) (*Moments, error) {
	r, err := Begin(p, t)
	if err != nil {
		return nil, err
	}
	if err := r.Total(tuning.CountsShare); err != nil {
		return nil, err
	}
	m := &Moments{N: r.N, CountNoise: r.NNoise}
	if err := m.asTheyAre(r); err != nil {
		return nil, err
	}
	x, err := r.Standardise()
	if err != nil {
		return nil, err
	}
	d := float64(r.D)
	edges := around(math.Sqrt(d), tuning.NormEdges)
	h, err := r.Lengths(tuning.CountsShare, edges, x.In)
	if err != nil {
		return nil, err
	}
	share, noise := r.Pool.Left-tuning.BesideShare, p.Facts.Positive()/p.Mu
	best := math.Inf(1)
	for j, edge := range edges {
		longer := math.Max(0, h.Above[j]) / r.N
		if off := math.Sqrt(2*d)*noise*edge*edge/(r.N*math.Sqrt(share)) + tuning.LongerCost*longer; off < best {
			best, m.Bound, m.Longer = off, edge, longer
		}
	}
	answer, err := x.In.Hessian(t.Ctx, make([]float64, r.D), 0, 1, 1, math.Hypot(m.Bound, 1), curator.Slope{Constant: 1})
	packed, err := r.Pool.Draw(share, answer, err)
	if err != nil {
		return nil, err
	}
	m.Second, m.Noise = curator.Unpack(packed, r.D+1), p.Deviation(share, answer)
	answer, err = curator.Fourth(t.Ctx, x.In, m.Bound)
	packed, err = r.Pool.Draw(tuning.BesideShare, answer, err)
	if err != nil {
		return nil, err
	}
	m.Fourth, m.FourthNoise = curator.Unpack(packed, r.D), p.Deviation(tuning.BesideShare, answer)
	m.Back, err = x.back()
	return m, err
}

// asTheyAre releases means and mean squares of rows as they are encoded, none shortened: a few long ones may be all of a rare level.
func (m *Moments) asTheyAre(r *Run) error {
	plain, err := r.Frame(curator.Frame{})
	if err != nil {
		return err
	}
	answer, err := plain.Sum(r.Task.Ctx, r.Task.Data.Facts().Bound)
	if m.Means, err = r.Pool.Draw(tuning.MeansShare, answer, err); err != nil {
		return err
	}
	m.MeanNoise = r.Problem.Deviation(tuning.MeansShare, answer) / r.N
	answer, err = plain.Squares(r.Task.Ctx)
	if m.Squares, err = r.Pool.Draw(tuning.BesideShare, answer, err); err != nil {
		return err
	}
	m.SquareNoise = r.Problem.Deviation(tuning.BesideShare, answer) / r.N
	floats.Scale(1/r.N, m.Means)
	floats.Scale(1/r.N, m.Squares)
	return nil
}

// Deviation is that of the noise that an answer is drawn with, by the sensitivity that it declares.
func (p Problem) Deviation(share float64, answer release.Answer) float64 {
	return answer.Sensitivity() * p.Facts.Mu(1) / (p.Mu * math.Sqrt(share))
}

// back maps coordinates of the frame and the constant to encoded features and the constant.
func (x *Frame) back() (*mat.Dense, error) {
	d := x.run.D
	to, from := mat.NewDense(d, d, nil), new(mat.Dense) // x̃ = toᵀ(x − m)
	switch {
	case x.At.Matrix != nil:
		to.Copy(x.At.Matrix)
	default:
		for j, a := range x.At.Scale {
			to.Set(j, j, a)
		}
	}
	if err := from.Inverse(to.T()); err != nil {
		return nil, errEigen
	}
	back := mat.NewDense(d+1, d+1, nil)
	back.Slice(0, d, 0, d).(*mat.Dense).Copy(from)
	for j, m := range x.At.Centre {
		back.Set(j, d, m)
	}
	back.Set(d, d, 1)
	return back, nil
}
