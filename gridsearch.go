package dpglm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = GridSearchConfig{}

// Criterion is what a private selection compares models by, on rows held out.
type Criterion string

// The criteria. The empty string means ValidationLoss.
const (
	ValidationLoss Criterion = "loss"     // mean clipped loss, with a penalty for its uncertainty
	ZeroOneError   Criterion = "zero-one" // fraction of misclassified rows; binary losses only
)

// Candidate is one model for a grid search to train.
type Candidate struct {
	Learner Learner `json:"learner"` // must be given
	Radius  float64 `json:"radius"`  // 0 takes the problem's, or the learner's default
}

// GridSearchConfig holds the parameters of [GridSearch]; it is the Learner.
type GridSearchConfig struct {
	// Learner is trained at each of Radii, which are positive and different. nil Radii are
	// the problem's radius divided by 1, 4 and 16 or, where that isn't given, the radius of
	// NoisyGD's default steps times 4, 1 and ¼: each more costs all of them noise. Either a Learner or Candidates must be given, not both.
	Learner Learner   `json:"learner"`
	Radii   []float64 `json:"radii"`
	// Candidates, instead of Learner and Radii, may differ in anything: radius,
	// clip, step size, algorithm.
	Candidates []Candidate `json:"candidates"`
	// Criterion is what the models are compared by.
	Criterion Criterion `json:"criterion"`
	// Validation is the fraction of the rows held out for the comparison, in
	// (0, 1); 0 takes a fifth. The paper takes half, which leaves fewer to learn from
	// than the comparison is worth.
	Validation float64 `json:"validation"`
	// Beta is the failure probability of the accuracy statement, in (0, 1); 0
	// takes 0.05. Privacy doesn't depend on it.
	Beta float64 `json:"beta"`
	// Seed makes the public random split of the rows.
	Seed uint64 `json:"seed"`
}

