package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
)

const (
	minColumnSteps = 60
	maxColumnSteps = 300
)

// byColumns is the way for sparse rows and for hundreds of rare columns: each column is
// scaled by its own noisy sum of squares, rows are shortened, nothing is centred, and
// the steps go on until the noise in a typical score is about 1.
func (x *standardising) byColumns() ([]float64, error) {
	whole := x.pool.left
	norms, columns := 0.02*whole, 0.07*whole
	bound := x.data.Facts().Bound
	plain, err := x.sums.Frame(x.ctx, curator.Frame{})
	if err != nil {
		return nil, err
	}
	edges := histogram.Geometric(bound, math.Pow(2, 0.25), 12)
	h, err := x.lengths(norms, edges, plain)
	if err != nil {
		return nil, err
	}
	if err := x.shortenRows(h.Smallest(0.1*x.n, 2)); err != nil {
		return nil, err
	}
	typical, err := x.scaleColumns(columns, norms)
	if err != nil {
		return nil, err
	}
	return x.scaledDescent(typical)
}

// shortenRows holds the rows to a norm.
func (x *standardising) shortenRows(longest float64) (err error) {
	f := x.data.Facts()
	x.data = x.data.Rebound(longest, f.Constant, f.LabelBound)
	x.sums, err = x.data.Under(x.loss)
	return err
}

// scaleColumns releases the columns' sums of squares and the rows' norms in the new
// coordinates, and returns the typical one.
func (x *standardising) scaleColumns(columns, norms float64) (float64, error) {
	bound := x.data.Facts().Bound
	plain, err := x.sums.Frame(x.ctx, curator.Frame{})
	if err != nil {
		return 0, err
	}
	answer, err := plain.Squares(x.ctx)
	squares, err := x.pool.draw(columns, answer, err)
	if err != nil {
		return 0, err
	}
	damping := 0.5 * math.Sqrt2 * bound * bound / (x.mu * math.Sqrt(columns)) * math.Sqrt(2*math.Log(math.Max(2, float64(x.d))))
	largest := 0.0
	for j, v := range squares {
		squares[j] = math.Sqrt(x.n / (math.Max(v, 0) + damping))
		largest = math.Max(largest, squares[j])
	}
	x.frame = curator.Frame{Scale: squares}
	scaled, err := x.sums.Frame(x.ctx, x.frame)
	if err != nil {
		return 0, err
	}
	edges := histogram.Geometric(bound*largest, math.Sqrt2, 24)
	h, err := x.lengths(norms, edges, scaled)
	if err != nil {
		return 0, err
	}
	x.frame.Longest = h.Smallest(0.1*x.n, 2)
	x.framed, err = x.sums.Frame(x.ctx, x.frame)
	return h.Smallest(0.5*x.n, 2), err
}

// scaledDescent runs the steps.
func (x *standardising) scaledDescent(typical float64) ([]float64, error) {
	constant := typical / 2
	reach := math.Hypot(typical, constant)
	clip := reach / 3 * x.facts.typical * 2
	slope := curator.Slope{Clip: clip, Constant: constant}
	if !x.shape.Intercept {
		slope.Constant = 0
	}
	share := x.pool.left
	h := 4 * x.facts.steepest // 1 for the logistic loss
	training := x.nmu() * math.Sqrt(share) / (2 * clip * reach)
	longest := 128 / (reach * reach * h)
	steps := int(math.Min(math.Max(training/longest, minColumnSteps), maxColumnSteps))
	size := math.Min(training/float64(steps), longest)
	u, v, tail := make([]float64, x.d+1), make([]float64, x.d+1), make([]float64, x.d+1)
	if x.shape.Intercept {
		u[x.d] = x.bias / constant
	}
	for t := range steps {
		answer, err := x.framed.Gradient(x.ctx, u[:x.d], u[x.d]*constant, slope)
		g, err := x.pool.draw(share/float64(steps), answer, err)
		if err != nil {
			return nil, err
		}
		for j, a := range g {
			v[j] = 0.5*v[j] - 0.5*size*a/x.n
			u[j] += v[j]
		}
		if t >= steps/2 {
			for j, a := range u {
				tail[j] += a / float64(steps-steps/2)
			}
		}
		x.progress(t+1, steps)
	}
	w := tail[:x.d]
	for j, a := range x.frame.Scale {
		w[j] *= a
	}
	return x.model(w, tail[x.d]*constant), nil
}
