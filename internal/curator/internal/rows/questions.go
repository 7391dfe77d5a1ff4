package rows

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// Question asks for what combine returns, without an answer yet. It can't be read.
type Question struct {
	s      *Sums
	w      []float64
	totals bool
	of     func(s *Sums) coefficients
	asked  *asked    // what is asked, for other processes; nil if these can't be
	raw    []float64 // the answer: what addTile adds, then the totals
}

// Asking returns the same sums under a loss with labels of the same kind, whose questions
// go to ask, which has them answered by Answer.
func (s *Sums) Asking(loss losses.Loss, ask func(*Question) error) *Sums {
	asking := *s
	asking.loss, asking.ask = loss, ask
	return &asking
}

// askFor is combine by way of ask.
func (s *Sums) askFor(ctx context.Context, dst, w []float64, totals bool, of func(s *Sums) coefficients) (c, k float64, err error) {
	if s.t.Parties() {
		return 0, 0, s.sumOfParties(ctx, dst, askedIn(ctx))
	}
	q, p := &Question{s, w, totals, of, askedIn(ctx), nil}, s.t.enc.Columns
	if err := s.ask(q); err != nil {
		return 0, 0, err
	}
	s.t.enc.Unfold(dst, q.raw[:p], q.raw[p], q.raw[p+1])
	return q.raw[p+2], q.raw[p+3], nil
}

// Answer answers questions, those about the same rows in one pass over them. What one is
// told depends on its own alone, and has the bits of combine's.
func Answer(ctx context.Context, questions []*Question) error {
	for len(questions) > 0 {
		var same, others []*Question
		for _, q := range questions {
			if q.s.t == questions[0].s.t {
				same = append(same, q)
			} else {
				others = append(others, q)
			}
		}
		if err := same[0].s.answer(ctx, same); err != nil {
			return err
		}
		questions = others
	}
	return nil
}

func (s *Sums) answer(ctx context.Context, questions []*Question) error {
	p, ws := s.t.enc.Columns, make([][]float64, len(questions))
	for j, q := range questions {
		ws[j] = q.w
	}
	folds, v := s.t.enc.FoldAll(ws)
	size := p + 4
	total := make([]float64, len(ws)*size)
	err := s.pass(together(ctx, questions), total, func(s *Sums) adder {
		t, sets := s.t, make([]coefficients, len(questions))
		for j, q := range questions {
			sets[j] = q.of(s.as(q.s))
		}
		return func(a *workspace, rows tile, lo int) {
			n := rows.rows
			a.many = room(a.many, len(ws)*n)
			t.scores(a.many, rows, lo, folds, v)
			for j, q := range questions {
				z, beside, of := a.many[j*n:(j+1)*n], a.beside[:n], a.sum[j*size:]
				sets[j](z, beside, lo)
				t.Persons.Weigh(z, lo)
				if q.totals {
					t.Persons.Weigh(beside, lo)
					of[p+2] += vector.Sum(z)
					of[p+3] += vector.Sum(beside)
				}
			}
			t.addTiles(a.sum, size, a.many, rows, lo)
		}
	})
	for j, q := range questions {
		q.raw = total[j*size : (j+1)*size]
	}
	return err
}

// together says that a pass is for all these questions.
func together(ctx context.Context, questions []*Question) context.Context {
	all := asked{Kind: "together"}
	for _, q := range questions {
		if q.asked != nil {
			all.Together = append(all.Together, joined{loss: q.s.loss, Asked: *q.asked})
		}
	}
	return asking(ctx, all)
}

// as are the sums over the rows of s under the loss of others with labels of the same kind.
func (s *Sums) as(other *Sums) *Sums {
	if s.t == other.t {
		return other
	}
	of := *s
	of.loss = other.loss
	return &of
}

// scores is score for all that foldAll wrote, whose scores stand one after the other.
func (t *Table) scores(z []float64, rows tile, lo int, fs []encoding.Folded, v []float64) {
	n := rows.rows
	if !rows.sparse {
		kernel.DotsMany(z, rows.data, rows.stride, v, rows.cols)
	}
	for j := range fs {
		z := z[j*n : (j+1)*n]
		if rows.sparse {
			rows.dot(z, fs[j].V)
		}
		t.place(z, lo, &fs[j])
	}
}

// addTiles is addTile for several sums, that begin so far apart, and whose c stand one after
// the other.
func (t *Table) addTiles(g []float64, apart int, c []float64, rows tile, lo int) {
	n := rows.rows
	for j := 0; j*n < len(c); j++ {
		t.weighTile(g[j*apart:], c[j*n:(j+1)*n], lo)
		if rows.sparse {
			rows.addScaled(g[j*apart:], c[j*n:(j+1)*n])
		}
	}
	if !rows.sparse {
		kernel.AddScaledMany(g, apart, rows.cols, rows.data, rows.stride, c, n)
	}
}
