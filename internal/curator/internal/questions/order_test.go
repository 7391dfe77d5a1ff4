package questions

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

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
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
		const many = 200
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
		if err := blocks.InOrder(ctx, many, ahead, acquire, func(*int) { released++ }, work, merge); err != nil {
			t.Fatal(err)
		}
		if len(merged) != many || !slices.IsSorted(merged) {
			t.Errorf("merged %v", merged)
		}
		if made != released || made > procs*(1+ahead) {
			t.Errorf("made %d accumulators, released %d", made, released)
		}
	})
}

// breakable are the places of a pass at which a function may break it, by block.
var breakable = map[string]int{"acquire": 0, "work": 17, "last block": 99, "merge": 17}

// breakingPass is a pass of 100 blocks that calls fail at one place.
func breakingPass(place string, ahead int, running *atomic.Int64, fail func()) error {
	at, acquired := breakable[place], new(atomic.Int64)
	return blocks.InOrder(ctx, 100, ahead,
		func() bool {
			if place == "acquire" && acquired.Add(1) == int64(at+1) {
				fail()
			}
			return true
		}, func(bool) {
			if running.Load() != 0 {
				panic("released while blocks are worked on")
			}
		},
		func(b int, _ bool) {
			running.Add(1)
			defer running.Add(-1)
			lateness(b)
			if b == at && (place == "work" || place == "last block") {
				fail()
			}
		}, func(b int, _ bool) {
			if b == at && place == "merge" {
				fail()
			}
		})
}

// A panic in any function of a pass reaches the caller after all goroutines have
// ended.
func TestPanicAnywhereInAPass(t *testing.T) {
	eachSchedule(t, func(t *testing.T, _, ahead int) {
		for place := range breakable {
			func() {
				var running atomic.Int64
				defer func() {
					if p := recover(); p != "broken" || running.Load() != 0 {
						t.Errorf("%s: recovered %v with %d blocks running", place, p, running.Load())
					}
				}()
				err := breakingPass(place, ahead, &running, func() { panic("broken") })
				t.Errorf("%s: no panic, error %v", place, err)
			}()
		}
	})
}

// A goroutine that is ended within a pass makes an error; where it is the caller's
// own, it ends after all others have. A pass that lost a block never looks complete.
func TestGoexitInAPass(t *testing.T) {
	eachSchedule(t, func(t *testing.T, _, ahead int) {
		for place := range breakable {
			for range 10 {
				var running atomic.Int64
				var err error
				returned, ended := false, make(chan bool)
				go func() {
					defer close(ended)
					err = breakingPass(place, ahead, &running, runtime.Goexit)
					returned = true
				}()
				<-ended
				if returned && !errors.Is(err, check.ErrConfig) {
					t.Fatalf("%s: a pass that lost a goroutine returns %v", place, err)
				}
				if running.Load() != 0 {
					t.Fatalf("%s: %d blocks running after the end", place, running.Load())
				}
			}
		}
	})
}

// exiting is a matrix that ends the goroutine that reads its row at, once armed.
type exiting struct {
	mat.Matrix
	at    int
	armed *atomic.Bool
}

func (x exiting) At(i, j int) float64 {
	if i == x.at && x.armed.Load() {
		runtime.Goexit()
	}
	return x.Matrix.At(i, j)
}

// An exit within the intake is an error, one in a pass that has no error to return
// a panic: never an answer over part of the rows.
func TestGoexitOfAMatrix(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var armed atomic.Bool
	x := exiting{mat.NewDense(20_000, 3, nil), 7_777, &armed}
	for range 20 {
		for _, name := range []string{"intake", "scores"} {
			armed.Store(name == "intake")
			var err any
			ended := make(chan bool)
			go func() {
				defer close(ended)
				err = "the caller's goroutine ended"
				defer func() {
					if p := recover(); p != nil {
						err = p
					}
				}()
				table, e := rows.NewTable(x, encoding.NewIdentity(3, 1, false))
				if e != nil {
					err = e
					return
				}
				armed.Store(true)
				rows.Scores(table, make([]float64, 20_000), make([]float64, 3))
				err = nil
			}()
			<-ended
			if err == nil {
				t.Fatalf("%s: no error", name)
			}
		}
	}
}

// A cancelled pass's error is context.Canceled and the cause that was given.
func TestCauseOfCancellation(t *testing.T) {
	cause := errors.New("the operator pressed a button")
	for name, cancel := range map[string]func(context.CancelCauseFunc){
		"before": func(c context.CancelCauseFunc) { c(cause) }, "within": func(context.CancelCauseFunc) {},
	} {
		cancelled, stop := context.WithCancelCause(ctx)
		cancel(stop)
		err := blocks.InOrder(cancelled, 100, 0, func() bool { return true }, func(bool) {}, func(int, bool) {},
			func(b int, _ bool) {
				if b == 30 {
					stop(cause)
				}
			})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
	expired, stop := context.WithTimeoutCause(ctx, 0, cause)
	defer stop()
	<-expired.Done()
	if err := blocks.InOrder(expired, 3, 0, func() bool { return true }, func(bool) {}, func(int, bool) {}, func(int, bool) {}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) {
		t.Errorf("deadline: %v", err)
	}
}

// A pass that is cancelled in the middle says so and merges nothing more.
func TestCancelledInABlock(t *testing.T) {
	eachSchedule(t, func(t *testing.T, _, ahead int) {
		cancelled, cancel := context.WithCancel(ctx)
		defer cancel()
		last := 0
		err := blocks.InOrder(cancelled, 100, ahead, func() bool { return true }, func(bool) {},
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

// A pass allocates a small constant, however many tiles there are, and for the race
// detector one a block: the least of 20 passes, as the pool of workspaces may be empty.
func TestAllocationsOfAPass(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1000, 100_000} {
		for _, clip := range []float64{math.Inf(1), 0.3} {
			s := sumsOf(t, randomMatrix(r, n, 10, 0.1), make([]float64, n), 0, encoding.NewIdentity(10, 10, true), losses.Logistic{})
			w, g := randomVector(r, 11, 1), make([]float64, 11)
			allocations := math.Inf(1)
			for range 20 {
				allocations = math.Min(allocations, testing.AllocsPerRun(1, func() {
					if err := s.Gradient(ctx, g, w, clip); err != nil {
						t.Fatal(err)
					}
				}))
			}
			if allocations > 30+float64(s.t.Layout.Blocks) {
				t.Errorf("%d rows, clip %g: %g allocations", n, clip, allocations)
			}
		}
	}
}
