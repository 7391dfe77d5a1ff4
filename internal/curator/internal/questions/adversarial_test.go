package questions

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// An adversarial case puts the floating-point sums of this package at their worst:
// terms that cancel, of very different magnitudes, in orders that keep partial
// sums large, and raw rows far from zero.
type adversarialCase struct {
	name   string
	lo, hi float64 // range of each column; equal for rows as they are
	sparse bool
	icpt   bool
	clip   float64
	part   float64 // the share of the bound that rows are held to afterwards; 0 for the table as it is
}

func adversarialCases() []adversarialCase {
	inf := math.Inf(1)
	return []adversarialCase{
		{"identity", 0, 0, false, false, inf, 0},
		{"identity, sparse, intercept, clip", 0, 0, true, true, 0.4, 0},
		{"identity, clip", 0, 0, false, false, 0.01, 0},
		{"far from zero", 1e6 - 2, 1e6 + 2, false, false, inf, 0},
		{"far from zero, intercept", -1e6 - 2, -1e6 + 2, false, true, inf, 0},
		{"far from zero, intercept, clip", 1e6 - 2, 1e6 + 2, false, true, 0.3, 0},
		{"sparse schema, intercept", -1, 1e5, true, true, inf, 0},
		{"sparse schema, clip", -1e-3, 1, true, false, 0.2, 0},
		{"identity, rebound", 0, 0, false, false, inf, 0.3},
		{"identity, sparse, intercept, clip, rebound", 0, 0, true, true, 1e-3, 1.0 / 500},
		{"far from zero, rebound", 1e6 - 3, 1e6 + 4, false, false, inf, 1.0 / 500},
		{"far from zero, intercept, clip, rebound", 1e6 - 3, 1e6 + 4, false, true, 1e-3, 1.0 / 500},
		{"sparse schema, intercept, rebound", -1, 1e5, true, true, inf, 1.0 / 500},
	}
}

const adversarialDim = 3

