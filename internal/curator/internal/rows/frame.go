package rows

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/vector"
)

// Frame is public coordinates of rows: x̃ = Aᵀ(x − m), x being a bounded row's features
// without the constant one, shortened to the norm Longest where that isn't 0. A is
// Matrix, or diagonal (Scale), or the identity where both are nil; m is 0 where Centre
// is nil.
type Frame struct {
	Centre  []float64
	Matrix  *mat.Dense
	Scale   []float64
	Longest float64
}

// Framed answers questions about rows in a frame. The coordinates of a row are never
// stored, but for their norm.
type Framed struct {
	s       *Sums
	f       Frame
	axes    []float64 // A's columns, one after the other; nil without Matrix
	size    float64   // bound on the operator norm of A: the Frobenius norm of a Matrix
	centre  float64   // ‖m‖, rounded up
	length  []float64 // bound on ‖Aᵀ(xᵢ−m)‖ before shortening
	shorten []float64 // factor ≤ 1; nil if all are 1
}

// Frame measures the rows in a frame, in one pass: O(rows·Dim²) with a Matrix. A frame
// that changes nothing needs none.
func (s *Sums) Frame(ctx context.Context, f Frame) (*Framed, error) {
	d := s.t.enc.Columns
	r := &Framed{s: s, f: f, size: 1, length: make([]float64, s.Rows())}
	switch {
	case f.Matrix != nil:
		r.axes, r.size = make([]float64, d*d), 0
		for k := range d {
			axis := r.axes[k*d : (k+1)*d]
			mat.Col(axis, k, f.Matrix)
			r.size = math.Hypot(r.size, vector.Norm(axis))
		}
	case f.Scale != nil:
		r.size = 0
		for _, a := range f.Scale {
			r.size = math.Max(r.size, math.Abs(a))
		}
	}
	up := 1 + float64(4*unit*float64(d+16)) // Norm and the chain of Hypot
	r.size, r.centre = r.size*up, vector.Norm(f.Centre)*up
	// Between these no square overflows, and what vanishes is nothing beside missed.
	if reach := r.size * (s.t.enc.magnitude + r.centre); !(reach < 1e100 && (reach > 1e-100 || r.size == 0)) {
		return nil, check.Fail(check.ErrBound, "frame", reach, "must stretch rows to norms between 1e-100 and 1e100")
	}
	if err := r.measure(ctx); err != nil {
		return nil, err
	}
	if f.Longest > 0 {
		r.shorten = make([]float64, len(r.length))
		for i, v := range r.length {
			r.shorten[i] = math.Min(1, f.Longest/v)
		}
	}
	return r, nil
}

// measure finds the rows' norms, never too small: each is raised by a bound on its
// rounding, whether the row is taken to be its raw terms times their factor, as combine
// takes it, or its rounded features, as moments does. Both, and what is computed here,
// differ by
//
//   - d+16 roundings of the raw terms, of norm magnitude, and of m, times ‖A‖, with room
//     for both ways in the factor 4;
//   - the row's own features, times ‖A‖: a slack each.
//
// The sum of d squares and its root add d+16 roundings, relative to the norm itself.
func (r *Framed) measure(ctx context.Context) error {
	t, e := r.s.t, &r.s.t.enc
	d := float64(e.Columns)
	missed := r.size * (float64(4*(d+16)*unit*(e.magnitude+r.centre)) + float64(2*e.slack()*e.Bound))
	up := 1 + float64((d+16)*2*unit)
	if r.axes == nil && r.f.Scale == nil && r.f.Centre == nil {
		for i, v := range t.length {
			r.length[i] = float64(v*up) + missed
		}
		return nil
	}
	axes := r.foldAxes()
	type workspace struct{ buf, row, z, sum []float64 }
	return inOrder(ctx, t.layout.blocks, func() *workspace {
		n := t.layout.tileRows
		return &workspace{t.buffer(), make([]float64, e.Dim()), make([]float64, n), make([]float64, n)}
	}, func(*workspace) {},
		func(b int, a *workspace) {
			t.layout.eachTile(b, func(lo, hi int) {
				rows, sum := t.src.tile(lo, hi, a.buf), a.sum[:hi-lo]
				if axes != nil {
					r.squares(sum, a.z[:hi-lo], rows, lo, axes)
				} else {
					for k := range sum {
						sum[k] = r.square(a.row, rows, lo, k)
					}
				}
				for k, v := range sum {
					r.length[lo+k] = float64(math.Sqrt(v)*up) + missed
				}
			})
		},
		func(int, *workspace) {})
}

