package dpglm

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Learner is a private training algorithm with its parameters. Plan sees public
// facts only, checks every argument and calibrates the noise.
type Learner interface {
	// Plan returns what a run on data of the shape would release. It costs nothing, and fails, by
	// an [ArgumentError], where an argument or a parameter breaks its rule.
	Plan(Shape, Problem, Budget) (*Plan, error)
}

// Plan is a calibrated computation that has not seen data yet: a dry run shows
// what it would cost and how noisy it would be. Only the Learners of this package
// make one.
type Plan struct {
	// Learner is the learner with every default replaced by its value.
	Learner Learner
	// Problem is the problem with its default radius filled in; candidates of a grid
	// search may have others.
	Problem Problem
	// Ledger is what a run spends.
	Ledger *Ledger
	// Passes is a bound on how often a run goes over the rows, once a tile counting for
	// the whole; 0 where a solver iterates until it converges.
	Passes int
	// Note says so where public numbers tell that little is to be had: no more than the
	// constant model, or no interval. It is empty elsewhere.
	Note string

	shape    Shape
	schedule *release.Schedule
	train    func(*run) (*fitted, error)
	// What Run goes by: whoever has a Plan can change the fields above.
	loss    losses.Loss
	classes int
	ledger  *Ledger
	// The weights are a point of norm at most weightBound, plus noise of standard
	// deviation spread in each coordinate.
	weightBound, spread float64

	asks asks

	prior *Model // whose facts the data must have, if it isn't nil
}

// asks is what training asks of rows, and of a learner around it.
type asks struct {
	joint    int        // of the passes at least so many can answer other plans' questions, too
	projects projection // what it makes of the rows, if anything, without these
	holds    int        // numbers for each row that training keeps beside labels
	pairs    bool       // whether it reads the rows of two classes, so that all must lie in memory
	together bool       // whether all classes are inferred of one sum
	// descent is what parties are told, where sums over single rows are all that it asks of them.
	descent *curator.Descent
	of      losses.Loss // that labels are for; nil where learners inside ask
	starts  bool        // whether it begins at a start that a learner around it releases
}

// run is what a plan works with: the data, which only answer questions, and the
// right to release the answers.
type run struct {
	ctx      context.Context
	data     *curator.Data
	allow    *release.Allowance
	progress func(done, total int)
	inner    func(done, total int) // of a learner inside this one; nil is silence
	// shared is what the candidates of a search share, else nil, and ask has the questions of
	// one answered with the others'.
	shared *shared
	ask    func(*curator.Question) error
	// observe, where it isn't nil, is given what inference finds beside the weights, of a class where there are several.
	observe func(class int, l *infer.Law)
	levels  func() [][]int // the columns of each group of levels
	ranged  func() []int   // those that may have a range that is too wide
	// reference is the class that others are compared with.
	reference int
	// start is the centre of the ball, where it was released; nil for 0.
	start *begun
}

// task is what an engine works with.
func (r *run) task() estimate.Task {
	return estimate.Task{Ctx: r.ctx, Data: r.data, Allow: r.allow, Progress: r.progress, Levels: r.levels, Ranged: r.ranged, Under: r.under}
}

// byRows is the run on rows that have weights in the place of persons to be held together: see Shape.byRows.
func (r *run) byRows() *run {
	if !r.data.Facts().Persons.Each {
		return r
	}
	of := *r
	if r.shared == nil {
		of.data = curator.ByRows(r.data)
		return &of
	}
	if r.shared.byRows == nil || r.shared.whole != r.data {
		r.shared.byRows, r.shared.whole = curator.ByRows(r.data), r.data
	}
	of.data = r.shared.byRows
	return &of
}

// projection is projected data and all that it depends on beside the rows.
type projection struct {
	of    *curator.Data
	k     int
	kind  string // of the map
	seed  uint64
	bound float64
	data  *curator.Data
}

// shared is what plans have in common that train on the same rows, one of which at a time
// runs.
type shared struct {
	projection projection
	// sums are the last ones asked for, whose labels serve all losses of their kind.
	sums *curator.Sums
	of   *curator.Data
	kind losses.Labels
	// byRows are the last rows that were given weights, of whole.
	byRows, whole *curator.Data
}

// under returns the sums of the run's rows under a loss. Where plans train together, their
// questions are answered with those of the others.
func (r *run) under(loss losses.Loss) (*curator.Sums, error) {
	if r.shared == nil {
		return r.data.Under(loss)
	}
	if h := r.shared; h.sums == nil || h.of != r.data || h.kind != loss.Labels() {
		sums, err := r.data.Under(loss)
		if err != nil {
			return nil, err
		}
		h.sums, h.of, h.kind = sums, r.data, loss.Labels()
	}
	return r.shared.sums.Asking(loss, r.ask), nil
}