func (c adversarialCase) encoding(t *testing.T) encoding.Encoding {
	t.Helper()
	if c.lo == c.hi {
		return encoding.NewIdentity(adversarialDim, 1, c.icpt)
	}
	names, numeric := []string{"a", "b", "c"}, map[string][2]float64{}
	for _, name := range names {
		numeric[name] = [2]float64{c.lo, c.hi}
	}
	e, err := encoding.NewSchema(names, numeric, nil, c.icpt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// rebound is the bound and the constant that rows end with.
func (c adversarialCase) rebound(t *testing.T) (bound, constant float64) {
	e := c.encoding(t)
	if c.part == 0 {
		return e.Bound, e.Constant
	}
	if c.icpt {
		constant = 0x1p-11
	}
	return c.part * e.Bound, constant
}

// sums binds x to the squared loss, with that bound.
func (c adversarialCase) sums(t *testing.T, x *mat.Dense, y []float64, label float64) *Sums {
	t.Helper()
	s := sumsOf(t, c.matrix(t, x), y, label, c.encoding(t), losses.Squared{})
	if c.part == 0 {
		return s
	}
	return &Sums{t: s.t.Rebound(c.rebound(t)), loss: losses.Squared{}, labels: s.labels, labelBound: label}
}

// row is a raw row of arbitrary magnitude: near an end of the range, or where the
// features cancel, or tiny, or beyond the bound.
func (c adversarialCase) row(r *rand.Rand) []float64 {
	row := make([]float64, adversarialDim)
	for j := range row {
		part := math.Ldexp(r.Float64(), -r.IntN(50))
		switch {
		case c.sparse && r.IntN(2) == 0:
		case c.lo == c.hi:
			row[j] = 2 * part * math.Copysign(1, r.Float64()-0.5)
		case c.part > 0: // near the middle, of a length near the bound
			row[j] = (c.lo+c.hi)/2 + (c.hi-c.lo)*c.part*4*(r.Float64()-0.5)
		default:
			row[j] = c.hi - (c.hi-c.lo)*part
		}
	}
	return row
}

func (c adversarialCase) matrix(t *testing.T, x *mat.Dense) mat.Matrix {
	if !c.sparse {
		return x
	}
	return sparsify(t, rand.New(rand.NewPCG(1, 1)), x, 1)
}

// labels of ±2 in an order that makes partial sums large, or not.
func adversarialLabels(r *rand.Rand, order string, n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		positive := r.IntN(2) == 0
		switch order {
		case "sorted":
			positive = i < n/2
		case "alternating":
			positive = i%2 == 0
		}
		y[i] = -2
		if positive {
			y[i] = 2
		}
	}
	return y
}

// precise is arithmetic with 400 bits.
type precise struct{ *big.Float }

func number(v float64) precise { return precise{new(big.Float).SetPrec(400).SetFloat64(v)} }
func (a precise) plus(b precise) precise {
	return precise{new(big.Float).SetPrec(400).Add(a.Float, b.Float)}
}
func (a precise) minus(b precise) precise {
	return precise{new(big.Float).SetPrec(400).Sub(a.Float, b.Float)}
}
func (a precise) times(b precise) precise {
	return precise{new(big.Float).SetPrec(400).Mul(a.Float, b.Float)}
}
func (a precise) over(b precise) precise {
	return precise{new(big.Float).SetPrec(400).Quo(a.Float, b.Float)}
}
func (a precise) root() precise        { return precise{new(big.Float).SetPrec(400).Sqrt(a.Float)} }
func (a precise) above(b precise) bool { return a.Cmp(b.Float) > 0 }

func preciseNorm(v []precise) precise {
	sum := number(0)
	for _, x := range v {
		sum = sum.plus(x.times(x))
	}
	return sum.root()
}

// exactFeatures are a bounded row's, by definition.
func exactFeatures(e *encoding.Encoding, row []float64) []precise {
	u := make([]precise, e.Columns, e.Dim())
	for j, v := range row {
		u[j] = number(v)
		if e.Scale != nil {
			u[j] = number(e.Scale[j]).times(number(min(max(v, e.Min[j]), e.Max[j]))).plus(number(e.Shift[j]))
		}
	}
	if r := preciseNorm(u); r.above(number(e.Bound)) {
		for j := range u {
			u[j] = u[j].times(number(e.Bound)).over(r)
		}
	}
	if e.Intercept {
		u = append(u, number(e.Constant))
	}
	return u
}

// exactGradient is the squared loss's clipped gradient of one row, by definition.
func exactGradient(e *encoding.Encoding, row []float64, y float64, w []float64, clip float64) []precise {
	u := exactFeatures(e, row)
	slope := number(-y)
	for j := range u {
		slope = slope.plus(u[j].times(number(w[j])))
	}
	for j := range u {
		u[j] = u[j].times(slope)
	}
	if r := preciseNorm(u); !math.IsInf(clip, 1) && r.above(number(clip)) {
		for j := range u {
			u[j] = u[j].times(number(clip)).over(r)
		}
	}
	return u
}

// gap is the distance between a difference of computed sums and the exact one.
func gap(a, b []float64, exactA, exactB []precise) float64 {
	d := make([]precise, len(a))
	for j := range d {
		d[j] = number(a[j]).minus(number(b[j])).minus(exactA[j].minus(exactB[j]))
	}
	v, _ := preciseNorm(d).Float64()
	return v
}

// The lemma's rounding part: replacing a row moves the computed sum by what it
// moves the exact one, up to what GradientSensitivity adds for rounding. Here all
// else is exact: the other rows cancel from the difference, and the two rows are
// evaluated with 400 bits.
func TestRoundingBoundOfGradients(t *testing.T) {
	const n, label = 20_000, 2.0
	loss := losses.Squared{}
	for _, c := range adversarialCases() {
		e, worst := c.encoding(t), 0.0
		e.Bound, e.Constant = c.rebound(t)
		for k, order := range []string{"sorted", "alternating", "random"} {
			r := rand.New(rand.NewPCG(21, uint64(k)))
			x, y := mat.NewDense(n, adversarialDim, nil), adversarialLabels(r, order, n)
			for i := range n {
				x.SetRow(i, c.row(r))
			}
			for _, radius := range []float64{0, 3} {
				w := make([]float64, e.Dim())
				if radius > 0 {
					w = randomVector(r, e.Dim(), radius)
				}
				at, rowA, rowB := r.IntN(n), c.row(r), c.row(r)
				g := [2][]float64{make([]float64, e.Dim()), make([]float64, e.Dim())}
				var rounding float64
				for side, row := range [][]float64{rowA, rowB} {
					x.SetRow(at, row)
					s := c.sums(t, x, y, label)
					if err := s.Gradient(ctx, g[side], w, c.clip); err != nil {
						t.Fatal(err)
					}
					rounding = s.Bounds().GradientSensitivity(norm(w), c.clip) - math.Min(e.FeatureBound()*loss.Diameter(e.FeatureBound()*norm(w), label), 2*c.clip)
				}
				diff := gap(g[0], g[1], exactGradient(&e, rowA, y[at], w, c.clip), exactGradient(&e, rowB, y[at], w, c.clip))
				worst = math.Max(worst, diff/rounding)
				if diff > rounding {
					t.Errorf("%s, %s, ‖w‖ = %g: rounding changed the difference by %g, bound %g", c.name, order, radius, diff, rounding)
				}
			}
		}
		t.Logf("%s: at most %.2g of the bound", c.name, worst)
		if worst == 0 {
			t.Errorf("%s: nothing was rounded, so nothing was tested", c.name)
		}
	}
}

// The same for the gradient from second moments, which has no clip.
func TestRoundingBoundOfQuadratic(t *testing.T) {
	const n, label = 20_000, 2.0
	loss := losses.Squared{}
	for _, c := range adversarialCases() {
		if !math.IsInf(c.clip, 1) {
			continue
		}
		e := c.encoding(t)
		e.Bound, e.Constant = c.rebound(t)
		for k, order := range []string{"sorted", "alternating", "random"} {
			r := rand.New(rand.NewPCG(22, uint64(k)))
			x, y := mat.NewDense(n, adversarialDim, nil), adversarialLabels(r, order, n)
			for i := range n {
				x.SetRow(i, c.row(r))
			}
			w := randomVector(r, e.Dim(), 3)
			at, rowA, rowB := r.IntN(n), c.row(r), c.row(r)
			g := [2][]float64{make([]float64, e.Dim()), make([]float64, e.Dim())}
			var rounding float64
			for side, row := range [][]float64{rowA, rowB} {
				x.SetRow(at, row)
				s := c.sums(t, x, y, label)
				q := quadratic(t, s)
				q.Gradient(g[side], w)
				rounding = q.Sensitivity(norm(w)) - e.FeatureBound()*loss.Diameter(e.FeatureBound()*norm(w), label)
			}
			diff := gap(g[0], g[1], exactGradient(&e, rowA, y[at], w, c.clip), exactGradient(&e, rowB, y[at], w, c.clip))
			t.Logf("%s, %s: %.2g of the bound", c.name, order, diff/rounding)
			if diff > rounding || diff == 0 {
				t.Errorf("%s, %s: rounding changed the difference by %g, bound %g", c.name, order, diff, rounding)
			}
		}
	}
}

// Replacing a row moves the moments by what it moves the exact ones, up to the bound
// on their rounding.
func TestRoundingBoundOfMoments(t *testing.T) {
	for _, c := range adversarialCases() {
		e, worst := c.encoding(t), 0.0
		for seed, n := range []int{1, 3, 700, 20_000} {
			r := rand.New(rand.NewPCG(25, uint64(seed)))
			x := mat.NewDense(n, adversarialDim, nil)
			for i := range n {
				x.SetRow(i, c.row(r))
			}
			at := r.IntN(n)
			var moments [2]*mat.SymDense
			var exact [2][]precise
			var bound float64
			for side := range moments {
				row := c.row(r)
				x.SetRow(at, row)
				table, err := rows.NewTable(c.matrix(t, x), e)
				if err != nil {
					t.Fatal(err)
				}
				if moments[side], err = momentsOf(ctx, table, nil); err != nil {
					t.Fatal(err)
				}
				exact[side], bound = exactFeatures(&e, row), (&Sums{t: table}).Bounds().momentsRounding()
			}
			var off []precise
			for j := range e.Dim() {
				for k := range e.Dim() {
					computed := number(moments[1].At(j, k)).minus(number(moments[0].At(j, k)))
					was, is := exact[0][j].times(exact[0][k]), exact[1][j].times(exact[1][k])
					off = append(off, computed.minus(is.minus(was)))
				}
			}
			diff, _ := preciseNorm(off).Float64()
			worst = math.Max(worst, diff/bound)
		}
		t.Logf("%s: at most %.2g of the bound", c.name, worst)
		if !(worst > 0 && worst <= 1) {
			t.Errorf("%s: rounding changed the difference by %g of its bound", c.name, worst)
		}
	}
}

// A sum of clipped losses moves by at most LossSensitivity, where one row's loss
// goes from 0 to the cap among terms of all magnitudes.
func TestRoundingBoundOfLosses(t *testing.T) {
	const n, limit = 20_000, 1.0 / 3
	r := rand.New(rand.NewPCG(23, 24))
	y := make([]float64, n) // the loss at w = 0 is y²/2
	for i := range y {
		y[i] = math.Ldexp(r.Float64(), -r.IntN(30))
	}
	for _, c := range []struct { // one after the other, as the first order is lost by sorting
		name  string
		order func()
	}{
		{"random", func() {}},
		{"ascending", func() { slices.Sort(y) }},
		{"descending", func() { slices.SortFunc(y, func(a, b float64) int { return cmp.Compare(b, a) }) }},
	} {
		c.order()
		for _, at := range []int{0, n / 3, n - 1} {
			kept := y[at]
			var sum [2]float64
			var claimed float64
			for side, label := range []float64{0, 2} {
				y[at] = label
				s := sumsOf(t, mat.NewDense(n, 1, nil), y, 2, encoding.NewIdentity(1, 1, false), losses.Squared{})
				if err := s.Losses(ctx, sum[side:side+1], [][]float64{{0}}, []float64{limit}); err != nil {
					t.Fatal(err)
				}
				claimed = s.Bounds().LossSensitivity(limit)
			}
			y[at] = kept
			moved, _ := number(sum[1]).minus(number(sum[0])).Float64()
			if moved > claimed || moved < limit*(1-1e-9) {
				t.Errorf("%s, row %d: the sum moves by %.17g, claimed %.17g", c.name, at, moved, claimed)
			}
		}
	}
}
