package rows

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// PackedMoments returns the upper triangle of the second moments of the rows, those
// longer than the given bound scaled down to it, row by row and entries off the
// diagonal times √2: its L2 norm is the Frobenius norm of the matrix, so that noise
// of one size in each number is isotropic among symmetric matrices.
func (s *Sums) PackedMoments(ctx context.Context, longest float64) ([]float64, error) {
	m, err := s.t.Moments(ctx, s.t.shortening(longest))
	if err != nil {
		return nil, err
	}
	return pack(m), nil
}

// pack is the upper triangle of m, entries off the diagonal times √2.
func pack(m *mat.SymDense) []float64 {
	d := m.SymmetricDim()
	packed := make([]float64, 0, d*(d+1)/2)
	for i := range d {
		for j := i; j < d; j++ {
			v := m.At(i, j)
			if i != j {
				v *= math.Sqrt2
			}
			packed = append(packed, v)
		}
	}
	return packed
}

// shortening returns the weights (longest/‖xᵢ‖)² ≤ 1 of the rows' outer products, or
// nil where the bound on rows leaves nothing to shorten.
func (t *Table) shortening(longest float64) []float64 {
	if longest >= t.enc.FeatureBound() {
		return nil
	}
	weights := make([]float64, t.Rows())
	for i, r := range t.norm {
		weights[i] = 1
		if r > longest {
			weights[i] = longest / r * (longest / r)
		}
	}
	return weights
}

// Unpack returns the matrix of packed second moments.
func Unpack(packed []float64, dim int) *mat.SymDense {
	m := mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := i; j < dim; j++ {
			v := packed[0]
			packed = packed[1:]
			if i != j {
				v /= math.Sqrt2
			}
			m.SetSym(i, j, v)
		}
	}
	return m
}

// MomentsDistance is the exact L2 sensitivity of packed second moments of rows whose
// features have norm at most b, beside a constant feature c: for two rows u, v, of
// norm at most x = √(b²+c²), it is
//
//	‖uuᵀ − vvᵀ‖_F = √(‖u‖⁴ + ‖v‖⁴ − 2⟨u, v⟩²) ≤ √2·x²
//
// with equality for orthogonal rows at the bound. Where b < c no two rows are
// orthogonal. Then u = (u', c), v = (v', c), |⟨u, v⟩| ≥ c² − ‖u'‖‖v'‖ and the
// right-hand side, which increases in both norms, is at most
// √(2(c²+b²)² − 2(c²−b²)²) = 2√2·b·c.
func MomentsDistance(b, c float64) float64 {
	if b < c {
		return 2 * math.Sqrt2 * b * c * (1 + 1e-15)
	}
	return math.Sqrt2 * (float64(b*b) + float64(c*c)) * (1 + 1e-15)
}

// PackedSensitivity bounds the L2 distance between the answers of PackedMoments on
// neighbouring tables, as computed. Rows shortened to R = longest < X are no better
// than arbitrary ones: √2·R² takes the place of MomentsDistance. Rounding adds, with
// m rows a block, B blocks and R ≤ X the bound on rows:
//
//   - each of the two rows is off by slack·R (see GradientSensitivity), twice that
//     where it is shortened, hence its outer product by less than 4.2·slack·R²;
//   - blocks without the replaced row have the same bits. The block with it is off
//     by γ_m·m·R² in each answer, and each of the B merges by u·n·R²;
//   - the factor √2 and its product round each entry by two units, of a matrix of
//     norm at most n·R², in each answer.
func (s *Sums) PackedSensitivity(longest float64) float64 {
	e, l := &s.t.enc, s.t.momentsLayout()
	n, m, blocks := float64(l.n), float64(l.blockRows()), float64(l.blocks)
	x, exact := e.FeatureBound(), MomentsDistance(e.Bound, e.Constant)
	if longest < x {
		x, exact = longest, math.Min(exact, MomentsDistance(longest, 0))
	}
	slack := s.boundsAt(0, math.Inf(1)).slack
	sums := 2.2 * unit * (float64(m*m) + float64(blocks*n) + float64(4*n))
	return exact + float64(x*x*(float64(2*4.2*slack)+float64(sums)))
}