// newPlan holds the schedule against the budget. Every plan is made here.
func newPlan(l Learner, s Shape, p Problem, b Budget, schedule *release.Schedule, train func(*run) (*fitted, error)) (*Plan, error) {
	ledger, err := b.ledger(schedule, s)
	if err != nil {
		return nil, err
	}
	return &Plan{Learner: l, Problem: p, Ledger: ledger, shape: s, schedule: schedule, train: train, loss: p.Loss, classes: p.Classes, ledger: ledger, weightBound: p.Radius, prior: p.Prior}, nil
}

// planScore is newPlan for a learner of one score.
func planScore(l Learner, s Shape, p Problem, b Budget, schedule *release.Schedule, train func(*run) ([]float64, error)) (*Plan, error) {
	if err := p.oneScore(); err != nil {
		return nil, err
	}
	return newPlan(l, s, p, b, schedule, func(r *run) (*fitted, error) {
		w, err := train(r)
		return &fitted{weights: [][]float64{w}, loss: p.Loss}, err
	})
}

// after is the bound on the passes of a plan and others, 0 where one isn't known.
func after(child *Plan, others int) int {
	if child.Passes == 0 || others == 0 {
		return 0
	}
	return child.Passes + others
}

// Run trains on d, which must have the shape of the plan. Whatever stops it before the first
// noise is drawn, a cancelled ctx, rows that can't be read, or a worker that fails, nothing is
// spent; after that the error is *Interrupted. Errors about the data come before anything is
// spent: of another shape ([ErrShape]), of labels that don't fit the loss ([ErrLabel]), or of rows
// that a party of [OpenParties] refuses.
func (p *Plan) Run(ctx context.Context, d *Dataset, env *Env) (*Model, error) {
	return p.observed(ctx, d, env, nil)
}

// Check reads d as Run does at first, and returns the error that Run would have about it: whoever
// keeps a budget can call it before the plan's ledger is spent. Parties of [OpenParties] aren't
// asked before Run.
func (p *Plan) Check(ctx context.Context, d *Dataset) error {
	_, err := p.intake(ctx, d)
	return err
}

// intake checks data, which it returns as training takes them.
func (p *Plan) intake(ctx context.Context, d *Dataset) (*curator.Data, error) {
	if p == nil || p.train == nil {
		return nil, check.Fail(ErrConfig, "plan", nil, "must be made by a Learner")
	}
	if err := d.given(ctx, Problem{Loss: p.loss, Classes: p.classes}); err != nil {
		return nil, err
	}
	if p.prior != nil && !sameFeatures(p.prior.facts, d.facts) {
		return nil, check.Fail(ErrSchema, "Problem.Prior", nil, "must make the same features of a row as the dataset: of the same columns, ranges and levels")
	}
	data := d.data.For(p.loss)
	if err := cmp.Or(p.takes(data), protects(d, p.ledger)); err != nil {
		return nil, err
	}
	if p.classes > 0 {
		_, err := data.Classes(ctx, p.classes)
		return data, err
	}
	if err := data.Check(p.loss); err != nil {
		return nil, err
	}
	return data, takesLevels(ctx, data, p.loss)
}

// observed runs and hands what inference finds to observe.
func (p *Plan) observed(ctx context.Context, d *Dataset, env *Env, observe func(int, *infer.Law)) (*Model, error) {
	data, err := p.intake(ctx, d)
	if err != nil {
		return nil, err
	}
	ledger := env.mark(p.ledger, d)
	allow, err := env.allow(p.schedule.Anew(), d, ledger, p.Learner, p.loss.Name(), p.classes, p.Problem.Radius, p.prior.Weights())
	if err != nil {
		return nil, err
	}
	if data, err = p.agreed(ctx, data, p.classes); err != nil {
		return nil, stopped(allow, ledger, err)
	}
	f, err := p.train(&run{ctx: ctx, data: data, allow: allow, progress: env.progress, observe: observe, levels: d.levels(), ranged: d.ranged(), reference: referenceOf(d.facts)})
	if err != nil {
		return nil, stopped(allow, ledger, err)
	}
	return newModel(Problem{Classes: p.classes}.response(f), f.weights, d, ledger), nil
}

