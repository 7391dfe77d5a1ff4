package questions

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// momentsByDefinition is Σ weights_i·xᵢxᵢᵀ over encoded rows.
func momentsByDefinition(enc *encoding.Encoding, x *mat.Dense, weights []float64) *mat.SymDense {
	m := mat.NewSymDense(enc.Dim(), nil)
	for i, weight := range weights {
		m.SymRankOne(m, weight, mat.NewVecDense(enc.Dim(), encode(enc, x.RawRowView(i))))
	}
	return m
}

// Rows with few entries, the shrunk and the weightless among them, have the moments
// of the dense matrix they stand for.
func TestMomentsOfFewEntries(t *testing.T) {
	const n, d = 700, 60
	for _, intercept := range []bool{false, true} {
		for _, bound := range []float64{0.5, 100} {
			r := rand.New(rand.NewPCG(31, 32))
			x := randomMatrix(r, n, d, 1)
			sparse, enc := sparsify(t, r, x, 0.05), encoding.NewIdentity(d, bound, intercept)
			weights := make([]float64, n)
			for i := range weights {
				weights[i] = max(0, r.Float64()-0.3)
			}
			table, err := rows.NewTable(sparse, enc)
			if err != nil {
				t.Fatal(err)
			}
			if !rows.ScatterPays(table, table.Src.Tile(0, 128, nil)) {
				t.Error("rows with 3 entries of 60 are multiplied in full")
			}
			for _, table := range []*rows.Table{table, table.Rebound(bound/2, 0.125)} {
				got, err := momentsOf(ctx, table, weights)
				if err != nil {
					t.Fatal(err)
				}
				if want := momentsByDefinition(&table.Enc, x, weights); !mat.EqualApprox(got, want, 1e-11) {
					t.Errorf("bound %g, intercept %t: moments differ", table.Enc.Bound, intercept)
				}
			}
		}
	}
}

// Curvatures and Hessian are the loss's second derivatives where the clip lets the
// gradient be, for all rows and for every fifth.
func TestHessian(t *testing.T) {
	const n, d, clip = 1500, 5, 0.3
	r := rand.New(rand.NewPCG(33, 34))
	x, y := randomMatrix(r, n, d, 1), make([]float64, n)
	for i := range y {
		y[i] = float64(r.IntN(2))
	}
	for _, enc := range []encoding.Encoding{encoding.NewIdentity(d, 1, true), affine(t, d, false)} {
		s, loss, w := sumsOf(t, x, y, 0, enc, losses.Logistic{}), losses.Logistic{}, randomVector(r, enc.Dim(), 2)
		curvatures, err := s.Curvatures(ctx, w, clip)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for i := range n {
			u := encode(&enc, x.RawRowView(i))
			z, sign := mat.Dot(mat.NewVecDense(len(u), u), mat.NewVecDense(len(w), w)), 2*y[i]-1
			want := loss.Curvature(z, sign)
			if math.Abs(loss.Deriv(z, sign))*norm(u) > clip {
				want = 0
				held++
			}
			if math.Abs(curvatures.of[i]-want) > 1e-14 {
				t.Fatalf("row %d: curvature %g, want %g", i, curvatures.of[i], want)
			}
		}
		if held == 0 || held == n {
			t.Errorf("the clip holds %d rows of %d", held, n)
		}
		for _, k := range []int{1, 5} {
			weights := make([]float64, n)
			for i := 0; i < n; i += k {
				weights[i] = curvatures.of[i]
			}
			got, err := s.Every(k).Hessian(ctx, w, clip)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(got, momentsByDefinition(&enc, x, weights), 1e-11) {
				t.Errorf("every %d: Hessian differs from its definition", k)
			}
		}
	}
}

func TestMomentsSameBitsForAnyGOMAXPROCS(t *testing.T) {
	const n, d = 20_000, 11
	r := rand.New(rand.NewPCG(35, 36))
	s := sumsOf(t, randomMatrix(r, n, d, 1), make([]float64, n), 1, encoding.NewIdentity(d, 1, true), losses.Squared{})
	var first []float64
	for _, procs := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(procs)
		q := quadratic(t, s)
		runtime.GOMAXPROCS(old)
		if first == nil {
			first = q.moments
		}
		if !slices.Equal(first, q.moments) {
			t.Errorf("GOMAXPROCS=%d gives other bits", procs)
		}
	}
}

// Replacing a row leaves the moments of the blocks without it as they were, on which
// the rounding bound rests.
func TestReplacedRowTouchesItsBlockOnly(t *testing.T) {
	const n, d, at = 5000, 4, 2600
	r := rand.New(rand.NewPCG(37, 38))
	x := randomMatrix(r, n, d, 0.3)
	blocks := func() (sums [][]float64) {
		table, err := rows.NewTable(x, encoding.NewIdentity(d, 1, false))
		if err != nil {
			t.Fatal(err)
		}
		l := table.Layout.Moments(table.Enc.Dim())
		for b := range l.Blocks {
			err := table.Read(ctx, (&moments{}).cut(table), b, b+1, func(p *rows.Part) rows.Adder { return (&moments{}).adder((&Sums{t: table}).part(p)) }, func(sum []float64) { sums = append(sums, slices.Clone(sum)) })
			if err != nil {
				t.Fatal(err)
			}
		}
		return sums
	}
	before := blocks()
	x.SetRow(at, []float64{9, 9, 9, 9}) // beyond the bound
	changed := 0
	for b, sum := range blocks() {
		if !slices.Equal(sum, before[b]) {
			changed++
		}
	}
	if len(before) < 3 || changed != 1 {
		t.Errorf("%d of %d blocks changed", changed, len(before))
	}
}

func TestCancelledMoments(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	s := sumsOf(t, mat.NewDense(5000, 3, nil), make([]float64, 5000), 1, encoding.NewIdentity(3, 1, false), losses.Squared{})
	w := make([]float64, 3)
	_, moments := momentsOf(cancelled, s.t, nil)
	_, hessian := s.Hessian(cancelled, w, 1)
	_, curvatures := s.Curvatures(cancelled, w, 1)
	_, quadratic := NewQuadratic(cancelled, s)
	for _, err := range []error{moments, hessian, curvatures, quadratic} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func BenchmarkMoments(b *testing.B) {
	const n, d = 100_000, 100
	r := rand.New(rand.NewPCG(39, 40))
	table, err := rows.NewTable(randomMatrix(r, n, d, 0.1), encoding.NewIdentity(d, 10, false))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(n * d * 8)
	for b.Loop() {
		if _, err := momentsOf(ctx, table, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// A step of Noisy GD by second moments, but for the noise.
func BenchmarkQuadratic(b *testing.B) {
	const n, d = 1000, 100
	r := rand.New(rand.NewPCG(41, 42))
	table, err := rows.NewTable(randomMatrix(r, n, d, 0.1), encoding.NewIdentity(d, 1, false))
	if err != nil {
		b.Fatal(err)
	}
	s, err := NewSums(table, make([]float64, n), 0, 1, losses.Squared{})
	if err != nil {
		b.Fatal(err)
	}
	q, err := NewQuadratic(ctx, s)
	if err != nil {
		b.Fatal(err)
	}
	g, w := make([]float64, d), randomVector(r, d, 1)
	for b.Loop() {
		q.Gradient(g, w)
		_ = q.Sensitivity(1)
	}
}
