package dpglm

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/evaluate"
	"github.com/dpglm/dpglm/losses"
)

// EvaluateClasses tells how good a model of several classes is on the rows of d, privately,
// with intervals, as [Evaluate] does for other models. Labels are classes, as in training.
// Models of losses.Ordinal, whose levels ascend, are for [Evaluate].
//
// Errors are those of [EvaluateConfig.ClassesLedger], of a model that wasn't trained with the
// facts of d, and of labels that aren't its classes ([ErrLabel]), before anything is released;
// a call that stops later has an [Interrupted].
//
// # Privacy
//
// Replace-one. All that is released are histograms: of the log-odds of each of the K
// classes' probabilities, of those of a row's own class, for rows of a class and for all
// others; of the Brier score; and of rows by their class and the one that is predicted.
// Where a row is counted depends on that row and on public or released edges, so replacing
// it takes 1 from one count and adds 1 to another in each histogram that it is in: √2 in
// L2 for one of them, √(2K) for all rows in all classes' and √(2(K−1)) for the rows of other
// classes, and counts are exact. Noise is Gaussian, all from one pool of μ². Everything in
// an [Evaluation] is computed from these counts and public numbers. What [Evaluate] says
// of the model's weights and of composition holds here.
//
// # Accuracy
//
// Intervals include sampling and noise, by simulating both. Classes have most of their noise
// in their own rows, of which there are fewest: these have a share of μ² that is √(K−1)
// times that of all other rows, so that K areas under curves cost hardly more than one. The
// interval of their mean takes errors in the ranks of other classes' rows to be alike for all
// classes, and is too wide rather than too narrow. The log-loss counts rows of rare classes,
// which may weigh most in it: over a range that is found from the log-odds of all rows. Recall
// and precision are left out where the rows that they are a part of don't stand out from noise.
//
// It takes 22 passes over the rows, of O(n·d·K). There may be at most 100 classes. A model
// without probabilities has neither log-loss nor Brier score, and its curves rank rows by
// 1/(1 + e^(−score)) over the sum of all classes'.
func EvaluateClasses(ctx context.Context, d *Dataset, m *ClassModel, b Budget, cfg EvaluateConfig, env *Env) (*Evaluation, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	p, err := cfg.planClasses(d.Shape(), len(m.weights), b)
	if err != nil {
		return nil, err
	}
	of, err := p.classes(m)
	if err != nil {
		return nil, err
	}
	if !sameFeatures(d.facts, m.facts) {
		return nil, check.Fail(ErrShape, "dataset", nil, "must have the bounds or the schema of the model's")
	}
	rows, err := d.data.Classes(ctx, len(m.weights))
	if err != nil {
		return nil, err
	}
	in, err := rows.Frame(ctx, curator.Frame{})
	if err != nil {
		return nil, err
	}
	t, err := p.start(ctx, d, env, m, cfg)
	if err != nil {
		return nil, err
	}
	found, err := of.Evaluate(t, in)
	return p.finish(t, found, err, m.Levels())
}

// ClassesLedger is what [EvaluateClasses] would spend on data of the given shape, for a model of
// so many classes: a dry run, before there is a model. It fails, by an [ArgumentError], where the
// shape, the number of classes, the budget or a parameter breaks its rule.
func (c EvaluateConfig) ClassesLedger(s Shape, classes int, b Budget) (*Ledger, error) {
	p, err := c.planClasses(s, classes, b)
	if err != nil {
		return nil, err
	}
	return p.ledger, nil
}

func (c EvaluateConfig) planClasses(s Shape, classes int, b Budget) (*evaluation, error) {
	if err := fewEnough("classes", classes); err != nil {
		return nil, err
	}
	if err := ofClasses("classes", classes, s); err != nil {
		return nil, err
	}
	return c.planned("evaluation of classes", s, losses.Logistic{}, evaluate.ClassesSize(classes), b)
}

// classes are the scores of a model.
func (p *evaluation) classes(m *ClassModel) (evaluate.Classes, error) {
	of := evaluate.Classes{Against: m.against(), Probable: m.probable()}
	for _, w := range m.weights {
		s, err := p.score(w, 0)
		if err != nil {
			return of, err
		}
		of.At.U, of.At.B = append(of.At.U, s.Weights), append(of.At.B, s.Offset)
		of.Bound = math.Max(of.Bound, s.Bound)
	}
	return of, nil
}
