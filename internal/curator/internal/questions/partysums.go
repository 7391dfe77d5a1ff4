package questions

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Parties that have agreed to a fit of any sums answer each question with the sum, over their rows, of what a row adds, as
// a vector of integers: its numbers in steps, rounded towards zero. The numbers are those that are released, in
// the coordinates that noise is drawn in, and not of a sum that is yet to be mapped to these: so a row's vector is as
// short as it is said to be, and whoever adds a number of its own to a sum stretches no other row's.

// mostNumbers is how many numbers a sum may have.
const mostNumbers = 1 << 22

// sentAsked is what parties are asked, of which of their rows' forms.
type sentAsked struct {
	Form  string // of what is asked, which is empty before it is sent
	Steps []rows.Step
	Class int
	Of    *asking
}

// Sum asks parties that have agreed to it.
func (at *parted) Sum(ctx context.Context, t *rows.Table, q rows.Pass, c rows.Cut, merge func(sum []float64)) error {
	of, ok := q.(*asking)
	fit := at.agreed
	if !ok || fit == nil || !fit.sums || at.others || t.Persons != nil || !(of.row > 0) || c.Dim > 0 {
		return errParties
	}
	sent, err := sentAsked{Steps: at.steps, Class: t.Place.Class, Of: of}.encode()
	if err != nil {
		return fmt.Errorf("%w: question to parties: %w", check.ErrConfig, err)
	}
	fit.lock.Lock()
	defer fit.lock.Unlock()
	question := partyQuestion{Plan: fit.plan, Number: fit.next, Step: at.p.step(at.n, of.normBound()), Numbers: c.Width, Asked: sent}
	if of.counts {
		question.Step = 1
	}
	question.Bound = of.normBound() / question.Step
	fit.next++
	sum := make([]float64, c.Width)
	if _, err := at.p.ask(ctx, sum, partyMessage{Question: &question}); err != nil {
		return err
	}
	merge(sum)
	return nil
}

// forParties is a question that parties answer: about single rows, each of which adds a vector whose length has a bound.
type forParties interface {
	asked
	// fits refuses one that isn't made for these rows, of so many classes, or for a loss.
	fits(t *rows.Table, classes int, loss losses.Loss) error
}

// errUnasked is the error of a question that ends in a panic. It says nothing of that, which may depend on rows.
var errUnasked = check.Fail(check.ErrConfig, "question", nil, "must be one that rows can be asked")

// decodeAsked is the question that a fit is asked, and the rows that it is about. What decodes matrices panics at a size that
// overflows, and parts of a question may be missing: that ends with an error, and not the party's process.
func (f *agreed) decodeAsked(q *partyQuestion) (_ *sentAsked, _ *rows.Table, err error) {
	defer func() {
		if recover() != nil {
			err = errUnasked
		}
	}()
	of, err := decodeSent(q.Asked)
	if err != nil {
		return nil, nil, err
	}
	if of.Of == nil {
		return nil, nil, rows.ErrNotAsked
	}
	t, err := f.rowsOf(&of)
	if err != nil {
		return nil, nil, err
	}
	one, ok := of.Of.Of.(forParties)
	if !ok {
		return nil, nil, check.Fail(check.ErrConfig, "question", nil, "must be one that parties answer")
	}
	if err := of.Of.Labels.valid(); err != nil {
		return nil, nil, err
	}
	if err := one.fits(t, f.plan.Classes, of.Of.Labels.Loss.Loss); err != nil {
		return nil, nil, err
	}
	if width := one.cut(t).Width; width != q.Numbers {
		return nil, nil, check.Fail(check.ErrConfig, "numbers", q.Numbers, fmt.Sprintf("must be the %d that the question asks for", width))
	}
	return &of, t, nil
}

// valid refuses what no learner asks of labels. A loss may be of others than the plan's: what is no label of it makes a row's
// vector too long, or is as good as one.
func (l *sentLabels) valid() error {
	if l.Offsets != (rows.Range{}) {
		return check.Fail(check.ErrConfig, "offsets", nil, "must not be asked for: parties have none")
	}
	if loss := l.Loss.Loss; loss != nil {
		return losses.Validate(loss, 0, l.Bound)
	}
	return nil
}

// rowsOf are the rows after the steps, with labels of one class against the rest or as they are.
func (f *agreed) rowsOf(of *sentAsked) (*rows.Table, error) {
	t := f.table
	if len(of.Steps) > mostSteps {
		return nil, check.Fail(check.ErrConfig, "bounds", len(of.Steps), fmt.Sprintf("must be %d at most", mostSteps))
	}
	for _, s := range of.Steps {
		if s.Map != nil || s.ByRows > 0 || !(s.Bound > 0 && s.Bound <= t.Enc.Bound) || !(s.Constant >= 0) {
			return nil, check.Fail(check.ErrConfig, "bound", s.Bound, fmt.Sprintf("must be one that shortens rows, of %g at most", t.Enc.Bound))
		}
		t = t.Rebound(s.Bound, s.Constant)
	}
	switch class := f.plan.Class; {
	case of.Class < 0 && class == nil:
		return t, nil
	case of.Class < 0 || of.Class >= f.plan.Classes || class != nil && of.Class != *class:
		return nil, check.Fail(check.ErrConfig, "class", of.Class, "must be one of the plan's")
	}
	return t.Against(of.Class), nil
}

