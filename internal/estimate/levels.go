package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// shortens reports whether a descent keeps rows of rare levels short: of classes alone, as
// gradients of other labels vary alike on both sides, or are longer the rarer they are.
func (x *Frame) shortens() bool {
	return x.run.Problem.Loss.Labels() == losses.Binary && x.At.Matrix != nil
}

// levelRows are the mean coordinates of the rows of each level, and of those of none in a
// group: with x = m + A⁻ᵀx̃ and round x̃ they are (1−q)·r/‖r‖², r being the level's row of A⁻ᵀ and
// q its share.
func (x *Frame) levelRows() (list [][]float64, err error) {
	var inverse mat.Dense
	if err := inverse.Inverse(x.At.Matrix); err != nil {
		if _, inaccurate := err.(mat.Condition); !inaccurate {
			return nil, errEigen
		}
	}
	add := func(r []float64, q float64) {
		floats.Scale((1-math.Max(q, 0))/floats.Dot(r, r), r)
		list = append(list, r)
	}
	for _, group := range x.run.Task.Levels() {
		none, rest := make([]float64, x.run.D), 1.0
		for _, j := range group {
			r, q := mat.Col(nil, j, &inverse), 0.0
			if x.At.Centre != nil {
				q = math.Min(math.Max(x.At.Centre[j], 0), 1)
			}
			floats.Sub(none, r)
			rest -= q
			add(r, q)
		}
		add(none, rest)
	}
	return list, nil
}

// Shortening is the change to coordinates in which rows of no level are longer than a bound on
// average, nil where none are: its S⁻² is I and, for each longer one, (‖a‖²/normBound² − 1)·aaᵀ/‖a‖².
func (x *Frame) Shortening(normBound float64) (*linalg.Change, error) {
	if len(x.run.Task.Levels()) == 0 {
		return nil, nil
	}
	rows, err := x.levelRows()
	if err != nil {
		return nil, err
	}
	stretched, longer := mat.NewSymDense(x.run.D, nil), false
	for j := range x.run.D {
		stretched.SetSym(j, j, 1)
	}
	for _, a := range rows {
		if length := floats.Norm(a, 2); length > normBound && !math.IsInf(length, 1) {
			stretched.SymRankOne(stretched, 1/(normBound*normBound)-1/(length*length), mat.NewVecDense(x.run.D, a))
			longer = true
		}
	}
	if !longer {
		return nil, nil
	}
	change, ok := linalg.NewChange(stretched)
	if !ok {
		return nil, errEigen
	}
	return change, nil
}

// Changed is the frame with other coordinates.
func (x *Frame) Changed(c *linalg.Change) (curator.Frame, *curator.Framed, error) {
	frame := curator.Frame{Centre: x.At.Centre, Matrix: c.Columns(x.At.Matrix), Each: x.At.Each}
	framed, err := x.run.Frame(frame)
	return frame, framed, err
}

// Shorten moves to coordinates in which rows of no level are longer than a bound on average.
func (x *Frame) Shorten(normBound float64) (*linalg.Change, error) {
	s, err := x.Shortening(normBound)
	if err != nil || s == nil {
		return nil, err
	}
	known := mat.NewSymDense(x.run.D, nil)
	for j, part := range x.Signal {
		known.SetSym(j, j, part)
	}
	known = s.Into(known)
	for j := range x.Signal {
		x.Signal[j] = known.At(j, j)
	}
	x.Effective = 1 + floats.Sum(x.Signal)
	x.At, x.In, err = x.Changed(s)
	return s, err
}

// LevelNormBound bounds the average norm of a level's rows: where they are rare, round
// coordinates make them long, and a clip cuts off the gradients of those whose class is the
// rarer one among them. In shorter coordinates noise in their own coefficient is larger instead.
// It is a row's root mean square, within a limit, and lets go as noise fades.
func (x *Frame) LevelNormBound() float64 {
	normBound := math.Min(math.Sqrt(float64(x.run.D)+1), tuning.LevelNormMost)
	return normBound * math.Max(1, tuning.LetGo*x.run.Problem.Mu*math.Sqrt(x.run.N))
}
