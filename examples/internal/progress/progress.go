// Package progress shows how far a program has come.
package progress

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Bar returns a function that draws a bar; it is nil where there is no terminal.
func Bar(stderr io.Writer, what string) func(done, total int) {
	f, ok := terminal(stderr)
	if !ok {
		return nil
	}
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(f),
				progressbar.OptionSetDescription(what), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(done) // a bar that can't be drawn is no reason to stop
	}
}

func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}
