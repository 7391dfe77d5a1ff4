// Package progress shows how far a program has come.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Steps returns a function that counts as Count does, to a total that it learns with
// the first step; it is nil where there is no terminal.
func Steps(stderr io.Writer, what string) func(done, total int) {
	if !terminal(stderr) {
		return nil
	}
	var show func(done int)
	return func(done, total int) {
		if show == nil {
			show = Count(stderr, what, total)
		}
		show(done)
	}
}

// Count returns a function that says how many of total things are done and
// about how long the rest takes: on a terminal in one line that is rewritten,
// elsewhere in a new line for each further tenth.
func Count(stderr io.Writer, what string, total int) func(done int) {
	c := &counter{stderr, what, total, terminal(stderr), time.Now}
	return c.from(c.now())
}

type counter struct {
	w       io.Writer
	what    string
	total   int
	rewrite bool
	now     func() time.Time
}

func (c *counter) from(start time.Time) func(done int) {
	tenth := 0
	return func(done int) {
		left := time.Duration(float64(c.now().Sub(start)) / float64(done) * float64(c.total-done)).Round(time.Second)
		line := fmt.Sprintf("%d of %d %s, %v left", done, c.total, c.what, left)
		switch {
		case c.rewrite && done == c.total:
			fmt.Fprint(c.w, clear)
		case c.rewrite:
			fmt.Fprint(c.w, clear, line)
		case done*10/c.total > tenth:
			tenth = done * 10 / c.total
			fmt.Fprintln(c.w, line)
		}
	}
}

// clear empties the line that the cursor is on.
const clear = "\r\x1b[K"

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
