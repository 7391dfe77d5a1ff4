//go:build !linux && !darwin

package main

import "time"

// used isn't known here.
func used() (cpu time.Duration, megabytes float64) { return 0, 0 }
