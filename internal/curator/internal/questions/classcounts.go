package questions

import (
	"context"
	"encoding/gob"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Counts of rows by what scores of classes say of them. A row's probabilities are p_k ∝
// e^{z_k}, or p_k ∝ e^{−φ(z_k)} where a loss φ of a class against the rest is given, taken
// for a row of that class.
//
// Where a row is counted depends on that row, on public edges and on weights that count as
// public, whatever is computed of them; and it is counted once in each of m histograms.
// Replacing it takes 1 from one count and adds 1 to another in each of these at most: the
// L2 sensitivity is √(2m). Counts are exact. A person adds shares of 1, see
// Framed.histogram.

// Counted says in which classes' histograms a row is counted.
type Counted int

// A row is counted in that of its own class, in those of all others, or in all.
const (
	Own Counted = iota
	Others
	Every
)

// histograms is how many a row is counted in, of k. For Others two rows of classes a and b
// are apart by 1 in a's histogram and in b's, and by 2 in those of the rest: by 2(k−1) in all,
// as two rows of one class are.
func (of Counted) histograms(k int) int {
	switch of {
	case Own:
		return 1
	case Others:
		return k - 1
	}
	return k
}

// LogOdds are histograms of log p_k/(1 − p_k), class by class, between edges that decrease:
// in that of class k are all rows, those of the class, or those of other classes.
func (c *ClassFramed) LogOdds(ctx context.Context, of Counted, edges [][]float64, at ClassPoint, loss losses.Loss) (release.Answer, error) {
	q := &logOddsCounts{c.at(at), of, edges, sentLoss{loss}}
	_, total := q.starts()
	counts := make([]float64, total)
	most := of.histograms(c.k)
	err := counted(ctx, c.r.s, counts, q, most)
	return c.r.answer(counts, c.r.s.t.Persons.Positive()*math.Sqrt(float64(most))*(1+4e-15)), err
}

// logOddsCounts asks for LogOdds.
type logOddsCounts struct {
	Pointed
	Counted Counted
	Edges   [][]float64
	Loss    sentLoss
}

// starts are where the classes' histograms begin, and all of them end.
func (q *logOddsCounts) starts() (starts []int, total int) {
	for _, edges := range q.Edges {
		starts = append(starts, total)
		total += len(edges) + 1
	}
	return starts, total
}

func (q *logOddsCounts) cut(t *rows.Table) rows.Cut {
	_, total := q.starts()
	return t.InTiles(total)
}

func (q *logOddsCounts) adder(s *Sums) rows.Adder {
	starts, _ := q.starts()
	return q.scores(q.on(s), func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
		row := a.Many[q.Classes*tile.Rows:]
		for i := range tile.Rows {
			logOdds(row, z, i, q.Loss.Loss)
			for k, v := range row {
				if own := k == int(s.labels[lo+i]); q.Counted == Own && !own || q.Counted == Others && own {
					continue
				}
				a.Sum[starts[k]+cell(q.Edges[k], v)] += s.t.Persons.Share(lo + i)
			}
		}
	})
}

// OwnLogOdds is one histogram of log p_y/(1 − p_y), y being a row's own class.
func (c *ClassFramed) OwnLogOdds(ctx context.Context, edges []float64, at ClassPoint, loss losses.Loss) (release.Answer, error) {
	return c.r.histogram(ctx, &ownLogOdds{Numbers{c.at(at), edges, sentLoss{loss}}}, edges)
}

// ownLogOdds asks for OwnLogOdds.
type ownLogOdds struct{ Numbers }

func (q *ownLogOdds) adder(s *Sums) rows.Adder {
	return q.counting(q.on(s), func(row []float64, z [][]float64, i, y int) float64 {
		logOdds(row, z, i, q.Loss.Loss)
		return row[y]
	})
}

// Brier is one histogram of Σ(p_k − 1[k = y])².
func (c *ClassFramed) Brier(ctx context.Context, edges []float64, at ClassPoint, loss losses.Loss) (release.Answer, error) {
	return c.r.histogram(ctx, &brier{Numbers{c.at(at), edges, sentLoss{loss}}}, edges)
}

// brier asks for Brier.
type brier struct{ Numbers }

func (q *brier) adder(s *Sums) rows.Adder {
	return q.counting(q.on(s), func(row []float64, z [][]float64, i, y int) (square float64) {
		logOdds(row, z, i, q.Loss.Loss)
		for k, v := range row {
			p := losses.Logit.Mean(v)
			if k == y {
				p--
			}
			square += float64(p * p)
		}
		return square
	})
}

// Numbers asks for the histogram of a number of each row, which f computes of its scores, with
// room for as many.
type Numbers struct {
	Pointed
	Edges []float64
	Loss  sentLoss
}

func (q *Numbers) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Edges) + 1) }

func (q *Numbers) counting(r *Framed, f func(row []float64, z [][]float64, i, y int) float64) rows.Adder {
	return q.scores(r, func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
		row, list := a.Many[q.Classes*tile.Rows:], a.Beside[:tile.Rows]
		for i := range list {
			list[i] = f(row, z, i, int(r.s.labels[lo+i]))
		}
		count(a.Sum, q.Edges, list, r.s.t.Persons, lo)
	})
}

// Confusion counts rows by their class and, within it, by the class of the largest score.
func (c *ClassFramed) Confusion(ctx context.Context, at ClassPoint) (release.Answer, error) {
	counts := make([]float64, c.k*c.k)
	err := counted(ctx, c.r.s, counts, &confusion{c.at(at)}, 1)
	return c.r.answer(counts, countsSensitivity(c.r.s)), err
}

// confusion asks for Confusion.
type confusion struct{ Pointed }

func (q *confusion) cut(t *rows.Table) rows.Cut { return t.InTiles(q.Classes * q.Classes) }

func (q *confusion) adder(s *Sums) rows.Adder {
	return q.scores(q.on(s), func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
		for i := range tile.Rows {
			best := 0
			for k := range z {
				if z[k][i] > z[best][i] {
					best = k
				}
			}
			a.Sum[int(s.labels[lo+i])*q.Classes+best] += s.t.Persons.Share(lo + i)
		}
	})
}

// logOdds sets row to log p_k/(1 − p_k) of column i of scores.
func logOdds(row []float64, z [][]float64, i int, loss losses.Loss) {
	for k := range z {
		if row[k] = z[k][i]; loss != nil {
			row[k] = -loss.Value(row[k], 1)
		}
	}
	top := floats.MaxIdx(row)
	best, second := row[top], math.Inf(-1)
	for k, v := range row {
		if k != top {
			second = math.Max(second, v)
		}
	}
	var others float64 // of all but the best, over the second
	for k, v := range row {
		if k != top {
			others += math.Exp(v - second)
		}
	}
	all := 1 + float64(others*math.Exp(second-best)) // over the best
	for k, v := range row {
		if k != top {
			row[k] = v - best - math.Log(all-math.Exp(v-best))
		}
	}
	row[top] = best - second - math.Log(others)
}

func init() {
	gob.Register(&logOddsCounts{})
	gob.Register(&ownLogOdds{})
	gob.Register(&brier{})
	gob.Register(&confusion{})
}
