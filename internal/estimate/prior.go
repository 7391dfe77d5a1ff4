package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// begin finds the point where a descent begins, and which holds it as far as something does: the constant
// model, or where a problem has a public prior a point on the line from there through the prior. Unless the rows
// say otherwise the prior's number on that line is 1, give or take PriorDoubt: what a few steps along the line say of it
// is weighed by their noise. So a prior of which nothing holds here costs these steps, and is left at 0. At most so many steps follow.
func (x *Descent) begin(following int) (steps int, err error) {
	x.origin = x.constant()
	prior := x.Run.Problem.Prior
	if prior == nil {
		return 0, nil
	}
	to, ok := x.Frame.coordinates(prior)
	scores := scoresOf(prior, x)
	if !ok || scores == nil {
		return 0, nil
	}
	x.keepMean(to)
	share := math.Min(tuning.LineShare, math.Max(tuning.LeastShare, math.Pow(tuning.PriorKnown/x.Run.NMu(), 2)))
	spread := tuning.LineCounts * share
	r, err := spreadIn(x.Run, *scores, spread)
	if err != nil {
		return 0, err
	}
	line, s, err := x.lineStage(x.origin, to, r, share-spread)
	if err != nil {
		return 0, err
	}
	near := math.Sqrt(x.Labels.Residual) / x.Labels.flattest() // from further away steps would not get there where the loss is flat
	told := x.Run.Task.Progress
	x.Run.Task.Progress = func(done, total int) { told(done, total+following) }
	end, err := line.Walk(s, Iterate{At: point([]float64{math.Min(r, near)}, line.start()[0][1]), Clip: x.Labels.Typical * math.Sqrt(1+s.Effective)})
	if err != nil {
		return 0, err
	}
	noise, unsure := s.variance(end.Noise, x.Labels.flattest())/(r*r), tuning.PriorDoubt*tuning.PriorDoubt
	k := (noise + end.At[0][0]/r*unsure) / (noise + unsure)
	x.origin = between(x.origin, to, math.Max(0, k))
	x.keepMean(x.origin)
	return s.Steps, nil
}

// keepMean gives a point the intercept at which predictions keep the labels' mean, where that is all that is known of it.
func (x *Descent) keepMean(at [][]float64) {
	if x.Run.Problem.Facts.Intercept && x.Run.interceptHidden(x.Labels) {
		at[0][x.Run.D] = x.Labels.Bias - x.Frame.scores(at)/2
	}
}

// scoresOf are coordinates of rows, such that a row is as long as what a prior's scores of it, in all columns, have beside the constant
// model's; nil where these have nothing.
func scoresOf(prior [][]float64, x *Descent) *curator.Frame {
	d := x.Run.D
	w, beside := mat.NewDense(d, len(prior), nil), make([]float64, len(prior))
	for c, of := range prior {
		w.SetCol(c, of[:d])
		if beside[c] = x.Labels.Biases[c]; x.Run.Problem.Facts.Intercept {
			beside[c] -= of[d]
		}
	}
	var svd mat.SVD
	if !svd.Factorize(w, mat.SVDThin) {
		return nil
	}
	rank := svd.Rank(negligible)
	if rank == 0 {
		return nil
	}
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	axes, centre := mat.NewDense(d, rank, nil), make([]float64, d)
	for k, s := range svd.Values(nil)[:rank] {
		axis := mat.Col(nil, k, &left)
		floats.AddScaled(centre, floats.Dot(mat.Col(nil, k, &right), beside)/s, axis)
		floats.Scale(s, axis)
		axes.SetCol(k, axis)
	}
	return &curator.Frame{Centre: centre, Each: x.Frame.At.Each, Matrix: axes}
}

// negligible is a part of a prior's weights that isn't worth a coordinate.
const negligible = 1e-9

// spreadIn is about the root mean square of rows' lengths in coordinates, from a histogram: that of normal coordinates which is
// nearest to it.
func spreadIn(x *Run, scores curator.Frame, share float64) (float64, error) {
	in, err := x.Frame(scores)
	if err != nil {
		return 0, err
	}
	top, count := tuning.PriorTop, tuning.PriorEdges
	if x.Problem.Loss.Labels() == losses.Real {
		top = 2 * x.Problem.Facts.LabelBound
	}
	// Cells cost nothing, and scores that are far too long must be seen.
	largest := mat.Norm(scores.Matrix, 2) * (x.Task.Data.Facts().Bound + vector.Norm(scores.Centre))
	for ; top < largest && count < mostEdges; count++ {
		top *= 2
	}
	edges := histogram.Geometric(top, 2, count)
	h, err := x.Lengths(share, edges, in)
	if err != nil {
		return 0, err
	}
	rank := in.Dim()
	normal := distuv.ChiSquared{K: float64(rank)}
	best, found := math.Inf(1), top
	for r := top; r > edges[len(edges)-1]/2; r /= spreadStep {
		var off, above, last float64
		for j, edge := range edges {
			expected := x.N * normal.Survival(float64(rank)*(edge/r)*(edge/r))
			off += math.Pow(h.Above[j]-above-(expected-last), 2)
			above, last = h.Above[j], expected
		}
		if off < best {
			best, found = off, r
		}
	}
	return found, nil
}

// mostEdges of a histogram, beyond which rows' bound is no bound on scores.
const mostEdges = 60

// spreadStep is by how much spreads that are tried differ: a step's length, of a line, is no better known.
const spreadStep = 1.2

// coordinates maps weights of encoded rows to a point; false where no number holds it.
func (x *Frame) coordinates(weights [][]float64) (at [][]float64, ok bool) {
	d := x.run.D
	for _, of := range weights {
		w := mat.NewVecDense(d, nil)
		w.CopyVec(mat.NewVecDense(d, of[:d]))
		b := 0.0
		if x.run.Problem.Facts.Intercept {
			b = of[d]
		}
		if x.At.Centre != nil {
			b += floats.Dot(of[:d], x.At.Centre)
		}
		u := w.RawVector().Data
		if x.At.Matrix != nil {
			if err := w.SolveVec(x.At.Matrix, w); err != nil {
				if _, inaccurate := err.(mat.Condition); !inaccurate {
					return nil, false
				}
			}
			u = w.RawVector().Data
		} else {
			floats.Div(u, x.At.Scale)
		}
		u = append(u, b)
		if norm := floats.Norm(u, 2); math.IsNaN(norm) || math.IsInf(norm, 0) {
			return nil, false
		}
		at = append(at, u)
	}
	return at, true
}
