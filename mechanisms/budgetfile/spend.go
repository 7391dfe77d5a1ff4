package budgetfile

import (
	"context"
	"fmt"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// Spend adds an entry of data with the file's name for them, as [mechanisms.Accountant.Spend]
// does, and returns its ID. Call it before the fit runs: when its error is nil, the entry is on
// the disk; call Begin before noise is drawn. After an error about the budget, the unit or the
// data's name nothing was spent. An error with an ID is of the disk: don't draw noise, and give that entry back, which fails where it isn't there.
//
// It waits for programs that write at the same time as long as ctx allows, and for ten
// seconds where that has no deadline. The error then says who has the lock.
func (f *File) Spend(ctx context.Context, data, label string, l *mechanisms.Ledger) (id string, err error) {
	w, err := f.files.writer(ctx)
	if err != nil {
		return "", err
	}
	defer w.close()
	if err := w.state.of(data); err != nil {
		return "", fmt.Errorf("%s: %w", f.files.path, err)
	}
	entry := &line{Kind: lineSpent, ID: fmt.Sprintf("%d-%s", w.state.Spent+1, random()), Time: now(), Label: label, Ledger: l}
	next, err := w.state.after(entry)
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.files.path, err)
	}
	return entry.ID, w.put(entry, next)
}

// Begin says that noise of an entry is about to be drawn: draw none before it has returned
// nil. From then on the entry can't be given back. It fails for an entry that has begun, that
// was given back or that isn't there, and waits as Spend does.
func (f *File) Begin(ctx context.Context, id string) error {
	w, err := f.files.writer(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	return w.settle(&line{Kind: lineBegun, ID: id, Time: now()})
}

// GiveBack takes an entry out of the sum, for a reason that is written down. Anybody may do
// so, also while who spent it is alive and will then be refused by Begin. It fails for an entry
// whose noise has begun, that was given back or that isn't there, and waits as Spend does.
func (f *File) GiveBack(ctx context.Context, id, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	w, err := f.files.writer(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	return w.settle(&line{Kind: lineGivenBack, ID: id, Time: now(), Reason: reason})
}

// Reclaim gives back what programs that died have left: each entry that was spent before a
// time and whose noise hasn't begun. It returns their IDs. The time only spares programs that
// are still at work; that nothing is given back of which noise was drawn doesn't rest on it.
// It fails as GiveBack does, after those that it returns.
func (f *File) Reclaim(ctx context.Context, before time.Time, reason string) (ids []string, err error) {
	if err := checkReason(reason); err != nil {
		return nil, err
	}
	w, err := f.files.writer(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	for _, e := range w.state.Wait {
		if !e.Time.Before(before) {
			continue
		}
		if err := w.settle(&line{Kind: lineGivenBack, ID: e.ID, Time: now(), Reason: reason}); err != nil {
			return ids, err
		}
		ids = append(ids, e.ID)
	}
	return ids, nil
}

func checkReason(reason string) error {
	if reason == "" {
		return check.Fail(check.ErrConfig, "reason", nil, "must say why no noise was drawn")
	}
	return nil
}

// Releases is the path, beside the file, for what an entry's fit has released so far: from
// there an interrupted one goes on. They are public numbers, as they went through noise. Who
// writes there must have begun the entry; who goes on from there must find the entry begun,
// and in what it reads the entry's ID and the plan that was spent, since under another plan
// the same releases would be other ones; and one program at a time may go on, since two would
// both draw the noise that was charged once: all of which [File.Journal] does. It fails for what
// can't be an ID.
func (f *File) Releases(id string) (path string, err error) {
	if !isID(id) {
		return "", check.Fail(check.ErrConfig, "id", id, "must be one that Spend returned")
	}
	return f.files.beside(id + releasesName), nil
}

// settle writes what becomes of an entry that waits.
func (w *writer) settle(l *line) error {
	if w.state.waits(l.ID) >= 0 {
		return w.write(l)
	}
	list, err := w.state.entries(w.lines)
	if err != nil {
		return fmt.Errorf("%s: %w", w.files.beside(entriesName), err)
	}
	for _, e := range list {
		switch {
		case e.ID != l.ID:
		case e.GivenBack.IsZero():
			return check.Fail(check.ErrConfig, "id", l.ID, "must be of an entry whose noise hasn't begun: this one's has, at "+e.Begun.Format(time.DateTime))
		default:
			return check.Fail(check.ErrConfig, "id", l.ID, "must be of an entry that counts: this one was given back at "+e.GivenBack.Format(time.DateTime))
		}
	}
	return check.Fail(check.ErrConfig, "id", l.ID, "must be of an entry that is in the file")
}
