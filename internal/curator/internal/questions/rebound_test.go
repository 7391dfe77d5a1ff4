package questions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// reboundTables are tables of the same rows in every form, which the last ones pick.
func reboundTables(t *testing.T, r *rand.Rand, x *mat.Dense, enc encoding.Encoding, order []int) map[string]*rows.Table {
	t.Helper()
	sparse := sparsify(t, r, x, 0.15) // zeroes entries of x too
	tables := map[string]*rows.Table{}
	for name, m := range forms(x) {
		tables[name] = mustTable(t, m, enc).Pick(order)
	}
	tables["sparse"] = mustTable(t, sparse, enc).Pick(order)
	picked := mat.NewDense(len(order), enc.Columns, nil)
	for k, i := range order {
		picked.SetRow(k, x.RawRowView(i))
	}
	tables["as it is"] = mustTable(t, picked, enc)
	return tables
}

func mustTable(t *testing.T, m mat.Matrix, enc encoding.Encoding) *rows.Table {
	t.Helper()
	table, err := rows.NewTable(m, enc)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Rebound is the table that a smaller bound and another constant would have made:
// the same norms, scores, gradients and moments, for rows of all forms, with values
// outside their ranges and rows beyond their bounds.
func TestReboundIsATableOfThatBound(t *testing.T) {
	for _, c := range testCases() {
		for _, b := range []struct{ part, constant float64 }{{1, 1}, {0.6, 0.25}, {1.0 / 500, 0x1p-12}} {
			r := rand.New(rand.NewPCG(51, 52))
			const n, d = 700, 20
			x, enc := randomMatrix(r, n, d, 0.3), c.enc(t, d)
			for range 30 {
				x.Set(r.IntN(n), r.IntN(d), 60)
			}
			order, bound := r.Perm(n)[:500], b.part*enc.Bound
			tables, fresh := reboundTables(t, r, x, enc, order), enc
			fresh.Bound = bound
			if enc.Intercept {
				fresh.Constant = b.constant
			}
			y, w := labelsFor(r, c, len(order)), randomVector(r, enc.Dim(), 3)
			want := mustTable(t, x, fresh).Pick(order)
			for name, table := range tables {
				name = fmt.Sprintf("%s, %s, bound %g", c.name, name, bound)
				got := table.Rebound(bound, b.constant)
				if e := got.Enc; !(e.Magnitude >= bound+e.Constant) {
					t.Errorf("%s: raw terms of %g, less than the row and the constant", name, e.Magnitude)
				}
				sameTables(t, name, got, want, c, y, w)
			}
		}
	}
}

// sameTables compares what two tables answer.
func sameTables(t *testing.T, name string, got, want *rows.Table, c testCase, y, w []float64) {
	t.Helper()
	const rounding = 1e-12
	x := want.Enc.FeatureBound()
	if got.Enc.FeatureBound() != x || got.Enc.Constant != want.Enc.Constant {
		t.Errorf("%s: bound %g and constant %g, want %g and %g", name, got.Enc.FeatureBound(), got.Enc.Constant, x, want.Enc.Constant)
	}
	a, b := make([]float64, got.Len()), make([]float64, got.Len())
	rows.Scores(got, a, w)
	rows.Scores(want, b, w)
	for i := range a {
		if math.Abs(got.Norm[i]-want.Norm[i]) > rounding*x || math.Abs(got.Length[i]-want.Length[i]) > rounding*x || math.Abs(a[i]-b[i]) > rounding*x*norm(w) {
			t.Fatalf("%s, row %d: norm %g, length %g, score %g, want %g, %g, %g", name, i, got.Norm[i], got.Length[i], a[i], want.Norm[i], want.Length[i], b[i])
		}
	}
	var g [2][]float64
	var h [2]*mat.SymDense
	for k, table := range []*rows.Table{got, want} {
		s, err := NewSums(table, y, 0, c.label, c.loss)
		if err != nil {
			t.Fatal(err)
		}
		g[k] = gradientAt(t, w, c.clip)(s)
		if h[k], err = s.Hessian(ctx, w, c.clip); err != nil {
			t.Fatal(err)
		}
	}
	n := float64(got.Len())
	if diff := distance(g[0], g[1]); diff > rounding*x*n*(1+x*norm(w)) {
		t.Errorf("%s: gradients %g apart", name, diff)
	}
	if !mat.EqualApprox(h[0], h[1], rounding*x*x*n) {
		t.Errorf("%s: other Hessians", name)
	}
}

// A projected table and one that was rebound before can be rebound.
func TestReboundTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	x, y := randomMatrix(r, 200, 4, 1), make([]float64, 200)
	for _, icpt := range []bool{false, true} {
		enc := affine(t, 4, icpt)
		c := testCase{loss: losses.Logistic{}, clip: 0.01}
		w := randomVector(r, enc.Dim(), 2)
		table := mustTable(t, x, enc)
		sameTables(t, "twice", table.Rebound(0.9, 0.5).Rebound(0.2, 0.125), table.Rebound(0.2, 0.125), c, y, w)
		projected, err := rows.Project(ctx, table, identityMap(4), 1.1)
		if err != nil {
			t.Fatal(err)
		}
		sameTables(t, "projected", projected.Rebound(0.2, 0.125), table.Rebound(0.2, 0.125), c, y, w)
	}
}

