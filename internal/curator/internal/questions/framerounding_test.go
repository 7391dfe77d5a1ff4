package questions

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Rounding moves the difference of packed moments by no more than is added for it.
func TestRoundingBoundOfFramedMoments(t *testing.T) {
	const n = 20_000
	rounded := false
	for _, c := range adversarialCases() {
		e := c.encoding(t)
		normBound := e.Bound * math.Min(c.clip, 1)
		r := rand.New(rand.NewPCG(41, 42))
		x, y := mat.NewDense(n, adversarialDim, nil), make([]float64, n)
		for i := range n {
			x.SetRow(i, c.row(r))
		}
		at, pair := r.IntN(n), [2][]float64{c.row(r), c.row(r)}
		var packed [2][]float64
		var exact [2][]precise
		var rounding float64
		for side, row := range pair {
			x.SetRow(at, row)
			framed, err := NewFramed(ctx, sumsOf(t, c.matrix(t, x), y, 1, e, losses.Squared{}), whole, Frame{})
			if err != nil {
				t.Fatal(err)
			}
			if packed[side], rounding, err = heard(framed.Moments(ctx, normBound)); err != nil {
				t.Fatal(err)
			}
			rounding -= framed.bounds().momentsDistance(normBound)
			u := exactFeatures(&e, row)[:e.Columns]
			if r := preciseNorm(u); r.above(number(normBound)) {
				for j := range u {
					u[j] = u[j].times(number(normBound)).over(r)
				}
			}
			exact[side] = exactProduct(u)
		}
		diff := gap(packed[0], packed[1], exact[0], exact[1])
		t.Logf("%s: %.2g of the bound", c.name, diff/rounding)
		if diff > rounding {
			t.Errorf("%s: rounding changed the difference by %g, bound %g", c.name, diff, rounding)
		}
		rounded = rounded || diff > 0
	}
	if !rounded {
		t.Error("nothing was rounded, so nothing was tested")
	}
}

// Nor where features are a million times as long as their coordinates, beside a constant that isn't: what is added for it is far less than if the constant were as long as they.
func TestRoundingBoundOfShrunkMoments(t *testing.T) {
	const n, d, long, constant = 20_000, 3, 1e6, 0.5
	r := rand.New(rand.NewPCG(43, 44))
	f := Frame{Centre: []float64{2 * long, -long, long / 3}, Matrix: mat.NewDense(d, 2, nil)}
	for j := range d {
		for k := range 2 {
			f.Matrix.Set(j, k, r.NormFloat64()/long)
		}
	}
	e := encoding.NewIdentity(d, 8*long, false)
	row := func() []float64 {
		return []float64{long * (2 + r.NormFloat64()), long * r.NormFloat64(), long * r.NormFloat64()}
	}
	for trial := range 4 {
		x, y := mat.NewDense(n, d, nil), make([]float64, n)
		for i := range n {
			x.SetRow(i, row())
		}
		at, pair := r.IntN(n), [2][]float64{row(), row()}
		var packed [2][]float64
		var exact [2][]precise
		var rounding float64
		for side, row := range pair {
			x.SetRow(at, row)
			framed, err := NewFramed(ctx, sumsOf(t, x, y, 1, e, losses.Squared{}), whole, f)
			if err != nil {
				t.Fatal(err)
			}
			const norm = 100
			if packed[side], rounding, err = heard(framed.Hessian(ctx, make([]float64, 2), 0, constant, 1, norm, Slope{})); err != nil {
				t.Fatal(err)
			}
			rounding -= framed.bounds().momentsDistance(norm)
			exact[side] = exactProduct(append(f.exactCoordinates(exactFeatures(&e, row)[:d]), number(constant)))
		}
		diff := gap(packed[0], packed[1], exact[0], exact[1])
		t.Logf("trial %d: %.2g of the bound %.2g", trial, diff/rounding, rounding)
		if !(diff > 0 && diff <= rounding && rounding < 1e-6) {
			t.Errorf("trial %d: rounding changed the difference by %g, bound %g", trial, diff, rounding)
		}
	}
}

// exactProduct is the packed outer product of a row with itself.
func exactProduct(u []precise) (packed []precise) {
	for i := range u {
		for j := i; j < len(u); j++ {
			v := u[i].times(u[j])
			if i != j {
				v = v.times(number(2).root())
			}
			packed = append(packed, v)
		}
	}
	return packed
}

// edgeRows are rows of one column: on edges, a bit beside them, at zero, tiny, and
// beyond the bound.
func edgeRows(edges []float64) []float64 {
	list := []float64{0, 5e-324, 1e-300, 2 * edges[0], 1e90}
	for _, e := range edges {
		list = append(list, e, math.Nextafter(e, 0), math.Nextafter(e, math.Inf(1)), -e)
	}
	return list
}

// movedCounts checks that two histograms differ by a row or not at all, and returns
// whether they do.
func movedCounts(t *testing.T, a, b []float64, n int) bool {
	t.Helper()
	up, down, total := 0, 0, 0.0
	for k := range a {
		switch b[k] - a[k] {
		case 0:
		case 1:
			up++
		case -1:
			down++
		default:
			t.Fatalf("a count moved by %g", b[k]-a[k])
		}
		total += b[k]
	}
	if up > 1 || down != up || total != float64(n) {
		t.Fatalf("%d counts rose and %d fell; they sum to %g, want %d", up, down, total, n)
	}
	return up == 1
}

// A histogram of lengths counts each row once, in the cell that its measured norm is in,
// and a replaced row moves at most one count up and one down, by 1.
func TestLengthsAtEdges(t *testing.T) {
	edges := []float64{1.3, 0.8, 0.4, 0.1, 1e-3}
	candidates := edgeRows(edges)
	for _, part := range []float64{1, 0.4} {
		var last []float64
		moves := 0
		for _, v := range candidates {
			x := mat.NewDense(4, 1, []float64{0.5, 0, v, 9})
			table := mustTable(t, x, encoding.NewIdentity(1, 1.5, false)).Rebound(part*1.5, 0.5).Pick([]int{3, 2, 1, 0})
			framed, err := NewFramed(ctx, (&Sums{t: table, loss: losses.Logistic{}, labels: make([]float64, 4)}), whole, Frame{})
			if err != nil {
				t.Fatal(err)
			}
			counts, _, _ := heard(framed.Lengths(ctx, edges))
			for k, e := range edges {
				longer, above := 0, 0.0
				for _, length := range framed.norms.length {
					if length > e {
						longer++
					}
				}
				for _, c := range counts[:k+1] {
					above += c
				}
				if float64(longer) != above {
					t.Errorf("row %g: %g rows above the edge %g, want %d", v, above, e, longer)
				}
			}
			if last != nil && movedCounts(t, last, counts, 4) {
				moves++
			}
			last = counts
		}
		if moves < 3 { // edges below either bound
			t.Errorf("only %d of %d replacements moved a count", moves, len(candidates)-1)
		}
	}
}

// Histograms have the edges to the cell below them, and a sensitivity that is no less
// than √2 by a rounding.
func TestHistogram(t *testing.T) {
	counts, l2, _ := heard((&Framed{s: &Sums{t: new(rows.Table)}, rows: whole, norms: &frameNorms{length: []float64{0, 1, 1.5, 2, 2.5, math.Inf(1), 7}}}).Lengths(ctx, []float64{2, 1}))
	if !slices.Equal(counts, []float64{3, 2, 2}) {
		t.Errorf("counts %v", counts)
	}
	if l2*l2 < 2 || l2 > math.Sqrt2*(1+1e-12) {
		t.Errorf("sensitivity %.17g", l2)
	}
}