// foldAxes returns A's columns a, in terms of raw rows, whose scores less their
// intercepts −⟨a, m⟩ are coordinates; nil without Matrix.
func (r *Framed) foldAxes() []folded {
	if r.axes == nil {
		return nil
	}
	d := r.Dim()
	axes, w, offset := make([]folded, d), make([]float64, r.s.t.enc.Dim()), make([]float64, 1)
	for k := range axes {
		axis := r.axes[k*d : (k+1)*d]
		copy(w, axis)
		r.s.t.enc.fold(w, &axes[k])
		if r.f.Centre != nil {
			kernel.Dots(offset, axis, d, r.f.Centre)
			axes[k].intercept = -offset[0]
		}
	}
	return axes
}

// squares sets sum to the squared norms of a tile's rows, axis by axis.
func (r *Framed) squares(sum, z []float64, rows tile, lo int, axes []folded) {
	clear(sum)
	for k := range axes {
		r.s.t.score(z, rows, lo, &axes[k])
		for i, v := range z {
			sum[i] += float64(v * v)
		}
	}
}

// square is the squared norm of row k of a tile, where A is diagonal. Absent entries of
// a sparse row add nothing, unless they have shifts or a centre.
func (r *Framed) square(row []float64, rows tile, lo, k int) (sum float64) {
	if t := r.s.t; rows.sparse && t.enc.Scale == nil && r.f.Centre == nil {
		s := t.factor(lo + k)
		for i, j := range rows.indices[rows.start[k]:rows.end[k]] {
			v := s * rows.data[rows.start[k]+i] * r.f.Scale[j]
			sum += float64(v * v)
		}
		return sum
	}
	r.features(row, rows, lo, k)
	row = row[:r.Dim()]
	if r.f.Scale != nil {
		for j, a := range r.f.Scale {
			row[j] *= a
		}
	}
	for _, v := range row {
		sum += float64(v * v)
	}
	return sum
}

// factor brings row i to the bound.
func (t *Table) factor(i int) float64 {
	if t.shrink == nil {
		return 1
	}
	return t.shrink[i]
}

// reach bounds the norm of row i's coordinates, shortened.
func (r *Framed) reach(i int) float64 {
	if r.shorten == nil {
		return r.length[i]
	}
	return math.Min(r.length[i], r.f.Longest*(1+4*unit))
}

// features sets row to x − m for row k of a tile.
func (r *Framed) features(row []float64, rows tile, lo, k int) {
	r.s.t.encode(row, rows, lo, k)
	for j, m := range r.f.Centre {
		row[j] -= m
	}
}

// Lengths counts the rows by the norm of their coordinates, before shortening, as
// GradientNorms counts gradients.
func (r *Framed) Lengths(counts, edges []float64) { histogram(counts, edges, r.length) }

// Dim is the number of coordinates, without the constant one.
func (r *Framed) Dim() int { return r.s.t.enc.Columns }

// weights returns w and c with ⟨u, Aᵀ(x−m)⟩ = ⟨w, x⟩ − c.
func (r *Framed) weights(u []float64) (w []float64, c float64) {
	d := r.Dim()
	w = make([]float64, r.s.t.enc.Dim())
	switch {
	case r.axes != nil:
		kernel.AddScaled(w[:d], r.axes, d, u)
	case r.f.Scale != nil:
		for j, a := range r.f.Scale {
			w[j] = a * u[j]
		}
	default:
		copy(w, u)
	}
	for j, m := range r.f.Centre {
		c += float64(w[j] * m)
	}
	return w, c
}

