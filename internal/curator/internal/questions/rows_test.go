package questions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

var ctx = context.Background()

// opaque hides everything but mat.Matrix.
type opaque struct{ mat.Matrix }

// forms returns one matrix in the forms that callers have: dense, a strided
// window of a larger one, transposed, and opaque.
func forms(x *mat.Dense) map[string]mat.Matrix {
	n, d := x.Dims()
	wide := mat.NewDense(n+2, d+3, nil)
	window := wide.Slice(1, n+1, 2, d+2).(*mat.Dense)
	window.Copy(x)
	return map[string]mat.Matrix{"dense": x, "strided": window, "transposed": mat.DenseCopyOf(x.T()).T(), "opaque": opaque{x}}
}

func randomMatrix(r *rand.Rand, n, d int, scale float64) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, scale*r.NormFloat64())
		}
	}
	return x
}

func randomVector(r *rand.Rand, n int, norm float64) []float64 {
	v := make([]float64, n)
	var s float64
	for j := range v {
		v[j] = r.NormFloat64()
		s += v[j] * v[j]
	}
	for j := range v {
		v[j] *= norm / math.Sqrt(s)
	}
	return v
}

// affine is an encoding with one numeric and several one-hot-like columns.
func affine(t *testing.T, d int, intercept bool) encoding.Encoding {
	t.Helper()
	names := make([]string, d)
	numeric := map[string][2]float64{}
	for j := range names {
		names[j] = fmt.Sprint("c", j)
		numeric[names[j]] = [2]float64{-1 - float64(j), 2 + float64(j)}
	}
	e, err := encoding.NewSchema(names, numeric, nil, intercept)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func sumsOf(t *testing.T, x mat.Matrix, y []float64, labelBound float64, enc encoding.Encoding, loss losses.Loss) *Sums {
	t.Helper()
	table, err := rows.NewTable(x, enc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(table, y, 0, labelBound, loss)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// encode is the definition of an encoded row, step by step.
func encode(e *encoding.Encoding, x []float64) []float64 {
	u := slices.Clone(x)
	if e.Scale != nil {
		for j := range u {
			u[j] = e.Scale[j]*min(max(u[j], e.Min[j]), e.Max[j]) + e.Shift[j]
		}
	}
	if r := norm(u); r > e.Bound {
		for j := range u {
			u[j] *= e.Bound / r
		}
	}
	if e.Intercept {
		u = append(u, e.Constant)
	}
	return u
}

func norm(v []float64) float64 {
	var s float64
	for _, x := range v {
		s = math.Hypot(s, x)
	}
	return s
}

func distance(a, b []float64) float64 {
	d := make([]float64, len(a))
	for j := range a {
		d[j] = a[j] - b[j]
	}
	return norm(d)
}

type testCase struct {
	name  string
	loss  losses.Loss
	label float64
	enc   func(t *testing.T, d int) encoding.Encoding
	clip  float64
	loose bool // a box with a constant column does not reach the worst row of the ball
}

func testCases() []testCase {
	identity := func(b float64, icpt bool) func(*testing.T, int) encoding.Encoding {
		return func(_ *testing.T, d int) encoding.Encoding { return encoding.NewIdentity(d, b, icpt) }
	}
	schema := func(icpt bool) func(*testing.T, int) encoding.Encoding {
		return func(t *testing.T, d int) encoding.Encoding { return affine(t, d, icpt) }
	}
	inf := math.Inf(1)
	return []testCase{
		{"logistic", losses.Logistic{}, 0, identity(1.5, false), inf, false},
		{"logistic, intercept, clip", losses.Logistic{}, 0, identity(1.5, true), 0.3, false},
		{"logistic, schema", losses.Logistic{}, 0, schema(true), inf, true},
		{"squared", losses.Squared{}, 2, identity(0.7, false), inf, false},
		{"squared, schema, clip", losses.Squared{}, 2, schema(false), 0.9, false},
	}
}

func labelsFor(r *rand.Rand, c testCase, n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		if c.loss.Labels() == losses.Binary {
			y[i] = float64(r.IntN(2))
		} else {
			y[i] = 3 * r.NormFloat64() // some beyond the bound
		}
	}
	return y
}

// Gradient and Losses are what their definitions say, in every form of matrix,
// with the same bits, and leave the matrix alone.
func TestSumsMatchTheirDefinitions(t *testing.T) {
	for _, c := range testCases() {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			const n, d = 700, 5
			x, y := randomMatrix(r, n, d, 1), labelsFor(r, c, n)
			before := mat.DenseCopyOf(x)
			enc := c.enc(t, d)
			w := randomVector(r, enc.Dim(), 1.3)
			wantG, wantL := make([]float64, enc.Dim()), 0.0
			for i := range n {
				u := encode(&enc, x.RawRowView(i))
				label, _ := rows.MapLabel(c.loss.Labels(), y[i], 0, c.label)
				var z float64
				for j := range u {
					z += w[j] * u[j]
				}
				k := c.loss.Deriv(z, label)
				if size := math.Abs(k) * norm(u); size > c.clip {
					k *= c.clip / size
				}
				for j := range u {
					wantG[j] += k * u[j]
				}
				wantL += min(c.loss.Value(z, label), 0.8)
			}
			var first []float64
			for name, m := range forms(x) {
				s := sumsOf(t, m, y, c.label, enc, c.loss)
				g, l := make([]float64, enc.Dim()), make([]float64, 2)
				if err := s.Gradient(ctx, g, w, c.clip); err != nil {
					t.Fatal(err)
				}
				if diff := distance(g, wantG); diff > 1e-11 {
					t.Errorf("%s: gradient off by %g", name, diff)
				}
				if first == nil {
					first = g
				} else if !slices.Equal(g, first) {
					t.Errorf("%s: other bits than another form", name)
				}
				if err := s.Losses(ctx, l, [][]float64{w, w}, []float64{0.8, math.Inf(1)}); err != nil {
					t.Fatal(err)
				}
				if math.Abs(l[0]-wantL) > 1e-10 || l[1] <= l[0] {
					t.Errorf("%s: losses %v, want %v and more", name, l, wantL)
				}
			}
			if !mat.Equal(x, before) {
				t.Error("the matrix changed")
			}
		})
	}
}

