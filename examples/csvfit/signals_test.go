//go:build linux || darwin

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An interrupt and a termination signal end a fit at once that still reads its data, or waits for
// the budget's lock; it has spent nothing.
func TestSignalsEndFits(t *testing.T) {
	facts, whole := schema(t, "rich", rich), people(t, 100)
	for _, c := range []struct {
		signal os.Signal
		waits  bool // for the lock
	}{{os.Interrupt, false}, {syscall.SIGTERM, false}, {os.Interrupt, true}, {syscall.SIGTERM, true}} {
		pipe := filepath.Join(t.TempDir(), "people.csv.gz")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		budget, args := funded(t, pipe, facts)
		lock, err := os.OpenFile(filepath.Join(budget+".d", "entries"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		program := exec.Command(self, args...)
		program.Env, program.Stderr = append(os.Environ(), asProgram+"=1"), &said
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		data, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once the program reads
		if err != nil {
			t.Fatal(err)
		}
		if c.waits {
			text, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := data.Write(text); err != nil {
				t.Fatal(err)
			}
			data.Close()
		}
		if err := program.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := program.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said.String(), "context canceled") {
			t.Errorf("%v: %v, and says %q", c, err, &said)
		}
		data.Close()
		lock.Close()
		if list := entriesOf(t, budget); len(list) > 0 {
			t.Errorf("%v: %+v", c, list)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(budget), ".csvfit-*")); err != nil || len(left) > 0 {
			t.Errorf("%v: %v are left", c, left)
		}
	}
}
