package questions

import (
	"context"
	"encoding/gob"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/vector"
)

// combination is a question about a sum Σ cᵢxᵢ: see combine.
type combination interface {
	weights() []float64
	// coefficients make the cᵢ of the scores at the weights.
	coefficients(s *Sums) coefficients
	// atOnce is a faster way, with the same bits; nil for none. It has no totals.
	atOnce() atOnce
	// totals reports whether Σ cᵢ and Σ kᵢ are asked for, too.
	totals() bool
	// together is how persons' sums are held where each row counts, nil where rows count their shares.
	together(s *Sums) together
}

// together adds what persons' rows come to, column by column of a combination, held: those of a tile's persons who must be
// held, so that it leaves the coefficients z, and what is beside them, of others' rows; those of the rows that it
// took are 0. A person's rows may lie in several tiles: open is where the sum of one whose rows haven't ended is kept.
type together interface {
	add(open *rows.Open, sum, z, beside []float64, tile rows.Tile, lo int)
}

// coefficients turns the scores z of the rows from lo on into what they are multiplied by,
// and sets other numbers beside.
type coefficients func(z, beside []float64, lo int)

// combine sets dst to Σᵢ cᵢxᵢ, where coefficients make the cᵢ of the scores
// ⟨w, xᵢ⟩, each of which then counts its share. Where totals are
// asked for, it returns Σ cᵢ and Σ kᵢ, too, kᵢ being what is set beside. A faster way, if
// there is one, adds what the coefficients would.
func combine(ctx context.Context, s *Sums, dst []float64, of combination) (c, k float64, err error) {
	if g := summingOf(s.t); g != nil {
		return 0, 0, g.combine(ctx, dst, s, of)
	}
	if s.ask != nil {
		return askFor(ctx, s, dst, of)
	}
	total, p := s.t.Acquire(), s.t.Enc.Columns
	defer s.t.Release(total)
	total.Sum = rows.Zeros(total.Sum, p+4)
	if err = s.sum(ctx, total.Sum, &combined{of}); err == nil {
		s.t.Enc.Unfold(dst, total.Sum[:p], total.Sum[p], total.Sum[p+1])
	}
	return total.Sum[p+2], total.Sum[p+3], err
}

// summing is who holds rows and adds up gradients itself, not block by block.
type summing interface {
	combine(ctx context.Context, dst []float64, s *Sums, of combination) error
	// rounding bounds by how much its rounding can bring two gradients further apart.
	rounding(s SumBounds, r, clip float64) float64
	// roundingOf is rounding for vectors of so many numbers, of which none is longer than row.
	roundingOf(dim int, row float64) float64
}

// summingOf is who does so for the rows of t, nil for nobody.
func summingOf(t *rows.Table) summing {
	if t.Place.Elsewhere() {
		if g, ok := t.Place.Remote.(summing); ok {
			return g
		}
	}
	return nil
}

// combined asks for one combination.
type combined struct{ Of combination }

func (q *combined) cut(t *rows.Table) rows.Cut { return t.InTiles(t.Enc.Columns + 4) }

func (q *combined) adder(s *Sums) rows.Adder {
	p, at, totals, set := s.t.Enc.Columns, q.Of.atOnce(), q.Of.totals(), q.Of.coefficients(s)
	persons := q.Of.together(s)
	var f encoding.Folded
	s.t.Enc.Fold(q.Of.weights(), &f)
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		if a.Done = at.add(s, a, lo, &f); a.Done > lo {
			return
		}
		z, beside := a.Z[:tile.Rows], a.Beside[:tile.Rows]
		s.t.Score(z, tile, lo, &f)
		set(z, beside, lo)
		if persons != nil {
			persons.add(&a.Opens(1)[0], a.Sum, z, beside, tile, lo)
		} else {
			s.t.Persons.Weigh(z, lo)
			s.t.Persons.Weigh(beside, lo)
		}
		if totals {
			a.Sum[p+2] += vector.Sum(z)
			a.Sum[p+3] += vector.Sum(beside)
		}
		s.t.AddTile(a.Sum, z, tile, lo)
	}
}

func (q *combined) frames() []rows.Measure { return framesOf(q.Of) }

func init() { gob.Register(&combined{}) }
