package budgetfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/dpglm/dpglm/internal/check"
)

// patience is how long to wait for a lock where the caller doesn't say.
const patience = 10 * time.Second

// lock waits until nobody else holds the lock on the entries, as long as ctx allows. That file
// is never replaced, nor made again, so that there can't be a second one to lock while it is
// held; one that was put in its place meanwhile is noticed here, and before writing.
func (f *files) lock(ctx context.Context) (handle, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.patience, fmt.Errorf("waited for %v", f.patience))
		defer cancel()
	}
	if err := check.Cancelled(ctx); err != nil {
		return nil, fmt.Errorf("dpglm: nothing was written to the budget %s: %w", f.path, err)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 32*time.Millisecond) {
		h, err := f.tryLock()
		if h != nil || err != nil {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("dpglm: nothing was written to the budget %s, which %s holds: %w", f.path, f.holder(), check.Cancelled(ctx))
		case <-time.After(pause/2 + rand.N(pause)): // not in step with others
		}
	}
}

// tryLock returns the entries if it can lock them, and nil where another holds them.
func (f *files) tryLock() (handle, error) {
	h, err := f.disk.open(f.beside(entriesName), os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("dpglm: nothing was written to the budget: %w", err)
	}
	locked, err := h.lock()
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("dpglm: nothing was written to the budget, which can't be locked: %w", err)
	}
	if !locked || !f.isNamed(h) {
		h.Close()
		return nil, nil
	}
	f.sayWho()
	return h, nil
}

// isNamed reports whether an open file is still that of the entries' name.
func (f *files) isNamed(h handle) bool {
	now, err := f.disk.open(f.beside(entriesName), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer now.Close()
	return h.same(now)
}

// unlock lets others go on.
func (f *files) unlock(h handle) {
	f.disk.remove(f.beside(holderName)) //nolint:errcheck // it is of use to people only
	h.Close()
}

// program is who holds a lock.
type program struct {
	PID   int       `json:"pid"`
	Name  string    `json:"program"`
	Since time.Time `json:"since"`
}

// sayWho writes down who has the lock. Nothing depends on it.
func (f *files) sayWho() {
	data, err := json.Marshal(program{os.Getpid(), filepath.Base(os.Args[0]), now()})
	if err != nil {
		return
	}
	h, err := f.disk.open(f.beside(holderName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return
	}
	_, err = h.WriteAt(data, 0)
	if err = errors.Join(err, h.Close()); err != nil {
		f.disk.remove(f.beside(holderName))
	}
}

// holder names who has the lock.
func (f *files) holder() string {
	var p program
	h, err := f.disk.open(f.beside(holderName), os.O_RDONLY)
	if err != nil {
		return "another program"
	}
	defer h.Close()
	data, err := content(h)
	if err != nil || json.Unmarshal(data, &p) != nil {
		return "another program"
	}
	return fmt.Sprintf("%s (process %d) since %s", p.Name, p.PID, p.Since.Format(time.DateTime))
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
