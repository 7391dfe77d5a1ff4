package questions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// A party answers what one who trains by a plan asks, and nothing else: what questions have
// in common is told once, in the plan, which the party agrees to or not; a question has its
// number, and weights in the plan's ball, or in a fit of any sums whatever it is about.

// Terms are what a party agrees to, or not, before a fit.
type Terms struct {
	Columns      int
	FeatureBound float64
	Intercept    bool
	Loss         losses.Loss
	LabelCentre  float64
	LabelBound   float64
	Parties      []int
	Clip         float64 // +Inf for none
	Radius       float64
	Steps        int
	Mu           float64
	Classes      int // of labels, of which one stands against the rest, or all are asked about; 0 for labels as they are
	Class        int // which one; 0 where Classes is
	Numbers      int // that a sum has at most, in a fit of any sums; 0 for one of gradients
}

// agreed is a fit that a party has agreed to.
type agreed struct {
	plan  *partyPlan
	clip  float64
	sums  *Sums
	table *rows.Table // the rows, with labels as they are held
	asked int         // questions that were admitted
	last  string      // the name of the last one
}

// over reports whether all questions were asked.
func (f *agreed) over() bool { return f.asked == f.plan.Steps }

// Keeper keeps what a party must know of its fits after a restart. A fit's name is its plan's, in
// its questions.
type Keeper interface {
	// Begin keeps a plan that the party has agreed to, before it is answered; an error refuses it.
	Begin(ctx context.Context, fit string, plan []byte, of Terms) error
	// Asked keeps the name of a fit's next question, of this number from 1, before it is answered.
	Asked(ctx context.Context, fit string, number int, question string) error
	// End keeps that a fit doesn't go on.
	End(ctx context.Context, fit string) error
	// Resume returns a fit's plan and the names of its questions, in their order; nil for one
	// that wasn't begun, or was ended.
	Resume(ctx context.Context, fit string) (plan []byte, questions []string, err error)
}

// planOf is the name of a message: of a plan in its questions, and of one of these for a Keeper.
func planOf(message []byte) string {
	sum := sha256.Sum256(message)
	return hex.EncodeToString(sum[:])
}

