package infer

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
)

// Moments are released sums over rows (v, 1) of coordinates and a constant, which may count less than 1, and the map from these to
// columns, the last of which is a constant 1.
type Moments struct {
	Second             *mat.SymDense // Σ w(v, 1)(v, 1)ᵀ, with noise of one deviation in each packed number
	Fourth             *mat.SymDense // Σ ‖v‖²vvᵀ
	Noise, FourthNoise float64
	N                  float64 // rows, as far as that is known
	Columns            *mat.Dense
	Far                float64 // part of second moments that rows hold which were scaled down, at most
	Alone              []Alone // of each column but the constant
}

// Alone is what is known of a column by itself, of all rows as they are: its mean and variance, and the deviations of noise in these.
type Alone struct {
	Mean          float64 `json:"mean"`
	Noise         float64 `json:"noise"`
	Variance      float64 `json:"variance"`
	VarianceNoise float64 `json:"variance_noise"`
}

// farSeen is by how many deviations of noise a column's squares must exceed what second moments have, which rows that count less make too
// small, before they are taken for its variance: of columns without such rows one in seven hundred seems to have some.
const farSeen = 3

// Mean is a column's mean, its standard error and the column's variance. That of a level is its share's. Others' are what second moments have,
// or what squares have of all rows, where that is more than noise makes of it. The standard error goes by what squares may have, which is all
// there is to tell of rows that noise hides: by the latter less one deviation of its noise.
func (m *Moments) Mean(column int, level bool) (mean, standardError, variance float64) {
	a := m.Alone[column]
	scatter := 0.0
	if level {
		share := math.Max(0, math.Min(a.Mean, 1))
		variance = share * (1 - share)
		scatter = variance
	} else {
		variance = m.variance(column)
		scatter = math.Max(variance, a.Variance-a.VarianceNoise)
		if a.Variance-float64(farSeen*a.VarianceNoise) > variance {
			variance = a.Variance
		}
	}
	return a.Mean, math.Hypot(a.Noise, math.Sqrt(scatter/m.N)), variance
}

// Part is what is known of a column among the rows that have a value of it, and Share the part of all rows that these are.
type Part struct{ Mean, StandardError, Variance, Share float64 }

// presentSeen is how many deviations of noise the share of rows with a value must be, or nothing is told of these.
const presentSeen = 3

// Present is Mean among the rows in which another column, which indicates missing values, is 0; the column is at where it is 1. With A the
// mean of column − at, and p that of the indicator, the mean is at + A/(1 − p), whose noise is, by the delta method, that of A over 1 − p, and that of p
// times A/(1 − p)². These are independent, but where the number of rows is secret they have its noise in common, and are added. The variance
// is that about two means, by second moments; or by squares of all rows, as in Mean. ok is false where noise hides the share.
func (m *Moments) Present(column, indicator int, at float64, secret bool) (part Part, ok bool) {
	a, p := m.Alone[column], m.Alone[indicator]
	share := math.Min(1, 1-p.Mean)
	if share-presentSeen*p.Noise <= 0 {
		return Part{}, false
	}
	beyond := (a.Mean - at) / share
	own, other := a.Noise/share, math.Abs(beyond)/share*p.Noise
	noise := math.Hypot(own, other)
	if secret {
		noise = own + other
	}
	// By squares: E(column − at)² is that of rows with a value, times their share.
	square := (a.Variance+float64((a.Mean-at)*(a.Mean-at)))/share - float64(beyond*beyond)
	squareNoise := math.Hypot(a.VarianceNoise/share, 2*beyond*noise)
	variance := math.Max(0, square)
	if two, err := m.Regress(column, false, []int{indicator, m.Second.SymmetricDim() - 1}); err == nil {
		variance = two.Residual / share
	}
	scatter := math.Max(variance, square-squareNoise)
	if square-float64(farSeen*squareNoise) > variance {
		variance = square
	}
	return Part{at + beyond, math.Hypot(noise, math.Sqrt(scatter/(m.N*share))), variance, share}, true
}

