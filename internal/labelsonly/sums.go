package labelsonly

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
)

// slope is how rows' terms are held.
func (x *fit) slope(limit float64) curator.Slope {
	p := curator.Slope{Clip: limit * x.space.cut, Cut: x.space.cut}
	if x.space.constant {
		p.Constant = 1
	}
	return p
}

// gradient releases Σ aᵢψᵢzᵢ, of slopes at a point, or of the middle less labels, held to ±limit.
func (x *fit) gradient(at []float64, limit, share float64, plain bool) (sum []float64, noise float64, err error) {
	x.limit = limit
	p := x.slope(limit)
	p.Plain, p.Middle = plain, half
	u, b := x.split(at)
	answer, err := x.in.Gradient(x.run.Task.Ctx, u, b, p)
	sum, err = x.run.Pool.Draw(share, answer, err)
	return sum, 2 * p.Clip / x.mu(share), err
}

// ofClasses releases the sum of classes, less all alike, and returns the mode.
func (x *fit) ofClasses() (*state, observation, error) {
	f := x.family.(several)
	k, dim := f.columns()+1, x.space.dim()
	zero := curator.ClassPoint{U: make([][]float64, k), B: make([]float64, k)}
	for c := range zero.U {
		zero.U[c] = make([]float64, len(x.space.moments))
	}
	p := x.slope(x.likely())
	answer, err := x.of.Gradient(x.run.Task.Ctx, zero, curator.ClassSlope{Clip: p.Cut, Constant: p.Constant, LabelAlone: true})
	share := x.run.Pool.Left
	flat, err := x.run.Pool.Draw(share, answer, err)
	if err != nil {
		return nil, observation{}, err
	}
	o := observation{sum: make([]float64, (k-1)*dim), noise: 2 * p.Clip / x.mu(share), scale: 1, unit: 1}
	for c := range k {
		for j, v := range f.contrasts.RawRowView(c) {
			floats.AddScaled(o.sum[j*dim:(j+1)*dim], -v, flat[c*dim:(c+1)*dim])
		}
	}
	at, err := x.space.solve(f, o, x.belief(x.start()), x.start())
	return at, o, err
}

// inTwo releases two sums: of labels less their mean, and of what the first one's estimate leaves.
func (x *fit) inTwo() (*state, observation, error) {
	total := x.run.Pool.Left - x.kept
	at := x.start()
	var all observation
	var s *state
	weights := 0.0
	for _, part := range []float64{tuning.FirstLabels, 1 - tuning.FirstLabels} {
		o, err := x.residuals(at, part*total)
		if err != nil {
			return nil, o, err
		}
		w := 1 / (o.noise * o.noise)
		if all.sum == nil {
			all.sum, all.unit = make([]float64, len(o.sum)), math.Sqrt(o.scale)
		}
		floats.Scale(weights/(weights+w), all.sum)
		floats.AddScaled(all.sum, w/(weights+w), o.sum)
		weights += w
		all.noise, all.scale = 1/math.Sqrt(weights), o.scale
		if s, err = x.space.solve(x.family, all, x.belief(x.start()), at); err != nil {
			return nil, all, err
		}
		at = s.theta
	}
	return s, all, nil
}

// residuals releases the sum of labels' statistics by way of what a point leaves of them, with a share, a part of which is for how
// far these go.
func (x *fit) residuals(at []float64, share float64) (o observation, err error) {
	of := tuning.ResidualsShare * share
	edges := histogram.Geometric(2*x.run.Problem.Facts.LabelBound, math.Sqrt2, tuning.NormEdges)
	u, b := x.split(at)
	answer, err := x.in.GradientNorms(x.run.Task.Ctx, edges, u, b, x.slope(1))
	h, err := x.run.Read(of, edges, answer, err)
	if err != nil {
		return o, err
	}
	m, err := x.space.round(x.space.cut)
	if err != nil {
		return o, err
	}
	share -= of
	limit, cutOff := x.heldTo(h, m, share)
	lost := math.Min(math.Max(h.Over(limit), 0)/x.run.N, half)
	if o.scale = h.MeanSquare(); !(o.scale > 0) {
		o.scale = limit * limit
	}
	x.cutOff, x.lost = cutOff/(1-lost), lost
	o.sum, o.noise, err = x.gradient(at, limit, share, false)
	if err != nil {
		return o, err
	}
	there, err := x.space.mean(x.family, at)
	if err != nil {
		return o, err
	}
	floats.Scale(-1/(1-lost), o.sum)
	floats.Add(o.sum, there)
	o.noise /= 1 - lost
	return o, nil
}

// heldTo is what residuals are held to, and what that cuts off in sum: noise and some of what is cut off are least together.
func (x *fit) heldTo(h histogram.Tails, m rounded, share float64) (limit, cutOff float64) {
	mass, least := 0.0, math.Inf(1)
	for j, edge := range h.Edges {
		if j > 0 && h.Above[j] > math.Min(tuning.Surely*h.SD(j), x.run.N/2) {
			mass += h.Above[j] * (h.Edges[j-1] - edge)
		}
		noise := 2 * edge * x.space.cut / x.mu(share)
		risk := noise*noise*float64(x.space.dim()) + math.Pow(tuning.CutPart*mass, 2)*mat.Trace(m.twice)/x.space.n
		if risk < least {
			least, limit, cutOff = risk, edge, mass
		}
	}
	return limit, cutOff
}