// begin checks a plan, the party's rows and their labels, and asks whether the party agrees. A plan
// that was agreed to isn't asked about again.
func (p *Party) begin(ctx context.Context, message []byte, plan *partyPlan) (*agreed, error) {
	name := planOf(message)
	if fit, err := p.known(ctx, name); fit != nil || err != nil {
		return fit, err
	}
	loss, err := plan.check()
	if err != nil {
		return nil, p.refuse(ctx, err)
	}
	fit, err := p.prepare(ctx, plan, loss)
	if err != nil {
		return nil, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if other := p.fits[name]; other != nil {
		return other, nil
	}
	terms := fit.terms(loss)
	err = p.agree(terms)
	if err == nil && p.keep != nil {
		err = p.keep.Begin(ctx, name, message, terms)
	}
	if err != nil {
		return nil, p.end(ctx, fmt.Errorf("the plan isn't agreed to: %w", err))
	}
	p.fits[name] = fit
	return fit, nil
}

// prepare reads the rows that a plan is about, unless they are there.
func (p *Party) prepare(ctx context.Context, plan *partyPlan, loss losses.Loss) (*agreed, error) {
	key, err := json.Marshal(plan.Rows)
	if err != nil {
		return nil, fmt.Errorf("%w: plan: %w", check.ErrConfig, err)
	}
	enc := plan.Rows
	t, err := p.tables.Get(ctx, string(key), 4, func() (*rows.Table, error) { return rows.NewStored(ctx, p.file, enc) })
	if err != nil {
		return nil, err
	}
	held := t
	if plan.Classes > 0 {
		if _, err := NewClasses(ctx, t, nil, plan.Classes); err != nil {
			return nil, err
		}
		t = t.Against(max(0, plan.class()))
	}
	s, err := NewSums(t, nil, plan.Labels[0], plan.Labels[1], loss)
	if err != nil {
		return nil, err
	}
	fit := &agreed{plan: plan, clip: math.Inf(1), sums: s, table: held}
	if plan.Clip != nil {
		fit.clip = *plan.Clip
	}
	return fit, nil
}

// terms are what the party agrees to.
func (f *agreed) terms(loss losses.Loss) Terms {
	q := f.plan
	return Terms{q.Rows.Columns, q.Rows.FeatureBound(), q.Rows.Intercept, loss, q.Labels[0], q.Labels[1],
		slices.Clone(q.Parties), f.clip, q.Radius, q.Steps, q.Mu, q.Classes, q.class(), q.Numbers}
}

// known is a fit that was agreed to, in this process or before it; nil for none.
func (p *Party) known(ctx context.Context, name string) (*agreed, error) {
	p.lock.Lock()
	fit := p.fits[name]
	p.lock.Unlock()
	if fit != nil || p.keep == nil {
		return fit, nil
	}
	message, questions, err := p.keep.Resume(ctx, name)
	if err != nil || message == nil {
		return nil, err
	}
	of, err := readMessage(message)
	if err == nil && (of.Plan == nil || planOf(message) != name || len(questions) > of.Plan.Steps) {
		err = check.Fail(check.ErrConfig, "plan", nil, "must be the one that was kept")
	}
	if err != nil {
		return nil, err
	}
	loss, err := of.Plan.check()
	if err != nil {
		return nil, err
	}
	if fit, err = p.prepare(ctx, of.Plan, loss); err != nil {
		return nil, err
	}
	if fit.asked = len(questions); fit.asked > 0 {
		fit.last = questions[fit.asked-1]
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if other := p.fits[name]; other != nil {
		return other, nil
	}
	p.fits[name] = fit
	return fit, nil
}

// check refuses a plan that no driver makes.
func (q *partyPlan) check() (losses.Loss, error) {
	switch {
	case q.Steps < 1:
		return nil, check.Fail(check.ErrConfig, "steps", q.Steps, "must be at least 1")
	case q.Clip != nil && !(*q.Clip > 0):
		return nil, check.Fail(check.ErrConfig, "clip", *q.Clip, "must be a positive number")
	case q.Numbers < 0 || q.Numbers > mostNumbers:
		return nil, check.Fail(check.ErrConfig, "numbers", q.Numbers, fmt.Sprintf("must lie between 0 and %d", mostNumbers))
	case q.Numbers > 0 && (q.Clip != nil || q.Radius != 0):
		return nil, check.Fail(check.ErrConfig, "radius", q.Radius, "must be 0, without a clip, for any sums")
	}
	if err := check.Scale(check.ErrConfig, "radius", q.Radius); q.Numbers == 0 && err != nil {
		return nil, err
	}
	if err := check.Mu(q.Mu); err != nil {
		return nil, err
	}
	if err := q.checkClass(); err != nil {
		return nil, err
	}
	if _, err := (&Parties{Rows: q.Parties, Bits: q.Bits}).total(); err != nil {
		return nil, err
	}
	if err := q.Rows.Check(); err != nil {
		return nil, err
	}
	loss, err := decodeLoss(q.Loss)
	if err == nil && loss == nil {
		err = check.Fail(check.ErrConfig, "loss", nil, "must be given")
	}
	if err != nil {
		return nil, err
	}
	if q.Classes != 0 && q.Numbers == 0 && loss.Labels() != losses.Binary {
		return nil, check.Fail(check.ErrConfig, "loss", loss.Name(), "must be one of binary labels, for a class against the rest")
	}
	return loss, losses.Validate(loss, 0, q.Labels[1])
}

// checkClass refuses a class that isn't one of those that labels have.
func (q *partyPlan) checkClass() error {
	switch {
	case q.Classes == 0 && q.Class == nil:
	case q.Classes < 2 || q.Classes > maxClasses:
		return check.Fail(check.ErrConfig, "classes", q.Classes, fmt.Sprintf("must lie between 2 and %d, where a class stands against the rest", maxClasses))
	case q.Class == nil && q.Numbers > 0:
	case q.Class == nil || *q.Class < 0 || *q.Class >= q.Classes:
		return check.Fail(check.ErrConfig, "class", nil, fmt.Sprintf("must be given, from 0 up to %d", q.Classes-1))
	}
	return nil
}

// class is that against the rest, 0 where there is none.
func (q *partyPlan) class() int {
	if q.Class == nil {
		return 0
	}
	return *q.Class
}

// step is that of a sum over all parties' rows, whose vectors may be so long.
func (q *partyPlan) step(length float64) float64 {
	n := 0
	for _, rows := range q.Parties {
		n += rows
	}
	return (&Parties{Bits: q.Bits}).step(n, length)
}

// admit returns the fit that a question is of, and counts it, unless it is the last one once
// more. Fits that are over before another one goes on are forgotten.
func (p *Party) admit(ctx context.Context, message []byte, q *partyQuestion) (*agreed, error) {
	fit, err := p.known(ctx, q.Plan)
	if err != nil {
		return nil, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if fit == nil || p.fits[q.Plan] != fit {
		return nil, p.end(ctx, check.Fail(check.ErrConfig, "question", nil, "must be of a plan that was agreed to, and none is once a message was refused"))
	}
	name := planOf(message)
	if name == fit.last {
		return fit, nil
	}
	if err := fit.takes(q); err != nil {
		return nil, p.end(ctx, err)
	}
	if p.keep != nil {
		if err := p.keep.Asked(ctx, q.Plan, q.Number, name); err != nil {
			return nil, err
		}
	}
	fit.asked, fit.last = fit.asked+1, name
	maps.DeleteFunc(p.fits, func(name string, f *agreed) bool { return f.over() && name != q.Plan })
	return fit, nil
}

// takes refuses what isn't the plan's next question. Its step and bound are what this party
// computes itself, but for rounding: where a row's gradient would be longer than the bound, which
// leaves it out, the question would tell of single rows.
func (f *agreed) takes(q *partyQuestion) error {
	if q.Number != f.asked+1 || f.over() {
		return check.Fail(check.ErrConfig, "number of the question", q.Number, fmt.Sprintf("must be %d of %d", f.asked+1, f.plan.Steps))
	}
	if f.plan.Numbers > 0 != (q.Asked != nil) || q.Asked != nil && q.Weights != nil {
		return check.Fail(check.ErrConfig, "question", nil, "must be of the kind that the plan says")
	}
	if f.plan.Numbers > 0 {
		return f.takesSum(q)
	}
	if len(q.Weights) != f.sums.Dim() {
		return check.Fail(check.ErrConfig, "weights", len(q.Weights), fmt.Sprintf("must be the %d of the rows", f.sums.Dim()))
	}
	r := vector.Norm(q.Weights)
	if !(r <= f.plan.Radius*(1+1e-9)) {
		return check.Fail(check.ErrConfig, "norm of the weights", r, fmt.Sprintf("must be at most the plan's %g", f.plan.Radius))
	}
	normBound := f.sums.Bounds().normBound(r, f.clip)
	own := f.plan.step(normBound)
	if q.Step != own && q.Step != 2*own && q.Step != own/2 {
		return check.Fail(check.ErrConfig, "step", q.Step, fmt.Sprintf("must be %g, as the plan has it", own))
	}
	if bound := normBound / q.Step; !(math.Abs(q.Bound/bound-1) < 1e-9) || !(q.Bound < math.Ldexp(1, f.plan.Bits-1)) {
		return check.Fail(check.ErrConfig, "bound", q.Bound, fmt.Sprintf("must be %g, as the plan has it", bound))
	}
	return nil
}

// refuse ends all fits: who asks what no driver asks is asked for a plan again.
func (p *Party) refuse(ctx context.Context, err error) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.end(ctx, err)
}

// end is refuse where the lock is held.
func (p *Party) end(ctx context.Context, err error) error {
	for name := range p.fits {
		if p.keep != nil {
			err = errors.Join(err, p.keep.End(ctx, name))
		}
	}
	clear(p.fits)
	return err
}
