package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// panel are rows, and whose they are.
type panel struct {
	x       *mat.Dense
	y       []float64
	persons []int
	count   int // of persons
}

// What features do to a person's label, and how much more to that of one with a trait z. The last is how many rows came
// before, and does nothing.
var (
	effects = []float64{0.8, -0.6, 0.4, 0.3, -0.3, 0}
	more    = []float64{0.2, 0.13, -0.13, 0.07, 0.07, 0}
)

// drawn makes up persons of one row to fifty, some four on average: the more, the larger z, which also shifts
// their labels.
func drawn(persons int, loss losses.Loss, seed uint64) panel {
	r := rand.New(rand.NewPCG(seed, 9))
	p := panel{count: persons}
	var x []float64
	for i := range persons {
		z := r.NormFloat64()
		rows := int(math.Min(mostRows, math.Max(1, math.Floor(math.Exp(1.1+0.65*z+0.7*r.NormFloat64())))))
		own := make([]float64, len(effects))
		for j := range own {
			own[j] = 0.6 * r.NormFloat64()
		}
		for t := range rows {
			score := 0.33*z - 0.5
			for j, effect := range effects {
				feature := own[j] + 0.6*r.NormFloat64()
				if j == len(effects)-1 {
					feature = math.Min(2, float64(t)/12)
				}
				x = append(x, feature)
				score += (effect + z*more[j]) * feature
			}
			p.y, p.persons = append(p.y, labelAt(score, loss, r)), append(p.persons, i)
		}
	}
	p.x = mat.NewDense(len(p.y), len(effects), x)
	return p
}

// labelAt draws a label of a score.
func labelAt(score float64, loss losses.Loss, r *rand.Rand) float64 {
	if loss.Labels() == losses.Real {
		return math.Max(-furthest, math.Min(score+0.8*r.NormFloat64(), furthest))
	}
	if r.Float64() < losses.Logit.Mean(score) {
		return 1
	}
	return 0
}

// fit is one of all rows, without privacy, and its standard errors, by persons.
type fit struct{ weights, errors []float64 }

// pooled fits by Newton's steps, and takes the sandwich of persons' gradients.
func pooled(p panel, loss losses.Loss) fit {
	w := make([]float64, len(effects)+1)
	for {
		g, h, scatter := p.sums(w, loss)
		var inverse mat.SymDense
		var factor mat.Cholesky
		factor.Factorize(h)
		factor.InverseTo(&inverse)
		var step mat.VecDense
		step.MulVec(&inverse, g)
		for j := range w {
			w[j] -= step.AtVec(j)
		}
		if mat.Norm(&step, 2) > 1e-9 {
			continue
		}
		var half, law mat.Dense
		half.Mul(&inverse, scatter)
		law.Mul(&half, &inverse)
		f := fit{weights: w}
		for j := range w {
			f.errors = append(f.errors, math.Sqrt(law.At(j, j)))
		}
		return f
	}
}

// sums are the gradient's, the Hessian's, and that of the products of persons' gradients, at weights.
func (p panel) sums(w []float64, loss losses.Loss) (g *mat.VecDense, h, scatter *mat.SymDense) {
	k := len(w)
	g, h, scatter = mat.NewVecDense(k, nil), mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	own, row := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	for i, y := range p.y {
		for j := range k - 1 {
			row.SetVec(j, p.x.At(i, j))
		}
		row.SetVec(k-1, 1)
		score, curvature := mat.Dot(mat.NewVecDense(k, w), row), 1.0
		slope := score - y
		if loss.Labels() != losses.Real {
			q := losses.Logit.Mean(score)
			slope, curvature = q-y, q*(1-q)
		}
		own.AddScaledVec(own, slope, row)
		h.SymRankOne(h, curvature, row)
		if i == len(p.y)-1 || p.persons[i+1] != p.persons[i] {
			g.AddVec(g, own)
			scatter.SymRankOne(scatter, 1, own)
			own.Zero()
		}
	}
	return g, h, scatter
}