// GridSearch trains several models on one part of the rows and selects one of
// them on the other [AB+22, Algorithm 4], so that the radius, or any other
// parameter, need not be known:
//
//	w_j = A_j(S₁), j = 1..K
//	q_j = mean over S₂ of clip(ℓ(w_j), 0, c_j) + penalty_j,  q₀ = sup_y φ_y(0) for w₀ = 0
//
// and selects by the generalized exponential mechanism, as the c_j differ.
// [ZeroOneError] compares error rates, by permute-and-flip, without w₀. Of several classes ℓ is
// −log p of a row's own, and q₀ is log K; where the loss has no probabilities, ℓ is 1 for a
// misclassified row and 0 for others, without a penalty, and c_j and q₀ are 1.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. S₁ and S₂ are split by a permutation that depends on Seed and the
// number of rows only. The K trainings on S₁ compose in sequence, each with a
// share that is μ/√K for Gaussian noise. Given the models, one row of S₂ moves
// q_j by at most c_j/|S₂| plus rounding, because the loss is clipped, whatever
// w_j is; the penalty is public. A row lies in S₁ or in S₂, so the two stages
// compose in parallel and each has the whole budget, where the paper halves ε
// and gives each training ε/(2K), δ/(2K): at K = 5, ε = 1, δ = 1e-6 the noise is
// smaller by a factor of 4.4. The paper passes c_j as the sensitivity, |S₂| times
// too much, and spends δ on the event that the loss is larger than c_j.
//
// The Learners must respect their budget (their ledgers are checked against it)
// and Radii must be public.
//
// How good the selected model is the search doesn't tell: the scores stay private, and the
// best of several would flatter. On rows of a third part [Evaluate] tells it, within the same
// budget:
//
//	rest, held, err := data.Split(0.2, seed)
//	model, err := dpglm.GridSearch(ctx, rest, problem, budget, search, nil)
//	e, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, nil)
//	ledger, err := mechanisms.Parallel("search and evaluation", model.Ledger(), e.Ledger)
//
// The search splits what it is given, so that a row is trained on, selected by or evaluated
// on, and each of the three has the whole budget.
//
// Where no radius is given at all, the labels' mean is released once on S₁ (as for [NoisyGD], where μ is over the root of the number of candidates), before the
// trainings, with which it composes in sequence. Balls are around that constant model; it is a
// candidate, too, and its loss on S₂ is a sum with a cap like the others'. The selected model's intercept is recalibrated on S₁ as
// [Boost]'s is, by a release in the same sequence: which model that is says the selection, of which only rows of S₂ tell anything new.
//
// # Parameters
//
// c_j is the largest loss at the score bound Z_j: X·B_j for learners that stay in
// the ball, X(B_j + σ_j√(2·log(2|S₂|K/β))) with output noise; and at most 2q₀, as
// the largest loss is far from any row's where rows are shorter than their bound,
// and a model is no better for its largest losses. By Bernstein's
// inequality penalty_j = √(2c_j·q₀·log(2K/β)/|S₂|) + c_j·log(2K/β)/(3|S₂|), with
// which q_j bounds the risk, as far as the risk is below q₀ (the paper's second
// term has the wrong dimension). It costs K trainings on S₁ and one pass over S₂. Candidates
// whose steps are sums of gradients ([NoisyGD], [StandardisedGD], and [JL] by one map) train
// together: each step reads the rows once for all of them.
func GridSearch(ctx context.Context, d *Dataset, p Problem, b Budget, cfg GridSearchConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan plans all candidates and the selection. It fails, by an [ArgumentError], where the
// shape, the problem, the budget or a parameter breaks its rule.
func (c GridSearchConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	g, p, err := c.planned(s, p, b)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(g.GridSearchConfig, g.shape, p, b, g.schedule, g.train)
	if err != nil {
		return nil, err
	}
	if plan.weightBound, plan.Passes = 0, passes(g.plans); plan.Passes > 0 {
		plan.Passes++
		if g.start != nil {
			plan.Passes += g.start.passes()
		}
	}
	for _, child := range g.plans {
		plan.asks.pairs = plan.asks.pairs || child.asks.pairs
		plan.weightBound = math.Max(plan.weightBound, child.weightBound)
		plan.spread = math.Max(plan.spread, child.spread)
	}
	return plan, nil
}

// planned checks the arguments and plans the candidates, with a share of the budget each.
func (c GridSearchConfig) planned(s Shape, p Problem, b Budget) (*gridSearch, Problem, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, p, err
	}
	asked := p // without a radius, learners take their own defaults
	if p, err = p.resolve(s, farScore); err != nil {
		return nil, p, err
	}
	around, given := asked.Radius == 0 && asked.Classes == 0 && c.Candidates == nil && c.Radii == nil && s.Intercept, c
	if c, err = c.resolve(s, p); err != nil {
		return nil, p, err
	}
	train := s
	held := int(math.Ceil(c.Validation * float64(s.Rows)))
	train.Rows -= held
	if train.Rows < 1 || held < 1 {
		return nil, p, check.Fail(ErrShape, "rows", s.Rows, "must suffice for two parts")
	}
	g := &gridSearch{GridSearchConfig: c, shape: s, problem: asked, held: held}
	if around {
		if err := g.planAround(given, train, b); err != nil || g.plans != nil {
			return g, p, err
		}
	}
	return g, p, g.planSharing(train, b, b.beside())
}

// planSharing plans the candidates with a share each of what is for training.
func (g *gridSearch) planSharing(train Shape, b, training Budget) error {
	k := len(g.Candidates)
	err := g.plan(train, b, training.share(k))
	if errors.Is(err, ErrBudget) {
		err = g.plan(train, b, training.shareByMu(k))
	}
	return err
}

// resolve checks the configuration and writes it as a list of candidates.
func (c GridSearchConfig) resolve(s Shape, p Problem) (GridSearchConfig, error) {
	switch c.Criterion {
	case "":
		c.Criterion = ValidationLoss
	case ValidationLoss:
	case ZeroOneError:
		if p.Loss.Labels() != losses.Binary {
			return c, check.Fail(ErrConfig, "GridSearchConfig.Criterion", c.Criterion, "needs a loss with binary labels")
		}
	default:
		return c, check.Fail(ErrConfig, "GridSearchConfig.Criterion", fmt.Sprintf("%q", c.Criterion), "must be loss or zero-one")
	}
	var err error
	if c.Validation, err = fraction("GridSearchConfig.Validation", c.Validation, 0.2); err != nil {
		return c, err
	}
	if c.Beta, err = fraction("GridSearchConfig.Beta", c.Beta, 0.05); err != nil {
		return c, err
	}
	if (c.Candidates == nil) == (c.Learner == nil) {
		return c, check.Fail(ErrConfig, "GridSearchConfig", nil, "must have either Candidates or a Learner")
	}
	if c.Candidates != nil {
		return c, c.checkCandidates()
	}
	return c.expand(p)
}

