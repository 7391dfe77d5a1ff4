package rows

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// lateness yields to other goroutines for a while that differs between blocks.
func lateness(block int) {
	for range block * 7 % 50 {
		runtime.Gosched()
	}
}

// eachSchedule runs f for several numbers of goroutines and spare accumulators.
func eachSchedule(t *testing.T, f func(t *testing.T, procs, ahead int)) {
	for _, procs := range []int{1, 2, 5} {
		for ahead := range 3 {
			t.Run(fmt.Sprintf("GOMAXPROCS=%d/ahead=%d", procs, ahead), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				f(t, procs, ahead)
			})
		}
	}
}

// Every block is merged once, in order, with the accumulator that worked on it,
// and no more accumulators are made than allowed.
func TestBlocksAreMergedInOrder(t *testing.T) {
	eachSchedule(t, func(t *testing.T, procs, ahead int) {
		const blocks = 200
		var made, released int
		var merged []int
		acquire := func() *int { made++; return new(int) }
		work := func(b int, a *int) { lateness(b); *a = b }
		merge := func(b int, a *int) {
			if *a != b {
				t.Errorf("block %d is merged with the sums of %d", b, *a)
			}
			merged = append(merged, b)
		}
		if err := inOrderAhead(ctx, blocks, ahead, acquire, func(*int) { released++ }, work, merge); err != nil {
			t.Fatal(err)
		}
		if len(merged) != blocks || !slices.IsSorted(merged) {
			t.Errorf("merged %v", merged)
		}
		if made != released || made > procs*(1+ahead) {
			t.Errorf("made %d accumulators, released %d", made, released)
		}
	})
}

// A panic on any goroutine reaches the caller after all goroutines have ended.
func TestPanicInABlock(t *testing.T) {
	eachSchedule(t, func(t *testing.T, _, ahead int) {
		var running atomic.Int64
		defer func() {
			if p := recover(); p != "broken" || running.Load() != 0 {
				t.Errorf("recovered %v with %d blocks running", p, running.Load())
			}
		}()
		work := func(b int, _ bool) {
			running.Add(1)
			defer running.Add(-1)
			lateness(b)
			if b == 17 {
				panic("broken")
			}
		}
		_ = inOrderAhead(ctx, 100, ahead, func() bool { return true }, func(bool) {}, work, func(int, bool) {})
		t.Error("no panic")
	})
}

// A pass that is cancelled in the middle says so and merges nothing more.
func TestCancelledInABlock(t *testing.T) {
	eachSchedule(t, func(t *testing.T, _, ahead int) {
		cancelled, cancel := context.WithCancel(ctx)
		defer cancel()
		last := 0
		err := inOrderAhead(cancelled, 100, ahead, func() bool { return true }, func(bool) {},
			func(b int, _ bool) { lateness(b) },
			func(b int, _ bool) {
				if last = b; b == 30 {
					cancel()
				}
			})
		if !errors.Is(err, context.Canceled) || last != 30 {
			t.Errorf("block %d was merged, error %v", last, err)
		}
	})
}

// A pass allocates a small constant, however many tiles and blocks there are.
func TestAllocationsOfAPass(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1000, 100_000} {
		for _, clip := range []float64{math.Inf(1), 0.3} {
			s := sumsOf(t, randomMatrix(r, n, 10, 0.1), make([]float64, n), 0, NewIdentity(10, 10, true), losses.Logistic{})
			w, g := randomVector(r, 11, 1), make([]float64, 11)
			allocations := testing.AllocsPerRun(20, func() {
				if err := s.Gradient(ctx, g, w, clip); err != nil {
					t.Fatal(err)
				}
			})
			if allocations > 30 {
				t.Errorf("%d rows, clip %g: %g allocations", n, clip, allocations)
			}
		}
	}
}
