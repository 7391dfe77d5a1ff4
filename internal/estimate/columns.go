package estimate

import (
	"math"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
)

// columns is a descent with a scale for each column.
type columns struct {
	run    *Run
	labels Labels
	data   *curator.Data
	sums   *curator.Sums
	frame  curator.Frame
	framed *curator.Framed
}

// ByColumns is the way for sparse rows and for hundreds of rare columns: each column is
// scaled by its own noisy sum of squares, rows are shortened, nothing is centred, and
// the steps go on until the noise in a typical score is about 1.
func (r *Run) ByColumns(l Labels) ([]float64, error) {
	x := &columns{run: r, labels: l, data: r.Task.Data, sums: r.Sums}
	whole := x.run.Pool.Left
	norms, columns := tuning.ColumnLengthsShare*whole, tuning.ColumnScalesShare*whole
	bound := x.data.Facts().Bound
	plain, err := x.sums.Frame(x.run.Task.Ctx, curator.Frame{})
	if err != nil {
		return nil, err
	}
	edges := histogram.Geometric(bound, math.Pow(2, tuning.FineEdges), tuning.LengthEdges)
	h, err := x.run.Lengths(norms, edges, plain)
	if err != nil {
		return nil, err
	}
	if err := x.shortenRows(h.Smallest(tuning.ColumnCut*x.run.N, 2)); err != nil {
		return nil, err
	}
	typical, err := x.scaleColumns(columns, norms)
	if err != nil {
		return nil, err
	}
	return x.scaledDescent(typical)
}

// shortenRows holds the rows to a norm.
func (x *columns) shortenRows(normBound float64) (err error) {
	f := x.data.Facts()
	x.data = x.data.Rebound(normBound, f.Constant, f.LabelBound)
	x.sums, err = x.data.Under(x.run.Problem.Loss)
	return err
}

// scaleColumns releases the columns' sums of squares and the rows' norms in the new
// coordinates, and returns the typical one.
func (x *columns) scaleColumns(columns, norms float64) (float64, error) {
	bound := x.data.Facts().Bound
	plain, err := x.sums.Frame(x.run.Task.Ctx, curator.Frame{})
	if err != nil {
		return 0, err
	}
	answer, err := plain.Squares(x.run.Task.Ctx)
	squares, err := x.run.Pool.Draw(columns, answer, err)
	if err != nil {
		return 0, err
	}
	damping := tuning.ColumnDamping * math.Sqrt2 * bound * bound / (x.run.Problem.Mu * math.Sqrt(columns)) * math.Sqrt(2*math.Log(math.Max(2, float64(x.run.D))))
	damping = math.Hypot(damping, tuning.ColumnRare*x.run.N*bound*bound) // so rare columns aren't what counts, however large the budget
	largest := 0.0
	for j, v := range squares {
		squares[j] = math.Sqrt(x.run.N / (math.Max(v, 0) + damping))
		largest = math.Max(largest, squares[j])
	}
	x.frame = curator.Frame{Scale: squares}
	scaled, err := x.sums.Frame(x.run.Task.Ctx, x.frame)
	if err != nil {
		return 0, err
	}
	edges := histogram.Geometric(bound*largest, math.Sqrt2, tuning.ColumnEdges)
	h, err := x.run.Lengths(norms, edges, scaled)
	if err != nil {
		return 0, err
	}
	x.frame.NormBound = h.Smallest(tuning.ColumnCut*x.run.N, 2)
	x.framed, err = x.sums.Frame(x.run.Task.Ctx, x.frame)
	return h.Smallest(0.5*x.run.N, 2), err
}

// logisticSmoothness is φ” of the logistic loss at most: σ(1−σ).
const logisticSmoothness = 0.25

// momentumPace is (1+m)/(1−m) at the momentum ½, by which steps with another one reach farther.
const momentumPace = 3

// pace is how many steps there are, how long, and with which momentum and ridge.
type pace struct {
	steps                 int
	size, momentum, ridge float64
}

// paced goes as far as noise of the mean gradient allows; where so many steps don't get there,
// momentum does. The ridge is that of scores whose variance is taken for given: it holds columns that
// few rows have.
func (x *columns) paced(share, clip, norm, typical float64) pace {
	training := x.run.NMu() * math.Sqrt(share) / (2 * clip * norm)
	largest := tuning.ColumnStep / (norm * norm * x.labels.Steepest / logisticSmoothness)
	p := pace{momentum: tuning.Momentum, ridge: typical * typical / (tuning.ColumnSpread * x.run.N)}
	p.steps = int(math.Min(math.Max(training/largest, tuning.ColumnLeastSteps), tuning.ColumnMostSteps))
	if want := momentumPace * training / (float64(p.steps) * largest); want > momentumPace {
		p.momentum = math.Min((want-1)/(want+1), tuning.ColumnMostMomentum)
	}
	p.size = math.Min(training/float64(p.steps), largest*(1+p.momentum)/(1-p.momentum)/momentumPace)
	return p
}

// scaledDescent runs the steps.
func (x *columns) scaledDescent(typical float64) ([]float64, error) {
	d, constant := x.run.D, typical/2
	norm := math.Hypot(typical, constant)
	clip := norm / tuning.ColumnClip * x.labels.Typical * 2
	slope, beside := curator.Slope{Clip: clip, Constant: constant}, 1.0
	switch {
	case !x.run.Problem.Facts.Intercept:
		slope.Constant = 0
	case x.labels.Apart > 0:
		slope.Constant, slope.Apart = tuning.ApartPart*clip, x.labels.Apart
		beside = slope.Apart / slope.Constant * constant
	}
	share := x.run.Pool.Left
	p := x.paced(share, clip, norm, typical)
	u, v, tail := make([]float64, d+1), make([]float64, d+1), make([]float64, d+1)
	if x.run.Problem.Facts.Intercept {
		u[d] = x.labels.Bias / constant
	}
	for t := range p.steps {
		answer, err := x.framed.Gradient(x.run.Task.Ctx, u[:d], u[d]*constant, slope)
		g, err := x.run.Pool.Draw(share/float64(p.steps), answer, err)
		if err != nil {
			return nil, err
		}
		for j, a := range g {
			if j == d {
				a *= beside
			}
			v[j] = p.momentum*v[j] - (1-p.momentum)*p.size*a/x.run.N
			if u[j] += v[j]; j < d {
				u[j] /= 1 + (1-p.momentum)*p.size*p.ridge
			}
		}
		if t >= p.steps/2 {
			for j, a := range u {
				tail[j] += a / float64(p.steps-p.steps/2)
			}
		}
		x.run.Task.Progress(t+1, p.steps)
	}
	w := tail[:d]
	for j, a := range x.frame.Scale {
		w[j] *= a
	}
	return x.run.Problem.Facts.weights(w, tail[d]*constant), nil
}