// combine returns Σ cᵢtᵢx̃ᵢ, tᵢ the factor of shortening, and Σ kᵢ, where
// coefficients is given the scores ⟨u, tᵢx̃ᵢ⟩ of the rows from lo on, turns them into the
// cᵢ and returns the sum of their kᵢ.
func (r *Framed) combine(ctx context.Context, u []float64, coefficients func(z []float64, lo int) float64) ([]float64, float64, error) {
	s, d := r.s, r.Dim()
	w, c := r.weights(u)
	var f folded
	s.t.enc.fold(w, &f)
	total := s.newWorkspace()
	var sumT, sumK float64
	type sums struct {
		*workspace
		t, k float64
	}
	acquire := func() *sums { return &sums{workspace: s.acquire()} }
	err := inOrderAhead(ctx, s.t.layout.blocks, 2, acquire, func(a *sums) { s.release(a.workspace) },
		func(b int, a *sums) {
			clear(a.raw)
			a.sumE, a.sumC, a.t, a.k = 0, 0, 0, 0
			s.t.layout.eachTile(b, func(lo, hi int) {
				z, rows := a.z[:hi-lo], s.t.src.tile(lo, hi, a.buf)
				s.t.score(z, rows, lo, &f)
				for k, v := range z {
					z[k] = r.factor(lo+k) * (v - c)
				}
				a.k += coefficients(z, lo)
				for k, v := range z {
					z[k] = float64(v * r.factor(lo+k))
					a.t += z[k]
				}
				s.t.addTile(a.workspace, z, rows, lo)
			})
		},
		func(_ int, a *sums) {
			for j, v := range a.raw {
				total.raw[j] += v
			}
			total.sumE += a.sumE
			sumT += a.t
			sumK += a.k
		})
	if err != nil {
		return nil, 0, err
	}
	sum := make([]float64, s.t.enc.Dim())
	s.t.enc.unfold(sum, total.raw, total.sumE, 0)
	for j, m := range r.f.Centre {
		sum[j] -= float64(m * sumT)
	}
	return r.into(sum[:d]), sumK, nil
}

func (r *Framed) factor(i int) float64 {
	if r.shorten == nil {
		return 1
	}
	return r.shorten[i]
}

// into returns Aᵀv.
func (r *Framed) into(v []float64) []float64 {
	switch {
	case r.axes != nil:
		out := make([]float64, len(v))
		kernel.Dots(out, r.axes, len(v), v)
		return out
	case r.f.Scale != nil:
		for j, a := range r.f.Scale {
			v[j] *= a
		}
	}
	return v
}

// sumRounding bounds how far combine's first sum moves, beyond what it moves in exact
// arithmetic with the computed coefficients, when a row is replaced; these are at most
// most in magnitude. With A = ‖A‖, M the raw terms and m the centre: the chains and
// merges of GradientSensitivity, for the raw sum and for Σcᵢtᵢ; the product with m, the
// difference and the product with A, d+8 roundings of a sum of norm n·most·(X + ‖m‖), in
// each answer; and the two rows' own features, off by a slack each.
func (r *Framed) sumRounding(most float64) float64 {
	e, l := &r.s.t.enc, r.s.t.layout
	n, m, blocks, d := float64(l.n), float64(l.blockRows()), float64(l.blocks), float64(r.Dim())
	chains := float64(float64(m*m)+float64(blocks*n)+float64(8*n)) * (e.magnitude + r.centre)
	product := n * (d + 8) * (e.Bound*2 + r.centre)
	return float64(most * r.size * (float64(2.2*unit*(chains+product)) + float64(4*e.slack()*e.Bound)))
}

// Sum returns Σ tᵢx̃ᵢ, those longer than the given norm shortened to it, and a bound on
// how far it moves when a row is replaced: 2·longest and rounding.
func (r *Framed) Sum(ctx context.Context, longest float64) ([]float64, float64, error) {
	v, _, err := r.combine(ctx, make([]float64, r.Dim()), func(z []float64, lo int) float64 {
		for k := range z {
			z[k] = math.Min(1, longest/r.reach(lo+k))
		}
		return 0
	})
	return v, float64(2*longest*(1+4*unit)) + r.sumRounding(1), err
}

// Slope is how Gradient holds its coefficients.
type Slope struct {
	Clip     float64 // C: a row's gradient in the coordinates is at most so long
	Constant float64 // k: the constant coordinate, 0 for none
	// Apart, where it isn't 0, is S: the constant's sum is that of φ' held to ±S, times
	// k/S, and is not clipped with the others.
	Apart float64
}

