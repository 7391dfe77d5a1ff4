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

// VoteConfig holds the parameters of NewVote.
type VoteConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int
	// Parts is r, the number of parts; 0 takes ⌈6·log(4/Alpha)/ε⌉, ε being that
	// of an answer, but no more than leave 4·Dim rows to a part, if that is 1 or
	// more.
	Parts int
	// Alpha is the error that Parts aims at, in (0, 1); 0 takes 0.05. Privacy
	// doesn't depend on it.
	Alpha float64
	// Lambda is the weight of each model's regulariser (λ/2)‖w‖²; 0 takes
	// 1e-2·X²·sup φ”/m for parts of m rows.
	Lambda float64
	// Seed makes the public random split of the rows.
	Seed uint64
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool
}

// NewVote trains r classifiers on disjoint parts of the rows, without noise, and
// answers a query by a noisy majority of their classes [DF18, Theorem 4.1]: with
// the margin v = Σ(2f_i(x) − 1), f_i(x) the class 0 or 1, the answer is 1 with
// probability e^{εv/2}/(1 + e^{εv/2}) and 0 otherwise.
//
// # Privacy
//
// Replace-one. The parts are split by a permutation that depends on Seed and the
// number of rows only, so that a row is in one part, whichever rows there are. A
// part's classifier is a function of its rows: it may change in any way, and v by
// at most 2, whatever the training does. An answer is ε-DP and ε-bounded-range
// (mechanisms.Vote); Queries of them compose to at most the budget, by the sum of
// all ε, by Gaussian DP or numerically, whichever allows the largest ε.
//
// # Parameters
//
// The loss must have binary labels. For the ⌈6·log(4/α)/ε⌉ parts an answer errs
// with probability at most α if each classifier errs with at most α/4, over random
// queries. On real data classes overlap: there answers are as good as those of a
// classifier that saw n/r rows. Training costs r minimisations on n/r rows each
// and takes r·d numbers, an answer O(r·d).
func NewVote(ctx context.Context, d *Dataset, p Problem, b Budget, cfg VoteConfig, env *Env) (*Predictor, error) {
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
	s.value = func(u []float64) float64 {
		margin := 0
		for _, w := range models {
			if floats.Dot(u, w) > 0 {
				margin++
			} else {
				margin--
			}
		}
		return float64(margin)
	}
	return newPredictor(d, s, env), nil
}

func (c VoteConfig) plan(s Shape, p Problem, b Budget) (service, partition, error) {
	if err := checkQueries("VoteConfig.Queries", c.Queries); err != nil {
		return service{}, partition{}, err
	}
	p, err := p.resolve(s)
	if err != nil {
		return service{}, partition{}, err
	}
	if p.Loss.Labels() != losses.Binary {
		return service{}, partition{}, check.Fail(ErrConfig, "loss", p.Loss.Name(), "must have binary labels to vote")
	}
	if c.Alpha, err = share("VoteConfig.Alpha", c.Alpha, 0.05); err != nil {
		return service{}, partition{}, err
	}
	vote, err := b.votes(c.Queries)
	if err != nil {
		return service{}, partition{}, err
	}
	parts := partition{shape: s, problem: p, parts: c.Parts, lambda: c.Lambda, seed: c.Seed}
	if err := parts.resolve("VoteConfig", 6*math.Log(4/c.Alpha)/vote.Epsilon); err != nil {
		return service{}, partition{}, err
	}
	cache := c.Cache
	c.Parts, c.Lambda, c.Cache = parts.parts, parts.lambda, false
	label := fmt.Sprintf("votes of %d models, split by seed %d", c.Parts, c.Seed)
	x := service{plan: facts("vote", c, s, p, b), queries: c.Queries, cache: cache, release: draw(vote),
		ledger: func(answers int) (*Ledger, error) { return vote.Ledger(label, answers) }}
	return x, parts, x.affordable(b)
}

// draw releases a margin as the class 0 or 1.
func draw(vote mechanisms.Vote) func(float64, mechanisms.Source) (float64, error) {
	return func(margin float64, src mechanisms.Source) (float64, error) {
		yes, err := vote.Answer(int(margin), src)
		if yes {
			return 1, err
		}
		return 0, err
	}
}

// partition trains models on disjoint parts of the rows.
type partition struct {
	shape   Shape
	problem Problem
	parts   int
	lambda  float64
	seed    uint64
}

// resolve checks the number of parts and the regulariser and fills in defaults,
// wanted being the number of parts that theory asks for.
func (x *partition) resolve(config string, wanted float64) error {
	n := x.shape.Rows
	if x.parts == 0 {
		x.parts = int(min(max(math.Ceil(wanted), 1), float64(max(n/(4*x.shape.Dim), 1))))
	}
	if x.parts < 1 || x.parts > n {
		return check.Fail(ErrConfig, config+".Parts", x.parts, fmt.Sprintf("must lie between 1 and the %d rows, or be 0 for the default", n))
	}
	z := x.shape.FeatureBound * x.problem.Radius
	trained := smoothed(x.problem.Loss, z, x.shape.LabelBound)
	if err := solvable(trained, x.shape, x.problem, x.lambda); err != nil {
		return err
	}
	if x.lambda == 0 {
		h := trained.Constants(z, x.shape.LabelBound).Smoothness
		x.lambda = 1e-2 * x.shape.FeatureBound * x.shape.FeatureBound * h * float64(x.parts) / float64(n)
	}
	return check.Scale(ErrConfig, config+".Lambda", x.lambda)
}

// train returns the regularised minimiser of each part. The parts' sizes differ
// by at most one. The solver reaches its tolerance for any rows, of one class too.
func (x *partition) train(ctx context.Context, d *Dataset, env *Env) ([][]float64, error) {
	order := permutation(x.shape.Rows, x.seed)
	trained := smoothed(x.problem.Loss, x.shape.FeatureBound*x.problem.Radius, x.shape.LabelBound)
	models := make([][]float64, x.parts)
	for i := range models {
		lo, hi := i*x.shape.Rows/x.parts, (i+1)*x.shape.Rows/x.parts
		sums, err := d.pick(order[lo:hi]).sums(trained)
		if err != nil {
			return nil, err
		}
		problem := regularised(ctx, sums, x.problem.Radius, x.lambda)
		tolerance := math.Max(1e-6*x.problem.Radius, problem.Floor()) // for accuracy only
		if models[i], err = problem.Minimize(ctx, tolerance); err != nil {
			return nil, err
		}
		env.progress(i+1, x.parts)
	}
	return models, nil
}
