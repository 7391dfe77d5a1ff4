//go:build unix

package task

import (
	"context"
	"errors"
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
