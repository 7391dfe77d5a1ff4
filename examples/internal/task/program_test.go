//go:build unix

package task

import (
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"syscall"
	"testing"
)

// Both signals that ask a program to end cancel its context.
func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, stop := Signals()
		defer stop()
		if err := syscall.Kill(syscall.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
	}
}

// What can't be cancelled isn't waited for.
func TestAwait(t *testing.T) {
	if v, err := Await(t.Context(), func() (int, error) { return 3, ErrUsage }); v != 3 || !errors.Is(err, ErrUsage) {
		t.Errorf("%d, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	defer close(never)
	go cancel()
	if _, err := Await(ctx, func() (int, error) { <-never; return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Several files are one value of -data; other flags may be given again, and the last one counts.
func TestDataIsGivenOnce(t *testing.T) {
	for line, refused := range map[string]bool{"-data a.csv": false, "-data a.csv,b.csv -n 3": false, "-data a.csv -data b.csv": true, "--data=a.csv -n 3 -data=a.csv": true,
		"-v -data a.csv": false, "-v -n 1 -n 2": false, "-o -data -data a.csv": false, "-v=false -data a.csv --data b.csv": true, "-data a.csv -- -data b.csv": true, "-data a.csv --": false} {
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		f.String("data", "", "")
		f.String("o", "", "")
		f.Int("n", 0, "")
		f.Bool("v", false, "")
		if _, err := Parse(f, strings.Fields(line), io.Discard); (err != nil) != refused || err != nil && !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
