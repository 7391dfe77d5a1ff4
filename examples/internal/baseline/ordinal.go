package baseline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// Ordinal is a proportional-odds model: a linear score, and the thresholds between levels.
type Ordinal struct {
	Model
	Loss losses.Ordinal
}

// Probabilities are those of each level, rows × levels.
func (m *Ordinal) Probabilities(x Rows) *mat.Dense {
	n, _ := x.Dims()
	p := mat.NewDense(n, len(m.Loss.Thresholds)+1, nil)
	for i, z := range m.Scores(x) {
		p.SetRow(i, m.Loss.Probabilities(z))
	}
	return p
}

// FitOrdinal minimises the sum of the losses of levels, 0 to k−1, over a score's weights and the thresholds together, each times the row's
// weight; nil weights are 1. It is convex in all of them. With fewer columns than rows it is the maximum likelihood estimate, up to
// [ridgeShare], by Newton's method; for very many columns it is by L-BFGS, in steps between thresholds by their logarithms. A level without a row,
// which has no thresholds of its own, counts as if one row had it, at a score of 0.
func FitOrdinal(x Rows, y, weights []float64, k int) (*Ordinal, error) {
	n, d := x.Dims()
	if n == 0 || n != len(y) || weights != nil && n != len(weights) {
		return nil, fmt.Errorf("baseline: %d labels and %d weights for %d rows", len(y), len(weights), n)
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	of := levels{y: y, weights: weights, counts: make([]float64, k)}
	for i, level := range y {
		of.counts[int(level)] += weights[i]
	}
	for level, count := range of.counts {
		if count == 0 {
			of.absent, of.counts[level] = append(of.absent, level), 1
		}
	}
	if d <= mostColumns && n*d <= mostValues {
		return of.newton(x)
	}
	return of.lbfgs(x)
}

// levels are what rows have.
type levels struct {
	y, weights, counts []float64
	absent             []int
}

// constant are the thresholds that give all rows the levels' shares.
func (l *levels) constant() []float64 {
	t := make([]float64, len(l.counts)-1)
	for k := range t {
		t[k] = math.Log(floats.Sum(l.counts[:k+1])) - math.Log(floats.Sum(l.counts[k+1:]))
	}
	return t
}

// value is the sum of the losses at scores, NaN where thresholds don't ascend.
func (l *levels) value(scores, thresholds []float64) (sum float64) {
	loss := losses.Ordinal{Thresholds: thresholds}
	for i, z := range scores {
		sum += l.weights[i] * loss.Value(z, l.y[i])
	}
	for _, level := range l.absent {
		sum += loss.Value(0, float64(level))
	}
	return sum
}

// slopes are the loss's at a score: of the score itself, and of the thresholds below and above the level.
type slopes struct {
	score, below, above    float64
	curveBelow, curveAbove float64 // of the logistic loss at either
	between                float64 // curvature in their distance
	hasBelow, hasAbove     bool
	lower, upper           int // the places of both
}

func slopesAt(z float64, level int, thresholds []float64) (s slopes) {
	s.lower, s.upper = level-1, level
	s.hasBelow, s.hasAbove = level > 0, level < len(thresholds)
	if s.hasBelow {
		p := sigmoid(thresholds[level-1] - z)
		s.below, s.curveBelow = p, p*(1-p)
	}
	if s.hasAbove {
		p := sigmoid(z - thresholds[level])
		s.above, s.curveAbove = -p, p*(1-p)
	}
	s.score = -s.below - s.above
	if s.hasBelow && s.hasAbove { // −log(1 − e^−gap)
		r := 1 / math.Expm1(thresholds[level]-thresholds[level-1])
		s.below, s.above, s.between = s.below+r, s.above-r, r*(1+r)
	}
	return s
}

func sigmoid(t float64) float64 { return 1 / (1 + math.Exp(-t)) }

// newton fits both by Newton's method, with columns and a ridge as [newton] has them.
func (l *levels) newton(x Rows) (*Ordinal, error) {
	n, d := x.Dims()
	s, ridge := standardise(x), 1.0
	if d < n {
		ridge = ridgeShare * math.Sqrt(float64(n))
		if err := s.whiten(); err != nil {
			return nil, err
		}
	}
	o := &ascending{levels: l, design: s.design.Slice(0, n, 0, d).(*mat.Dense), ridge: ridge}
	v := mat.NewVecDense(d+len(l.counts)-1, append(make([]float64, d), l.constant()...))
	if err := minimiseCurved(o, v, 1e-12*o.value(v)); err != nil {
		return nil, err
	}
	w, thresholds := o.parts(v)
	m := s.model(mat.NewVecDense(d+1, append(slices.Clone(w), 0)))
	return &Ordinal{*m, losses.Ordinal{Thresholds: slices.Clone(thresholds)}}, nil
}

// ascending is the function that newton minimises, of the columns' weights and then the thresholds.
type ascending struct {
	*levels
	design *mat.Dense
	ridge  float64
}

func (o *ascending) parts(v *mat.VecDense) (w, thresholds []float64) {
	_, d := o.design.Dims()
	all := v.RawVector().Data
	return all[:d], all[d:]
}

func (o *ascending) scores(w []float64) []float64 {
	n, _ := o.design.Dims()
	z := mat.NewVecDense(n, nil)
	if len(w) > 0 {
		z.MulVec(o.design, mat.NewVecDense(len(w), w))
	}
	return z.RawVector().Data
}

func (o *ascending) value(v *mat.VecDense) float64 {
	w, thresholds := o.parts(v)
	return o.levels.value(o.scores(w), thresholds) + o.ridge*floats.Dot(w, w)/2
}

// derivatives has a Hessian of rank-one parts, which blocks of rows add: of each threshold beside the score. The ridge stands also where
// thresholds are, and not in their gradient, so that it is positive definite.
func (o *ascending) derivatives(v *mat.VecDense) (*mat.VecDense, *mat.SymDense, float64) {
	w, thresholds := o.parts(v)
	d, width := len(w), v.Len()
	gradient, hessian := mat.NewVecDense(width, nil), mat.NewSymDense(width, nil)
	const size = 256
	block, used, squares := mat.NewDense(size, width, nil), 0, 0.0
	part := func(curvature float64, x []float64, threshold int) {
		row := block.RawRowView(used)
		clear(row[d:])
		floats.ScaleTo(row[:d], math.Sqrt(curvature), x)
		row[d+threshold] = -math.Sqrt(curvature)
		if used++; used == size {
			hessian.SymRankK(hessian, 1, block.T())
			used = 0
		}
	}
	g := gradient.RawVector().Data
	add := func(z float64, level int, weight float64, x []float64) {
		s := slopesAt(z, level, thresholds)
		floats.AddScaled(g[:d], weight*s.score, x)
		squares += weight * weight * s.score * s.score
		if s.hasBelow {
			g[d+s.lower] += weight * s.below
			part(weight*s.curveBelow, x, s.lower)
		}
		if s.hasAbove {
			g[d+s.upper] += weight * s.above
			part(weight*s.curveAbove, x, s.upper)
		}
		if s.hasBelow && s.hasAbove {
			addGap(hessian, weight*s.between, d+s.lower)
		}
	}
	for i, z := range o.scores(w) {
		add(z, int(o.y[i]), o.weights[i], o.design.RawRowView(i))
	}
	for _, level := range o.absent {
		add(0, level, 1, make([]float64, d))
	}
	if used > 0 {
		hessian.SymRankK(hessian, 1, block.Slice(0, used, 0, width).T())
	}
	floats.AddScaled(g[:d], o.ridge, w)
	for j := range width {
		hessian.SetSym(j, j, hessian.At(j, j)+o.ridge)
	}
	return gradient, hessian, math.Sqrt(squares)
}

// addGap adds the curvature in the distance of a coordinate from the next.
func addGap(h *mat.SymDense, curvature float64, at int) {
	h.SetSym(at, at, h.At(at, at)+curvature)
	h.SetSym(at+1, at+1, h.At(at+1, at+1)+curvature)
	h.SetSym(at, at+1, h.At(at, at+1)-curvature)
}

// lbfgs fits both with columns and a ridge as [lbfgs] has them. Coordinates are the columns' weights, the first threshold, and the logarithms of
// the others' distances from the one before.
func (l *levels) lbfgs(x Rows) (*Ordinal, error) {
	_, d := x.Dims()
	scale, t := scales(x), l.constant()
	start := append(make([]float64, d), t...)
	for k := 1; k < len(t); k++ {
		start[d+k] = math.Log(t[k] - t[k-1])
	}
	w, n := make([]float64, d), float64(len(l.y))
	read := func(v []float64) (scores, thresholds []float64) {
		m := &Model{Weights: floats.MulTo(w, v[:d], scale)}
		return m.Scores(x), thresholdsOf(v[d:])
	}
	value := func(v []float64) float64 {
		scores, thresholds := read(v)
		return (l.value(scores, thresholds) + floats.Dot(v[:d], v[:d])/2) / n
	}
	gradient := func(g, v []float64) {
		scores, thresholds := read(v)
		clear(g)
		l.slopes(g, x, scores, thresholds)
		for j, s := range scale {
			g[j] = g[j]*s + v[j]
		}
		for k := len(thresholds) - 1; k > 0; k-- { // a distance moves all thresholds behind it
			g[d+k-1] += g[d+k]
			g[d+k] *= math.Exp(v[d+k])
		}
		floats.Scale(1/n, g)
	}
	v, err := minimise(value, gradient, start)
	if err != nil {
		return nil, err
	}
	return &Ordinal{Model{Weights: floats.MulTo(make([]float64, d), v[:d], scale)}, losses.Ordinal{Thresholds: thresholdsOf(v[d:])}}, nil
}

// thresholdsOf are those whose first, and the logarithms of whose distances, are given.
func thresholdsOf(v []float64) []float64 {
	t := slices.Clone(v)
	for k := 1; k < len(t); k++ {
		t[k] = t[k-1] + math.Exp(v[k])
	}
	return t
}

// slopes adds those of weights and thresholds to g.
func (l *levels) slopes(g []float64, x Rows, scores, thresholds []float64) {
	_, d := x.Dims()
	at := func(z float64, level int, weight float64) float64 {
		s := slopesAt(z, level, thresholds)
		if s.hasBelow {
			g[d+s.lower] += weight * s.below
		}
		if s.hasAbove {
			g[d+s.upper] += weight * s.above
		}
		return weight * s.score
	}
	for i, z := range scores {
		slope := at(z, int(l.y[i]), l.weights[i])
		columns, values := x.Row(i)
		if columns == nil {
			floats.AddScaled(g[:d], slope, values)
		}
		for k, j := range columns {
			g[j] += slope * values[k]
		}
	}
	for _, level := range l.absent {
		at(0, level, 1)
	}
}
