package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/losses"
)

var _ PredictorConfig = VoteConfig{}

// VoteConfig makes a Predictor that trains r classifiers on disjoint parts of the
// rows, without noise, and answers a query by a noisy majority of their classes
// [DF18, Theorem 4.1]: with the margin v = Σ(2f_i(x) − 1), f_i(x) the class 0 or 1,
// the answer is 1 with probability e^{εv/2}/(1 + e^{εv/2}) and 0 otherwise. Of several
// classes ([Problem].Classes) each part trains a score for each, votes for the class of the
// largest, and class k is the answer with a probability in proportion to e^{εv_k/2}, v_k being its
// votes.
//
// # Privacy
//
// Replace-one. The parts are split by a permutation that depends on Seed and the
// number of rows only, so that a row is in one part, whichever rows there are. A
// part's classifier is a function of its rows: it may change in any way, and v by
// at most 2, whatever the training does, and each v_k by at most 1. An answer is ε-DP and
// ε-bounded-range ([mechanisms.Vote], [mechanisms.Exponential]); Queries of them compose to at most the budget, by the sum of
// all ε, by Gaussian DP or numerically, whichever allows the largest ε.
//
// # Parameters
//
// The loss must have binary labels. For the ⌈6·log(4/α)/ε⌉ parts, or ⌈6·log(4(K−1)/α)/ε⌉ for K
// classes, an answer errs with probability at most α if each classifier errs with at most α/4,
// over random queries. On real data classes overlap: there answers are as good as those of a
// classifier that saw n/r rows. Training costs r minimisations on n/r rows each
// and takes r·d numbers, an answer O(r·d); K times that for K classes.
type VoteConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int `json:"queries"`
	// Parts is r, the number of parts; 0 takes ⌈6·log(4/Alpha)/ε⌉, or with 4(K−1) for 4 of K classes, ε
	// being that of an answer, but no more than leave 4·Dim rows to a part, if that is 1 or
	// more.
	Parts int `json:"parts"`
	// Alpha is the error that Parts aims at, in (0, 1); 0 takes 0.05. Privacy
	// doesn't depend on it.
	Alpha float64 `json:"alpha"`
	// Lambda is the weight of each model's regulariser (λ/2)‖w‖²; 0 takes
	// 1e-2·X²·sup φ”/m for parts of m rows.
	Lambda float64 `json:"lambda"`
	// Seed makes the public random split of the rows.
	Seed uint64 `json:"seed"`
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool `json:"cache"`
}

// Plan calibrates the votes. It fails, by an [ArgumentError], where the shape, the problem,
// the budget or a parameter breaks its rule.
func (c VoteConfig) Plan(s Shape, p Problem, b Budget) (*PredictorPlan, error) {
	s, p, err := planQueries("VoteConfig", c.Queries, s, p, farScore)
	if err != nil {
		return nil, err
	}
	if p.Loss.Labels() != losses.Binary {
		return nil, check.Fail(ErrConfig, "loss", p.Loss.Name(), "must have binary labels to vote")
	}
	if c.Alpha, err = fraction("VoteConfig.Alpha", c.Alpha, 0.05); err != nil {
		return nil, err
	}
	vote, err := b.votes(c.Queries)
	if err != nil {
		return nil, err
	}
	x, err := newPartition("VoteConfig", s, p, partition{parts: c.Parts, lambda: c.Lambda, seed: c.Seed}, 6*math.Log(4*float64(max(1, p.Classes-1))/c.Alpha)/vote.Epsilon)
	if err != nil {
		return nil, err
	}
	c.Parts, c.Lambda = x.parts, x.lambda
	of := service{
		cache: c.Cache, release: castVote,
		facts: predictorFacts{Kind: "vote", Queries: c.Queries, AnswerEpsilon: vote.Epsilon, Parts: c.Parts, Seed: c.Seed, Lambda: c.Lambda},
		train: func(r *run) (question, error) {
			e, err := x.train(r)
			if err != nil {
				return nil, err
			}
			return e.Margin, nil
		},
	}
	by := release.Vote
	if p.Classes > 0 {
		by, of.release = release.Plurality, castClass
		of.train = func(r *run) (question, error) {
			e, err := r.data.ClassEnsemble(r.ctx, x.trained, p.Classes, x.parts, x.seed, x.radius, x.lambda, r.progress)
			if err != nil {
				return nil, err
			}
			return e.Votes, nil
		}
	}
	if of.schedule, err = by(fmt.Sprintf("votes of %d models, split by seed %d", c.Parts, c.Seed), vote.Epsilon, c.Queries); err != nil {
		return nil, err
	}
	return newPredictorPlan(c, s, p, b, of)
}

// partition is how models are trained on disjoint parts of the rows.
type partition struct {
	trained losses.Loss
	radius  float64
	parts   int
	lambda  float64
	seed    uint64
}

// newPartition checks the number of parts and the regulariser and fills in
// defaults, wanted being the number of parts that theory asks for.
func newPartition(config string, s Shape, p Problem, x partition, wanted float64) (partition, error) {
	if x.parts == 0 {
		x.parts = int(min(max(math.Ceil(wanted), 1), float64(max(s.Rows/(4*s.Dim), 1))))
	}
	if x.parts < 1 || x.parts > s.Rows {
		return x, check.Fail(ErrConfig, config+".Parts", x.parts, fmt.Sprintf("must lie between 1 and the %s, or be 0 for the default", s.units(s.Rows)))
	}
	z := s.FeatureBound * p.Radius
	x.trained, x.radius = smooth.Kinks(p.Loss, z, s.LabelBound), p.Radius
	if err := solvable(x.trained, s, p, x.lambda); err != nil {
		return x, err
	}
	if x.lambda == 0 {
		h := x.trained.Constants(z, s.LabelBound).Smoothness
		x.lambda = 1e-2 * s.FeatureBound * s.FeatureBound * h * float64(x.parts) / float64(s.Rows)
	}
	return x, check.Scale(ErrConfig, config+".Lambda", x.lambda)
}

// train makes the regularised minimiser of each part. The solver reaches its
// tolerance for any rows, of one class too.
func (x partition) train(r *run) (*curator.Ensemble, error) {
	return r.data.Ensemble(r.ctx, x.trained, x.parts, x.seed, x.radius, x.lambda, r.progress)
}
