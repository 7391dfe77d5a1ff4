package questions

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// What isn't a number says nothing of how rows are held, and is refused wherever it is asked with.
func TestSlopesAreNumbers(t *testing.T) {
	const n = 300
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, 1)
	}
	table, err := rows.NewTable(x, encoding.NewIdentity(1, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(table, make([]float64, n), 0, 20, losses.Poisson{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewFramed(ctx, s, whole, Frame{})
	if err != nil {
		t.Fatal(err)
	}
	u := make([]float64, r.Dim())
	for _, bad := range []float64{math.NaN(), -1, math.Inf(1)} {
		for _, p := range []Slope{{Clip: bad}, {Clip: 1, Constant: bad}, {Clip: 1, Apart: bad}, {Clip: 1, Likely: bad}, {Clip: 1, Cut: bad}} {
			_, gradient := r.Gradient(ctx, u, 0, p)
			_, norms := r.GradientNorms(ctx, []float64{1}, u, 0, p)
			_, scatter := r.Scatter(ctx, u, 0, p)
			_, hessian := r.Hessian(ctx, u, 0, 0, 1, 1, p)
			for k, err := range []error{gradient, norms, scatter, hessian} {
				if !errors.Is(err, check.ErrBound) {
					t.Errorf("%+v: question %d has the error %v", p, k, err)
				}
			}
		}
	}
}
