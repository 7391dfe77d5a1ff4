package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
)

// softmaxing is a descent of several classes.
type softmaxing struct {
	run     *Run
	frame   *Frame
	classes *curator.Classes
	in      *curator.ClassFramed
	k       int
	rates   []float64
	short   *linalg.Change // to the coordinates, from those in which rows of rare levels are long
	typical float64        // mean square of rows in the frame, as released
	limited bool           // whether noise makes steps short
	scaled  bool           // whether a factor of the scores is fitted
}

// FitClasses returns the weights of each class.
func FitClasses(p Problem, t Task, classes *curator.Classes) ([][]float64, error) {
	r, err := Begin(p, t)
	if err != nil {
		return nil, err
	}
	if err := r.Total(); err != nil {
		return nil, err
	}
	x := &softmaxing{run: r, classes: classes, k: p.Classes, scaled: r.NMu() >= tuning.FactorFrom}
	share := tuning.RatesShare
	if r.Hopeless() {
		share = r.Pool.Left
	}
	if err := x.count(share); err != nil {
		return nil, err
	}
	at := x.start()
	if r.Hopeless() {
		x.frame = &Frame{run: r, At: curator.Frame{Scale: make([]float64, r.D)}}
		return x.weights(at), nil
	}
	if err := x.enframe(); err != nil {
		return nil, err
	}
	if at, err = x.walk(at); err != nil {
		return nil, err
	}
	return x.weights(at), nil
}

// start is the constant model.
func (x *softmaxing) start() curator.ClassPoint {
	start := curator.ClassPoint{U: make([][]float64, x.k), B: make([]float64, x.k)}
	for c := range x.k {
		start.U[c] = make([]float64, x.run.D)
		if start.B[c] = math.Log(x.rates[c]); !x.run.Problem.Facts.Intercept {
			start.B[c] = 0
		}
	}
	return start
}

// enframe releases the frame: one scale where nothing stands out.
func (x *softmaxing) enframe() error {
	var few bool
	var err error
	if x.frame, few, err = x.run.Standardise(); err != nil {
		return err
	}
	if few {
		x.frame.At.Matrix, x.frame.Signal = nil, nil
		if err := x.frame.roundFrame(2 / x.run.Task.Data.Facts().Bound); err != nil {
			return err
		}
	}
	if x.frame.shortens() {
		if x.short, err = x.frame.Shorten(x.run.LevelNormBound(tuning.LevelRoom)); err != nil {
			return err
		}
	}
	x.in, err = x.classes.Frame(x.run.Task.Ctx, x.frame.At)
	return err
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

// count releases the classes' rates.
func (x *softmaxing) count(share float64) error {
	answer, err := x.classes.Counts(x.run.Task.Ctx)
	counts, err := x.run.Pool.Draw(share, answer, err)
	if err != nil {
		return err
	}
	floor := math.Max(math.Sqrt2/(x.run.NMu()*math.Sqrt(share)), 2/x.run.N)
	x.rates = make([]float64, x.k)
	for c, v := range counts {
		x.rates[c] = math.Max(v/x.run.N, math.Min(floor, 1/float64(x.k)))
	}
	floats.Scale(1/floats.Sum(x.rates), x.rates)
	return nil
}

// weights maps a point back, class by class.
func (x *softmaxing) weights(at curator.ClassPoint) [][]float64 {
	list := make([][]float64, x.k)
	for c := range list {
		list[c] = x.frame.Weights(at.U[c], at.B[c])
	}
	return list
}
