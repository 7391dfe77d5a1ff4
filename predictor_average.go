package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/curator"
)

var _ PredictorConfig = AverageConfig{}

// AverageConfig makes a Predictor that trains r models on disjoint parts of the
// rows, without noise, and answers a query by the mean of their predictions plus
// noise [DF18, Lemmas 4.5 and 4.6]. A prediction is the mean of the label at x: the
// probability of class 1 for the logistic and the probit loss, the class 0 or 1 for other binary
// losses, the score for real labels and the mean count for counts, clamped to the
// range of the label. The answer is clamped to that range too, which costs nothing.
//
// # Privacy
//
// Replace-one. A row is in one part (see [VoteConfig]), whose prediction moves by
// at most the length R of the label's range (1 for classes): the mean moves by R/r,
// plus the rounding of two sums. Laplace or Gaussian noise is added by package
// mechanisms, whichever varies less for Queries answers within the budget.
//
// # Parameters
//
// As for [VoteConfig], with labels of any kind. Noise does not change an answer's
// mean, but for the clamping at the ends: it adds at most its mean absolute value
// to a 1-Lipschitz loss of the answer, and half its variance to the squared loss.
type AverageConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int `json:"queries"`
	// Parts is r, the number of parts; 0 takes the one at which the noise has a
	// standard deviation of Alpha times the answers' range, but no more than
	// leave 4·Dim rows to a part, if that is 1 or more.
	Parts int `json:"parts"`
	// Alpha is the error that Parts aims at, in (0, 1); 0 takes 0.05. Privacy
	// doesn't depend on it.
	Alpha float64 `json:"alpha"`
	// Lambda is the weight of each model's regulariser; 0 takes the default of
	// VoteConfig.
	Lambda float64 `json:"lambda"`
	// Seed makes the public random split of the rows.
	Seed uint64 `json:"seed"`
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool `json:"cache"`
}

// Plan calibrates the noise of the means. It fails, by an [ArgumentError], where the shape,
// the problem, the budget or a parameter breaks its rule.
func (c AverageConfig) Plan(s Shape, p Problem, b Budget) (*PredictorPlan, error) {
	if err := p.oneScore(); err != nil {
		return nil, err
	}
	s, p, err := planQueries("AverageConfig", c.Queries, s, p, farScore)
	if err != nil {
		return nil, err
	}
	if c.Alpha, err = fraction("AverageConfig.Alpha", c.Alpha, 0.05); err != nil {
		return nil, err
	}
	noise, err := b.numbers(c.Queries)
	if err != nil {
		return nil, err
	}
	x, err := newPartition("AverageConfig", s, p, partition{parts: c.Parts, lambda: c.Lambda, seed: c.Seed}, noise.perSensitivity()/c.Alpha)
	if err != nil {
		return nil, err
	}
	c.Parts, c.Lambda = x.parts, x.lambda
	low, high := curator.LabelRange(p.Loss.Labels(), s.LabelBound)
	shift := s.shift(p.Loss.Labels())
	if err := noise.check(curator.MeanSensitivity(low, high, c.Parts)); err != nil {
		return nil, err
	}
	schedule, err := noise.schedule(fmt.Sprintf("mean of %d models, split by seed %d", c.Parts, c.Seed), c.Queries)
	if err != nil {
		return nil, err
	}
	facts := predictorFacts{Kind: "average", Queries: c.Queries, Parts: c.Parts, Seed: c.Seed, Lambda: c.Lambda}
	return newPredictorPlan(c, s, p, b, service{
		schedule: schedule, cache: c.Cache, facts: facts.with(noise),
		release: noisy(func(v float64) float64 { return math.Max(low, math.Min(high, v)) + shift }),
		train: func(r *run) (question, error) {
			e, err := x.train(r)
			if err != nil {
				return nil, err
			}
			return e.Mean, nil
		},
	})
}
