package blocks

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
)

// ErrExited reports a pass that lost a goroutine to runtime.Goexit, which a matrix
// or a loss that calls testing.T.FailNow does, for instance.
var ErrExited = check.Fail(check.ErrConfig, "matrix or loss", nil, "must not end the goroutine that calls it (runtime.Goexit)")

// InOrder calls work for each block, on up to GOMAXPROCS goroutines, and merge
// after it, for one block at a time and in the order of the blocks. Each
// goroutine has an accumulator of its own from acquire, given back to release, and
// so many more ahead that one that is ahead of its turn goes on to another block. A
// panic in any of them continues on the caller's goroutine, after all have ended,
// and so does a runtime.Goexit of that goroutine; on another it makes an error.
// Without an error all blocks were merged.
func InOrder[A any](ctx context.Context, blocks, ahead int, acquire func() A, release func(A), work, merge func(block int, a A)) error {
	workers := min(runtime.GOMAXPROCS(0), blocks)
	q := &queue[A]{
		ctx: ctx, of: job[A]{acquire, work, merge},
		most: min(workers*(1+ahead), blocks), done: make([]A, blocks), ready: make([]bool, blocks),
	}
	q.changed.L = &q.lock
	func() {
		defer func() { // also where the caller's goroutine exits
			q.others.Wait()
			for _, a := range q.made {
				release(a)
			}
		}()
		for range workers - 1 {
			q.others.Add(1)
			go func() { defer q.others.Done(); q.run() }()
		}
		q.run()
	}()
	if q.panicked != nil {
		panic(q.panicked)
	}
	return q.err
}

// job is what is done for each block.
type job[A any] struct {
	acquire     func() A
	work, merge func(block int, a A)
}

// queue hands out blocks in order, and merges finished ones in order. Each block
// between turn and next has an accumulator.
type queue[A any] struct {
	ctx  context.Context
	of   job[A]
	most int // accumulators

	others     sync.WaitGroup
	lock       sync.Mutex
	changed    sync.Cond
	made, free []A
	next, turn int    // blocks to work on and to merge
	done       []A    // of finished blocks that wait for their turn
	ready      []bool // which these are
	err        error  // why the pass stopped before the end
	panicked   any
}

// run works on blocks until none is left. It ends early by a panic or an exit, of
// the caller's matrix or loss, and only then without having returned.
func (q *queue[A]) run() {
	returned := false
	defer func() {
		if !returned {
			q.stop(recover())
		}
	}()
	for b, a, ok := q.take(); ok; b, a, ok = q.take() {
		q.of.work(b, a)
		q.finish(b, a)
	}
	returned = true
}

// stop ends the pass because a goroutine ended.
func (q *queue[A]) stop(panicked any) {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.err, q.panicked = cmp.Or(q.err, ErrExited), cmp.Or(q.panicked, panicked)
	q.changed.Broadcast()
}

// goesOn reports whether nothing has stopped the pass.
func (q *queue[A]) goesOn() bool {
	q.err = cmp.Or(q.err, check.Cancelled(q.ctx))
	return q.err == nil
}

// take returns the next block and an accumulator for it. It waits only while all
// accumulators hold blocks from the one on whose turn it is, which another goroutine
// works on.
func (q *queue[A]) take() (b int, a A, ok bool) {
	q.lock.Lock()
	defer q.lock.Unlock()
	for q.next-q.turn == q.most && q.next < len(q.done) && q.err == nil {
		q.changed.Wait()
	}
	if q.next == len(q.done) || !q.goesOn() {
		return 0, a, false
	}
	if len(q.free) == 0 {
		a = q.of.acquire()
		q.made, q.free = append(q.made, a), append(q.free, a)
	}
	last := len(q.free) - 1
	a, q.free = q.free[last], q.free[:last]
	q.next++
	return q.next - 1, a, true
}

// finish merges all blocks whose turn it is, now that b is done, unless the pass was
// stopped.
func (q *queue[A]) finish(b int, a A) {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.done[b], q.ready[b] = a, true
	for q.turn < len(q.done) && q.ready[q.turn] && q.goesOn() {
		q.of.merge(q.turn, q.done[q.turn])
		q.free = append(q.free, q.done[q.turn])
		q.turn++
	}
	q.changed.Broadcast()
}