// coefficient bounds |cᵢ|: where the constant belongs to the row's norm, or no row is
// taken to be shorter than 1, by the clip.
func (p Slope) coefficient() float64 {
	switch {
	case p.Apart > 0:
		return p.Apart
	case p.Constant > 0:
		return p.Clip / p.Constant
	}
	return p.Clip
}

// norm is what a row's |φ'| is multiplied by to be held against the clip.
func (r *Framed) norm(i int, p Slope) float64 {
	t := r.reach(i)
	switch {
	case p.Apart > 0:
		return t
	case p.Constant > 0:
		return math.Hypot(t, p.Constant) * (1 + 4*unit)
	}
	return math.Max(t, 1)
}

// Gradient returns Σ clip(φ'ᵢ·(tᵢx̃ᵢ, k)) at the score ⟨u, tᵢx̃ᵢ⟩ + offset, the constant's
// coordinate last if there is one, and a bound on how far it moves when a row is
// replaced: in exact arithmetic 2C, as each row's term is at most C long whatever its
// slope is; with the constant apart 2√(C² + k²). Rounding adds sumRounding and the chains
// of the constant's sum.
func (r *Framed) Gradient(ctx context.Context, u []float64, offset float64, p Slope) ([]float64, float64, error) {
	s, most := r.s, p.coefficient()
	v, constant, err := r.combine(ctx, u, func(z []float64, lo int) float64 {
		for k := range z {
			z[k] += offset
		}
		derivs(s.loss, z, s.labels[lo:lo+len(z)])
		var sum float64
		for k, c := range z {
			if p.Apart > 0 {
				c = math.Max(-p.Apart, math.Min(p.Apart, c))
				sum += c
			}
			if bound := p.Clip / r.norm(lo+k, p); math.Abs(c) > bound {
				c = math.Copysign(bound, c)
			}
			if p.Apart == 0 {
				sum += c
			}
			z[k] = c
		}
		return sum
	})
	if err != nil {
		return nil, 0, err
	}
	reach, scale := p.Clip, p.Constant
	if p.Apart > 0 {
		reach, scale = math.Hypot(p.Clip, p.Constant), p.Constant/p.Apart
	}
	if p.Constant > 0 {
		v = append(v, constant*scale)
	}
	l := s.t.layout
	n, m, blocks := float64(l.n), float64(l.blockRows()), float64(l.blocks)
	chains := 2.2 * unit * most * scale * (float64(m*m) + float64(blocks*n) + float64(4*n))
	return v, float64(2*reach*(1+8*unit)) + r.sumRounding(most) + float64(chains), nil
}

// GradientNorms counts the rows by |φ'|·norm, which Gradient holds to its clip.
func (r *Framed) GradientNorms(ctx context.Context, counts, edges, u []float64, offset float64, p Slope) error {
	norms := make([]float64, r.s.Rows())
	err := r.eachScore(ctx, u, offset, func(z []float64, lo int) {
		derivs(r.s.loss, z, r.s.labels[lo:lo+len(z)])
		for k, c := range z {
			norms[lo+k] = math.Abs(c) * r.norm(lo+k, p)
		}
	})
	histogram(counts, edges, norms)
	return err
}

// eachScore calls f with the scores of each tile.
func (r *Framed) eachScore(ctx context.Context, u []float64, offset float64, f func(z []float64, lo int)) error {
	t := r.s.t
	w, c := r.weights(u)
	var folds folded
	t.enc.fold(w, &folds)
	type workspace struct{ buf, z []float64 }
	return inOrder(ctx, t.layout.blocks, func() *workspace { return &workspace{t.buffer(), make([]float64, t.layout.tileRows)} }, func(*workspace) {},
		func(b int, a *workspace) {
			t.layout.eachTile(b, func(lo, hi int) {
				z := a.z[:hi-lo]
				t.score(z, t.src.tile(lo, hi, a.buf), lo, &folds)
				for k, v := range z {
					z[k] = float64(r.factor(lo+k)*(v-c)) + offset
				}
				f(z, lo)
			})
		},
		func(int, *workspace) {})
}
