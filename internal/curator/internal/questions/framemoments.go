package questions

import (
	"cmp"
	"context"
	"encoding/gob"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Moments are the packed second moments (see pack) of the rows' shortened coordinates,
// those longer than the given norm scaled down to it. They move by √2·normBound² and
// rounding when a row is replaced. Where each row counts, persons' are held as in Hessian.
func (r *Framed) Moments(ctx context.Context, normBound float64) (release.Answer, error) {
	return r.packed(ctx, &framedMoments{packing(r, 0), normBound}, normBound, r.bounds().momentsSensitivity(math.Max(1, r.m.Each), 0, normBound))
}

// framedMoments asks for Moments.
type framedMoments struct {
	Packing
	NormBound float64
}

func (q *framedMoments) adder(s *Sums) rows.Adder {
	r := q.on(s)
	if r.m.Each > 0 {
		return q.addingHeld(r, square(q.NormBound), func(f, _ []float64, _ rows.Tile, lo int) {
			for k := range f {
				f[k] = math.Min(math.Sqrt(rowCounts(r, lo+k)), q.NormBound/r.norms.row(lo+k))
			}
		})
	}
	return q.adding(r, nil, func(f, _ []float64, _ rows.Tile, lo int) {
		for k := range f {
			f[k] = math.Min(1, q.NormBound/r.norms.row(lo+k))
		}
	})
}

// Fourth are the packed Σ ‖v‖²·vvᵀ of the rows' shortened coordinates v, those longer than the given norm scaled down to it:
// fourth moments, summed over two of their indices. They are second moments of ‖v‖·v, which is normBound² long at most, and
// move by √2·normBound⁴ and rounding when a row is replaced. Rows that count person by person are refused.
func Fourth(ctx context.Context, r *Framed, normBound float64) (release.Answer, error) {
	if r.m.Each > 0 {
		return release.Answer{}, check.Fail(check.ErrConfig, "rows", nil, "must not be held person by person: a sum of products of pairs isn't one")
	}
	most := square(normBound)
	return r.packed(ctx, &framedFourth{packing(r, 0), normBound}, most, r.bounds().momentsSensitivity(math.Max(1, most), 0, most))
}

// framedFourth asks for Fourth.
type framedFourth struct {
	Packing
	NormBound float64
}

func (q *framedFourth) adder(s *Sums) rows.Adder {
	r := q.on(s)
	return q.adding(r, nil, func(f, _ []float64, _ rows.Tile, lo int) {
		for k := range f {
			norm := r.norms.row(lo + k)
			f[k] = norm * square(math.Min(1, q.NormBound/norm))
		}
	})
}

// MomentNorms is the histogram of the norms that Moments holds to its bound: rows', or where each row counts the roots
// of persons' second moments' in Frobenius norm.
func (r *Framed) MomentNorms(ctx context.Context, edges []float64) (release.Answer, error) {
	if r.m.Each == 0 {
		return r.Lengths(ctx, edges)
	}
	return r.histogram(ctx, &framedSpans{r.in(), edges}, edges)
}

// framedSpans asks for MomentNorms of persons.
type framedSpans struct {
	InFrame
	Edges []float64
}

func (q *framedSpans) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Edges) + 1) }

func (q *framedSpans) adder(s *Sums) rows.Adder {
	r := q.on(s)
	return spanning(r, q.Edges, 0, func(z, f []float64, _ rows.Tile, lo int) {
		for k := range f {
			f[k] = rowCounts(r, lo+k)
		}
	})
}

// spanning counts the roots of the norms of persons' Σ f·(x̃, constant)(x̃, constant)ᵀ, of which set sets the f.
func spanning(r *Framed, edges []float64, constant float64, set func(z, f []float64, tile rows.Tile, lo int)) rows.Adder {
	t := r.s.t
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		z, f, of := a.Z[:tile.Rows], a.Beside[:tile.Rows], squares{r.m, constant, &a.Squares}
		set(z, f, tile, lo)
		a.Row = rows.Room(a.Row, t.Enc.Dim())
		t.Persons.Runs(lo, tile.Rows, func(from, to int, ends bool) {
			for i := from; i < to; i++ {
				if f[i-lo] != 0 {
					r.m.features(a.Row, t, tile, lo, i-lo)
					of.add(a.Row[:t.Enc.Columns], math.Sqrt(f[i-lo]))
				}
			}
			if ends {
				a.Sum[cell(edges, math.Sqrt(of.end()))]++
			}
		})
	}
}

