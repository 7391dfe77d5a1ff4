package questions

import (
	"context"
	"encoding/gob"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// Question asks for what combine returns, without an answer yet. It can't be read.
type Question struct {
	s   *Sums
	of  combination
	raw []float64 // the answer: what addTile adds, then the totals
}

// Asking returns the same sums under a loss with labels of the same kind, whose questions
// go to ask, which has them answered by Answer.
func (s *Sums) Asking(loss losses.Loss, ask func(*Question) error) *Sums {
	asking := *s
	asking.loss, asking.ask = loss, ask
	return &asking
}

// askFor is combine by way of ask.
func askFor(ctx context.Context, s *Sums, dst []float64, of combination) (c, k float64, err error) {
	q, p := &Question{s, of, nil}, s.t.Enc.Columns
	if err := s.ask(q); err != nil {
		return 0, 0, err
	}
	s.t.Enc.Unfold(dst, q.raw[:p], q.raw[p], q.raw[p+1])
	return q.raw[p+2], q.raw[p+3], nil
}

// Answer answers questions, those about the same rows in one pass over them. What one is
// told depends on its own alone, and has the bits of combine's.
func Answer(ctx context.Context, questions []*Question) error {
	for len(questions) > 0 {
		var same, others []*Question
		var all joint
		for _, q := range questions {
			if q.s.t == questions[0].s.t {
				same = append(same, q)
				all.Of = append(all.Of, joined{sentLoss{q.s.loss}, q.of, q.s})
			} else {
				others = append(others, q)
			}
		}
		s := same[0].s
		size := s.t.Enc.Columns + 4
		total := make([]float64, len(same)*size)
		if err := s.sum(ctx, total, &all); err != nil {
			return err
		}
		for j, q := range same {
			q.raw = total[j*size : (j+1)*size]
		}
		questions = others
	}
	return nil
}

// joint asks for several combinations in one reading of the rows.
type joint struct{ Of []joined }

type joined struct {
	Loss sentLoss
	Of   combination
	s    *Sums // of this process
}

func (q *joint) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Of) * (t.Enc.Columns + 4)) }

func (q *joint) frames() (of []rows.Measure) {
	for _, j := range q.Of {
		of = append(of, framesOf(j.Of)...)
	}
	return of
}

func (q *joint) adder(s *Sums) rows.Adder {
	t, p, sets, ws := s.t, s.t.Enc.Columns, make([]coefficients, len(q.Of)), make([][]float64, len(q.Of))
	persons := make([]together, len(q.Of))
	for j, of := range q.Of {
		sets[j], ws[j], persons[j] = of.Of.coefficients(of.sums(s)), of.Of.weights(), of.Of.together(of.sums(s))
	}
	folds, v := t.Enc.FoldAll(ws)
	size := p + 4
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		n := tile.Rows
		a.Many = rows.Room(a.Many, len(ws)*n)
		t.ScoreMany(a.Many, tile, lo, folds, v)
		for j := range sets {
			z, beside, of := a.Many[j*n:(j+1)*n], a.Beside[:n], a.Sum[j*size:]
			sets[j](z, beside, lo)
			if persons[j] != nil {
				persons[j].add(&a.Opens(len(sets))[j], of[:size], z, beside, tile, lo)
			} else {
				t.Persons.Weigh(z, lo)
				t.Persons.Weigh(beside, lo)
			}
			if q.Of[j].Of.totals() {
				of[p+2] += vector.Sum(z)
				of[p+3] += vector.Sum(beside)
			}
		}
		t.AddTiles(a.Sum, size, a.Many, tile, lo)
	}
}

// sums are those over the rows of s under the loss that is joined.
func (of *joined) sums(s *Sums) *Sums {
	if of.s != nil && s.t == of.s.t {
		return of.s
	}
	under := *s
	under.loss = of.Loss.Loss
	return &under
}

func init() {
	gob.Register(&joint{})
}
