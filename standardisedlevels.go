package dpglm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
)

// longestLevel is how long rows of a level may be on average: where they are rare, round
// coordinates make them long, and a clip cuts off the gradients of those whose class is the
// rarer one among them. In shorter coordinates noise in their own coefficient is larger instead.
// It is a factor of a row's root mean square, but at most 3; sets of data and made-up levels
// of 1 to 5 % chose these. It lets go as noise fades.
func (x *standardising) longestLevel(factor float64) float64 {
	longest := math.Min(factor*math.Sqrt(float64(x.d)+1), 3)
	return longest * math.Max(1, 0.001*x.mu*math.Sqrt(x.n))
}

// shortens reports whether a descent keeps rows of rare levels short: of classes alone, as
// gradients of other labels vary alike on both sides, or are longer the rarer they are.
func (x *standardising) shortens() bool {
	return x.loss.Labels() == losses.Binary && x.frame.Matrix != nil
}

// levelRows are the mean coordinates of the rows of each level, and of those of none in a
// group: with x = m + A⁻ᵀx̃ and round x̃ they are (1−q)·r/‖r‖², r being the level's row of A⁻ᵀ and
// q its share.
func (x *standardising) levelRows() (list [][]float64, err error) {
	var inverse mat.Dense
	if err := inverse.Inverse(x.frame.Matrix); err != nil {
		if _, inaccurate := err.(mat.Condition); !inaccurate {
			return nil, errEigen
		}
	}
	add := func(r []float64, q float64) {
		floats.Scale((1-math.Max(q, 0))/floats.Dot(r, r), r)
		list = append(list, r)
	}
	for _, group := range x.levels() {
		none, rest := make([]float64, x.d), 1.0
		for _, j := range group {
			r, q := mat.Col(nil, j, &inverse), 0.0
			if x.frame.Centre != nil {
				q = math.Min(math.Max(x.frame.Centre[j], 0), 1)
			}
			floats.Sub(none, r)
			rest -= q
			add(r, q)
		}
		add(none, rest)
	}
	return list, nil
}

// shortening is the change to coordinates in which rows of no level are longer than a bound on
// average, nil where none are: its S⁻² is I and, for each longer one, (‖a‖²/longest² − 1)·aaᵀ/‖a‖².
func (x *standardising) shortening(longest float64) (*linalg.Change, error) {
	if len(x.levels()) == 0 {
		return nil, nil
	}
	rows, err := x.levelRows()
	if err != nil {
		return nil, err
	}
	stretched, longer := mat.NewSymDense(x.d, nil), false
	for j := range x.d {
		stretched.SetSym(j, j, 1)
	}
	for _, a := range rows {
		if length := floats.Norm(a, 2); length > longest && !math.IsInf(length, 1) {
			stretched.SymRankOne(stretched, 1/(longest*longest)-1/(length*length), mat.NewVecDense(x.d, a))
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

// changed is the frame with other coordinates.
func (x *standardising) changed(c *linalg.Change) (curator.Frame, *curator.Framed, error) {
	frame := curator.Frame{Centre: x.frame.Centre, Matrix: c.Columns(x.frame.Matrix)}
	framed, err := x.sums.Frame(x.ctx, frame)
	return frame, framed, err
}

// shorten moves to coordinates in which rows of no level are longer than a bound on average.
func (x *standardising) shorten(longest float64) (*linalg.Change, error) {
	s, err := x.shortening(longest)
	if err != nil || s == nil {
		return nil, err
	}
	x.frame, x.framed, err = x.changed(s)
	return s, err
}
