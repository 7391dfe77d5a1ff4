package curator

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// ClassEnsemble is a number of models of classes that were trained without noise on disjoint
// parts of the rows, one on each. They can't be read.
type ClassEnsemble struct {
	models  [][][]float64 // of each part, the weights of each class
	classes int
	origin  origin
}

// ClassEnsemble trains on each of so many parts, split as Ensemble does, the minimisers of
// each class against the rest, under a loss of binary labels. Whatever a part's training does, it
// depends on that part's rows alone. A label that is no class is an error of intake.
func (d *Data) ClassEnsemble(ctx context.Context, loss losses.Loss, classes, parts int, seed uint64, radius, lambda float64, progress func(done, total int)) (*ClassEnsemble, error) {
	if loss.Labels() != losses.Binary {
		return nil, check.Fail(check.ErrConfig, "loss", loss.Name(), "must be one of binary labels, for a class against the rest")
	}
	if _, err := d.Classes(ctx, classes); err != nil {
		return nil, err
	}
	e := &ClassEnsemble{make([][][]float64, parts), classes, originOf(d)}
	err := eachPart(d, parts, seed, progress, func(i int, part *Data) error {
		e.models[i] = make([][]float64, classes)
		for k := range classes {
			var err error
			if e.models[i][k], err = proposal(ctx, part.Against(k), loss, radius, lambda); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Votes are scores to select a class by, of a query: less the number of models of which it has
// the largest score, the first of several. A replaced row changes one model, whose vote goes from
// one class to another: it moves each score by at most 1.
func (e *ClassEnsemble) Votes(x []float64) (release.Answer, error) {
	u, err := e.origin.encoding.Encode(x)
	if err != nil {
		return release.Answer{}, err
	}
	scores, row := make([]float64, e.classes), make([]float64, e.classes)
	for _, model := range e.models {
		for k, w := range model {
			row[k] = floats.Dot(u, w)
		}
		scores[questions.LargestScore(row)]--
	}
	return countScores(e.origin.rows, scores), nil
}
