package dpglm

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// standardisedDim is the largest number of features with second moments, and whitenedDim
// the largest for which they are always used.
const (
	standardisedDim = 1000
	whitenedDim     = 200
)

// standardised is a planned descent.
type standardised struct {
	shape         Shape
	problem       Problem
	loss          losses.Loss
	mu            float64
	releases, dim int // of the pool, at most

	unknown  int     // levels whose thresholds are to be estimated; 0 for none
	fraction float64 // of the pool's μ², whose root μ has
	doubt    *doubt  // of those that were estimated; nil for given ones
	infers   bool    // for an inference
}

// standardising is a run.
type standardising struct {
	*standardised
	*run
	data *curator.Data
	sums *curator.Sums
	pool *pool
	n    float64
	d    int

	facts    labelFacts
	told     float64 // the labels' noisy sums, each times its share
	toldWith float64 // these shares
	bias     float64 // the intercept at the start
	shifted  float64 // mean offset of the scores
	constant bool    // whether nothing is left for a model of the features

	frame     curator.Frame
	framed    *curator.Framed
	known     []float64 // of each direction, the fraction of its second moment that isn't noise; nil without moments
	effective float64   // dimension
	round     bool      // whether moments are those of one scale in all directions
	spread    float64   // noise of the centre, in each coordinate
	hessian   bool      // whether a second stage is planned
	clear     float64   // n·μ from which on second moments don't drown
	pilot     bool      // whether this is but the beginning of an inference
}

// foreseen is a run as far as public numbers tell: weights of rows can but make for less.
func (o *standardised) foreseen() *standardising {
	x := &standardising{standardised: o, n: float64(o.shape.Rows), d: o.shape.features()}
	d := float64(x.d) // sets of data with few and with many features chose the numbers
	x.clear = max(min(80*math.Sqrt(d), 200), min(30*d, 500), min(0.15*d*d, 2000))
	return x
}

// begin is a run, before its first release, with a fraction of all μ².
func (o *standardised) begin(r *run, whole float64) (*standardising, error) {
	part := *o
	part.mu *= math.Sqrt(whole)
	x := part.foreseen()
	x.run, x.data, x.pool = r, r.data, &pool{r.allow, whole * o.fraction, 1}
	var err error
	x.sums, err = r.under(o.loss)
	return x, err
}

// pool draws releases with shares of μ².
type pool struct {
	allow *release.Allowance
	whole float64 // fraction of all μ² that shares are taken of
	left  float64
}

func (p *pool) draw(share float64, x release.Answer, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	p.left -= share
	return p.allow.Draw(share*p.whole, x)
}

// nmu is n·μ, by which noise is measured against sums.
func (x *standardising) nmu() float64 { return x.n * x.mu }

// least is the n·μ that a model of the features takes.
func (x *standardising) least() float64 {
	if x.d > standardisedDim {
		return 47
	}
	return math.Max(45, 8.5*math.Sqrt(float64(x.d)))
}

// hopeless reports whether rows and budget make for no more than the constant model.
func (x *standardising) hopeless() bool { return x.nmu() < x.least() }

// drowned reports whether second moments would drown in their noise.
func (x *standardising) drowned() bool { return x.nmu() < x.clear }

// read draws a histogram.
func (x *standardising) read(share float64, edges []float64, answer release.Answer, err error) (histogram.Tails, error) {
	counts, err := x.pool.draw(share, answer, err)
	if err != nil {
		return histogram.Tails{}, err
	}
	return histogram.NewTails(edges, counts, math.Sqrt2/(x.mu*math.Sqrt(share)), x.n), nil
}

// lengths draws a histogram of the rows' norms.
func (x *standardising) lengths(share float64, edges []float64, r *curator.Framed) (histogram.Tails, error) {
	answer, err := r.Lengths(x.ctx, edges)
	return x.read(share, edges, answer, err)
}

// model maps weights of the features and an intercept to those of encoded rows.
func (x *standardising) model(w []float64, b float64) []float64 {
	if w = slices.Clone(w); x.shape.Intercept {
		w = append(w, b)
	}
	return held(w)
}

// held holds weights to what a model may have, where bounds that differ by a hundred
// orders of magnitude leave nothing but noise.
func held(w []float64) []float64 {
	w = slices.Clone(w)
	for j, v := range w {
		if w[j] = math.Max(-largestWeight, math.Min(v, largestWeight)); math.IsNaN(v) {
			w[j] = 0
		}
	}
	return w
}

// largestWeight is the largest that a model may have.
const largestWeight = check.MaxScale * check.MaxScale

// kinked is for a loss whose curvature near its minimum may be far above that at the
// start, so that a step by the latter could be too long.
func (x *standardising) kinked() bool {
	return x.loss.Labels() == losses.Real && !math.IsInf(x.loss.Constants(everywhere, x.shape.LabelBound).Lipschitz, 1)
}

// longestSlope is a bound on φ', or what it hardly ever exceeds near the minimum, for
// histograms of gradients to begin at.
func (x *standardising) longestSlope() float64 {
	if x.loss.Labels() == losses.Amount { // by how many means an amount exceeds its own
		return 32
	}
	return math.Min(x.loss.Constants(everywhere, x.shape.LabelBound).Lipschitz, 2*math.Max(x.shape.LabelBound, 1))
}

// hidden reports whether the slope of counts' intercept can't be seen in its noise.
func (x *standardising) hidden() bool {
	return losses.LinkOf(x.loss) == losses.Log && !x.pilot && x.facts.apart > 0.037*x.nmu()*x.facts.curvature
}

// errEigen is about moments whose eigenvectors aren't found.
var errEigen = check.Fail(ErrConfig, "second moments", nil, "must have eigenvalues that can be computed")