// curvatures turns scores z of the rows from lo on into √φ”·‖(tᵢx̃ᵢ, constant)‖, φ” held to
// [0, most], and sets curvatures to the φ”; where the slope asks for what is likely these are times the
// factor that it has gradients shortened by, and where each row counts times what it counts. The loss must tell its
// curvature.
func (r *Framed) curvatures(constant, most float64, p Slope) func(z, curvatures []float64, lo int) {
	curvature, _ := losses.CurvatureOf(r.s.loss)
	var norms []float64
	if p.Likely > 0 {
		norms = r.norms.beside(p)
	}
	return func(z, curvatures []float64, lo int) {
		if p.Likely > 0 {
			r.s.likely(curvatures, z, lo, p.Likely)
		}
		r.s.offsets.add(z, lo)
		for k, score := range z {
			c := withinCap(curvature(score, r.s.labels[lo+k]), most)
			if p.Likely > 0 {
				c *= weight(curvatures[k], norms[lo+k], p.Clip)
			}
			if r.m.Each > 0 {
				c *= rowCounts(r, lo+k)
			}
			curvatures[k] = c
			z[k] = math.Sqrt(c) * math.Hypot(r.norms.row(lo+k), constant) * (1 + 8*encoding.Unit)
		}
	}
}

// CurvatureNorms is the histogram of √φ”·‖(tᵢx̃ᵢ, constant)‖ at the score ⟨u, tᵢx̃ᵢ⟩ + offset,
// φ” held to at most most, and weighted as Slope says, if it does; where each row counts of the roots of what Hessian
// holds of persons.
func (r *Framed) CurvatureNorms(ctx context.Context, edges, u []float64, offset, constant, most float64, p Slope) (release.Answer, error) {
	q := &framedCurvatures{Scored{r.in(), edges, u, offset}, constant, most, p}
	return r.scored(ctx, q, &q.Scored)
}

// framedCurvatures asks for CurvatureNorms.
type framedCurvatures struct {
	Scored
	Constant, Most float64
	Slope          Slope
}

func (q *framedCurvatures) adder(s *Sums) rows.Adder {
	r := q.on(s)
	curve := r.curvatures(q.Constant, q.Most, q.Slope)
	if r.m.Each == 0 {
		return q.counting(r, curve)
	}
	score := r.scoring(q.U, q.Offset)
	return spanning(r, q.Edges, q.Constant, func(z, f []float64, tile rows.Tile, lo int) {
		score(z, tile, lo)
		curve(z, f, lo)
	})
}

// Hessian is the packed Σ φ”ᵢ(tᵢx̃ᵢ, constant)(tᵢx̃ᵢ, constant)ᵀ, rows with a longer
// √φ”(tx̃, constant) scaled down to the given norm. It moves by √2·normBound² and rounding
// when a row is replaced. A weight is at most the largest φ” and, times
// the squared constant, at most normBound². Where the constant is 0 it has no coordinate. A slope
// that asks for what is likely has rows count as its gradients do. Where each row counts, it is a person's sum that is
// scaled down to normBound² in Frobenius norm: such sums have no negative inner product, so that two are no further
// apart than two rows' products.
func (r *Framed) Hessian(ctx context.Context, u []float64, offset, constant, most, normBound float64, p Slope) (release.Answer, error) {
	if err := cmp.Or(r.point(u), p.valid()); err != nil {
		return release.Answer{}, err
	}
	q := &framedHessian{packing(r, constant), u, offset, most, normBound, p}
	if r.m.Each > 0 {
		most *= r.m.Each
	}
	if constant > 0 {
		most = math.Min(most, square(normBound/constant))
	}
	return r.packed(ctx, q, normBound, r.bounds().momentsSensitivity(most, constant, normBound))
}

// framedHessian asks for Hessian.
type framedHessian struct {
	Packing
	U                       []float64
	Offset, Most, NormBound float64
	Slope                   Slope
}

