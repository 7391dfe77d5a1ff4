package rows

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"

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
	starts, total := make([]int, c.k), 0
	for k := range starts {
		starts[k] = total
		total += len(edges[k]) + 1
	}
	counts := make([]float64, total)
	ctx = asking(ctx, asked{Kind: "framed log odds", Frame: &c.r.f, Classes: c.k, Counted: of, Cells: edges, At: at, odds: loss})
	err := c.eachScored(ctx, counts, at, func(c *ClassFramed) classAdder {
		return func(a *workspace, z [][]float64, rows tile, lo int) {
			row := a.many[c.k*rows.rows:]
			for i := range rows.rows {
				logOdds(row, z, i, loss)
				for k, v := range row {
					if own := k == int(c.r.s.labels[lo+i]); of == Own && !own || of == Others && own {
						continue
					}
					a.sum[starts[k]+cell(edges[k], v)] += c.r.s.t.Persons.Share(lo + i)
				}
			}
		}
	})
	return c.r.answer(counts, math.Sqrt(2*float64(of.histograms(c.k)))*(1+1e-15)), err
}

// cell is the first whose edge lies below v, of edges that decrease.
func cell(edges []float64, v float64) int {
	return sort.Search(len(edges), func(k int) bool { return v > edges[k] })
}

// OwnLogOdds is one histogram of log p_y/(1 − p_y), y being a row's own class.
func (c *ClassFramed) OwnLogOdds(ctx context.Context, edges []float64, at ClassPoint, loss losses.Loss) (release.Answer, error) {
	return c.numbers(asking(ctx, asked{Kind: "framed own log odds", Frame: &c.r.f, Classes: c.k, Edges: edges, At: at, odds: loss}), edges, at, func(row []float64, z [][]float64, i, y int) float64 {
		logOdds(row, z, i, loss)
		return row[y]
	})
}

// Brier is one histogram of Σ(p_k − 1[k = y])².
func (c *ClassFramed) Brier(ctx context.Context, edges []float64, at ClassPoint, loss losses.Loss) (release.Answer, error) {
	return c.numbers(asking(ctx, asked{Kind: "framed brier", Frame: &c.r.f, Classes: c.k, Edges: edges, At: at, odds: loss}), edges, at, func(row []float64, z [][]float64, i, y int) (square float64) {
		logOdds(row, z, i, loss)
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

// numbers is the histogram of a number of each row, which f computes of its scores, with room
// for as many.
func (c *ClassFramed) numbers(ctx context.Context, edges []float64, at ClassPoint, f func(row []float64, z [][]float64, i, y int) float64) (release.Answer, error) {
	counts := make([]float64, len(edges)+1)
	err := c.eachScored(ctx, counts, at, func(c *ClassFramed) classAdder {
		return func(a *workspace, z [][]float64, rows tile, lo int) {
			row, list := a.many[c.k*rows.rows:], a.beside[:rows.rows]
			for i := range list {
				list[i] = f(row, z, i, int(c.r.s.labels[lo+i]))
			}
			c.r.count(a.sum, edges, list, lo)
		}
	})
	return c.r.answer(counts, oneRowCounts), err
}

// Confusion counts rows by their class and, within it, by the class of the largest score.
func (c *ClassFramed) Confusion(ctx context.Context, at ClassPoint) (release.Answer, error) {
	counts := make([]float64, c.k*c.k)
	err := c.eachScored(asking(ctx, asked{Kind: "framed confusion", Frame: &c.r.f, Classes: c.k, At: at}), counts, at, func(c *ClassFramed) classAdder {
		return func(a *workspace, z [][]float64, rows tile, lo int) {
			for i := range rows.rows {
				best := 0
				for k := range z {
					if z[k][i] > z[best][i] {
						best = k
					}
				}
				a.sum[int(c.r.s.labels[lo+i])*c.k+best] += c.r.s.t.Persons.Share(lo + i)
			}
		}
	})
	return c.r.answer(counts, math.Sqrt2*(1+1e-15)), err
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
