//go:build linux || darwin

package main

import (
	"runtime"
	"syscall"
	"time"
)

// used is the processor time of this program so far, and the most memory that it had, in MB.
func used() (cpu time.Duration, megabytes float64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	units := float64(1 << 10) // in a MB, where the system counts kB
	if runtime.GOOS == "darwin" {
		units = 1 << 20
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), float64(u.Maxrss) / units
}
