package dpglm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// AverageConfig holds the parameters of NewAverage.
type AverageConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int
	// Parts is r, the number of parts; 0 takes the one at which the noise has a
	// standard deviation of Alpha times the answers' range, but no more than
	// leave 4·Dim rows to a part, if that is 1 or more.
	Parts int
	// Alpha is the error that Parts aims at, in (0, 1); 0 takes 0.05. Privacy
	// doesn't depend on it.
	Alpha float64
	// Lambda is the weight of each model's regulariser; 0 takes the default of
	// VoteConfig.
	Lambda float64
	// Seed makes the public random split of the rows.
	Seed uint64
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool
}

// NewAverage trains r models on disjoint parts of the rows, without noise, and
// answers a query by the mean of their predictions plus noise [DF18, Lemmas 4.5
// and 4.6]. A prediction is the mean of the label at x: the probability of class 1
// for the logistic loss, the class 0 or 1 for other binary losses, the score for
// real labels and the mean count for counts, clamped to the range of the label.
// The answer is clamped to that range too, which costs nothing.
//
// # Privacy
//
// Replace-one. A row is in one part (see NewVote), whose prediction moves by at
// most the length R of the label's range, 1, 2Y or Y: the mean moves by R/r, plus
// the rounding of two sums. Laplace or Gaussian noise is added by package
// mechanisms, whichever varies less for Queries answers within the budget.
//
// # Parameters
//
// As for NewVote. Noise does not change an answer's mean, but for the clamping at
// the ends: it adds at most its mean absolute value to a 1-Lipschitz loss of the
// answer, and half its variance to the squared loss.
func NewAverage(ctx context.Context, d *Dataset, p Problem, b Budget, cfg AverageConfig, env *Env) (*Predictor, error) {
	if d == nil {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must not be nil")
	}
	s, parts, err := cfg.plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	models, err := parts.train(ctx, d, env)
	if err != nil {
		return nil, err
	}
	predict := mean(parts.problem.Loss, parts.shape.LabelBound)
	s.value = func(u []float64) float64 {
		var sum float64
		for _, w := range models {
			sum += predict(floats.Dot(u, w))
		}
		return sum / float64(len(models))
	}
	return newPredictor(d, s, env), nil
}

func (c AverageConfig) plan(s Shape, p Problem, b Budget) (service, partition, error) {
	if err := checkQueries("AverageConfig.Queries", c.Queries); err != nil {
		return service{}, partition{}, err
	}
	p, err := p.resolve(s)
	if err != nil {
		return service{}, partition{}, err
	}
	if c.Alpha, err = share("AverageConfig.Alpha", c.Alpha, 0.05); err != nil {
		return service{}, partition{}, err
	}
	noise, err := b.numbers(c.Queries)
	if err != nil {
		return service{}, partition{}, err
	}
	parts := partition{shape: s, problem: p, parts: c.Parts, lambda: c.Lambda, seed: c.Seed}
	if err := parts.resolve("AverageConfig", noise.perSensitivity()/c.Alpha); err != nil {
		return service{}, partition{}, err
	}
	cache := c.Cache
	c.Parts, c.Lambda, c.Cache = parts.parts, parts.lambda, false
	label := fmt.Sprintf("mean of %d models, split by seed %d", c.Parts, c.Seed)
	low, high := labelRange(p.Loss.Labels(), s.LabelBound)
	sensitivity := averageSensitivity(low, high, c.Parts)
	if err := noise.check(sensitivity); err != nil {
		return service{}, partition{}, err
	}
	x := service{plan: facts("average", c, s, p, b), queries: c.Queries, cache: cache,
		ledger: func(answers int) (*Ledger, error) { return noise.ledger(label, answers) }}
	x.release = func(value float64, src mechanisms.Source) (float64, error) {
		v, err := addTo(value, sensitivity, noise, src)
		return math.Max(low, math.Min(high, v)), err
	}
	return x, parts, x.affordable(b)
}

// averageSensitivity bounds how far the computed mean of r numbers in [low, high]
// moves when one of them changes: either sum is off by at most (r−1)·u·r·M, M the
// largest magnitude, and either quotient by u·M.
func averageSensitivity(low, high float64, r int) float64 {
	m := math.Max(math.Abs(low), math.Abs(high))
	return (high-low)/float64(r)*(1+1e-15) + 2.1*float64(r+1)*0x1p-53*m
}

// labelRange is where labels lie: classes are 0 and 1.
func labelRange(l losses.Labels, bound float64) (low, high float64) {
	switch l {
	case losses.Real:
		return -bound, bound
	case losses.Count:
		return 0, bound
	}
	return 0, 1
}

// mean returns the label's mean at a score, within the label's range.
func mean(l losses.Loss, bound float64) func(score float64) float64 {
	link := losses.LinkOf(l)
	low, high := labelRange(l.Labels(), bound)
	return func(score float64) float64 {
		v := link.Mean(score)
		if l.Labels() == losses.Binary && link != losses.Logit {
			v = prediction(l.Labels(), link, score)
		}
		return math.Max(low, math.Min(high, v))
	}
}