func (c GridSearchConfig) checkCandidates() error {
	if len(c.Candidates) == 0 || c.Radii != nil {
		return check.Fail(ErrConfig, "GridSearchConfig.Candidates", len(c.Candidates), "must not be empty, and Radii must be nil beside them")
	}
	for i, k := range c.Candidates {
		if k.Learner == nil {
			return check.Fail(ErrConfig, fmt.Sprintf("GridSearchConfig.Candidates[%d].Learner", i), nil, "must not be nil")
		}
	}
	return nil
}

// expand turns a learner and radii into candidates.
func (c GridSearchConfig) expand(p Problem) (GridSearchConfig, error) {
	if c.Radii == nil {
		for k := range 3 {
			c.Radii = append(c.Radii, math.Ldexp(p.Radius, -2*k))
		}
	}
	if len(c.Radii) == 0 {
		return c, check.Fail(ErrConfig, "GridSearchConfig.Radii", 0, "must not be an empty list")
	}
	seen := map[float64]bool{}
	for _, r := range c.Radii {
		if err := check.Bound("GridSearchConfig.Radii", r); err != nil {
			return c, err
		}
		if seen[r] {
			return c, check.Fail(ErrConfig, "GridSearchConfig.Radii", r, "must not be there twice")
		}
		seen[r] = true
		c.Candidates = append(c.Candidates, Candidate{c.Learner, r})
	}
	c.Learner, c.Radii = nil, nil
	return c, nil
}

// gridSearch is a planned search.
type gridSearch struct {
	GridSearchConfig
	shape    Shape
	problem  Problem // as given: its radius may be 0
	held     int     // |S₂|
	plans    []*Plan
	caps     []float64
	epsilon  float64 // of the selection
	schedule *release.Schedule
	start    *start // nil where none is released here
}

// planAround plans candidates whose balls are around the constant model, which is released once
// for all of them: of the radius that Noisy GD's default steps are for, 4 times and a quarter of
// it. It leaves no plans where the learner doesn't ask for a start.
func (g *gridSearch) planAround(given GridSearchConfig, train Shape, b Budget) error {
	own := given
	own.Validation, own.Beta, own.Criterion = g.Validation, g.Beta, g.Criterion
	own, err := own.expand(Problem{Radius: 4 * g.problem.forSteps(train).Radius})
	if err != nil {
		return err
	}
	resolved, begun := g.GridSearchConfig, train
	begun.begun = true
	if !train.begun {
		if g.start, err = newStart(train, g.problem.Loss, b.beside(), 1, train.Dim, len(own.Candidates)); err != nil {
			return err
		}
		if err := g.start.beside(true); err != nil {
			return err
		}
	}
	rest := b.beside()
	if g.start != nil {
		rest = g.start.rest
	}
	g.GridSearchConfig = own
	if err := g.planSharing(begun, b, rest); err != nil {
		return err
	}
	for _, plan := range g.plans {
		if !plan.asks.starts {
			g.GridSearchConfig, g.plans, g.start = resolved, nil, nil
			return nil
		}
	}
	return nil
}

// plan plans the candidates with a share of the budget b each.
func (g *gridSearch) plan(train Shape, b, share Budget) error {
	g.plans, g.caps = nil, nil
	for _, c := range g.Candidates {
		p := g.problem
		if c.Radius != 0 {
			p.Radius = c.Radius
		}
		plan, err := planChild(c.Learner, train, p, share)
		if err != nil {
			return err
		}
		z := plan.scoreBound(g.held, g.Beta/float64(len(g.Candidates)))
		g.plans = append(g.plans, plan)
		limit, err := lossCap(p, z, train.LabelBound)
		if err != nil {
			return err
		}
		g.caps = append(g.caps, limit)
	}
	var err error
	if g.epsilon, err = b.beside().pureEpsilon(); err != nil {
		return err
	}
	return g.compose(b)
}

