package labelsonly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/tuning"
)

// belief is what is held of a point beforehand: coordinates are normal and independent about 0, or about a public point times a number
// that is 1 give or take tuning.PriorDoubt, or 0, as labels tell, with variances of which they tell the scale; but constants.
type belief struct {
	variance  []float64 // +Inf of constants
	constants []float64 // where these are likely
	public    []float64 // or nil; 0 of constants
	spread    float64   // how much more likely it is, twice the logarithm, that standardised weights have a variance one less, of columns' units; 0 where all are as likely
}

// posterior is what an observation tells of a point near a state: with the belief's variances times τ², whose likeliest value it finds.
type posterior struct {
	root      *mat.TriDense // of V, the sum's variance
	residual  []float64     // V^(−½)(s − mean)
	whitened  *mat.Dense    // V^(−½) times the slope
	belief    belief
	precision []float64 // one over its variances, 0 for constants
	evidence  evidence
	square    float64       // τ²
	times     float64       // the public point's number
	constant  float64       // precision of constants
	inverse   *mat.Cholesky // of the information, once it is asked for
}

// Standardised weights have deviations from e^least to e^most units, in steps of e^step: all that scores can have, finely
// enough for the largest to be off by a few hundredths of its logarithm.
const (
	leastLog = -5.0
	mostLog  = 2.0
	stepLog  = 0.25
)

// newPosterior linearises at a state; false where the observation's variance isn't one.
func newPosterior(s *state, o observation, of belief) (*posterior, bool) {
	all := len(s.theta)
	v := mat.NewSymDense(all, nil)
	for i := range all {
		for j := i; j < all; j++ {
			v.SetSym(i, j, o.scale*s.scatter.At(i, j))
		}
		v.SetSym(i, i, v.At(i, i)*(1+ridge)+o.square(i))
	}
	var root mat.Cholesky
	if !root.Factorize(v) {
		return nil, false
	}
	var lower mat.TriDense
	root.LTo(&lower)
	p := &posterior{root: &lower, residual: slices.Clone(o.sum), whitened: mat.DenseCopyOf(s.slope), belief: of, precision: make([]float64, all)}
	p.constant = 1 / math.Pow(tuning.ConstantOff*o.unit, 2)
	floats.Sub(p.residual, s.mean)
	p.residual = p.whiten(p.residual)
	for j, v := range of.variance {
		p.precision[j] = 1 / v
	}
	if lower.SolveTo(p.whitened, false, s.slope) != nil {
		return nil, false
	}
	return p, p.likeliest(s.theta, o.unit)
}

// whiten is V^(−½)r.
func (p *posterior) whiten(r []float64) []float64 {
	out := mat.NewDense(len(r), 1, nil)
	if p.root.SolveTo(out, false, mat.NewDense(len(r), 1, slices.Clone(r))) != nil {
		return slices.Repeat([]float64{math.NaN()}, len(r))
	}
	return out.RawMatrix().Data
}

// measure is what the mode makes least, of a point and what is left there.
func (p *posterior) measure(theta, residual []float64) float64 {
	sum := floats.Dot(residual, residual)
	for j, v := range theta {
		precision, from := p.pull(j)
		sum += float64((v - from) * (v - from) * precision)
	}
	return sum
}

// pull is how strongly a coordinate is drawn, and from where.
func (p *posterior) pull(j int) (precision, from float64) {
	of := p.precision[j]
	switch {
	case of > 0 && p.belief.public != nil:
		return of / p.square, p.times * p.belief.public[j]
	case of > 0:
		return of / p.square, 0
	}
	return p.constant, p.belief.constants[j]
}

// ridge keeps a matrix that has a root in numbers that round.
const ridge = 1e-12

