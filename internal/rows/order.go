package rows

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxBlocks is the most blocks that a pass is cut into. Blocks depend on the
// shape only, and their sums are merged in order, so that a result is the same
// bits for any number of goroutines.
const maxBlocks = 256

// layout cuts n rows into tiles that stay in cache between their two uses, and
// tiles into blocks.
type layout struct {
	n, tileRows, tiles, blockTiles, blocks int
}

func newLayout(n, cols int, sparse bool) layout {
	const tileNumbers = 1 << 14 // 128 KiB of float64
	l := layout{n: n, tileRows: min(max(tileNumbers/cols, 4), 256)}
	blocks := maxBlocks
	if sparse { // merging a block costs O(cols), which many short rows must pay for
		l.tileRows = 256
		blocks = min(max(4*n/cols, 8), maxBlocks)
	}
	return l.cut(blocks)
}

// cut sets the blocks, at most the given number.
func (l layout) cut(blocks int) layout {
	l.tiles = (l.n + l.tileRows - 1) / l.tileRows
	l.blockTiles = (l.tiles + blocks - 1) / blocks
	l.blocks = (l.tiles + l.blockTiles - 1) / l.blockTiles
	return l
}

// blockRows is the largest number of rows in a block.
func (l layout) blockRows() int { return min(l.n, l.blockTiles*l.tileRows) }

// eachTile calls f for the tiles [lo, hi) of a block.
func (l layout) eachTile(block int, f func(lo, hi int)) {
	first := block * l.blockTiles
	for t := first; t < min(first+l.blockTiles, l.tiles); t++ {
		f(t*l.tileRows, min((t+1)*l.tileRows, l.n))
	}
}

// inOrder calls work for each block, on up to GOMAXPROCS goroutines, and merge
// after it, for one block at a time and in the order of the blocks. Each
// goroutine has an accumulator of its own from acquire, given back to release. A
// panic in any of them continues on the caller's goroutine, after all have ended.
func inOrder[A any](ctx context.Context, blocks int, acquire func() A, release func(A), work, merge func(block int, a A)) error {
	var (
		next     atomic.Int64
		mu       sync.Mutex
		turn     int
		stopped  bool
		panicked any
		changed  = sync.NewCond(&mu)
	)
	// awaitTurn returns with the lock held.
	awaitTurn := func(b int) bool {
		mu.Lock()
		for turn != b && !stopped {
			changed.Wait()
		}
		return !stopped
	}
	run := func() {
		defer func() { // of the caller's matrix or loss
			if p := recover(); p != nil {
				mu.Lock()
				stopped, panicked = true, p
				changed.Broadcast()
				mu.Unlock()
			}
		}()
		a := acquire()
		defer release(a)
		for {
			b := int(next.Add(1)) - 1
			if b >= blocks {
				return
			}
			if ctx.Err() == nil {
				work(b, a)
			}
			if !awaitTurn(b) || ctx.Err() != nil {
				stopped = true
				changed.Broadcast()
				mu.Unlock()
				return
			}
			merge(b, a)
			turn++
			changed.Broadcast()
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), blocks) - 1 {
		wg.Add(1)
		go func() { defer wg.Done(); run() }()
	}
	run()
	wg.Wait()
	if panicked != nil {
		panic(panicked)
	}
	if stopped {
		return context.Cause(ctx)
	}
	return nil
}