// variance is a column's, by second moments.
func (m *Moments) variance(column int) float64 {
	dim := m.Second.SymmetricDim()
	y := mat.NewVecDense(dim, mat.Row(nil, column, m.Columns))
	y.SetVec(dim-1, 0) // which is about the mean already
	n := math.Max(m.Second.At(dim-1, dim-1), m.Noise)
	shift := floats.Dot(y.RawVector().Data, mat.Col(nil, dim-1, m.Second)) / n
	return math.Max(0, mat.Inner(y, m.Second, y)/n-float64(shift*shift))
}

// Combine has columns be those that the rows of by make of them and of the constant, the last. Count is the deviation of the number of rows, over
// that number, which means have in common.
//
// Of a column that is made of one, squares of all rows tell the variance. Of one that is made of several they don't, as products aren't
// among them: the variance is what second moments have, and where rows that count less add variances eₖ to those of columns k, they add
// at most (Σ|bₖ|√eₖ)² to that of Σ bₖ·column k, by Minkowski's inequality. [Moments.Mean] allows for that in the standard error and not in the variance,
// as for an estimate that lies twice as much above second moments and has that for its noise.
func (m *Moments) Combine(by [][]float64, count float64) {
	from, columns := *m, len(m.Alone)
	rows := mat.NewDense(len(by), len(by), nil)
	for j, row := range by {
		rows.SetRow(j, row)
	}
	m.Columns, m.Alone = linalg.Product(rows, m.Columns), make([]Alone, columns)
	added := map[int]float64{} // √eₖ
	for j := range m.Alone {
		row, a := by[j], &m.Alone[j]
		var parts []int
		for k, b := range row[:columns] {
			if b == 0 {
				continue
			}
			of := from.Alone[k]
			parts = append(parts, k)
			a.Mean += float64(b * of.Mean)
			a.Noise = math.Hypot(a.Noise, b*of.Noise)
			a.Variance, a.VarianceNoise = b*b*of.Variance, b*b*of.VarianceNoise
		}
		a.Noise = math.Hypot(a.Noise, count*a.Mean)
		a.Mean += row[columns]
		if len(parts) < 2 {
			continue
		}
		far := 0.0
		for _, k := range parts {
			if _, known := added[k]; !known {
				added[k] = math.Sqrt(math.Max(0, from.Alone[k].Variance-from.Alone[k].VarianceNoise-from.variance(k)))
			}
			far += float64(math.Abs(row[k]) * added[k])
		}
		a.Variance, a.VarianceNoise = m.variance(j)+float64(2*far*far), far*far
	}
}

// Linear is a regression of a column on others, by moments.
type Linear struct {
	Weights         []float64 // of the columns, in their order
	Law             *Law
	Residual, Total float64 // mean squares of residuals, and of the response about its mean
}