// likeliest finds τ², in units. What constants explain is taken away first, as nothing is known of them (REML).
func (p *posterior) likeliest(theta []float64, unit float64) bool {
	all := len(theta)
	target := mat.NewVecDense(all, nil) // as a line through 0 has it
	target.MulVec(p.whitened, mat.NewVecDense(all, theta))
	target.AddVec(target, mat.NewVecDense(all, p.residual))
	held := []*mat.VecDense{target}
	if p.belief.public != nil {
		to := mat.NewVecDense(all, nil)
		to.MulVec(p.whitened, mat.NewVecDense(all, p.belief.public))
		held = append(held, to)
	}
	scaled := p.withoutConstants(held)
	var gram mat.SymDense
	gram.SymOuterK(1, scaled.T())
	var e mat.EigenSym
	if !e.Factorize(&gram, true) {
		return false
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	p.evidence = evidence{values: e.Values(nil), spread: p.belief.spread / (unit * unit)}
	for _, v := range held {
		var seen, along mat.VecDense
		seen.MulVec(scaled.T(), v)
		along.MulVec(vectors.T(), &seen)
		p.evidence.along = append(p.evidence.along, along.RawVector().Data)
		p.evidence.products = append(p.evidence.products, mat.Dot(v, held[len(held)-1]))
	}
	best := math.Inf(-1)
	for l := leastLog; l <= mostLog; l += stepLog {
		square := unit * unit * math.Exp(2*l)
		if found, times := p.evidence.at(square); found > best {
			best, p.square, p.times = found, square, times
		}
	}
	return true
}

// evidence is what an observation tells of τ², and of a public point's number beside it.
type evidence struct {
	values   []float64   // of slopes by weights of the variance 1
	along    [][]float64 // the observation, and the public point's if there is one, along these's vectors
	products []float64   // the two's, each with the last
	spread   float64     // what τ² costs
}

// at is twice the logarithm of a τ²'s evidence, but for what depends on none, and the public point's number that is likeliest with it: 0 where
// it is likelier still that weights have nothing to do with that point. Where there is none the number is 1.
func (e evidence) at(square float64) (evidence, times float64) {
	evidence = -e.spread * square
	seen, public := e.along[0], e.along[len(e.along)-1]
	of, by := e.products[0], e.products[len(e.products)-1]
	for j, v := range e.values {
		grown := 1 + square*math.Max(v, 0)
		evidence -= math.Log(grown) - float64(square*seen[j]*seen[j])/grown
		of -= float64(square*seen[j]*public[j]) / grown
		by -= float64(square*public[j]*public[j]) / grown
	}
	if len(e.along) < 2 {
		return evidence, 1
	}
	sure := 1 / (tuning.PriorDoubt * tuning.PriorDoubt)
	of, by = of+sure, math.Max(by, 0)+sure
	gain := of*of/by - sure - math.Log(by/sure) // over a law about 0
	if gain > 0 {
		return evidence + gain, of / by
	}
	return evidence, 0
}

// withoutConstants is the whitened slope by weights of the variance 1; what constants explain is taken from it, and from others.
func (p *posterior) withoutConstants(others []*mat.VecDense) *mat.Dense {
	scaled := mat.DenseCopyOf(p.whitened)
	var flat []mat.Vector
	for j, of := range p.precision {
		column := scaled.ColView(j)
		if of > 0 {
			column.(*mat.VecDense).ScaleVec(1/math.Sqrt(of), column)
			continue
		}
		c := mat.VecDenseCopyOf(column)
		for _, f := range flat {
			c.AddScaledVec(c, -mat.Dot(f, c), f)
		}
		if norm := mat.Norm(c, 2); norm > 0 {
			c.ScaleVec(1/norm, c)
			flat = append(flat, c)
		}
		column.(*mat.VecDense).Zero()
	}
	for _, f := range flat {
		for _, v := range others {
			v.AddScaledVec(v, -mat.Dot(f, v), f)
		}
		var along mat.VecDense
		along.MulVec(scaled.T(), f)
		scaled.RankOne(scaled, -1, f, &along)
	}
	return scaled
}

// information is the inverse of the posterior's variance, a little more where that is none.
func (p *posterior) information() *mat.SymDense {
	var a mat.SymDense
	a.SymOuterK(1, p.whitened.T())
	most := 0.0
	for j := range p.precision {
		most = math.Max(most, a.At(j, j))
	}
	for j := range p.precision {
		precision, _ := p.pull(j)
		a.SetSym(j, j, a.At(j, j)+precision+ridge*most)
	}
	return &a
}

// step is the way to the mode from a point, of which so much is left, and its length by the posterior's own measure.
func (p *posterior) step(theta, residual []float64) (way []float64, length float64, ok bool) {
	all := len(theta)
	if p.inverse == nil {
		p.inverse = new(mat.Cholesky)
		if !p.inverse.Factorize(p.information()) {
			return nil, 0, false
		}
	}
	rhs, to := mat.NewVecDense(all, nil), mat.NewVecDense(all, nil)
	rhs.MulVec(p.whitened.T(), mat.NewVecDense(all, residual))
	for j := range p.precision {
		precision, from := p.pull(j)
		rhs.SetVec(j, rhs.AtVec(j)-float64((theta[j]-from)*precision))
	}
	if p.inverse.SolveVecTo(to, rhs) != nil {
		return nil, 0, false
	}
	return to.RawVector().Data, math.Sqrt(mat.Dot(to, rhs)), true
}

// distance is that of two points by the posterior's own measure.
func (p *posterior) distance(a, b []float64) float64 {
	way := mat.NewVecDense(len(a), slices.Clone(b))
	floats.Sub(way.RawVector().Data, a)
	return math.Sqrt(mat.Inner(way, p.information(), way))
}
