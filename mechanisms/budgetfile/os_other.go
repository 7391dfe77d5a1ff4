//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package budgetfile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// tryLock refuses: without a lock two programs could spend the same budget. (Solaris has
// locks of processes only, which don't part the goroutines of one.)
func tryLock(*os.File) (bool, error) {
	return false, fmt.Errorf("no locks on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func syncDirectory(string) error { return nil }

func names(*os.File) (uint64, error) { return 1, nil }
