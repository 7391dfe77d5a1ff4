package estimate

import (
	"context"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
)

// scored are rows in a frame, asked at points: of each column of scores, one or one for each of
// several classes, a point has the coordinates' weights and then the intercept. What gradient returns
// is to be multiplied by by.
type scored interface {
	gradient(ctx context.Context, at [][]float64, p curator.Slope) (a release.Answer, by float64, err error)
	norms(ctx context.Context, edges []float64, at [][]float64, p curator.Slope) (release.Answer, error)
}

// One are rows with one score.
func One(in *curator.Framed) scored { return oneColumn{in} }

// oneColumn are rows with one score.
type oneColumn struct{ in *curator.Framed }

func (r oneColumn) gradient(ctx context.Context, at [][]float64, p curator.Slope) (release.Answer, float64, error) {
	d := r.in.Dim()
	a, err := r.in.Gradient(ctx, at[0][:d], at[0][d], p)
	return a, 1, err
}

func (r oneColumn) norms(ctx context.Context, edges []float64, at [][]float64, p curator.Slope) (release.Answer, error) {
	d := r.in.Dim()
	return r.in.GradientNorms(ctx, edges, at[0][:d], at[0][d], p)
}

// ofClasses are rows with a score for each class.
type ofClasses struct{ in *curator.ClassFramed }

func (r ofClasses) gradient(ctx context.Context, at [][]float64, p curator.Slope) (release.Answer, float64, error) {
	a, err := r.in.Gradient(ctx, classPoint(at), curator.ClassSlope{Clip: p.Clip, Constant: p.Constant})
	return a, 1, err
}

func (r ofClasses) norms(ctx context.Context, edges []float64, at [][]float64, p curator.Slope) (release.Answer, error) {
	return r.in.GradientNorms(ctx, edges, classPoint(at), curator.ClassSlope{Clip: p.Clip, Constant: p.Constant})
}

func classPoint(at [][]float64) curator.ClassPoint {
	p := curator.ClassPoint{U: make([][]float64, len(at)), B: make([]float64, len(at))}
	for c, of := range at {
		d := len(of) - 1
		p.U[c], p.B[c] = of[:d], of[d]
	}
	return p
}

// factored are rows of classes with one number for all scores: what these have beside those of one point is what those
// of another one have, times the number, over r.
type factored struct {
	in       *curator.ClassFramed
	from, to [][]float64
	r        float64
}

// leastFactor stands for a number of 0 or less, at which no scores would tell.
const leastFactor = 1.0 / 64

// gradient asks by how much the loss changes with the logarithm of the number, which is the number
// times what was asked for; a row's part is held to as much.
func (r factored) gradient(ctx context.Context, at [][]float64, p curator.Slope) (release.Answer, float64, error) {
	k := math.Max(at[0][0]/r.r, leastFactor)
	a, err := r.in.ScaleSlope(ctx, classPoint(between(r.from, r.to, k)), classPoint(r.from), p.Clip*k*r.r)
	return a, 1 / (k * r.r), err
}

func (factored) norms(context.Context, []float64, [][]float64, curator.Slope) (release.Answer, error) {
	return release.Answer{}, errEigen
}

// between is a point whose distance from another one is multiplied by k.
func between(from, to [][]float64, k float64) [][]float64 {
	at := make([][]float64, len(to))
	for c, of := range to {
		at[c] = slices.Clone(from[c])
		for j, v := range of {
			at[c][j] += float64(k * (v - from[c][j]))
		}
	}
	return at
}
