package prio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
	"github.com/dpglm/dpglm/table/party"
)

// Kept is a party's budget in a file, from which each plan is taken when the party agrees to it, and
// where its fits are found again after a restart: a party.Keeper. What the party releases of its rows by
// itself can be taken from the same file. It is for one process at a time.
//
// A plan is an entry of the file, with the ledger of its questions' noise, which the driver draws. The entry's
// journal holds the plan's message, the names of its questions, and whether the fit was ended: public
// numbers. A restart spends nothing. A plan whose entry didn't begin, as the party
// was killed in between, has no second one.
type Kept struct {
	budget *budgetfile.File
	data   string

	lock sync.Mutex
	fits map[string]*keptFit
}

// keptFit is a fit whose journal is open.
type keptFit struct {
	journal *budgetfile.Journal
	part    *budgetfile.Part
	message []byte
	asked   []string
	steps   int // 0 where it isn't known, after a restart
}

// Keep keeps a party's fits in a budget of rows, for one row, under the data's name.
func Keep(budget *budgetfile.File, data string) (*Kept, error) {
	if budget == nil {
		return nil, fmt.Errorf("%w: the budget must be given", dpglm.ErrConfig)
	}
	return &Kept{budget: budget, data: data, fits: map[string]*keptFit{}}, nil
}

// ended is the last record of a fit that doesn't go on.
const ended = "ended"

// name is that of a fit's entry.
func name(fit string) string { return "parties' fit " + fit }

// entry is the last entry of a fit; begun says whether it has begun, and false is for none.
func (k *Kept) entry(fit string) (of budgetfile.Entry, found bool, err error) {
	list, err := k.budget.Entries()
	if err != nil {
		return of, false, err
	}
	for _, e := range slices.Backward(list) {
		if e.Label == name(fit) && e.GivenBack.IsZero() {
			return e, true, nil
		}
	}
	return of, false, nil
}

// Begin takes a plan from the budget, or fails (dpglm.ErrSpent).
func (k *Kept) Begin(ctx context.Context, fit string, message []byte, p party.Plan) error {
	k.lock.Lock()
	defer k.lock.Unlock()
	label, numbers := "sums of gradients over parties", p.Columns+1
	if p.Numbers > 0 {
		label, numbers = "at most, sums over parties", p.Numbers
	}
	ledger, err := mechanisms.Gaussian{Mu: p.Mu / math.Sqrt(float64(p.Steps))}.Ledger(label, p.Steps, numbers)
	if err == nil {
		ledger, err = ledger.WithUnit(mechanisms.OneRow())
	}
	if err != nil {
		return err
	}
	e, found, err := k.entry(fit)
	if err != nil {
		return err
	}
	of := e.ID
	if !found || !e.Begun.IsZero() {
		if of, err = k.budget.Spend(ctx, k.data, name(fit), ledger); errors.Is(err, dpglm.ErrBudget) {
			return fmt.Errorf("%w: %w", dpglm.ErrSpent, err)
		} else if err != nil {
			return err
		}
	}
	f, err := k.open(ctx, of)
	if err != nil {
		return err
	}
	if err := f.part.Append(message); err != nil {
		return errors.Join(err, f.journal.Close())
	}
	f.message, f.steps = message, p.Steps
	k.fits[fit] = f
	return nil
}

// open opens an entry's journal.
func (k *Kept) open(ctx context.Context, of string) (*keptFit, error) {
	j, err := k.budget.Journal(context.WithoutCancel(ctx), of)
	if err != nil {
		return nil, err
	}
	return &keptFit{journal: j, part: j.Part("fit")}, nil
}

// Asked keeps a question's name.
func (k *Kept) Asked(_ context.Context, fit string, number int, question string) error {
	k.lock.Lock()
	defer k.lock.Unlock()
	f := k.fits[fit]
	if f == nil || number != len(f.asked)+1 {
		return fmt.Errorf("the fit's question %d isn't the next one that was kept", number)
	}
	if err := f.part.Append([]byte(question)); err != nil {
		return err
	}
	if f.asked = append(f.asked, question); len(f.asked) == f.steps {
		delete(k.fits, fit)
		return f.journal.Close()
	}
	return nil
}

// End keeps that a fit was ended.
func (k *Kept) End(_ context.Context, fit string) error {
	k.lock.Lock()
	defer k.lock.Unlock()
	f := k.fits[fit]
	if f == nil {
		return nil // over
	}
	delete(k.fits, fit)
	return errors.Join(f.part.Append([]byte(ended)), f.journal.Close())
}

// Resume finds a fit that was begun, also by a process before this one.
func (k *Kept) Resume(ctx context.Context, fit string) ([]byte, []string, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if f := k.fits[fit]; f != nil {
		return f.message, slices.Clone(f.asked), nil
	}
	e, found, err := k.entry(fit)
	if err != nil || !found || e.Begun.IsZero() {
		return nil, nil, err
	}
	f, err := k.open(ctx, e.ID)
	if err != nil {
		return nil, nil, err
	}
	records, err := f.part.Records()
	if err != nil || len(records) == 0 || string(records[len(records)-1]) == ended {
		return nil, nil, errors.Join(err, f.journal.Close())
	}
	f.message = records[0]
	for _, r := range records[1:] {
		f.asked = append(f.asked, string(r))
	}
	k.fits[fit] = f
	return f.message, slices.Clone(f.asked), nil
}

// Close closes all journals: another process may go on with the fits.
func (k *Kept) Close() error {
	k.lock.Lock()
	defer k.lock.Unlock()
	var err error
	for _, f := range k.fits {
		err = errors.Join(err, f.journal.Close())
	}
	clear(k.fits)
	return err
}
