package dpglm

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// PredictorConfig is a kind of predictor with its parameters: a [VoteConfig],
// [AverageConfig], [StableConfig], [DescentConfig] or [ThresholdConfig]. Plan sees
// public facts only, checks every argument and calibrates the noise.
type PredictorConfig interface {
	// Plan returns what answers about data of the shape would spend. It fails, by an
	// [ArgumentError], where an argument or a parameter breaks its rule.
	Plan(Shape, Problem, Budget) (*PredictorPlan, error)
}

// PredictorPlan is a calibrated predictor that has not seen data yet: a dry run
// shows what its answers would cost. Only the configurations of this package make
// one.
type PredictorPlan struct {
	// Config is the configuration with every default replaced by its value.
	Config PredictorConfig
	// Problem is the problem with its default radius filled in.
	Problem Problem
	// Ledger is what all answers spend together.
	Ledger *Ledger

	shape Shape
	service
}

// service is what predictors of one plan have in common.
type service struct {
	schedule *release.Schedule // a leaf with a release for each answer
	planned  *Ledger           // the schedule's, with the budget
	facts    predictorFacts
	loss     losses.Loss // nil where none was planned for
	cache    bool
	train    func(*run) (question, error)
	release  func(*release.Allowance, release.Answer) (float64, error)
}

// question asks what was trained about a query, a row of raw features.
type question func(x []float64) (release.Answer, error)

// newPredictorPlan holds the schedule of all answers against the budget. Every plan
// of a predictor is made here.
func newPredictorPlan(c PredictorConfig, s Shape, p Problem, b Budget, x service) (*PredictorPlan, error) {
	ledger, err := b.ledger(x.schedule, s)
	if err != nil {
		return nil, err
	}
	x.facts, x.planned, x.loss = x.facts.of(s, p, b), ledger, p.Loss
	return &PredictorPlan{Config: c, Problem: p, Ledger: ledger, shape: s, service: x}, nil
}

// Run trains on d, which must have the shape of the plan ([ErrShape]), and labels that fit
// the loss ([ErrLabel]). Training spends nothing, also where it is cancelled: answers do.
func (p *PredictorPlan) Run(ctx context.Context, d *Dataset, env *Env) (*Predictor, error) {
	if p == nil || p.train == nil {
		return nil, check.Fail(ErrConfig, "plan", nil, "must be made by a PredictorConfig")
	}
	if err := d.whole(ctx, Problem{Loss: p.loss, Classes: p.facts.Classes}); err != nil {
		return nil, err
	}
	if err := env.without("predictors, which have a State"); err != nil {
		return nil, err
	}
	data := d.data.For(p.loss)
	if err := cmp.Or(p.shape.fits(data), protects(d, p.planned)); err != nil {
		return nil, err
	}
	ask, err := p.train(&run{ctx: ctx, data: data, progress: env.progress})
	if err != nil {
		return nil, err
	}
	q := &Predictor{service: p.service, ask: ask, allow: p.schedule.Anew().Allow(d.data.Rows(), env.noise()), callerNoise: env.callerNoise() || d.data.Ordered()}
	if p.cache {
		q.store = map[string]float64{}
	}
	return q, nil
}

// String prints what the plan is.
func (p *PredictorPlan) String() string {
	if p == nil || p.train == nil {
		return "empty plan"
	}
	return fmt.Sprintf("plan of a predictor (%s) for %s × %d weights:\n%v", p.facts.Kind, p.shape.units(p.shape.Rows), p.shape.Dim, p.Ledger)
}

// Predictor keeps a model, or several, inside and answers queries about single
// rows privately [DF18]. Its budget is that of all answers, which is shared out
// among them when it is planned; after the last it refuses with [ErrSpent].
// [NewPredictor] makes one. It is safe for concurrent use.
//
// # Privacy
//
// Replace-one. All answers together spend what Planned says, for queries chosen
// in any way, also from earlier answers [DF18, Definition 1.1]: each answer is a
// mechanism whose noise was fixed before there were data, and such mechanisms
// compose adaptively. Training releases nothing, and printing or marshalling a
// Predictor shows none of its models.
//
// A query costs an answer each time, also where it was asked before, since its
// noise is drawn anew. With the configuration's Cache, a query whose numbers are
// the same bits gets the stored answer again. That costs nothing, because it was
// released before, and works after the budget is spent too.
//
// The caller must keep the count of answers beyond the life of the program, see
// State. Two predictors on the same rows spend the budgets of both.
//
// # Parameters
//
// A query is a row of raw features, in the order of the training matrix, and is
// bounded as its rows were. Answers for real labels are on the labels' own scale. A query that
// is refused costs nothing.
type Predictor struct {
	service
	ask question

	lock        sync.Mutex
	allow       *release.Allowance // which counts the answers
	callerNoise bool
	store       map[string]float64 // nil if answers are not kept
}

