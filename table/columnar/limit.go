package columnar

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Sizes that stand in a file may be damaged, and decoders believe them. What they hold at one
// time is limited to freeBytes, columnBytes for each column that is in the file, for a
// decompressed page or two of each, and timesFile for each byte of the file, which compressed
// batches that are read whole stay far below.
const (
	freeBytes   = 64 << 20
	columnBytes = 8 << 20
	timesFile   = 64
)

// limited is an allocator that refuses, by a panic, what exceeds a limit.
type limited struct {
	memory.Allocator
	limit, held atomic.Int64
}

// limitedTo is one for a file of so many bytes; columns add to it once they are known.
func limitedTo(file int64) *limited {
	l := &limited{Allocator: memory.DefaultAllocator}
	l.limit.Store(freeBytes + timesFile*file)
	return l
}

// columns adds what so many of these need.
func (l *limited) columns(n int) { l.limit.Add(columnBytes * int64(n)) }

// take counts more bytes.
func (l *limited) take(more int) {
	if held := l.held.Add(int64(more)); more > 0 && (held > l.limit.Load() || held < 0) {
		l.held.Add(-int64(more))
		panic(fmt.Sprintf("it asks for %d bytes of memory more, and may hold %d at a time, by its size", more, l.limit.Load()))
	}
}

func (l *limited) Allocate(size int) []byte {
	l.take(size)
	b := l.Allocator.Allocate(size)
	l.held.Add(int64(cap(b) - size))
	return b
}

func (l *limited) Reallocate(size int, b []byte) []byte {
	l.take(max(0, size-cap(b)))
	before := cap(b) + max(0, size-cap(b))
	b = l.Allocator.Reallocate(size, b)
	l.held.Add(int64(cap(b) - before))
	return b
}

func (l *limited) Free(b []byte) {
	l.held.Add(-int64(cap(b)))
	l.Allocator.Free(b)
}