// Regress regresses a column on others, among which the constant is to be. Its law has the noise of moments and
// what rows scatter by: s² is the residuals' mean square, and the scatter of slopes s²·H is taken to be larger by as much as rows
// are longer where residuals, or coordinates along a direction, are large; the response's variance of all rows, or a level's by its share, is taken for
// residuals as far as second moments lack it. That is all of it where residuals are large in directions of
// their own, and more where not. Rows that were scaled down may have bent it by .15 of the part of second moments that they hold, in
// residuals' standard deviations, and more as they are longer there.
func (m *Moments) Regress(response int, level bool, columns []int) (*Linear, error) {
	k, dim := len(columns), m.Second.SymmetricDim()
	n := m.Second.At(dim-1, dim-1)
	if !(n > m.Noise) {
		return nil, errFew
	}
	s, err := m.subspace(columns)
	if err != nil {
		return nil, err
	}
	noise := m.Noise / n
	// Noise is round in these coordinates.
	curve := curvature{hessian: noisy{linalg.Sandwich(1/n, s.axes, m.Second), noise}, floor: math.Sqrt(2*float64(k)) * noise}
	if err := curve.invert(); err != nil {
		return nil, err
	}
	y := mat.NewVecDense(dim, mat.Row(nil, response, m.Columns))
	centre := y.AtVec(dim - 1) // which the intercept has
	y.SetVec(dim-1, 0)
	theta := linalg.Product(curve.inverse, linalg.Product(linalg.Product(s.axes, m.Second), y))
	theta.Scale(1/n, theta)
	var c mat.VecDense // the residual is ⟨c, (v, 1)⟩
	c.MulVec(s.axes.T(), theta.ColView(0))
	c.SubVec(y, &c)
	square := math.Max(mat.Inner(&c, m.Second, &c)/n, noise*mat.Dot(&c, &c)) + m.lost(response, level)
	l := &Law{
		Weights: s.back, Inverse: curve.inverse, Hessian: noise, Drowned: curve.drowned(), Steepness: Steepness{By: make([]float64, k)},
		Hidden: curve.typical(mat.Col(nil, 0, theta)),
	}
	l.Seen, l.Curved = curve.flat(len(l.Drowned))
	var shaken mat.SymDense
	shaken.SymOuterK(1, linalg.Product(s.axes, &c))
	for j := range k {
		shaken.SetSym(j, j, shaken.At(j, j)+mat.Dot(&c, &c))
	}
	far := m.far(c.RawVector().Data, s)
	l.Misfit = linalg.Sandwich(square*math.Pow(tuning.Misfit*m.Far*far.longer, 2), linalg.Product(curve.inverse, far.moments), linalg.Identity(k))
	l.Covariance = linalg.Sandwich(noise*noise/2, curve.inverse, &shaken)
	l.Covariance.AddSym(l.Covariance, linalg.Sandwich(square/n, curve.inverse, far.beside(curve)))
	l.Covariance.AddSym(l.Covariance, l.Misfit)
	weights := linalg.Product(s.back, theta)
	weights.Set(k-1, 0, weights.At(k-1, 0)+centre)
	if err := m.throughMeans(response, columns, weights.RawMatrix().Data, l); err != nil {
		return nil, err
	}
	return &Linear{mat.Col(nil, 0, weights), l, square, math.Max(square, m.variance(response)+m.lost(response, level))}, nil
}

// lost is what a column's variance has by squares of all rows, less one deviation of noise, or by a level's share, over that by second moments:
// rows that count less there have it, and as residuals, too, as far as anybody knows.
func (m *Moments) lost(column int, level bool) float64 {
	a := m.Alone[column]
	if level {
		_, _, a.Variance = m.Mean(column, true)
		a.VarianceNoise = math.Abs(1-2*a.Mean) * a.Noise
	}
	return math.Max(0, a.Variance-a.VarianceNoise-m.variance(column))
}

// throughMeans moves the intercept, the last weight, to where the regression goes through the means of all rows, as far as it misses these by
// more than noise, by James and Stein's rule; what that leaves widens its interval. Rows that count less may have most of a response that few rows have.
func (m *Moments) throughMeans(response int, columns []int, weights []float64, l *Law) error {
	last, at, beside := len(weights)-1, make([]float64, len(weights)), m.Alone[response].Noise
	gap := m.Alone[response].Mean
	for i, j := range columns {
		if at[i] = 1; i < last {
			at[i] = m.Alone[j].Mean
			beside = math.Hypot(beside, weights[i]*m.Alone[j].Noise)
		}
		gap -= float64(at[i] * weights[i])
	}
	var there, only mat.VecDense
	there.MulVec(l.Weights.T(), mat.NewVecDense(len(at), at))
	variance := math.Max(0, mat.Inner(&there, l.Covariance, &there)) + beside*beside
	kept := estimate.JamesStein(variance, gap*gap)
	if kept == 0 {
		return nil
	}
	weights[last] += float64(kept * gap)
	unit := mat.NewVecDense(len(at), nil)
	unit.SetVec(last, 1)
	if err := only.SolveVec(l.Weights, unit); err != nil {
		if c, inaccurate := err.(mat.Condition); !inaccurate || math.IsInf(float64(c), 1) {
			return errDependent
		}
	}
	l.Covariance.SymRankOne(l.Covariance, kept*(beside*beside+(1-kept)*gap*gap), &only)
	return nil
}