// NewPredictor plans and trains a predictor. Errors are those of the configuration's Plan,
// before anything is released, and of [PredictorPlan.Run].
func NewPredictor(ctx context.Context, d *Dataset, p Problem, b Budget, cfg PredictorConfig, env *Env) (*Predictor, error) {
	if err := d.whole(ctx, p); err != nil {
		return nil, err
	}
	if err := check.Given("configuration", cfg); err != nil {
		return nil, err
	}
	plan, err := cfg.Plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx, d, env)
}

// Answer answers a query x, a row of raw features with a number for each column: by a class,
// a mean or a score, as the configuration says. Its error is [ErrSpent] once the
// budget is spent, and about x or ctx otherwise.
func (p *Predictor) Answer(ctx context.Context, x []float64) (float64, error) {
	if err := p.usable(); err != nil {
		return 0, err
	}
	if ctx == nil {
		return 0, check.Fail(ErrConfig, "context", nil, "must not be nil")
	}
	if err := check.Cancelled(ctx); err != nil {
		return 0, err
	}
	value, err := p.ask(x)
	if err != nil {
		return 0, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if answer, ok := p.store[bitsOf(x)]; ok {
		return answer, nil
	}
	if made := p.allow.Made(); made >= p.facts.Queries {
		return 0, check.Fail(ErrSpent, "answers", made, "are all that the budget was planned for")
	}
	answer, err := p.release(p.allow, value)
	if err == nil && p.store != nil {
		p.store[bitsOf(x)] = answer
	}
	return answer, err
}

// usable refuses a predictor that was not made by a plan.
func (p *Predictor) usable() error {
	if p == nil || p.ask == nil {
		return check.Fail(ErrConfig, "predictor", nil, "must be made by NewPredictor or by a plan")
	}
	return nil
}

// bitsOf tells queries apart by their bits.
func bitsOf(x []float64) string {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return string(b)
}

// Planned returns the ledger of all answers that the budget was planned for. It holds at any stop, also at one that answers have
// chosen: fewer answers are post-processing of all. For so many answers alone no number is offered, as theirs would hold only for a number that was
// fixed beforehand (docs/PRIVACY.md); of pure privacy each costs its part of the whole.
func (p *Predictor) Planned() *Ledger {
	if p.usable() != nil {
		return nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.mark(p.planned)
}

// mark says in a ledger that noise was the caller's, before a restart too.
func (p *Predictor) mark(l *Ledger) *Ledger {
	if p.callerNoise {
		return l.WithCallerNoise()
	}
	return l
}

// Answered returns the number of answers so far, those before a restart included.
func (p *Predictor) Answered() int {
	if p.usable() != nil {
		return 0
	}
	return p.allow.Made()
}

// Format prints the kind and the count of answers, whatever the verb.
func (p *Predictor) Format(f fmt.State, _ rune) {
	if p.usable() != nil {
		fmt.Fprint(f, "empty predictor")
		return
	}
	fmt.Fprintf(f, "dpglm.Predictor (%s) after %d of %d answers", p.facts.Kind, p.Answered(), p.facts.Queries)
}

// planQueries checks what all predictors with a loss are asked for, and returns the
// shape and the problem to plan for.
func planQueries(config string, queries int, s Shape, p Problem, score float64) (Shape, Problem, error) {
	if err := s.validate(); err != nil {
		return s, p, err
	}
	if err := checkQueries(config, queries); err != nil {
		return s, p, err
	}
	s, err := s.under(p.Loss)
	if err != nil {
		return s, p, err
	}
	p, err = p.resolve(s, score)
	return s, p, err
}

func checkQueries(config string, queries int) error {
	if queries < 1 {
		return check.Fail(ErrConfig, config+".Queries", queries, "must be at least 1")
	}
	return nil
}

// castClass releases the choice of a class by votes.
func castClass(a *release.Allowance, votes release.Answer) (float64, error) {
	k, err := a.Select(votes)
	return float64(k), err
}

// castVote releases a margin as the class 0 or 1.
func castVote(a *release.Allowance, margin release.Answer) (float64, error) {
	yes, err := a.Vote(margin)
	if yes {
		return 1, err
	}
	return 0, err
}

// noisy releases one number with noise and makes an answer of it.
func noisy(finish func(float64) float64) func(*release.Allowance, release.Answer) (float64, error) {
	return func(a *release.Allowance, x release.Answer) (float64, error) {
		v, err := a.AddNoise(x)
		if err != nil {
			return 0, err
		}
		return finish(v[0]), nil
	}
}