// identityMap is the projection that leaves rows alone.
type identityMap int

func (d identityMap) Dims() (int, int)     { return int(d), int(d) }
func (identityMap) Apply(dst, x []float64) { copy(dst, x) }
func (identityMap) ApplySparse(dst []float64, indices []int, values []float64) {
	clear(dst)
	for k, j := range indices {
		dst[j] = values[k]
	}
}

// No rebound row is longer than its bound by more than the slack that
// GradientSensitivity documents, with 400 bits, and its recorded norm is as exact,
// or longer where a sparse row's shifts cancel; among rows near either bound, tiny
// and huge ones.
func TestReboundRowsAreBounded(t *testing.T) {
	const n = 3000
	for _, c := range adversarialCases() {
		if c.part == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(55, 56))
		x, y := mat.NewDense(n, adversarialDim, nil), make([]float64, n)
		for i := range n {
			x.SetRow(i, c.row(r))
		}
		s := c.sums(t, x, y, 2)
		e, worst := &s.t.Enc, 0.0
		slack := s.Bounds().boundsAt(0, math.Inf(1)).slack
		if want := 8 * encoding.Unit * (adversarialDim + 16) * e.Offset(); slack != want {
			t.Fatalf("slack %g, documented %g", slack, want)
		}
		for i := range n {
			u := make([]precise, adversarialDim)
			for j, v := range x.RawRowView(i) {
				u[j] = number(v)
				if e.Scale != nil {
					u[j] = number(e.Scale[j]).times(number(min(max(v, e.Min[j]), e.Max[j]))).plus(number(e.Shift[j]))
				}
				u[j] = u[j].times(number(s.t.Shrink[i]))
			}
			length, _ := preciseNorm(u).Float64()
			whole, _ := preciseNorm(append(u, number(e.Constant))).Float64()
			off := (whole - s.t.Norm[i]) / e.FeatureBound()
			if !c.sparse || e.Scale == nil {
				off = math.Abs(off)
			}
			worst = max(worst, length/e.Bound-1, off)
			if length > e.Bound*(1+slack) || s.t.Length[i] > e.Bound || off > slack {
				t.Fatalf("%s: a row of norm %g, bound %g; %g with the constant, recorded as %g", c.name, length, e.Bound, whole, s.t.Norm[i])
			}
		}
		t.Logf("%s: at most %.2g of the slack", c.name, worst/slack)
		if worst <= 0 && !c.sparse {
			t.Errorf("%s: nothing was rounded, so nothing was tested", c.name)
		}
	}
}

// The computed gradient of all rows, rebound or not, is within GradientError of the
// exact one.
func TestGradientErrorOnAdversarialSums(t *testing.T) {
	const n, label = 1500, 2.0
	for _, c := range adversarialCases() {
		e, r := c.encoding(t), rand.New(rand.NewPCG(57, 58))
		e.Bound, e.Constant = c.rebound(t)
		x, y := mat.NewDense(n, adversarialDim, nil), adversarialLabels(r, "sorted", n)
		for i := range n {
			x.SetRow(i, c.row(r))
		}
		s, w := c.sums(t, x, y, label), randomVector(r, e.Dim(), 3)
		g, exact := gradientAt(t, w, c.clip)(s), make([]precise, e.Dim())
		for j := range exact {
			exact[j] = number(0)
		}
		for i := range n {
			for j, v := range exactGradient(&e, x.RawRowView(i), y[i], w, c.clip) {
				exact[j] = exact[j].plus(v)
			}
		}
		zero := make([]precise, e.Dim())
		for j := range zero {
			zero[j] = number(0)
		}
		diff, bound := gap(g, make([]float64, len(g)), exact, zero), s.Bounds().GradientError(norm(w), c.clip)
		t.Logf("%s: %.2g of the bound", c.name, diff/bound)
		if diff > bound || diff == 0 {
			t.Errorf("%s: the gradient is off by %g, bound %g", c.name, diff, bound)
		}
	}
}
