package dpglm

import (
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
)

// softmaxing is a run.
type softmaxing struct {
	*standardising
	classes *curator.Classes
	in      *curator.ClassFramed
	k       int
	rates   []float64
	short   *linalg.Change // to the coordinates, from those in which rows of rare levels are long
	typical float64        // mean square of rows in the frame, as released
	limited bool           // whether noise makes steps short
	scaled  bool           // whether a factor of the scores is fitted
}

// steepest is the largest eigenvalue of diag(q) − qqᵀ, the Hessian in the scores where
// probabilities are the rates: at least that of the two largest alone.
func (x *softmaxing) steepest() float64 {
	m := mat.NewSymDense(x.k, nil)
	for i, p := range x.rates {
		for j := i; j < x.k; j++ {
			m.SetSym(i, j, -p*x.rates[j])
		}
		m.SetSym(i, i, p-p*p)
	}
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		return 0.5
	}
	return e.Values(nil)[x.k-1]
}

// like is a point of zeros.
func like(p curator.ClassPoint) curator.ClassPoint {
	q := curator.ClassPoint{U: make([][]float64, len(p.U)), B: make([]float64, len(p.B))}
	for c := range q.U {
		q.U[c] = make([]float64, len(p.U[c]))
	}
	return q
}
