package questions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
)

// lengths is a matrix with one row of each number of entries from 0 to most, twice
// over and in no order, so that what is read beyond a row's end belongs to another row.
func lengths(t *testing.T, normBound, cols int) (x *mat.Dense, s *rows.Sparse, entries []int) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	n := 2 * (normBound + 1)
	entries = make([]int, n)
	for k, i := range r.Perm(n) {
		entries[i] = k % (normBound + 1)
	}
	x = mat.NewDense(n, cols, nil)
	indptr, indices, values := []int{0}, []int{}, []float64{}
	for i, count := range entries {
		columns := r.Perm(cols)[:count]
		slices.Sort(columns)
		for _, j := range columns {
			v := math.Copysign(0.5+r.Float64(), r.Float64()-0.5)
			x.Set(i, j, v)
			indices, values = append(indices, j), append(values, v)
		}
		indptr = append(indptr, len(indices))
	}
	s, err := rows.NewSparse(n, cols, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	return x, s, entries
}

// doer is a sparse matrix by its nonzeros.
type doer struct{ x *mat.Dense }

func (m doer) Dims() (int, int)    { return m.x.Dims() }
func (m doer) At(i, j int) float64 { return m.x.At(i, j) }
func (m doer) T() mat.Matrix       { return mat.Transpose{Matrix: m} }
func (m doer) DoRowNonZero(i int, f func(i, j int, v float64)) {
	for j, v := range m.x.RawRowView(i) {
		if v != 0 {
			f(i, j, v)
		}
	}
}

// Sparse rows of each length from 0 to 64 against loops over the dense rows that they
// stand for: values, features, norms, scores, sums and moments, as they are and in a
// schema, in the caller's order and picked, and as their projections.
func TestSparseRowsOfEachLength(t *testing.T) {
	testRowsOfEachLength(t, 70)
	testRowsOfEachLength(t, 250) // where all moments are made of products of entries
}

func testRowsOfEachLength(t *testing.T, cols int) {
	t.Helper()
	x, s, entries := lengths(t, 64, cols)
	n := len(entries)
	if !mat.Equal(x, s) {
		t.Fatal("At is off")
	}
	all, reversed := make([]int, n), make([]int, n)
	for i := range n {
		all[i], reversed[i] = i, n-1-i
	}
	// Bounds so large that no row is scaled, so small that all but the empty are, and
	// ranges that contain all values.
	long, short := encoding.NewIdentity(cols, 100, false), encoding.NewIdentity(cols, 0.25, true)
	for name, enc := range map[string]encoding.Encoding{"as they are": long, "scaled, intercept": short, "schema, intercept": affine(t, cols, true)} {
		for form, m := range map[string]mat.Matrix{"Sparse": s, "DoRowNonZero": doer{x}} {
			table, err := rows.NewTable(m, enc)
			if err != nil {
				t.Fatal(err)
			}
			if !table.IsSparse() {
				t.Fatalf("%s is not read as sparse", form)
			}
			for how, order := range map[string][]int{"": all, ", reversed": reversed} {
				p := plain{name: fmt.Sprintf("%s of %d columns, %s%s", form, cols, name, how), table: table}
				if how != "" {
					p.table = table.Pick(order)
				}
				lengths := blocks.Gather(entries, order)
				for _, i := range order {
					p.want = append(p.want, encode(&enc, x.RawRowView(i))[:cols])
				}
				p.checkLengths(t, lengths)
				p.checkLengthSums(t, lengths)
				p.checkLengthImages(t, lengths)
			}
		}
	}
}

// checkLengths checks norms, features and scores.
func (p plain) checkLengths(t *testing.T, entries []int) {
	t.Helper()
	e := &p.table.Enc
	r := rand.New(rand.NewPCG(13, 14))
	w, z := randomVector(r, e.Dim(), 1), make([]float64, len(entries))
	rows.Scores(p.table, z, w)
	encoded := features(t, p.table)
	for i, u := range p.want {
		if got := p.table.Length[i]; math.Abs(got-norm(u)) > 1e-12 {
			t.Errorf("%s: a row of %d entries has norm %g, want %g", p.name, entries[i], got, norm(u))
		}
		var score float64
		for j, v := range u {
			score += w[j] * v
		}
		if e.Intercept {
			score += w[len(u)] * e.Constant
		}
		if math.Abs(z[i]-score) > 1e-12 {
			t.Errorf("%s: a row of %d entries has score %g, want %g", p.name, entries[i], z[i], score)
		}
		if d := distance(encoded[i][:len(u)], u); d > 1e-12 {
			t.Errorf("%s: a row of %d entries has features off by %g", p.name, entries[i], d)
		}
	}
}

// checkLengthSums checks gradients and moments of one row at a time.
func (p plain) checkLengthSums(t *testing.T, entries []int) {
	t.Helper()
	n, dim := len(entries), p.table.Enc.Dim()
	for i, u := range p.want {
		if p.table.Enc.Intercept {
			u = append(slices.Clone(u), p.table.Enc.Constant)
		}
		labels, g := make([]float64, n), make([]float64, dim)
		labels[i] = -1
		s, err := NewSums(p.table, labels, 0, 1, losses.Squared{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Gradient(ctx, g, make([]float64, dim), math.Inf(1)); err != nil {
			t.Fatal(err)
		}
		if d := distance(g, u); d > 1e-12 {
			t.Errorf("%s: the gradient of a row of %d entries is off by %g", p.name, entries[i], d)
		}
		m, err := momentsOf(ctx, p.table.Pick([]int{i}), nil)
		if err != nil {
			t.Fatal(err)
		}
		for j := range u {
			for k := range u {
				if math.Abs(m.At(j, k)-u[j]*u[k]) > 1e-11 {
					t.Fatalf("%s: a row of %d entries has the moment %g in (%d, %d), want %g", p.name, entries[i], m.At(j, k), j, k, u[j]*u[k])
				}
			}
		}
	}
}

// checkLengthImages checks the projections of all maps.
func (p plain) checkLengthImages(t *testing.T, entries []int) {
	t.Helper()
	const k = 6
	cols := p.table.Enc.Columns
	for name, phi := range map[string]rows.Projection{"gaussian": sketch.NewGaussian(k, cols, 1), "rademacher": sketch.NewRademacher(k, cols, 2),
		"sparse": sketch.NewSparse(k, cols, 3), "hadamard": sketch.NewHadamard(k, cols, 4)} {
		columns, Unit := make([][]float64, cols), make([]float64, cols) // of the map
		for j := range columns {
			columns[j] = make([]float64, k)
			Unit[j] = 1
			phi.Apply(columns[j], Unit)
			Unit[j] = 0
		}
		projected, err := rows.Project(ctx, p.table, phi, 1e3)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range features(t, projected) {
			want := make([]float64, k)
			for j, v := range p.want[i] {
				for c := range want {
					want[c] += columns[j][c] * v
				}
			}
			if d := distance(got[:k], want); d > 1e-11 {
				t.Errorf("%s: the %s image of a row of %d entries is off by %g", p.name, name, entries[i], d)
			}
		}
	}
}
