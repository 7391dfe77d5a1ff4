package questions

import (
	"context"
	"encoding/gob"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// ClassScores are a model of classes: the weights of each over the encoded features, Dim of
// them. A row's probabilities are p_k ∝ e^{z_k} of its scores, or p_k ∝ e^{−φ(z_k)} where a loss
// φ of a class against the rest is given, taken for a row of that class.
type ClassScores struct {
	Weights [][]float64
	Against losses.Loss
}

// sentScores are ClassScores that can be sent.
type sentScores struct {
	Weights [][]float64
	Against sentLoss
}

// sent are models, each of which must have weights for all classes.
func (c *Classes) sent(models []ClassScores) ([]sentScores, error) {
	all := make([]sentScores, len(models))
	for j, m := range models {
		if len(m.Weights) != c.k {
			return nil, check.Fail(check.ErrShape, fmt.Sprintf("classes of model %d (counted from 1)", j+1), len(m.Weights), fmt.Sprintf("must be the %d of the rows", c.k))
		}
		for _, w := range m.Weights {
			if len(w) != c.Dim() {
				return nil, check.Fail(check.ErrShape, fmt.Sprintf("weights of a class of model %d (counted from 1)", j+1), len(w), fmt.Sprintf("must be the %d of the rows", c.Dim()))
			}
		}
		all[j] = sentScores{m.Weights, sentLoss{m.Against}}
	}
	return all, nil
}

// Len is the number of persons.
func (c *Classes) Len() int { return c.s.Len() }

// Dim is the number of weights of one class.
func (c *Classes) Dim() int { return c.s.Dim() }

// Bounds are the public facts about the rows. There is no loss.
func (c *Classes) Bounds() SumBounds { return c.s.Bounds() }

// Losses sets dst_j to Σᵢ −log p_{yᵢ} under model j, each term held to [0, cap_j], cap_j being
// finite. A term of a row depends on that row only, and is cap_j where its scores are no numbers,
// so that [SumBounds.LossSensitivity] bounds how far a replaced row moves the sum, for any model.
func (c *Classes) Losses(ctx context.Context, dst []float64, models []ClassScores, caps []float64) error {
	all, err := c.sent(models)
	if err != nil {
		return err
	}
	return c.s.sum(ctx, dst, &classLosses{all, caps})
}

// classLosses asks for Losses.
type classLosses struct {
	Models []sentScores
	Caps   []float64
}

func (q *classLosses) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Models)) }

func (q *classLosses) adder(s *Sums) rows.Adder {
	return addEachModel(s, q.Models, func(row []float64, y, j int) float64 {
		return withinCap(surprisal(row, y, q.Models[j].Against.Loss), q.Caps[j])
	})
}

// Errors sets dst_j to the number of rows whose class isn't that of model j's largest score, the
// first of several. One row moves it by at most 1, and counts, of shares too, are exact.
func (c *Classes) Errors(ctx context.Context, dst []float64, models []ClassScores) error {
	all, err := c.sent(models)
	if err != nil {
		return err
	}
	return c.s.sum(ctx, dst, &classErrors{all})
}

// classErrors asks for Errors.
type classErrors struct{ Models []sentScores }

func (q *classErrors) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Models)) }

func (q *classErrors) adder(s *Sums) rows.Adder {
	return addEachModel(s, q.Models, func(row []float64, y, _ int) float64 {
		if LargestScore(row) != y {
			return 1
		}
		return 0
	})
}

// LargestScore is the class with the largest score, the first of several.
func LargestScore(row []float64) (best int) {
	for k, z := range row {
		if z > row[best] {
			best = k
		}
	}
	return best
}

// addEachModel adds to number j what f makes of the rows' scores under model j, which it may
// overwrite, and of their classes, each row counting its share.
func addEachModel(s *Sums, models []sentScores, f func(row []float64, y, j int) float64) rows.Adder {
	t, folds, vs := s.t, make([][]encoding.Folded, len(models)), make([][]float64, len(models))
	for j, m := range models {
		folds[j], vs[j] = t.Enc.FoldAll(m.Weights)
	}
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		n := tile.Rows
		for j := range models {
			k := len(folds[j])
			a.Many = rows.Room(a.Many, k*n+k)
			z, row, terms := a.Many[:k*n], a.Many[k*n:], a.Z[:n]
			t.ScoreMany(z, tile, lo, folds[j], vs[j])
			for i := range terms {
				for c := range row {
					row[c] = z[c*n+i]
				}
				terms[i] = f(row, int(s.labels[lo+i]), j)
			}
			t.Persons.Weigh(terms, lo)
			a.Sum[j] += vector.Sum(terms)
		}
	}
}

// surprisal is −log p_y of a row's scores, which it overwrites.
func surprisal(row []float64, y int, loss losses.Loss) float64 {
	if loss != nil {
		for k, z := range row {
			row[k] = -loss.Value(z, 1)
		}
	}
	best := floats.MaxIdx(row)
	top, own := row[best], row[y]
	for k := range row {
		row[k] -= top
	}
	row[best] = math.Inf(-1) // whose 1 Log1p has
	kernel.Exps(row)
	return top - own + math.Log1p(vector.Sum(row))
}

func init() {
	gob.Register(&classLosses{})
	gob.Register(&classErrors{})
}
