package estimate

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/tuning"
)

// Run is a fit that has begun: rows to ask, and the budget that is left.
type Run struct {
	Problem Problem
	Task    Task
	Sums    *curator.Sums
	Pool    *Pool
	N       float64 // rows, or what their weights come to
	NNoise  float64 // standard deviation of N; 0 where that is public
	totals  Mean    // N as Total has it
	D       int     // features
	// Pilot tells that this is but the beginning of an inference.
	Pilot        bool
	shifted      float64 // mean offset of the scores
	shiftedNoise float64 // its deviation
	// each is what a row counts in sums that are held person by person, where each row is to count: one over the mean
	// number of a person's rows, as far as that is known, so that all rows come to the number of persons. Else it is 0.
	each float64
}

// Begin is a run before its first release.
func Begin(p Problem, t Task) (*Run, error) {
	x := &Run{Problem: p, Task: t, Pool: &Pool{t.Allow, p.Fraction, 1}, N: float64(p.Facts.Rows), D: p.Facts.Features()}
	x.totals.Value = x.N
	var err error
	x.Sums, err = t.Under(p.Loss)
	return x, err
}

// Frame is the rows in a frame.
func (x *Run) Frame(at curator.Frame) (*curator.Framed, error) {
	return x.Sums.Frame(x.Task.Ctx, at)
}

// Pool draws releases with shares of μ².
type Pool struct {
	allow *release.Allowance
	whole float64 // fraction of all μ² that shares are taken of
	Left  float64
}

// Draw releases an answer with a share.
func (p *Pool) Draw(share float64, x release.Answer, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	p.Left -= share
	return p.allow.Draw(share*p.whole, x)
}

// Spent reports whether nothing is left for a model of the features.
func (p *Pool) Spent() bool { return p.Left <= 0 }

// NMu is n·μ, by which noise is measured against sums.
func (x *Run) NMu() float64 { return x.N * x.Problem.Mu }

// Hopeless reports whether rows and budget make for no more than the constant model.
func (x *Run) Hopeless() bool { return x.NMu() < tuning.LeastNMu }

// Read draws a histogram.
func (x *Run) Read(share float64, edges []float64, answer release.Answer, err error) (histogram.Tails, error) {
	counts, err := x.Pool.Draw(share, answer, err)
	if err != nil {
		return histogram.Tails{}, err
	}
	return histogram.NewTails(edges, counts, x.Problem.Facts.Positive()/(x.Problem.Mu*math.Sqrt(share)), x.N), nil
}

// Lengths draws a histogram of the rows' norms.
func (x *Run) Lengths(share float64, edges []float64, r *curator.Framed) (histogram.Tails, error) {
	answer, err := r.Lengths(x.Task.Ctx, edges)
	return x.Read(share, edges, answer, err)
}

// MomentNorms draws a histogram of what second moments are held to.
func (x *Run) MomentNorms(share float64, edges []float64, r *curator.Framed) (histogram.Tails, error) {
	answer, err := r.MomentNorms(x.Task.Ctx, edges)
	return x.Read(share, edges, answer, err)
}

// fading is the fraction of rows that may be longer than the bound on them: half of them at most, and the
// less the more data drown the noise.
func (x *Run) fading() float64 {
	return math.Min(half, tuning.Fading*math.Sqrt(float64(x.D))/x.NMu())
}

// loose is by how much bounds exceed those that balance noise with what they cut off, where noise is little: noise in second moments is no
// larger then, beside these, than where it began to be little, and that in gradients falls with the root of n·μ.
func (x *Run) loose() float64 { return math.Sqrt(math.Max(1, quietness(x.NMu(), x.D))) }

// weights maps weights of the features and an intercept to those of encoded rows.
func (f Facts) weights(w []float64, b float64) []float64 {
	if w = slices.Clone(w); f.Intercept {
		w = append(w, b)
	}
	return Clamp(w)
}

// Clamp holds weights to what a model may have, where bounds that differ by a hundred
// orders of magnitude leave nothing but noise.
func Clamp(w []float64) []float64 {
	const largest = check.MaxScale * check.MaxScale
	w = slices.Clone(w)
	for j, v := range w {
		if w[j] = math.Max(-largest, math.Min(v, largest)); math.IsNaN(v) {
			w[j] = 0
		}
	}
	return w
}

// errEigen is about moments whose eigenvectors aren't found.
var errEigen = check.Fail(check.ErrConfig, "second moments", nil, "must have eigenvalues that can be computed")

// halvings find a number to the last bit or nearly so.
const halvings = 40

// crossing returns about the last point from low to high up to which below holds.
func crossing(low, high float64, below func(float64) bool) float64 {
	for range halvings {
		if middle := (low + high) / 2; below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