func (q *framedHessian) adder(s *Sums) rows.Adder {
	r := q.on(s)
	score, curve := r.scoring(q.U, q.Offset), r.curvatures(q.Constant, q.Most, q.Slope)
	roots := func(f, norms []float64, tile rows.Tile, lo int) {
		score(norms, tile, lo)
		curve(norms, f, lo)
		for k, v := range norms {
			f[k] = math.Sqrt(f[k])
			if v > q.NormBound {
				f[k] *= q.NormBound / v
			}
		}
	}
	if r.m.Each > 0 {
		return q.addingHeld(r, square(q.NormBound), roots)
	}
	return q.adding(r, nil, roots)
}

// addingHeld adds each person's Σ vᵢvᵢᵀ, which is scaled down to most, in Frobenius norm, where it is longer.
func (q *Packing) addingHeld(r *Framed, most float64, set factors) rows.Adder {
	t, dim, l := r.s.t, q.dim(r.s.t), r.s.t.Layout.Moments(r.s.t.Enc.Dim())
	return func(of *rows.Workspace, tile rows.Tile, lo int) {
		a, s := of.MomentsRoom(t, l, dim), squares{r.m, q.Constant, &of.Squares}
		set(a.Weights[:tile.Rows], a.Norms[:tile.Rows], tile, lo)
		t.Persons.Runs(lo, tile.Rows, func(from, to int, ends bool) {
			for i := from; i < to; i++ {
				if f := a.Weights[i-lo]; f != 0 {
					r.m.features(a.Row, t, tile, lo, i-lo)
					s.add(a.Row[:t.Enc.Columns], f)
					addTo(a.Hold(), a.Row[:t.Enc.Columns], f, float64(f*q.Constant))
				}
			}
			if !ends {
				return
			}
			factor := 1.0
			if bound := s.end(); !(bound <= most) {
				factor = most / bound
			}
			a.AddHeld(factor)
		})
	}
}

func square(v float64) float64 { return v * v }

// factors sets f to what the rows of a tile are multiplied by; norms is room.
type factors func(f, norms []float64, tile rows.Tile, lo int)

// packed is the packed answer. What is summed are products of features, whatever the number
// of coordinates is, but where parties hold the rows those of coordinates, row by row. No row's vector is longer than most, and
// the sum has the sensitivity l2 in memory.
func (r *Framed) packed(ctx context.Context, q asked, most, l2 float64) (release.Answer, error) {
	if r.s.t.Place.Parties() {
		sum := make([]float64, q.cut(r.s.t).Width)
		l2, err := bounded(ctx, r.s, sum, q, square(most), l2)
		return r.answer(sum, l2), err
	}
	m, err := sumMoments(ctx, r.s, q)
	if err != nil {
		return release.Answer{}, err
	}
	return r.answer(pack(r.m.transform(m)), l2), nil
}

// packing is of coordinates where parties hold the rows.
func packing(r *Framed, constant float64) Packing {
	q := Packing{InFrame: r.in(), Constant: constant}
	if r.s.t.Place.Parties() {
		if q.Coordinates = r.m.dim; constant > 0 {
			q.Coordinates++
		}
	}
	return q
}

// Packing asks for Σ vᵢvᵢᵀ, of the vectors vᵢ = factorᵢ·(tᵢx̃ᵢ, constant), the constant
// left out where it is 0, each row counting its share; or, where persons' rows go together,
// Σ vₚvₚᵀ of a person's vₚ = Σ shareᵢ·vᵢ. Where Coordinates isn't 0 it is that of single rows in so many coordinates, packed.
type Packing struct {
	InFrame
	Constant    float64
	Coordinates int
}

func (q *Packing) cut(t *rows.Table) rows.Cut {
	if k := q.Coordinates; k > 0 {
		return t.InTiles(k * (k + 1) / 2)
	}
	return t.InMoments(q.dim(t))
}

func (q *Packing) dim(t *rows.Table) int {
	if q.Constant > 0 {
		return t.Enc.Columns + 1
	}
	return t.Enc.Columns
}

