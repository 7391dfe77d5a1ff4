package questions

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"sort"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
)

// Framed answers questions about the rows in a frame, which must be made of public facts
// and of what was released. The coordinates of a row are never stored, but for their norm.
type Framed struct {
	s     *Sums
	rows  *release.Rows // whose answers these are
	m     *frameMap
	norms *frameNorms // nil where others read the rows
}

// NewFramed measures the rows in a frame, in one pass: O(rows·features·Dim) with a Matrix.
// A frame that changes nothing needs none. One that isn't made for these features is refused
// before rows are read.
func NewFramed(ctx context.Context, s *Sums, rows *release.Rows, f Frame) (*Framed, error) {
	m, err := newFrameMap(f, &s.t.Enc)
	if err != nil {
		return nil, err
	}
	if s.t.Place.Elsewhere() {
		return &Framed{s, rows, m, nil}, nil
	}
	length := make([]float64, len(s.t.Length))
	if err := m.measure(ctx, s, length); err != nil {
		return nil, err
	}
	return &Framed{s, rows, m, newFrameNorms(s.t, length, f.NormBound)}, nil
}

func (r *Framed) answer(values []float64, l2 float64) release.Answer {
	return release.NewAnswer(r.rows, values, l2)
}

// Lengths is the histogram of ‖Aᵀ(x−m)‖, before rows are shortened: counts[k] have
// more than edges[k] and no more than edges[k−1]; edges are public and decrease.
func (r *Framed) Lengths(ctx context.Context, edges []float64) (release.Answer, error) {
	if r.s.t.Place.Elsewhere() {
		return r.histogram(ctx, &framedLengths{r.in(), edges}, edges)
	}
	counts := make([]float64, len(edges)+1)
	count(counts, edges, r.norms.length, r.s.t.Persons, 0)
	return r.answer(counts, countsSensitivity(r.s)), nil
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
		count(a.Sum, q.Edges, r.norms.length[lo:lo+tile.Rows], s.t.Persons, lo)
	}
}

// count counts numbers of the rows from lo on, norms or slopes, as Lengths does,
// counts[len(edges)] being the rest. Counts are exact.
func count(counts, edges, norms []float64, o *blocks.Persons, lo int) {
	for i, v := range norms {
		counts[cell(edges, v)] += o.Share(lo + i)
	}
}

// cell is the first whose edge lies below v, of edges that decrease.
func cell(edges []float64, v float64) int {
	return sort.Search(len(edges), func(k int) bool { return v > edges[k] })
}

// countsSensitivity is how far counts move. A row's place depends on that row only, so that what
// a person adds, shares of 1, is a vector without negative entries whose sum is at most 1, and
// hence its length, too: two are at most √2 apart, rounded up, whatever the edges.
func countsSensitivity(s *Sums) float64 { return s.t.Persons.Positive() * (1 + 1e-15) }

// histogram asks for the counts of what of makes of the scores.
func (r *Framed) histogram(ctx context.Context, q asked, edges []float64) (release.Answer, error) {
	counts := make([]float64, len(edges)+1)
	err := counted(ctx, r.s, counts, q, 1)
	return r.answer(counts, countsSensitivity(r.s)), err
}

// Scored is where histograms of rows' scores ⟨u, tᵢx̃ᵢ⟩ + offset are taken.
type Scored struct {
	InFrame
	Edges, U []float64
	Offset   float64
}

// scored asks for the histogram of what q makes of the scores at a point.
func (r *Framed) scored(ctx context.Context, q asked, at *Scored) (release.Answer, error) {
	if err := r.point(at.U); err != nil {
		return release.Answer{}, err
	}
	return r.histogram(ctx, q, at.Edges)
}

func (q *Scored) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Edges) + 1) }

// counting counts what set makes of the scores of rows of r.
func (q *Scored) counting(r *Framed, set coefficients) rows.Adder {
	score := r.scoring(q.U, q.Offset)
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		z := a.Z[:tile.Rows]
		score(z, tile, lo)
		set(z, a.Beside[:len(z)], lo)
		count(a.Sum, q.Edges, z, r.s.t.Persons, lo)
	}
}

// bounds are the public facts about r.
func (r *Framed) bounds() frameBounds { return frameBounds{r.m, r.s.t.Layout} }

// Dim is the number of coordinates, without the constant one.
func (r *Framed) Dim() int { return r.m.dim }

// point refuses a point with another number of coordinates.
func (r *Framed) point(u []float64) error {
	if len(u) != r.Dim() {
		return check.Fail(check.ErrShape, "len(u)", len(u), fmt.Sprintf("must equal the %d coordinates of the frame", r.Dim()))
	}
	return nil
}

// on is r over a part of its rows.
func (r *Framed) on(s *Sums) *Framed {
	if s == r.s {
		return r
	}
	length := r.norms.length[s.t.From : s.t.From+len(s.t.Length)]
	return &Framed{s, r.rows, r.m, newFrameNorms(s.t, length, r.m.NormBound)}
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
	m, err := newFrameMap(q.Frame, &t.Enc)
	if err != nil {
		return err
	}
	s := (&Sums{t: t}).part(p)
	return m.measure(context.Background(), s, all[s.t.From:])
}

// Bind gives the question the rows in its frame.
func (q *InFrame) Bind(t *rows.Table, all []float64) error {
	m, err := newFrameMap(q.Frame, &t.Enc)
	if err == nil {
		q.r = &Framed{&Sums{t: t}, nil, m, newFrameNorms(t, all, q.Frame.NormBound)}
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

func (r *Framed) in() InFrame { return InFrame{r.m.Frame, r} }