// compose makes the schedule and holds it against the budget.
func (g *gridSearch) compose(b Budget) error {
	plans := make([]*release.Schedule, len(g.plans))
	for j, plan := range g.plans {
		plans[j] = plan.schedule
	}
	training, err := release.Woven(fmt.Sprintf("%d candidates on %s", len(g.plans), g.shape.units(g.shape.Rows-g.held)), plans...)
	if err != nil {
		return err
	}
	if g.start != nil {
		if training, err = release.Sequential(fmt.Sprintf("training on %s", g.shape.units(g.shape.Rows-g.held)), g.start.around(training)...); err != nil {
			return err
		}
	}
	var selector release.Selector = mechanisms.GeneralizedExponential{Epsilon: g.epsilon, Beta: g.Beta}
	if g.Criterion == ZeroOneError {
		selector = mechanisms.PermuteAndFlip{Epsilon: g.epsilon}
	}
	selection, err := release.Selection(fmt.Sprintf("selection on the other %s", g.shape.units(g.held)), selector)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("%d and %s by seed %d", g.shape.Rows-g.held, g.shape.units(g.held), g.Seed)
	if g.schedule, err = release.Parallel("grid search", by, training, selection); err != nil {
		return err
	}
	return b.covers(g.schedule.Ledger())
}

func (g *gridSearch) train(r *run) (*fitted, error) {
	parts := r.data.Split(g.Seed, g.shape.Rows-g.held, g.held)
	training, err := r.allow.On(0, parts[0].Rows())
	if err != nil {
		return nil, err
	}
	all, train := training, parts[0]
	if g.start != nil {
		if r, training, err = g.start.before(r, train, all); err != nil {
			return nil, err
		}
		train = r.data
	}
	made, err := g.candidates(r, train, training)
	if err != nil {
		return nil, err
	}
	selection, err := r.allow.On(1, parts[1].Rows())
	if err != nil {
		return nil, err
	}
	best, err := g.choose(r, parts[1], made, selection)
	if err != nil {
		return nil, err
	}
	chosen := append(made, g.constant(r))[best]
	return chosen, g.start.recalibrateChosen(r, chosen, all)
}

// candidates trains the candidates, those together that can be.
func (g *gridSearch) candidates(r *run, d *curator.Data, training *release.Allowance) ([]*fitted, error) {
	all, done := make([]*fitted, len(g.plans)), 0
	for _, batch := range batches(g.plans) {
		plans, allow := make([]*Plan, len(batch)), make([]*release.Allowance, len(batch))
		for k, j := range batch {
			part, err := training.Part(j)
			if err != nil {
				return nil, err
			}
			plans[k], allow[k] = g.plans[j], part
		}
		of := *r
		of.shared = &shared{}
		trained, err := together(&of, plans, d, allow, func() {
			done++
			r.progress(done, len(g.plans))
		})
		if err != nil {
			return nil, err
		}
		for k, j := range batch {
			all[j] = trained[k]
		}
	}
	return all, nil
}

// constant is the constant model, or the zero model where no start was released.
func (g *gridSearch) constant(r *run) *fitted {
	f := &fitted{loss: g.problem.Loss, joint: g.problem.Classes > 0 && g.problem.logistic()}
	for range max(1, g.problem.Classes) {
		f.weights = append(f.weights, r.centre(g.shape.Dim))
	}
	return f
}

// choose returns the index of the selected model; the constant model's is behind the
// others.
func (g *gridSearch) choose(r *run, held *curator.Data, made []*fitted, allow *release.Allowance) (int, error) {
	if g.Criterion == ZeroOneError {
		errors, err := g.problem.errorsOf(r.ctx, held, made)
		if err != nil {
			return 0, err
		}
		return allow.Select(errors)
	}
	if r.start != nil {
		return g.chooseAround(r, held, made, allow)
	}
	n, penalties := float64(g.held), make([]float64, len(made))
	zero := g.problem.zeroLoss(g.shape.LabelBound)
	logs := math.Log(2*float64(len(made))) - math.Log(g.Beta)
	for j, c := range g.caps {
		penalties[j] = math.Sqrt(2*c*zero*logs*n) + c*logs/3
	}
	scores, err := g.problem.lossesOf(r.ctx, held, made, g.caps, penalties)
	if err != nil {
		return 0, err
	}
	return allow.Select(scores.WithConstant(zero * n))
}

// chooseAround is choose where the start was released: the constant model is one more candidate,
// whose loss is a sum like the others'. All have one cap, so that a penalty would be the same.
func (g *gridSearch) chooseAround(r *run, held *curator.Data, made []*fitted, allow *release.Allowance) (int, error) {
	models := append(slices.Clone(made), g.constant(r))
	caps := make([]float64, len(models))
	for j, plan := range g.plans {
		z := plan.scoreBound(g.held, g.Beta/float64(len(g.plans)))
		caps[j] = r.capAround(g.problem.Loss, z, g.shape.LabelBound, 0)
	}
	caps[len(made)] = slices.Max(caps)
	return g.problem.choose(r.ctx, held, models, caps, allow)
}
