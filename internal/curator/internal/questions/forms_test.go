package questions

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// sparsify zeroes most entries of x and returns it as a Sparse too.
func sparsify(t *testing.T, r *rand.Rand, x *mat.Dense, density float64) *rows.Sparse {
	t.Helper()
	n, d := x.Dims()
	indptr, indices, values := []int{0}, []int{}, []float64{}
	for i := range n {
		for j := range d {
			if r.Float64() > density {
				x.Set(i, j, 0)
				continue
			}
			indices, values = append(indices, j), append(values, x.At(i, j))
		}
		indptr = append(indptr, len(indices))
	}
	s, err := rows.NewSparse(n, d, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Sparse rows give the sums of the dense matrix they stand for, to rounding,
// with ranges, shifts, intercept and rows beyond the bound.
func TestSparseEqualsDense(t *testing.T) {
	for _, c := range testCases() {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			const n, d = 1500, 8
			x := randomMatrix(r, n, d, 3)
			sp := sparsify(t, r, x, 0.2)
			values := slices.Clone(sp.Values)
			y, enc := labelsFor(r, c, n), c.enc(t, d)
			w := randomVector(r, enc.Dim(), 2)
			dense, sparse := sumsOf(t, x, y, c.label, enc, c.loss), sumsOf(t, sp, y, c.label, enc, c.loss)
			var g [2][]float64
			var l [2][]float64
			for k, s := range []*Sums{dense, sparse} {
				g[k], l[k] = make([]float64, enc.Dim()), make([]float64, 1)
				if err := s.Gradient(ctx, g[k], w, c.clip); err != nil {
					t.Fatal(err)
				}
				if err := s.Losses(ctx, l[k], [][]float64{w}, []float64{1}); err != nil {
					t.Fatal(err)
				}
			}
			if diff := distance(g[0], g[1]); diff > 1e-11 {
				t.Errorf("gradients differ by %g", diff)
			}
			if math.Abs(l[0][0]-l[1][0]) > 1e-10 {
				t.Errorf("losses %v and %v", l[0], l[1])
			}
			a, errA := momentsOf(ctx, dense.t, nil)
			b, errB := momentsOf(ctx, sparse.t, nil)
			if errA != nil || errB != nil || !mat.EqualApprox(a, b, 1e-10) {
				t.Errorf("moments differ (%v, %v)", errA, errB)
			}
			if !slices.Equal(values, sp.Values) {
				t.Error("the caller's values changed")
			}
			for i := range n {
				if u := encode(&enc, x.RawRowView(i)); math.Abs(norm(u)-sparse.t.Norm[i]) > 1e-12*(1+norm(u)) {
					t.Fatalf("row %d: norm %g recorded as %g", i, norm(u), sparse.t.Norm[i])
				}
			}
		})
	}
}