// far says how much longer rows' squares are where residuals are large, 1 at least; and has second moments of
// which each row counts as much as its square is longer than others, in a subspace.
type far struct {
	longer  float64
	moments *mat.SymDense
}

// far is that of residuals ⟨c, (v, 1)⟩.
func (m *Moments) far(c []float64, s *subspace) far {
	d := m.Fourth.SymmetricDim()
	n := m.Second.At(d, d)
	mean := (mat.Trace(m.Second) - n) / n // of ‖v‖²
	features, second := mat.NewVecDense(d, c[:d]), m.Second.SliceSym(0, d)
	longer := mat.Inner(features, m.Fourth, features) / (mean * math.Max(mat.Inner(features, second, features), m.Noise*mat.Dot(features, features)))
	return far{math.Max(1, longer), linalg.Sandwich(1/(mean*n), s.axes.Slice(0, s.axes.RawMatrix().Rows, 0, d), m.Fourth)}
}

// beside is the scatter of slopes over the residuals' mean square: the curvature, and what longer times the moments are beyond it.
func (f far) beside(c curvature) *mat.SymDense {
	held := c.held()
	var beyond, moments mat.SymDense
	beyond.ScaleSym(-1, held)
	moments.ScaleSym(f.longer, f.moments)
	beyond.AddSym(&beyond, &moments)
	if spectrum, ok := linalg.Decompose(&beyond); ok {
		held.AddSym(held, spectrum.Map(func(l float64) float64 { return math.Max(l, 0) }))
	}
	return held
}

// subspace are coordinates θ of columns' weights, in which noise of moments is round: columns less their centres, each in units of its own,
// are rows·(v, 1), and rows = L·axes with orthonormal axes, of which the coordinates of weights of these are Lᵀ·weights.
type subspace struct {
	axes *mat.Dense
	back *mat.Dense // of columns as they are: L⁻ᵀ, with the centres taken off the intercept
}

// subspace is that of columns, of which the last is the constant.
func (m *Moments) subspace(columns []int) (*subspace, error) {
	dim, k := m.Second.SymmetricDim(), len(columns)
	rows, units, centres := mat.NewDense(k, dim, nil), make([]float64, k), make([]float64, k)
	for i, j := range columns {
		row := rows.RawRowView(i)
		mat.Row(row, j, m.Columns)
		if i < k-1 {
			centres[i], row[dim-1] = row[dim-1], 0
		}
		if units[i] = floats.Norm(row, 2); !(units[i] > 0) {
			return nil, errDependent
		}
		floats.Scale(1/units[i], row)
	}
	var qr mat.LQ
	qr.Factorize(rows)
	var l, q, inverse mat.Dense
	qr.LTo(&l)
	qr.QTo(&q)
	if err := inverse.Inverse(l.Slice(0, k, 0, k)); err != nil {
		return nil, errDependent
	}
	back := mat.DenseCopyOf(inverse.T())
	for i := range k {
		floats.Scale(1/units[i], back.RawRowView(i))
		if i < k-1 {
			floats.AddScaled(back.RawRowView(k-1), -centres[i], back.RawRowView(i))
		}
	}
	return &subspace{mat.DenseCopyOf(q.Slice(0, k, 0, dim)), back}, nil
}

var (
	errFew       = check.Fail(check.ErrConfig, "moments", nil, "must be of more rows than their noise hides")
	errDependent = check.Fail(check.ErrConfig, "columns", nil, "must be different ones")
)
