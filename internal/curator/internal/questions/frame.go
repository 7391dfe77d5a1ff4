package questions

import (
	"bytes"
	"context"
	"encoding/gob"
	"math"
	"sort"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
)

// Frame is public coordinates of rows: x̃ = Aᵀ(x − m), x being a bounded row's features
// without the constant one, shortened to the norm Longest where that isn't 0. A is
// Matrix, or diagonal (Scale), or the identity where both are nil; m is 0 where Centre
// is nil.
type Frame struct {
	Centre    []float64
	Matrix    *mat.Dense
	Scale     []float64
	NormBound float64
}

// Framed answers questions about the rows in a frame, which must be made of public facts
// and of what was released. The coordinates of a row are never stored, but for their norm.
type Framed struct {
	s       *Sums
	rows    *release.Rows // whose answers these are
	f       Frame
	axes    []float64 // A's columns, one after the other; nil without Matrix
	size    float64   // bound on the operator norm of A: the Frobenius norm of a Matrix
	centre  float64   // ‖m‖, rounded up
	length  []float64 // bound on ‖Aᵀ(xᵢ−m)‖ before shortening
	shorten []float64 // factor ≤ 1; nil if all are 1

	lock    sync.Mutex
	kept    []float64 // norms, of the last kind of slope
	keptFor Slope
}

// NewFramed measures the rows in a frame, in one pass: O(rows·Dim²) with a Matrix. A frame
// that changes nothing needs none.
func NewFramed(ctx context.Context, s *Sums, rows *release.Rows, f Frame) (*Framed, error) {
	r, err := unmeasured(s, rows, f)
	if err != nil {
		return nil, err
	}
	if s.t.Elsewhere() {
		return r, nil
	}
	r.length = make([]float64, len(s.t.Length))
	if err := r.measure(ctx); err != nil {
		return nil, err
	}
	r.shortened()
	return r, nil
}

// unmeasured are the rows in a frame before they are measured.
func unmeasured(s *Sums, rows *release.Rows, f Frame) (*Framed, error) {
	d := s.t.Enc.Columns
	r := &Framed{s: s, rows: rows, f: f, size: 1}
	switch {
	case f.Matrix != nil:
		r.axes, r.size = make([]float64, d*d), 0
		for k := range d {
			axis := r.axes[k*d : (k+1)*d]
			mat.Col(axis, k, f.Matrix)
			r.size = math.Hypot(r.size, vector.Norm(axis))
		}
	case f.Scale != nil:
		r.size = floats.Norm(f.Scale, math.Inf(1))
	}
	up := 1 + float64(4*encoding.Unit*float64(d+16)) // Norm and the chain of Hypot
	r.size, r.centre = float64(r.size*up), float64(vector.Norm(f.Centre)*up)
	// Between these no square overflows, and what vanishes is nothing beside missed.
	if largest := r.size * (s.t.Enc.Magnitude + r.centre); !(largest < 1e100 && (largest > 1e-100 || r.size == 0)) {
		return nil, check.Fail(check.ErrBound, "frame", largest, "must stretch rows to norms between 1e-100 and 1e100")
	}
	return r, nil
}

// shortened sets the factors of rows in memory.
func (r *Framed) shortened() {
	if r.f.NormBound > 0 && r.s.t.Place == nil {
		r.shorten = make([]float64, len(r.length))
		for i, v := range r.length {
			r.shorten[i] = math.Min(1, r.f.NormBound/v)
		}
	}
}

// missed bounds what rounding may hide of a row's norm, whether the row is taken to be its
// raw terms times their factor, as combine takes it, or its rounded features, as moments
// does. Both, and what measure computes, differ by
//
//   - d+16 roundings of the raw terms, of norm magnitude, and of m, times ‖A‖, with room
//     for both ways in the factor 4;
//   - the row's own features, times ‖A‖: a slack each.
func (r *Framed) missed() float64 {
	e := &r.s.t.Enc
	d := float64(e.Columns)
	return r.size * (float64(4*(d+16)*encoding.Unit*(e.Magnitude+r.centre)) + float64(2*e.Slack()*e.Bound))
}

