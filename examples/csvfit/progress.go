package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress draws a bar on a terminal and nothing anywhere else.
func progress(stderr io.Writer) func(done, total int) {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(f),
				progressbar.OptionSetDescription("fitting"), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(done) // a bar that can't be drawn is no reason to stop
	}
}
