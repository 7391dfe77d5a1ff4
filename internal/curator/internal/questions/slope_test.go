package questions

import (
	"errors"
	"math"
	"math/rand/v2"
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
		for _, p := range []Slope{{Clip: bad}, {Clip: 1, Constant: bad}, {Clip: 1, Apart: bad}, {Clip: 1, Apart: 1, Means: bad}, {Clip: 1, Means: 1}, {Clip: 1, Apart: 1, Means: 1, Likely: 1}, {Clip: 1, Apart: 1, Means: 1, Cut: 1}, {Clip: 1, Apart: 1, Means: 1, Plain: true}, {Clip: 1, Likely: bad}, {Clip: 1, Cut: bad}, {Clip: 1, Middle: bad * math.Inf(1)}} {
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

// With a Cut a row adds min(1, Cut/norm) times its slope, or less its label, plus Middle and held to ±Clip/Cut; labels far out on either side
// move the sum by all that is declared, and by no more.
func TestCutRowsCountByTheirNorms(t *testing.T) {
	const n, cut, bound = 200, 1.5, 50.0
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{4 * r.NormFloat64(), r.NormFloat64() / 4})
		y[i] = 4 * r.NormFloat64()
	}
	x.SetRow(7, []float64{6, 0})
	u := []float64{.5, -1}
	for _, p := range []Slope{{Clip: 3, Constant: 1, Cut: cut}, {Clip: 3, Constant: 1, Cut: cut, Middle: 1.25}, {Clip: 3, Constant: 1, Cut: cut, Plain: true, Middle: .5}} {
		ask := func(label float64) ([]float64, float64) {
			t.Helper()
			y[7] = label
			table, err := rows.NewTable(x, encoding.NewIdentity(2, 100, true))
			if err != nil {
				t.Fatal(err)
			}
			s, err := NewSums(table, y, 0, bound, losses.Squared{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := NewFramed(ctx, s, whole, Frame{})
			if err != nil {
				t.Fatal(err)
			}
			v, l2, err := heard(f.Gradient(ctx, u, .25, p))
			if err != nil {
				t.Fatal(err)
			}
			return v, l2
		}
		far, l2 := ask(bound)
		other, _ := ask(-bound)
		if moved := distance(far, other); moved > l2 || moved < .999*l2 {
			t.Errorf("%+v: a label moves the sum by %g, of the declared %g", p, moved, l2)
		}
		want := make([]float64, 3)
		for i := range n {
			z := []float64{x.At(i, 0), x.At(i, 1), 1}
			slope := u[0]*z[0] + u[1]*z[1] + .25 - y[i]
			if p.Plain {
				slope = -y[i]
			}
			slope += p.Middle
			slope = math.Max(-p.Clip/cut, math.Min(slope, p.Clip/cut)) * math.Min(1, cut/math.Sqrt(z[0]*z[0]+z[1]*z[1]+1))
			for j, v := range z {
				want[j] += slope * v
			}
		}
		if off := distance(other, want); off > 1e-9 {
			t.Errorf("%+v: the sum is %v, want %v", p, other, want)
		}
	}
}

// What is apart from counts' gradients are the means that the model says, held: those of rows' scores, with their offsets, whatever labels are. They have no
// place beside a constant that is clipped with the rest.
func TestMeansOfCounts(t *testing.T) {
	const n, most, constant = 300, 2.5, .7
	r := rand.New(rand.NewPCG(3, 4))
	x, y, offsets := mat.NewDense(n, 1, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		x.Set(i, 0, r.NormFloat64())
		y[i], offsets[i] = float64(r.IntN(30)), r.Float64()-1
	}
	y[0], y[1] = 0, 30
	for _, loss := range []losses.Loss{losses.Poisson{}, losses.CappedPoisson{Cap: 30}} {
		table, err := rows.NewTable(x, encoding.NewIdentity(1, 10, false))
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSums(table, y, 0, 30, loss)
		if err != nil {
			t.Fatal(err)
		}
		s = s.Shift(offsets, rows.Range{-1, 0})
		f, err := NewFramed(ctx, s, whole, Frame{})
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for i := range n {
			want += math.Min(most, math.Exp(2*x.At(i, 0)+.25+offsets[i])) * constant / most
		}
		p := Slope{Clip: .3, Constant: constant, Apart: 30, Means: most}
		got, l2, err := heard(f.Gradient(ctx, []float64{2}, .25, p))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got[1]-want) > 1e-9*want || math.Abs(l2/math.Hypot(.6, constant)-1) > 1e-6 {
			t.Errorf("%s: means come to %g, want %g; the sensitivity is %g", loss.Name(), got[1], want, l2)
		}
		p.Means = 0
		slopes, _, err := heard(f.Gradient(ctx, []float64{2}, .25, p))
		if err != nil || slopes[0] != got[0] {
			t.Errorf("%s: the gradient is %g with means beside it, and %g without (%v)", loss.Name(), got[0], slopes[0], err)
		}
	}
	each := mustFrame(t, gridSums(t, []gridRow{{1, 1, 1}}, true, false), Frame{Each: 1})
	if _, err := each.Gradient(ctx, []float64{0, 0}, 0, Slope{Clip: 1, Constant: 1, Apart: 1, Means: 1}); !errors.Is(err, check.ErrBound) {
		t.Errorf("means of persons whose rows each count: error %v", err)
	}
}