// agreed are data whose parties, if several hold them, have agreed to the plan, of one of so
// many classes or of labels as they are (0).
func (p *Plan) agreed(ctx context.Context, d *curator.Data, classes int) (*curator.Data, error) {
	if p.asks.of == nil {
		return d, nil
	}
	told := *p.asks.descent
	told.Classes = max(told.Classes, classes)
	return d.Agree(ctx, p.asks.of, told)
}

// asksSums says that the plan asks for any sums over single rows, as many as it may release and of so many numbers at most, for labels of a loss, or that are
// one of so many classes or levels (0 for neither).
func (p *Plan) asksSums(questions, numbers, classes int, of losses.Loss) {
	p.asks.of = of
	p.asks.descent = &curator.Descent{Numbers: numbers, Steps: questions, Mu: p.schedule.Ledger().Mu(), Clip: math.Inf(1), Classes: classes}
}

// takes refuses data that the plan isn't for; by public facts.
func (p *Plan) takes(d *curator.Data) error {
	if p.asks.pairs && d.Stored() {
		return check.Fail(ErrConfig, "dataset", nil, "must have its rows in memory, for a learner that reads the rows of two classes")
	}
	if p.asks.descent == nil {
		if err := ofOneParty(d); err != nil {
			return err
		}
	}
	return p.shape.fits(d)
}

// takesLevels refuses labels that are no levels, where thresholds are to be estimated.
func takesLevels(ctx context.Context, d *curator.Data, l losses.Loss) error {
	o, ok := l.(losses.Ordinal)
	if !ok || !o.Estimated() {
		return nil
	}
	_, err := d.Classes(ctx, o.Levels)
	return err
}

// fits refuses data that a plan's sensitivities are not for; by public facts.
func (s Shape) fits(d *curator.Data) error {
	s.begun = false
	if other := shapeOf(d); other != s {
		return check.Fail(ErrShape, "dataset", fmt.Sprintf("%+v", other), fmt.Sprintf("must have the plan's shape %+v", s))
	}
	return nil
}

// inside runs a plan inside another one, on the data and with the allowance that
// this makes for it.
func (p *Plan) inside(r *run, d *curator.Data, allow *release.Allowance) (*fitted, error) {
	if err := p.takes(d); err != nil {
		return nil, err
	}
	progress := r.inner
	if progress == nil {
		progress = func(int, int) {}
	}
	return p.train(&run{ctx: r.ctx, data: d, allow: allow, progress: progress, shared: r.shared, ask: r.ask, levels: r.levels, ranged: r.ranged, reference: r.reference, observe: r.observe, start: r.start})
}

// fit plans and runs.
func fit(ctx context.Context, l Learner, d *Dataset, p Problem, b Budget, env *Env) (*Model, error) {
	if err := d.given(ctx, p); err != nil {
		return nil, err
	}
	plan, err := l.Plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx, d, env)
}

// planChild plans a learner inside another one and holds what it plans against
// what was asked for: a Learner from elsewhere may plan another shape or a larger
// budget.
func planChild(l Learner, s Shape, p Problem, b Budget) (*Plan, error) {
	if err := check.Given("learner", l); err != nil {
		return nil, err
	}
	plan, err := l.Plan(s, p, b)
	if err != nil {
		return nil, err
	}
	if plan == nil || plan.train == nil {
		return nil, check.Fail(ErrConfig, "learner", nil, "must return a plan made by this package")
	}
	if plan.shape != s {
		return nil, check.Fail(ErrShape, "learner's plan", plan.shape, "must be for the shape that was asked for")
	}
	if plan.loss.Labels() != p.Loss.Labels() || plan.classes != p.Classes {
		return nil, check.Fail(ErrConfig, "learner's plan", plan.loss.Name(), "must have labels of the kind that was asked for, and as many classes")
	}
	return plan, b.covers(plan.schedule.Ledger())
}

// scoreBound returns a public bound on |⟨w, x⟩| over the given number of rows that
// holds with probability 1−beta over the output noise. Accuracy rests on it,
// privacy does not.
func (p *Plan) scoreBound(rows int, beta float64) float64 {
	return p.shape.FeatureBound * (p.weightBound + p.spread*math.Sqrt(2*math.Log(2*float64(rows)/beta)))
}

// String prints what the plan is.
func (p *Plan) String() string {
	if p == nil || p.train == nil {
		return "empty plan"
	}
	text := fmt.Sprintf("plan of %T for %s × %d weights:\n%v", p.Learner, p.shape.units(p.shape.Rows), p.shape.Dim, p.ledger)
	if p.Note != "" {
		text += "\n" + p.Note
	}
	return text
}
