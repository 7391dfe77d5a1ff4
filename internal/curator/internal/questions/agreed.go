package questions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// A party answers what one who trains by a plan asks, and nothing else: all that questions have
// in common is told once, in the plan, which the party agrees to or not; a question has its
// number, and weights in the plan's ball.

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
	Classes      int // of labels, of which one stands against the rest; 0 for labels as they are
	Class        int // which one; 0 where Classes is
}

// agreed is a fit that a party has agreed to.
type agreed struct {
	plan  *partyPlan
	clip  float64
	sums  *Sums
	asked int // questions that were answered
}

// planOf is the name of a plan in its questions.
func planOf(message []byte) string {
	sum := sha256.Sum256(message)
	return hex.EncodeToString(sum[:])
}

// begin checks a plan, the party's rows and their labels, and asks whether the party agrees.
func (p *Party) begin(ctx context.Context, message []byte, plan *partyPlan) (*agreed, error) {
	loss, err := plan.check()
	if err != nil {
		return nil, p.refuse(err)
	}
	key, err := json.Marshal(plan.Rows)
	if err != nil {
		return nil, fmt.Errorf("%w: plan: %w", check.ErrConfig, err)
	}
	enc := plan.Rows
	t, err := p.tables.Get(ctx, string(key), 4, func() (*rows.Table, error) { return rows.NewStored(ctx, p.file, enc) })
	if err != nil {
		return nil, err
	}
	class := 0
	if plan.Class != nil {
		if _, err := NewClasses(ctx, t, nil, plan.Classes); err != nil {
			return nil, err
		}
		class = *plan.Class
		t = t.Against(class)
	}
	s, err := NewSums(t, nil, plan.Labels[0], plan.Labels[1], loss)
	if err != nil {
		return nil, err
	}
	fit := &agreed{plan: plan, clip: math.Inf(1), sums: s}
	if plan.Clip != nil {
		fit.clip = *plan.Clip
	}
	if err := p.agree(Terms{enc.Columns, enc.FeatureBound(), enc.Intercept, loss, plan.Labels[0], plan.Labels[1],
		slices.Clone(plan.Parties), fit.clip, plan.Radius, plan.Steps, plan.Mu, plan.Classes, class}); err != nil {
		return nil, p.refuse(fmt.Errorf("the plan isn't agreed to: %w", err))
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.fits[planOf(message)] = fit
	return fit, nil
}

// check refuses a plan that no driver makes.
func (q *partyPlan) check() (losses.Loss, error) {
	switch {
	case q.Bits < leastBits || q.Bits > 64:
		return nil, check.Fail(check.ErrConfig, "bits", q.Bits, fmt.Sprintf("must lie between %d and 64", leastBits))
	case q.Steps < 1:
		return nil, check.Fail(check.ErrConfig, "steps", q.Steps, "must be at least 1")
	case q.Clip != nil && !(*q.Clip > 0):
		return nil, check.Fail(check.ErrConfig, "clip", *q.Clip, "must be a positive number")
	}
	if err := check.Scale(check.ErrConfig, "radius", q.Radius); err != nil {
		return nil, err
	}
	if err := check.Mu(q.Mu); err != nil {
		return nil, err
	}
	if err := q.checkClass(); err != nil {
		return nil, err
	}
	if _, err := q.parties(); err != nil {
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
	if q.Classes != 0 && loss.Labels() != losses.Binary {
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
	case q.Class == nil || *q.Class < 0 || *q.Class >= q.Classes:
		return check.Fail(check.ErrConfig, "class", nil, fmt.Sprintf("must be given, from 0 up to %d", q.Classes-1))
	}
	return nil
}

// parties are those that the plan is for.
func (q *partyPlan) parties() (p Parties, err error) {
	p = Parties{Rows: q.Parties, Bits: q.Bits}
	_, err = p.total()
	return p, err
}

// admit returns the fit that a question is of, and counts it.
func (p *Party) admit(q *partyQuestion) (*agreed, error) {
	fit, err := p.next(q)
	if err != nil {
		return nil, p.refuse(err)
	}
	return fit, nil
}

func (p *Party) next(q *partyQuestion) (*agreed, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	fit := p.fits[q.Plan]
	if fit == nil {
		return nil, check.Fail(check.ErrConfig, "question", nil, "must be of a plan that was agreed to, and none is once a message was refused")
	}
	if err := fit.takes(q); err != nil {
		return nil, err
	}
	if fit.asked++; fit.asked == fit.plan.Steps {
		delete(p.fits, q.Plan)
	}
	return fit, nil
}

// takes refuses what isn't the plan's next question. Its step and bound are what this party
// computes itself, but for rounding: where a row's gradient would be longer than the bound, which
// leaves it out, the question would tell of single rows.
func (f *agreed) takes(q *partyQuestion) error {
	if q.Number != f.asked+1 {
		return check.Fail(check.ErrConfig, "number of the question", q.Number, fmt.Sprintf("must be %d of %d", f.asked+1, f.plan.Steps))
	}
	if len(q.Weights) != f.sums.Dim() {
		return check.Fail(check.ErrConfig, "weights", len(q.Weights), fmt.Sprintf("must be the %d of the rows", f.sums.Dim()))
	}
	r := vector.Norm(q.Weights)
	if !(r <= f.plan.Radius*(1+1e-9)) {
		return check.Fail(check.ErrConfig, "norm of the weights", r, fmt.Sprintf("must be at most the plan's %g", f.plan.Radius))
	}
	parties, err := f.plan.parties()
	if err != nil {
		return err
	}
	n, err := parties.total()
	if err != nil {
		return err
	}
	normBound := f.sums.Bounds().normBound(r, f.clip)
	own := parties.step(n, normBound)
	if q.Step != own && q.Step != 2*own && q.Step != own/2 {
		return check.Fail(check.ErrConfig, "step", q.Step, fmt.Sprintf("must be %g, as the plan has it", own))
	}
	if bound := normBound / q.Step; !(math.Abs(q.Bound/bound-1) < 1e-9) || !(q.Bound < math.Ldexp(1, f.plan.Bits-1)) {
		return check.Fail(check.ErrConfig, "bound", q.Bound, fmt.Sprintf("must be %g, as the plan has it", bound))
	}
	return nil
}

// refuse ends all fits: who asks what no driver asks is asked for a plan again.
func (p *Party) refuse(err error) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	clear(p.fits)
	return err
}
