package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// Packed second moments are those of the shortened rows, and have the Frobenius norm
// of the matrix that they unpack to.
func TestPackedMoments(t *testing.T) {
	for _, f := range searchForms(t) {
		for _, longest := range []float64{10, 0.8} {
			s := f.sums(t, losses.Squared{}, []float64{0.4, -0.1, 0.7}, 1)
			packed, err := s.PackedMoments(ctx, longest)
			if err != nil {
				t.Fatal(err)
			}
			want := mat.NewSymDense(s.Dim(), nil)
			for i := range s.Rows() {
				one, err := s.t.Pick([]int{i}).Moments(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				one.ScaleSym(math.Min(1, longest*longest/mat.Trace(one)), one)
				want.AddSym(want, one)
			}
			if got := Unpack(packed, s.Dim()); !mat.EqualApprox(got, want, 1e-14) {
				t.Errorf("%s, shortened to %g: unpacks to %v, want %v", f.name, longest, mat.Formatted(got), mat.Formatted(want))
			}
			if a, b := norm(packed), mat.Norm(want, 2); math.Abs(a-b) > 1e-14*b {
				t.Errorf("%s: norm %g, the matrix has %g", f.name, a, b)
			}
		}
	}
}

// The claim at MomentsDistance: no neighbour moves packed second moments further,
// and some move them that far, also where an intercept keeps all rows in one half
// of the space.
func TestPackedMomentsBySearch(t *testing.T) {
	list := searchForms(t)
	for _, bound := range []float64{0.2, 0.9} {
		enc := NewIdentity(searchColumns, bound, true)
		list = append(list, form{"short, intercept", func(t *testing.T, row []float64) *Table { return three(t, row, enc, false) }, false})
	}
	for _, c := range []struct{ bound, constant float64 }{{0.5, 0.125}, {0.0625, 0.25}} {
		wide := NewIdentity(searchColumns, 1, true)
		list = append(list, form{"rebound, intercept", func(t *testing.T, row []float64) *Table {
			return three(t, row, wide, false).Rebound(c.bound, c.constant)
		}, false})
	}
	for _, f := range list {
		for _, longest := range []float64{10, 0.7} {
			claimed := f.sums(t, losses.Squared{}, []float64{0, 0, 0}, 0).PackedSensitivity(longest)
			worst := f.worstNeighbours(t, losses.Squared{}, func(s *Sums) []float64 {
				packed, err := s.PackedMoments(ctx, longest)
				if err != nil {
					t.Fatal(err)
				}
				return packed
			}, 300)
			if worst > claimed {
				t.Errorf("%s, shortened to %g: neighbours move the moments by %g, claimed %g", f.name, longest, worst, claimed)
			}
			loose := strings.HasPrefix(f.name, "schema") || strings.HasPrefix(f.name, "short") && longest < 1
			if !loose && worst < 0.95*claimed {
				t.Errorf("%s, shortened to %g: the search finds %g of %g only", f.name, longest, worst, claimed)
			}
		}
	}
}

// Rounding moves the difference of packed moments by no more than is added for it.
func TestRoundingBoundOfPackedMoments(t *testing.T) {
	const n = 20_000
	rounded := false
	for _, c := range adversarialCases() {
		e := c.encoding(t)
		longest := c.clip * e.FeatureBound()
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
			s := sumsOf(t, c.matrix(t, x), y, 1, e, losses.Squared{})
			var err error
			if packed[side], err = s.PackedMoments(ctx, longest); err != nil {
				t.Fatal(err)
			}
			exact[side] = exactProduct(exactGradient(&e, row, -1, make([]float64, e.Dim()), longest)) // at −y = 1 and w = 0, the row
			rounding = s.PackedSensitivity(longest) - MomentsDistance(e.Bound, e.Constant)
			if longest < e.FeatureBound() {
				rounding = s.PackedSensitivity(longest) - MomentsDistance(longest, 0)
			}
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

// Rows are counted by the norms of their features.
func TestRowNorms(t *testing.T) {
	for _, f := range searchForms(t) {
		s := f.sums(t, losses.Squared{}, []float64{0.4, -0.1, 0.7}, 1)
		edges, want := []float64{1.1, 0.5}, make([]float64, 3)
		for i := range s.Rows() {
			m, err := s.t.Pick([]int{i}).Moments(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			switch r := math.Sqrt(mat.Trace(m)); {
			case r > 1.1:
				want[0]++
			case r > 0.5:
				want[1]++
			default:
				want[2]++
			}
		}
		counts := make([]float64, 3)
		s.RowNorms(counts, edges)
		if !slices.Equal(counts, want) {
			t.Errorf("%s: counts %v, want %v", f.name, counts, want)
		}
	}
}

// Counts of gradient norms follow their definition, and a replaced row moves one
// row from a count to another at most, whatever the row.
func TestGradientNorms(t *testing.T) {
	edges, moved := []float64{2, 1, 0.5, 0.1}, false
	for _, f := range searchForms(t) {
		for _, loss := range every {
			s := f.sums(t, loss, []float64{0.4, -0.1, 0.7}, 1)
			w := make([]float64, s.Dim())
			w[0] = 0.7
			counts, total := make([]float64, len(edges)+1), 0.0
			s.GradientNorms(counts, edges, w)
			for k, c := range counts {
				above, below := math.Inf(1), 0.0
				if k > 0 {
					above = edges[k-1]
				}
				if k < len(edges) {
					below = edges[k]
				}
				want := 0.0
				for i := range s.Rows() {
					g := make([]float64, s.Dim())
					one := newSums(s.t.Pick([]int{i}), s.labels[i:i+1], searchLabel, loss)
					if err := one.Gradient(ctx, g, w, math.Inf(1)); err != nil {
						t.Fatal(err)
					}
					if r := norm(g); r <= above && (r > below || k == len(edges)) {
						want++
					}
				}
				if c != want {
					t.Errorf("%s, %s: %g gradients in (%g, %g], want %g", f.name, loss.Name(), c, below, above, want)
				}
				total += c
			}
			if total != 3 {
				t.Errorf("%s, %s: %g gradients of 3 rows", f.name, loss.Name(), total)
			}
			worst := f.worstNeighbours(t, loss, func(s *Sums) []float64 {
				counts := make([]float64, len(edges)+1)
				s.GradientNorms(counts, edges, w)
				return counts
			}, 40)
			if worst > math.Sqrt2 {
				t.Errorf("%s, %s: neighbours move the counts by %g", f.name, loss.Name(), worst)
			}
			moved = moved || worst > 0
		}
	}
	if !moved {
		t.Error("no neighbour moves any count")
	}
}
