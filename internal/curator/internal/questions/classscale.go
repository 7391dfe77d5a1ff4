package questions

import (
	"context"
	"encoding/gob"
	"slices"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
)

// ScaleSlope is how the rows' loss changes with the logarithm of a factor of all that scores
// have beside those of another point: the sum of ⟨p − e_y, z − from⟩, each row's held to
// ±limit.
//
// A replaced row moves it by at most 2·limit in exact arithmetic: a row's term is a number
// within ±limit whatever its scores are, and 0 where these are no numbers; a person's are
// weighted means of such, or where each row counts their sum, held likewise. Rounding adds what it adds to the sum of an intercept's slopes, see
// [frameBounds.gradientSensitivity].
func (c *ClassFramed) ScaleSlope(ctx context.Context, at, from ClassPoint, limit float64) (release.Answer, error) {
	total := make([]float64, 1)
	both := Pointed{c.r.in(), 2 * c.k, ClassPoint{slices.Concat(at.U, from.U), slices.Concat(at.B, from.B)}}
	l2 := float64(c.r.s.t.Persons.Vectors()*limit*(1+8*encoding.Unit)) + float64(2.2*encoding.Unit*limit*c.r.s.t.Layout.Chain(4))
	l2, err := bounded(ctx, c.r.s, total, &scaleSlope{both, limit}, limit, l2)
	return c.r.answer(total, l2), err
}

// scaleSlope asks for ScaleSlope: scores are those of the classes at one point, and then at the other.
type scaleSlope struct {
	Pointed
	Limit float64
}

func (*scaleSlope) cut(t *rows.Table) rows.Cut { return t.InTiles(1) }

func (q *scaleSlope) adder(s *Sums) rows.Adder {
	r := q.on(s)
	return q.scores(r, func(a *rows.Workspace, both [][]float64, tile rows.Tile, lo int) {
		classes := len(both) / 2
		z, from := both[:classes], both[classes:]
		probabilities, beside, terms := a.Many[q.Classes*tile.Rows:][:classes], make([]float64, classes), a.Beside[:tile.Rows]
		for i := range terms {
			for k := range z {
				beside[k] = z[k][i] - from[k][i]
			}
			softmax(probabilities, z, i)
			z[int(s.labels[lo+i])][i]--
			terms[i] = 0
			for k, v := range beside {
				terms[i] += float64(z[k][i] * v)
			}
			if terms[i] != terms[i] {
				terms[i] = 0
			}
		}
		if r.m.Each == 0 {
			holdTo(terms, q.Limit)
			s.t.Persons.Weigh(terms, lo)
			a.Sum[0] += vector.Sum(terms)
			return
		}
		rowsCount(r, terms, lo)
		holdTo(terms, q.Limit)
		open := &a.Opens(1)[0]
		s.t.Persons.Runs(lo, len(terms), func(from, to int, ends bool) {
			if open.Rows == 0 {
				open.Sum = rows.Zeros(open.Sum, 1)
			}
			open.Rows += to - from
			for _, v := range terms[from-lo : to-lo] {
				open.Sum[0] += v
			}
			if ends {
				holdTo(open.Sum, q.Limit)
				a.Sum[0] += open.Sum[0]
				open.Rows = 0
			}
		})
	})
}

func init() {
	gob.Register(&scaleSlope{})
}