// Lemma behind GradientSensitivity: replacing a row moves the gradient sum by at
// most the bound, and by nearly that much for the worst pair of rows. Both rows
// and labels are searched by optimisation, at the weights of each norm.
func TestGradientSensitivityBySearch(t *testing.T) {
	for _, c := range testCases() {
		for _, radius := range []float64{0, 0.4, 2, 6} {
			if !sample.One(2, c.name, radius) {
				continue
			}
			t.Run(fmt.Sprintf("%s, r=%g", c.name, radius), func(t *testing.T) {
				const d = 3
				r := rand.New(rand.NewPCG(3, 4))
				enc := c.enc(t, d)
				w := make([]float64, enc.Dim())
				if radius > 0 {
					copy(w, randomVector(r, d, radius)) // no weight on the intercept: worst
				}
				base := randomMatrix(r, 4, d, 1)
				y := labelsFor(r, c, 4)
				bound := sumsOf(t, base, y, c.label, enc, c.loss).Bounds().GradientSensitivity(norm(w), c.clip)
				move := func(p []float64) float64 {
					g := [2][]float64{make([]float64, enc.Dim()), make([]float64, enc.Dim())}
					for side := range g {
						q := p[side*(d+1) : (side+1)*(d+1)]
						base.SetRow(2, q[:d])
						y[2] = q[d]
						if c.loss.Labels() == losses.Binary {
							y[2] = float64(side)
						}
						s := sumsOf(t, base, y, c.label, enc, c.loss)
						if err := s.Gradient(ctx, g[side], w, c.clip); err != nil {
							t.Fatal(err)
						}
					}
					return distance(g[0], g[1])
				}
				worst := 0.0
				for range 6 {
					start := make([]float64, 2*(d+1))
					for j := range start {
						start[j] = 3 * r.NormFloat64()
					}
					problem := optimize.Problem{Func: func(p []float64) float64 { return -move(p) }}
					res, err := optimize.Minimize(problem, start, &optimize.Settings{FuncEvaluations: 1500}, &optimize.NelderMead{})
					if err != nil {
						t.Fatal(err)
					}
					worst = math.Max(worst, -res.F)
				}
				t.Logf("claimed %.6g, found %.6g (%.1f %%)", bound, worst, 100*worst/bound)
				if worst > bound {
					t.Errorf("a neighbour moves the gradient sum by %g, claimed %g", worst, bound)
				}
				if !c.loose && worst < 0.95*bound {
					t.Errorf("the bound %g is loose: search found %g", bound, worst)
				}
			})
		}
	}
}