// measure finds the rows' norms, which are never too small: it adds missed, and for the
// sum of d squares and its root d+16 roundings relative to the norm itself.
func (r *Framed) measure(ctx context.Context) error {
	t, e, missed := r.s.t, &r.s.t.Enc, r.missed()
	up := 1 + float64(2*encoding.Unit*float64(e.Columns+16))
	if r.axes == nil && r.f.Scale == nil && r.f.Centre == nil {
		for i, v := range t.Length {
			r.length[i] = float64(v*up) + missed
		}
		return nil
	}
	axes := r.foldAxes()
	return r.s.pass(ctx, nil, func(s *Sums) rows.Adder {
		r := r.on(s)
		return func(a *rows.Workspace, tile rows.Tile, lo int) {
			a.Row = rows.Room(a.Row, e.Dim())
			sum := r.length[lo : lo+tile.Rows]
			if axes != nil {
				r.squares(sum, a.Z[:tile.Rows], tile, lo, axes)
			} else {
				for k := range sum {
					sum[k] = r.square(a.Row, tile, lo, k)
				}
			}
			for k, v := range sum {
				sum[k] = float64(math.Sqrt(v)*up) + missed
			}
		}
	})
}

// foldAxes returns A's columns a, in terms of raw rows, whose scores less their
// intercepts −⟨a, m⟩ are coordinates; nil without Matrix.
func (r *Framed) foldAxes() []encoding.Folded {
	if r.axes == nil {
		return nil
	}
	d := r.Dim()
	axes, w, offset := make([]encoding.Folded, d), make([]float64, r.s.t.Enc.Dim()), make([]float64, 1)
	for k := range axes {
		axis := r.axes[k*d : (k+1)*d]
		copy(w, axis)
		r.s.t.Enc.Fold(w, &axes[k])
		if r.f.Centre != nil {
			kernel.Dots(offset, axis, d, r.f.Centre)
			axes[k].Intercept = -offset[0]
		}
	}
	return axes
}

// squares sets sum to the squared norms of a tile's rows, axis by axis.
func (r *Framed) squares(sum, z []float64, tile rows.Tile, lo int, axes []encoding.Folded) {
	clear(sum)
	for k := range axes {
		r.s.t.Score(z, tile, lo, &axes[k])
		for i, v := range z {
			sum[i] += float64(v * v)
		}
	}
}

// square is the squared norm of row k of a tile, where A is diagonal. Absent entries of
// a sparse row add nothing, unless they have shifts or a centre.
func (r *Framed) square(row []float64, tile rows.Tile, lo, k int) (sum float64) {
	if t := r.s.t; tile.Sparse && t.Enc.Scale == nil && r.f.Centre == nil {
		s := rows.Factor(t.Shrink, lo+k)
		for i, j := range tile.Indices[tile.Start[k]:tile.End[k]] {
			v := s * tile.Data[tile.Start[k]+i] * r.f.Scale[j]
			sum += float64(v * v)
		}
		return sum
	}
	r.features(row, tile, lo, k)
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

// rowNorm bounds the norm of row i's coordinates, shortened.
func (r *Framed) rowNorm(i int) float64 {
	if r.shorten == nil {
		return r.length[i]
	}
	return math.Min(r.length[i], r.f.NormBound*(1+4*encoding.Unit))
}

// features sets row to x − m for row k of a tile.
func (r *Framed) features(row []float64, tile rows.Tile, lo, k int) {
	r.s.t.Encode(row, tile, lo, k)
	for j, m := range r.f.Centre {
		row[j] -= m
	}
}

func (r *Framed) answer(values []float64, l2 float64) release.Answer {
	return release.NewAnswer(r.rows, values, l2)
}

// Lengths is the histogram of ‖Aᵀ(x−m)‖, before rows are shortened: counts[k] have
// more than edges[k] and no more than edges[k−1]; edges are public and decrease.
func (r *Framed) Lengths(ctx context.Context, edges []float64) (release.Answer, error) {
	counts := make([]float64, len(edges)+1)
	if r.s.t.Elsewhere() {
		err := r.s.sum(ctx, counts, &framedLengths{r.in(), edges})
		return r.answer(counts, oneRowCounts), err
	}
	r.count(counts, edges, r.length, 0)
	return r.answer(counts, oneRowCounts), nil
}

// framedLengths asks for Lengths.
type framedLengths struct {
	InFrame
	Edges []float64
}

func (q *framedLengths) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Edges) + 1) }