// mostSteps are how many times rows are shortened for a question.
const mostSteps = 4

// sum sets dst to the rows' integers.
func (p *Party) sum(ctx context.Context, fit *agreed, q *partyQuestion, dst []uint64) error {
	of, t, err := fit.decodeAsked(q)
	if err != nil {
		return err
	}
	for _, m := range of.Of.Measures() {
		lengths, err := p.measured(ctx, m, of, t)
		if err != nil {
			return err
		}
		if err := m.Bind(t, lengths); err != nil {
			return err
		}
	}
	c := of.Of.Of.cut(t)
	return addIntegers(ctx, t, dst, func(a *integers, part *rows.Part) error {
		add, of := of.Of.Add(part), part.Table
		for lo := 0; lo < len(of.Length); lo += c.TileRows {
			tile := of.Src.Tile(lo, min(lo+c.TileRows, len(of.Length)), a.Buf)
			for k := range tile.Rows {
				a.Sum, a.Done = rows.Zeros(a.Sum, c.Width), 0
				add(a.Workspace, tile.Part(k, k+1), lo+k)
				a.take(a.Sum, 1, q)
			}
		}
		return nil
	})
}

// measured are what a measure finds of the rows, kept for the last few.
func (p *Party) measured(ctx context.Context, m rows.Measure, of *sentAsked, t *rows.Table) ([]float64, error) {
	key, err := m.Key()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%x %v %v", key, of.Steps, t.Enc)
	return p.frames.Get(ctx, name, 4, func() ([]float64, error) {
		all := make([]float64, len(t.Length))
		return all, addIntegers(ctx, t, nil, func(_ *integers, part *rows.Part) error { return m.Find(t, part, all) })
	})
}

// integers is what one goroutine adds up.
type integers struct {
	*rows.Workspace
	sum []uint64
	row []float64
}

// addIntegers adds what add adds of the parts of the rows, in any order. A question that nobody has thought of ends with an
// error, and not the party's process.
func addIntegers(ctx context.Context, t *rows.Table, dst []uint64, add func(a *integers, p *rows.Part) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := rows.InParts(ctx, t, t.Layout, 0, t.Layout.Blocks, 0,
		func() *integers { return &integers{Workspace: t.Acquire(), sum: make([]uint64, len(dst))} },
		func(a *integers) { t.Release(a.Workspace) },
		func(a *integers) { clear(a.sum) },
		func(a *integers, p *rows.Part) {
			defer func() {
				if recover() != nil {
					stop(errUnasked)
				}
			}()
			if err := add(a, p); err != nil {
				stop(err)
			}
		},
		func(a *integers) {
			for j, v := range a.sum {
				dst[j] += v
			}
		})
	return cmp.Or(context.Cause(ctx), err)
}

// take adds c times a row's vector in whole steps: each coordinate is rounded towards zero, so that integers
// are no longer than the vector. One that is longer than the bound, which a driver with the
// rows' constants never sees, is left out.
func (a *integers) take(vector []float64, c float64, q *partyQuestion) {
	a.row = rows.Room(a.row, len(vector))
	var square float64
	for j, v := range vector {
		v = math.Trunc(float64(c*v) / q.Step)
		a.row[j] = v
		square += float64(v * v)
	}
	if !(math.Sqrt(square) <= q.Bound) {
		return
	}
	for j, v := range a.row {
		a.sum[j] += uint64(int64(v))
	}
}

// takesSum refuses what isn't the plan's next question for a sum.
func (f *agreed) takesSum(q *partyQuestion) error {
	if q.Numbers < 1 || q.Numbers > f.plan.Numbers {
		return check.Fail(check.ErrConfig, "numbers", q.Numbers, fmt.Sprintf("must lie between 1 and the plan's %d", f.plan.Numbers))
	}
	if _, exp := math.Frexp(q.Step); !(q.Step > 0) || math.IsInf(q.Step, 1) || math.Ldexp(1, exp-1) != q.Step || !(q.Bound > 0) {
		return check.Fail(check.ErrConfig, "step", q.Step, "must be a power of two, and the bound a positive number of them")
	}
	if !(q.Bound < math.Ldexp(1, f.plan.Bits-1)) {
		return check.Fail(check.ErrConfig, "bound", q.Bound, "must be of integers that the plan's bits have")
	}
	if own := f.plan.step(q.Bound * q.Step); q.Step < own/2 {
		return check.Fail(check.ErrConfig, "step", q.Step, fmt.Sprintf("must be %g or more, with which a sum of all rows has the plan's bits", own))
	}
	_, _, err := f.decodeAsked(q)
	return err
}
