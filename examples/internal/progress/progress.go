// Package progress says, while a program is at work, what it does and how far it has come: on
// standard error, every two seconds.
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// every is how often there is a line.
const every = 2 * time.Second

type key struct{}

// Show has stderr told every two seconds, until stop is called, what the program of that name does,
// by what the functions of this package are told with the context: on a terminal in one line that is
// rewritten, elsewhere in a line each.
func Show(ctx context.Context, name string, stderr *os.File) (shown context.Context, stop func()) {
	l := &line{w: stderr, name: name, rewrite: terminal(stderr), now: time.Now}
	l.begin("at work")
	ticks, end, ended := time.NewTicker(every), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticks.C:
				l.print()
			case <-end:
				return
			}
		}
	}()
	return with(ctx, l), sync.OnceFunc(func() {
		ticks.Stop()
		close(end)
		<-ended
		l.clear()
	})
}

func with(ctx context.Context, l *line) context.Context { return context.WithValue(ctx, key{}, l) }

func of(ctx context.Context) *line {
	l, _ := ctx.Value(key{}).(*line)
	return l
}

// Doing says what is done from now on, such as "reading the data". It does nothing without Show, as
// all functions here.
func Doing(ctx context.Context, what string) {
	if l := of(ctx); l != nil {
		l.begin(what)
	}
}

// Steps returns a function that says how many of a total of things are done, from its first call on; it
// is nil without Show.
func Steps(ctx context.Context, what string) func(done, total int) {
	l := of(ctx)
	if l == nil {
		return nil
	}
	return func(done, total int) { l.step(what, done, total) }
}

// Count is Steps where the total is known.
func Count(ctx context.Context, what string, total int) func(done int) {
	step := Steps(ctx, what)
	if step == nil {
		return func(int) {}
	}
	step(0, total)
	return func(done int) { step(done, total) }
}

// Beside is w, before whose text the line on a terminal is cleared.
func Beside(ctx context.Context, w io.Writer) io.Writer {
	if l := of(ctx); l != nil && l.rewrite {
		return beside{w, l}
	}
	return w
}

type beside struct {
	w io.Writer
	l *line
}

func (b beside) Write(p []byte) (int, error) {
	b.l.clear()
	return b.w.Write(p)
}

// line is what there is to say.
type line struct {
	lock        sync.Mutex
	w           io.Writer
	name, what  string
	done, total int // 0 where nothing is counted
	start       time.Time
	rewrite     bool // on a terminal
	shown       bool // there
	now         func() time.Time
}

func (l *line) begin(what string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.next(what)
}

func (l *line) next(what string) {
	l.what, l.done, l.total, l.start = what, 0, 0, l.now()
}

func (l *line) step(what string, done, total int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.what != what {
		l.next(what)
	}
	l.done, l.total = done, total
}

func (l *line) print() {
	l.lock.Lock()
	defer l.lock.Unlock()
	took := l.now().Sub(l.start)
	text := fmt.Sprintf("%s: %s, %v so far", l.name, l.what, took.Round(time.Second))
	switch {
	case l.done > 0:
		left := time.Duration(float64(took) / float64(l.done) * float64(l.total-l.done))
		text = fmt.Sprintf("%s: %d of %d %s, %v left", l.name, l.done, l.total, l.what, left.Round(time.Second))
	case l.total > 0:
		text = fmt.Sprintf("%s: 0 of %d %s, %v so far", l.name, l.total, l.what, took.Round(time.Second))
	}
	if l.rewrite {
		fmt.Fprint(l.w, clear, text)
		l.shown = true
		return
	}
	fmt.Fprintln(l.w, text)
}

// clear empties the line on a terminal.
func (l *line) clear() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.shown {
		fmt.Fprint(l.w, clear)
		l.shown = false
	}
}

// clear empties the line that the cursor is on.
const clear = "\r\x1b[K"

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