func (q *framedLengths) adder(s *Sums) rows.Adder {
	r := q.on(s)
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		r.count(a.Sum, q.Edges, r.length[lo:lo+tile.Rows], lo)
	}
}

// count counts numbers of the rows from lo on, norms or slopes, as Lengths does,
// counts[len(edges)] being the rest. Counts are exact.
func (r *Framed) count(counts, edges, norms []float64, lo int) {
	for i, v := range norms {
		counts[sort.Search(len(edges), func(k int) bool { return v > edges[k] })] += r.s.t.Persons.Share(lo + i)
	}
}

// oneRowCounts is how far counts move. A row's place depends on that row only, so that what
// a person adds, shares of 1, is a vector without negative entries whose sum is at most 1, and
// hence its length, too: two are at most √2 apart, rounded up, whatever the edges.
const oneRowCounts = math.Sqrt2 * (1 + 1e-15)

// histogram asks for the counts of what of makes of the scores.
func (r *Framed) histogram(ctx context.Context, q asked, edges []float64) (release.Answer, error) {
	counts := make([]float64, len(edges)+1)
	err := r.s.sum(ctx, counts, q)
	return r.answer(counts, oneRowCounts), err
}

// Scored is where histograms of rows' scores ⟨u, tᵢx̃ᵢ⟩ + offset are taken.
type Scored struct {
	InFrame
	Edges, U []float64
	Offset   float64
}

func (q *Scored) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Edges) + 1) }

// counting counts what set makes of the scores of rows of r.
func (q *Scored) counting(r *Framed, set coefficients) rows.Adder {
	score := r.scoring(q.U, q.Offset)
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		z := a.Z[:tile.Rows]
		score(z, tile, lo)
		set(z, a.Beside[:len(z)], lo)
		r.count(a.Sum, q.Edges, z, lo)
	}
}

// Dim is the number of coordinates, without the constant one.
func (r *Framed) Dim() int { return r.s.t.Enc.Columns }

// weights returns w and c with ⟨u, Aᵀ(x−m)⟩ = ⟨w, x⟩ − c.
func (r *Framed) weights(u []float64) (w []float64, c float64) {
	d := r.Dim()
	w = make([]float64, r.s.t.Enc.Dim())
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

// hold multiplies numbers of the rows from lo on by their factors.
func (r *Framed) hold(z []float64, lo int) {
	if r.shorten == nil {
		return
	}
	for k, t := range r.shorten[lo : lo+len(z)] {
		z[k] = float64(z[k] * t)
	}
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

// on is r over a part of its rows.
func (r *Framed) on(s *Sums) *Framed {
	if s == r.s {
		return r
	}
	p := &Framed{s: s, rows: r.rows, f: r.f, axes: r.axes, size: r.size, centre: r.centre, length: r.length[s.t.From : s.t.From+len(s.t.Length)]}
	p.shortened()
	return p
}

func init() {
	gob.Register(&framedLengths{})
}

// Key tells frames apart.
func (q *InFrame) Key() ([]byte, error) {
	var key bytes.Buffer
	err := gob.NewEncoder(&key).Encode(q.Frame)
	return key.Bytes(), err
}

// Find measures a part's rows in the frame.
func (q *InFrame) Find(t *rows.Table, p *rows.Part, all []float64) error {
	s := &Sums{t: t}
	r, err := unmeasured(s, nil, q.Frame)
	if err != nil {
		return err
	}
	r.length = all
	return r.on(s.part(p)).measure(context.Background())
}

// Bind gives the question the rows in its frame.
func (q *InFrame) Bind(t *rows.Table, all []float64) error {
	r, err := unmeasured(&Sums{t: t}, nil, q.Frame)
	if err == nil {
		r.length, q.r = all, r
	}
	return err
}

// InFrame is what questions about rows in a frame have in common.
type InFrame struct {
	Frame Frame
	r     *Framed // the rows in it; nil until they are bound
}

func (q *InFrame) frames() []rows.Measure { return []rows.Measure{q} }

// on are the rows of a part in the frame.
func (q *InFrame) on(s *Sums) *Framed { return q.r.on(s) }

func (r *Framed) in() InFrame { return InFrame{r.f, r} }