func (q *Packing) adding(r *Framed, hold func(sum []float64, rows int), set factors) rows.Adder {
	if q.Coordinates > 0 {
		return q.addingRows(r, set)
	}
	t, dim, l := r.s.t, q.dim(r.s.t), r.s.t.Layout.Moments(r.s.t.Enc.Dim())
	together := hold != nil
	return func(of *rows.Workspace, tile rows.Tile, lo int) {
		a, kept, n := of.MomentsRoom(t, l, dim), 0, tile.Rows
		open := &of.Opens(1)[0] // whose number of rows it is
		set(a.Weights[:n], a.Norms[:n], tile, lo)
		t.Persons.Runs(lo, n, func(from, to int, ends bool) {
			for i := from; i < to; i++ {
				f := a.Weights[i-lo]
				if share := t.Persons.Share(i); !together {
					f *= math.Sqrt(share)
				} else if r.m.Each == 0 {
					f *= share
				}
				if f != 0 {
					r.m.features(a.Row, t, tile, lo, i-lo)
					addTo(a.Open[:dim], a.Row[:t.Enc.Columns], float64(f*rows.Factor(r.norms.shorten, i)), float64(f*q.Constant))
				}
				open.Rows++
				if !together || ends && i == to-1 {
					if together && r.m.Each > 0 {
						hold(a.Open[:dim], open.Rows)
					}
					open.Rows = 0
					copy(a.Encoded[kept*a.Sum.Stride:], a.Open[:dim])
					clear(a.Open)
					kept++
				}
			}
		})
		a.Sum.AddRows(a.Encoded, kept)
	}
}

// addingRows adds each row's packed product.
func (q *Packing) addingRows(r *Framed, set factors) rows.Adder {
	k := q.Coordinates
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		n := tile.Rows
		set(a.Z[:n], a.Beside[:n], tile, lo)
		for i, f := range a.Z[:n] {
			a.Many = rows.Zeros(a.Many, k)
			v, at := a.Many, 0
			addRow(r, a, v, tile, lo, i, float64(f*rows.Factor(r.norms.shorten, lo+i)))
			if q.Constant > 0 {
				v[k-1] = f * q.Constant
			}
			for j, x := range v {
				a.Sum[at] += float64(x * x)
				for m, y := range v[j+1:] {
					a.Sum[at+1+m] += float64(math.Sqrt2 * float64(x*y))
				}
				at += k - j
			}
		}
	}
}

// addTo adds factor times a row's features to sum, and the constant's coordinate if there is
// one.
func addTo(sum, row []float64, factor, constant float64) {
	for j, v := range row {
		sum[j] += float64(factor * v)
	}
	if len(sum) > len(row) {
		sum[len(row)] += constant
	}
}

// pack is the upper triangle of m, row by row and entries off the diagonal times √2: its L2
// norm is the Frobenius norm of the matrix, so that noise of one size in each number is
// isotropic among symmetric matrices.
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

// Squares are Σ xⱼ² over the bounded rows, for each feature, whatever the frame.
func (r *Framed) Squares(ctx context.Context) (release.Answer, error) {
	total := make([]float64, r.s.t.Enc.Columns)
	l2, err := bounded(ctx, r.s, total, &framedSquares{r.in()}, square(r.s.t.Enc.Bound), r.bounds().squaresSensitivity())
	return r.answer(total, l2), err
}

// framedSquares asks for Squares.
type framedSquares struct{ InFrame }

func (*framedSquares) cut(t *rows.Table) rows.Cut { return t.InTiles(t.Enc.Columns) }

func (*framedSquares) adder(s *Sums) rows.Adder {
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		a.Row = rows.Room(a.Row, s.Dim())
		for k := range tile.Rows {
			addSquares(a.Sum, a.Row, s.t, tile, lo, k)
		}
	}
}

// addSquares adds the squares of row k of a tile.
func addSquares(sum, row []float64, t *rows.Table, tile rows.Tile, lo, k int) {
	share := t.Persons.Share(lo + k)
	if !tile.Sparse || t.Enc.Scale != nil {
		t.Encode(row, tile, lo, k)
		for j, v := range row[:t.Enc.Columns] {
			sum[j] += float64(share * float64(v*v))
		}
		return
	}
	s := rows.Factor(t.Shrink, lo+k)
	for i, j := range tile.Indices[tile.Start[k]:tile.End[k]] {
		v := s * tile.Data[tile.Start[k]+i]
		sum[j] += float64(share * float64(v*v))
	}
}

func init() {
	gob.Register(&framedMoments{})
	gob.Register(&framedFourth{})
	gob.Register(&framedSpans{})
	gob.Register(&framedCurvatures{})
	gob.Register(&framedHessian{})
	gob.Register(&framedSquares{})
}