// The summation's rounding bound holds where floating point is at its worst:
// large terms that cancel, in an order that keeps partial sums large.
func TestRoundingBoundOnAdversarialSums(t *testing.T) {
	const n = 50_000
	r := rand.New(rand.NewPCG(5, 6))
	for _, order := range []string{"sorted", "alternating", "random"} {
		x, y := mat.NewDense(n, 1, nil), make([]float64, n)
		for i := range n {
			x.Set(i, 0, 1-r.Float64()*math.Pow(2, -float64(r.IntN(50))))
			switch order {
			case "sorted":
				y[i] = math.Floor(2 * float64(i) / n)
			case "alternating":
				y[i] = float64(i % 2)
			default:
				y[i] = float64(r.IntN(2))
			}
		}
		enc := encoding.NewIdentity(1, 1, false)
		sum := func() (float64, *big.Float) { // at w = 0 each term is ±x/2, exactly
			s := sumsOf(t, x, y, 0, enc, losses.Logistic{})
			g := make([]float64, 1)
			if err := s.Gradient(ctx, g, []float64{0}, math.Inf(1)); err != nil {
				t.Fatal(err)
			}
			exact := new(big.Float).SetPrec(500)
			for i := range n {
				exact.Add(exact, big.NewFloat(x.At(i, 0)*(0.5-y[i])))
			}
			return g[0], exact
		}
		a, exactA := sum()
		x.Set(n/3, 0, -0.123456789)
		b, exactB := sum()
		s := sumsOf(t, x, y, 0, enc, losses.Logistic{})
		rounding := s.Bounds().GradientSensitivity(0, math.Inf(1)) - 1
		exact, _ := exactA.Sub(exactA, exactB).Float64()
		if diff := math.Abs((a - b) - exact); diff > rounding {
			t.Errorf("%s: rounding changed the difference by %g, bound %g", order, diff, rounding)
		}
		if rounding > 1e-6 {
			t.Errorf("rounding bound %g is more than a millionth of the sensitivity", rounding)
		}
	}
}

// Blocks without the replaced row must have the same bits in both sums: a row
// beyond the bound must not change how the other rows are computed. Here the
// replaced row is the only one that needs shrinking.
func TestOneRowDoesNotTouchTheOthers(t *testing.T) {
	enc := encoding.NewAffine(math.Sqrt2, true, []float64{2, 1, 1}, []float64{-1, 0, 0}, make([]float64, 3), []float64{1, 1, 1})
	r := rand.New(rand.NewPCG(13, 14))
	x := mat.NewDense(500, 3, nil)
	for i := range 500 {
		x.SetRow(i, []float64{r.Float64(), 1, 0})
	}
	scores := func(row, w []float64) []float64 {
		x.SetRow(0, row)
		table, err := rows.NewTable(x, enc)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float64, 500)
		rows.Scores(table, z, w)
		return z
	}
	for range 200 {
		w := randomVector(r, 4, 1e6)
		a, b := scores([]float64{0, 1, 0}, w), scores([]float64{1, 1, 1}, w)
		if !slices.Equal(a[1:], b[1:]) {
			t.Fatal("replacing a row changed the bits of other rows' scores")
		}
	}
}

func TestLossSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x, y := randomMatrix(r, 300, 2, 1), make([]float64, 300)
	w := []float64{4, -3}
	sum := func() float64 {
		s := sumsOf(t, x, y, 0, encoding.NewIdentity(2, 1, false), losses.Logistic{})
		dst := make([]float64, 1)
		if err := s.Losses(ctx, dst, [][]float64{w}, []float64{2}); err != nil {
			t.Fatal(err)
		}
		return dst[0]
	}
	x.SetRow(7, []float64{0.8, -0.6})
	y[7] = 0
	high := sum()
	y[7] = 1
	low := sum()
	bound := sumsOf(t, x, y, 0, encoding.NewIdentity(2, 1, false), losses.Logistic{}).Bounds().LossSensitivity(2)
	if high-low > bound || high-low < 0.95*bound {
		t.Errorf("worst rows move the clipped loss by %g, claimed %g", high-low, bound)
	}
}

func TestSameBitsForAnyGOMAXPROCS(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x := randomMatrix(r, 100_000, 7, 1)
	y := make([]float64, 100_000)
	w := randomVector(r, 7, 2)
	var want []float64
	for _, procs := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(procs)
		s := sumsOf(t, x, y, 0, encoding.NewIdentity(7, 1, false), losses.Logistic{})
		g := make([]float64, 7)
		err := s.Gradient(ctx, g, w, 0.3)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = g
		} else if !slices.Equal(g, want) {
			t.Errorf("GOMAXPROCS=%d gives other bits", procs)
		}
	}
}

func TestCancelledPass(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	x := mat.NewDense(5000, 3, nil)
	s := sumsOf(t, x, make([]float64, 5000), 0, encoding.NewIdentity(3, 1, false), losses.Logistic{})
	if err := s.Gradient(cancelled, make([]float64, 3), make([]float64, 3), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Losses(cancelled, make([]float64, 1), [][]float64{{0, 0, 0}}, []float64{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestExtremeRowsAreBounded(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{1e100, -1e100, 1e-300, 0, 0, 0, 3, 4})
	s := sumsOf(t, x, []float64{1, 1, 1, 1}, 0, encoding.NewIdentity(2, 1, false), losses.Logistic{})
	g := make([]float64, 2)
	if err := s.Gradient(ctx, g, []float64{1e50, 2e50}, math.Inf(1)); err != nil {
		t.Fatal(err)
	}
	if r := norm(g); !(r <= 4) {
		t.Errorf("gradient %v of four rows of norm at most 1", g)
	}
	if _, err := rows.NewTable(mat.NewDense(1, 1, []float64{1e101}), encoding.NewIdentity(1, 1, false)); !errors.Is(err, check.ErrValue) {
		t.Errorf("1e101 gives %v", err)
	}
}

// In one run: the pass as it is, with floating-point sums and a rounding bound,
// against the same pass with 64-bit fixed-point sums, which would be exact in
// any order. One goroutine each.
func BenchmarkAccumulation(b *testing.B) {
	const n, d = 50_000, 100
	r := rand.New(rand.NewPCG(11, 12))
	x := randomMatrix(r, n, d, 0.1)
	w := randomVector(r, d, 1)
	loss := losses.Logistic{}
	b.Run("rounding bound", func(b *testing.B) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		table, err := rows.NewTable(x, encoding.NewIdentity(d, 10, false))
		if err != nil {
			b.Fatal(err)
		}
		s, err := NewSums(table, make([]float64, n), 0, 0, loss)
		if err != nil {
			b.Fatal(err)
		}
		g := make([]float64, d)
		b.SetBytes(n * d * 8)
		for b.Loop() {
			if err := s.Gradient(ctx, g, w, math.Inf(1)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fixed point", func(b *testing.B) {
		g := make([]int64, d)
		src, l, z := rows.DenseSource{M: x.RawMatrix()}, blocks.NewLayout(n, d, false, nil), make([]float64, n)
		b.SetBytes(n * d * 8)
		for b.Loop() {
			for lo := 0; lo < n; lo += l.TileRows {
				hi := min(lo+l.TileRows, n)
				tile := src.Tile(lo, hi, nil)
				tile.Dot(z[:hi-lo], w)
				for i, score := range z[:hi-lo] {
					c := loss.Deriv(score, -1) * (1 << 40)
					for j, v := range tile.Data[i*tile.Stride : i*tile.Stride+d] {
						g[j] += int64(c * v)
					}
				}
			}
		}
	})
}
