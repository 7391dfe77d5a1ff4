package budgetfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpglm/dpglm/internal/check"
)

// While programs spend, somebody removes all that looks like a lock. No entry is lost, and
// the total is kept.
func TestRemovedLocks(t *testing.T) {
	const total = 60
	path := room(t, total)
	stop := make(chan struct{})
	var remover, wg sync.WaitGroup
	remover.Add(1)
	go func() {
		defer remover.Done()
		for {
			select {
			case <-stop:
				return
			default:
				os.Remove(path + ".lock")
				os.Remove(filepath.Join(path+".d", holderName))
				runtime.Gosched()
			}
		}
	}()
	var accepted atomic.Int64
	for range 4 {
		f := opened(t, path)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range total {
				switch err := spend(f, "", fit(t, childMu)); {
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, check.ErrBudget):
					return
				default:
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	remover.Wait()
	if n := accepted.Load(); n != total || len(entries(t, opened(t, path))) != total {
		t.Errorf("%d were accepted and %d are there, want %d", n, len(entries(t, opened(t, path))), total)
	}
}

// Entries that somebody replaces by a copy are another file: who waited at the old one goes
// to the new one, and who has the old one writes no more. Entries that are gone stay gone.
func TestReplacedEntries(t *testing.T) {
	f, m := remembered(t, one)
	id, err := f.Spend(t.Context(), survey, "", fit(t, 0.01))
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.files.writer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := f.files.beside(entriesName)
	m.files[name] = &inode{data: m.files[name].data, mode: 0o600}
	if err := w.settle(&line{Kind: lineBegun, ID: id, Time: now()}); !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("who has the old one: %v", err)
	}
	w.close()
	if err := f.GiveBack(t.Context(), id, "test"); err != nil {
		t.Errorf("who comes later: %v", err)
	}
	delete(m.files, name)
	if _, err := f.Spend(t.Context(), survey, "", fit(t, 0.01)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no entries: %v", err)
	}
	if _, err := open(m, inMemory); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no entries: %v", err)
	}
}

// swapping is a disk on which the entries are replaced after they were opened and before they
// are locked.
type swapping struct {
	*memory
	left int
}

func (s *swapping) open(path string, flag int) (handle, error) {
	h, err := s.memory.open(path, flag)
	if err == nil && flag == os.O_RDWR && s.left > 0 {
		s.left--
		s.files[path] = &inode{data: s.files[path].data, mode: 0o600}
	}
	return h, err
}

func TestLocksFollowTheName(t *testing.T) {
	_, m := remembered(t, one)
	s := &swapping{m, 3}
	f, err := open(s, inMemory)
	if err != nil {
		t.Fatal(err)
	}
	if err := spend(f, "", fit(t, 0.01)); err != nil || s.left != 0 {
		t.Fatal(err)
	}
	if n := len(entries(t, f)); n != 1 {
		t.Errorf("%d entries by the name", n)
	}
}

// stopping is a context that is cancelled once somebody waits for it.
type stopping struct {
	context.Context
	stop func()
}

func (s *stopping) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }

func (s *stopping) Done() <-chan struct{} {
	s.stop()
	return s.Context.Done()
}

// Waiting for the lock ends with the context, or after the limit, and says who has it.
func TestWaitingForALock(t *testing.T) {
	f, path := created(t)
	h, err := f.files.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	me := fmt.Sprintf("%s (process %d) since 2", filepath.Base(os.Args[0]), os.Getpid())
	g := opened(t, path)
	cancelled, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("a signal")
	waiting := &stopping{Context: cancelled, stop: func() { cancel(mine) }}
	if _, err := g.Spend(waiting, survey, "", fit(t, 0.01)); !errors.Is(err, mine) || !strings.Contains(err.Error(), me) || !strings.Contains(err.Error(), path) {
		t.Errorf("cancelled: %v", err)
	}
	g.files.patience = 20 * time.Millisecond
	if _, err := g.Spend(t.Context(), survey, "", fit(t, 0.01)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), me) || !strings.Contains(err.Error(), "waited for 20ms") {
		t.Errorf("the limit: %v", err)
	}
	for _, err := range []error{g.Begin(cancelled, ""), g.GiveBack(cancelled, "", "a reason")} {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, mine) {
			t.Errorf("cancelled before: %v", err)
		}
	}
	if _, err := g.Reclaim(cancelled, now(), "a reason"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	if _, err := Create(cancelled, path+"2", one); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	f.files.unlock(h)
	if err := spend(g, "", fit(t, 0.01)); err != nil || len(entries(t, g)) != 1 {
		t.Error(err)
	}
}

// Reading waits for nobody.
func TestReadingNeedsNoLock(t *testing.T) {
	f, path := created(t)
	h, err := f.files.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.files.unlock(h)
	g := opened(t, path)
	if _, err := g.Remaining(); err != nil || len(entries(t, g)) != 0 || !strings.Contains(g.String(), "nothing spent") {
		t.Errorf("%v, %v", g, err)
	}
}