// A band matrix tells its nonzeros row by row.
func TestRowNonZeroDoer(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	band := mat.NewBandDense(30, 30, 1, 2, nil)
	for i := range 30 {
		for j := max(i-1, 0); j <= min(i+2, 29); j++ {
			band.SetBand(i, j, r.NormFloat64())
		}
	}
	table, err := rows.NewTable(band, encoding.NewIdentity(30, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	if !table.IsSparse() {
		t.Error("not read as sparse")
	}
	other, err := rows.NewTable(mat.DenseCopyOf(band), encoding.NewIdentity(30, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	w := randomVector(r, 30, 1)
	a, b := make([]float64, 30), make([]float64, 30)
	rows.Scores(table, a, w)
	rows.Scores(other, b, w)
	if distance(a, b) > 1e-14 {
		t.Errorf("scores %v, want %v", a, b)
	}
}

// repeating names a column twice.
type repeating struct{ mat.Matrix }

func (repeating) DoRowNonZero(i int, f func(i, j int, v float64)) {
	f(i, 0, 1)
	f(i, 0, 1)
}

func TestBrokenRowNonZeroDoer(t *testing.T) {
	if _, err := rows.NewTable(repeating{mat.NewDense(2, 2, nil)}, encoding.NewIdentity(2, 1, false)); !errors.Is(err, check.ErrShape) {
		t.Errorf("a column named twice gives %v", err)
	}
}

func TestSparseIsAMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := randomMatrix(r, 20, 9, 1)
	s := sparsify(t, r, x, 0.3)
	if !mat.Equal(x, s) || !mat.Equal(x.T(), s.T()) {
		t.Error("elements differ")
	}
}

func TestBadSparse(t *testing.T) {
	for name, c := range map[string]struct {
		rows, cols      int
		indptr, indices []int
		values          []float64
	}{
		"no rows":          {0, 1, []int{0}, nil, nil},
		"no columns":       {1, 0, []int{0, 0}, nil, nil},
		"short indptr":     {2, 2, []int{0, 1}, []int{0}, []float64{1}},
		"indptr start":     {1, 2, []int{1, 1}, []int{0}, []float64{1}},
		"indptr end":       {1, 2, []int{0, 2}, []int{0}, []float64{1}},
		"indptr decreases": {2, 2, []int{0, 2, 1}, []int{0}, []float64{1}},
		"unequal":          {1, 2, []int{0, 1}, []int{0}, nil},
		"unsorted":         {1, 3, []int{0, 2}, []int{2, 1}, []float64{1, 1}},
		"repeated":         {1, 3, []int{0, 2}, []int{1, 1}, []float64{1, 1}},
		"out of range":     {1, 3, []int{0, 1}, []int{3}, []float64{1}},
		"negative":         {1, 3, []int{0, 1}, []int{-1}, []float64{1}},
	} {
		if s, err := rows.NewSparse(c.rows, c.cols, c.indptr, c.indices, c.values); !errors.Is(err, check.ErrShape) || s != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	nan, err := rows.NewSparse(1, 2, []int{0, 1}, []int{1}, []float64{math.NaN()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.NewTable(nan, encoding.NewIdentity(2, 1, false)); !errors.Is(err, check.ErrValue) {
		t.Errorf("NaN gives %v", err)
	}
	one, err := rows.NewSparse(1, 1, []int{0, 0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := encoding.NewSchema([]string{"a"}, map[string][2]float64{"a": {1, 2}}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.NewTable(one, enc); !errors.Is(err, check.ErrSchema) {
		t.Errorf("a range without 0 gives %v", err)
	}
}

// Pick gives the sums over the picked rows, in every form, twice over as well.
func TestPick(t *testing.T) {
	for _, c := range testCases() {
		r := rand.New(rand.NewPCG(7, 8))
		const n, d = 600, 5
		x := randomMatrix(r, n, d, 2)
		sp := sparsify(t, r, x, 0.5)
		y, enc := labelsFor(r, c, n), c.enc(t, d)
		first, second := r.Perm(n)[:400], r.Perm(400)[:150]
		want, labels := mat.NewDense(150, d, nil), make([]float64, 150)
		for k, i := range second {
			want.SetRow(k, x.RawRowView(first[i]))
			labels[k] = y[first[i]]
		}
		w := randomVector(r, enc.Dim(), 1)
		g := make([]float64, enc.Dim())
		if err := sumsOf(t, want, labels, c.label, enc, c.loss).Gradient(ctx, g, w, c.clip); err != nil {
			t.Fatal(err)
		}
		all := forms(x)
		all["sparse"] = sp
		for name, m := range all {
			table, err := rows.NewTable(m, enc)
			if err != nil {
				t.Fatal(err)
			}
			s, err := NewSums(table.Pick(first).Pick(second), labels, 0, c.label, c.loss)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, enc.Dim())
			if err := s.Gradient(ctx, got, w, c.clip); err != nil {
				t.Fatal(err)
			}
			if distance(got, g) > 1e-11 {
				t.Errorf("%s, %s: gradient off by %g", c.name, name, distance(got, g))
			}
		}
	}
}

// Moments are the weighted sums of outer products, and Quadratic has the
// gradient of the squared loss, within the rounding that its bound allows.
func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n, d = 3000, 6
	x := randomMatrix(r, n, d, 1)
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = r.Float64()
	}
	enc := affine(t, d, true)
	s := sumsOf(t, x, weights, 1, enc, losses.Squared{})
	want := mat.NewSymDense(d+1, nil)
	for i := range n {
		want.SymRankOne(want, weights[i], mat.NewVecDense(d+1, encode(&enc, x.RawRowView(i))))
	}
	got, err := momentsOf(ctx, s.t, weights)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(got, want, 1e-9) {
		t.Errorf("moments\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(want))
	}
	w, a, b := randomVector(r, d+1, 2), make([]float64, d+1), make([]float64, d+1)
	if err := s.Gradient(ctx, a, w, math.Inf(1)); err != nil {
		t.Fatal(err)
	}
	q := quadratic(t, s)
	q.Gradient(b, w)
	rounding := q.Sensitivity(2) - enc.FeatureBound()*losses.Squared{}.Diameter(2*enc.FeatureBound(), 1)
	if diff := distance(a, b); diff > rounding {
		t.Errorf("gradients differ by %g, rounding bound %g", diff, rounding)
	}
	if rounding > 1e-6 {
		t.Errorf("rounding bound %g", rounding)
	}
}
