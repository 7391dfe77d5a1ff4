package stored_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// stoppingMatrix is a matrix that cancels a context when one of its rows is read.
type stoppingMatrix struct {
	mat.Matrix
	at    int
	stop  func()
	after int // elements that were read of later rows
}

func (m *stoppingMatrix) At(i, j int) float64 {
	if i == m.at && j == 0 {
		m.stop()
	} else if i > m.at {
		m.after++
	}
	return m.Matrix.At(i, j)
}

// A context that is cancelled while rows are written leaves no file, and one that is while they
// are read for the first time no data set; both stop within a block, of which the file has 13.
func TestStoredRowsAreCancelled(t *testing.T) {
	const perBlock = 32                             // rows of 1000 columns
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that blocks are read one after the other
	x, y := given.Separable(13*perBlock, 1000, 1)
	bounds, dir := dpglm.Bounds{Feature: 1, Label: 1}, t.TempDir()
	path := filepath.Join(dir, "x.rows")
	cancelled, stop := context.WithCancel(ctx)
	m := &stoppingMatrix{Matrix: x, at: 2 * perBlock, stop: stop}
	if err := dpglm.WriteRows(cancelled, path, m, y); !errors.Is(err, context.Canceled) {
		t.Errorf("written: %v", err)
	}
	if m.after > 0 {
		t.Errorf("%d elements were read after the context was cancelled", m.after)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	cancelled, stop = context.WithCancel(ctx)
	p := &given.Polled{Context: cancelled, Stop: stop}
	p.N.Store(2) // after two blocks
	if d, err := dpglm.OpenRows(p, path, bounds); d != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v, %v", d, err)
	}
	if more := -p.N.Load(); more > 1 { // for the cause
		t.Errorf("asked %d times more after the context was cancelled", more)
	}
	if _, err := dpglm.OpenRowsOn(cancelled, path, bounds, given.Workers{Count: 3, Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("read by workers: %v", err)
	}
}

// No context is an error, as anywhere.
func TestStoredRowsNeedContexts(t *testing.T) {
	var none context.Context
	x, y := given.Separable(10, 2, 1)
	path, bounds := filepath.Join(t.TempDir(), "x.rows"), dpglm.Bounds{Feature: 1}
	for name, err := range map[string]error{
		"WriteRows":  dpglm.WriteRows(none, path, x, y),
		"OpenRows":   given.Failure(dpglm.OpenRows(none, path, bounds)),
		"OpenRowsOn": given.Failure(dpglm.OpenRowsOn(none, path, bounds, given.Workers{Count: 3, Dir: t.TempDir()})),
	} {
		if !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// leaving are workers that cancel a context when they are asked.
type leaving struct {
	given.Workers
	stop *func()
}

func (s leaving) Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) error {
	(*s.stop)()
	return s.Workers.Ask(ctx, question, pieces, take)
}

// watched is a context that is cancelled when a pass begins to watch it.
type watched struct {
	context.Context
	stop func()
}

func (w watched) Done() <-chan struct{} {
	w.stop()
	return w.Context.Done()
}

// A context that is cancelled while labels are looked at, before anything is spent, ends that.
func TestLookingAtLabelsIsCancelled(t *testing.T) {
	x, y := given.Separable(500, 1, 1)
	path, bounds := filepath.Join(t.TempDir(), "x.rows"), dpglm.Bounds{Feature: 1, Label: 1}
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	here, err := dpglm.OpenRows(ctx, path, bounds)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	stop := func() {}
	there, err := dpglm.OpenRowsOn(ctx, path, bounds, leaving{given.Workers{Count: 3, Dir: t.TempDir()}, &stop})
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	y[3] = 2.5 // no class, so that labels are read to say which row's it is
	other := filepath.Join(t.TempDir(), "y.rows")
	if err := dpglm.WriteRows(ctx, other, x, y); err != nil {
		t.Fatal(err)
	}
	wrong, err := dpglm.OpenRows(ctx, other, bounds)
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	for name, c := range map[string]struct {
		d   *dpglm.Dataset
		ask func(ctx context.Context, d *dpglm.Dataset) error
	}{
		"by workers": {there, func(ctx context.Context, d *dpglm.Dataset) error {
			_, err := dpglm.Softmax(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 2}, dpglm.GDP(1), dpglm.SoftmaxConfig{}, nil)
			return err
		}},
		"in a file": {wrong, func(ctx context.Context, d *dpglm.Dataset) error {
			_, err := dpglm.Softmax(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 2}, dpglm.GDP(1), dpglm.SoftmaxConfig{}, nil)
			return err
		}},
		"for a walk": {here, func(ctx context.Context, d *dpglm.Dataset) error {
			_, err := dpglm.NewPredictor(ctx, d, dpglm.Problem{}, dpglm.PureDP(1), dpglm.ThresholdConfig{Queries: 1, Alpha: 0.3}, nil)
			return err
		}},
	} {
		cancelled, cancel := context.WithCancel(ctx)
		asked := cancelled
		if stop = cancel; c.d != there {
			asked = watched{cancelled, cancel}
		}
		err := c.ask(asked, c.d)
		var spent *dpglm.Interrupted
		if !errors.Is(err, context.Canceled) || errors.As(err, &spent) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
