package rows

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Task is what a worker knows of the rows that it was asked about, which steps make of the file's.
type Task struct {
	Measured       encoding.Encoding // of the file's rows
	Steps          []Step
	Bounds         []int // where blocks begin, and the last one ends; nil where each person has a row
	Owned, Shifted bool  // whether rows have shares, and scores offsets
	Ready          func(lo, hi int) error
	Counted        atomic.Int64
}

// made makes of a part's rows what the steps make of them.
func (k *Task) made(p *Part, f *rowfile.File, c *rowfile.Chunk) (err error) {
	from := p.Table.From
	if k.Owned {
		p.Table.Persons = shares(f, c)
		p.Table.Layout.Persons = p.Table.Persons
	}
	if k.Shifted {
		p.Offsets = heldOffsets(f, c)
	}
	for _, s := range k.Steps {
		if p.Table, err = s.of(p.Table); err != nil {
			return err
		}
		p.Table.From = from
	}
	return nil
}

// shares are the owners of a part's rows, as the file has them: whose last rows these are and
// what they count. Of rows that have weights only these say it.
func shares(f *rowfile.File, c *rowfile.Chunk) *blocks.Persons {
	o := &blocks.Persons{Most: 1, Given: true, Weighted: true}
	weights := slices.Index(f.Beside, rowfile.Weight)
	if k := slices.Index(f.Beside, rowfile.Share); k >= 0 {
		o.Shares = slices.Clone(c.Beside[k])
		if weights >= 0 {
			for _, weight := range c.Beside[weights] {
				o.Weights = append(o.Weights, blocks.ShareOf(weight/f.MaxWeight, 1))
			}
		}
		for i, last := range c.Beside[slices.Index(f.Beside, rowfile.Last)] {
			if last != 0 {
				o.Start = append(o.Start, i+1)
			}
		}
		return o
	}
	for i, weight := range c.Beside[weights] {
		o.Shares, o.Start = append(o.Shares, blocks.ShareOf(weight/f.MaxWeight, 1)), append(o.Start, i+1)
	}
	return o
}

// heldOffsets are the offsets of a part's rows, held to their range.
func heldOffsets(f *rowfile.File, c *rowfile.Chunk) []float64 {
	offsets := slices.Clone(c.Beside[slices.Index(f.Beside, rowfile.Offset)])
	for i, v := range offsets {
		offsets[i] = min(max(v, f.Offsets[0]), f.Offsets[1])
	}
	return offsets
}

// CheckOffsets refuses those that are no numbers, of rows from lo on.
func CheckOffsets(f *rowfile.File, c *rowfile.Chunk, lo int) error {
	k := slices.Index(f.Beside, rowfile.Offset)
	if k < 0 {
		return nil
	}
	for i, v := range c.Beside[k] {
		if math.IsNaN(v) {
			return check.Fail(check.ErrValue, fmt.Sprintf("offset of row %d (counted from 1)", lo+i+1), nil, "must be a number")
		}
	}
	return nil
}

// Lazily does something with rows before they are first used, block by block of the file.
type Lazily struct {
	f    *rowfile.File
	lock []sync.Mutex
	done []bool
	do   func(g *Reading, lo, hi int) error
}

func NewLazily(f *rowfile.File, do func(g *Reading, lo, hi int) error) *Lazily {
	return &Lazily{f, make([]sync.Mutex, f.Blocks()), make([]bool, f.Blocks()), do}
}

// Ensure returns when it is done for the rows [lo, hi).
func (l *Lazily) Ensure(lo, hi int) error {
	if lo >= hi {
		return nil
	}
	for b, last := l.f.BlockAt(lo), l.f.BlockAt(hi-1); b <= last; b++ {
		if err := l.block(b); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lazily) block(b int) error {
	l.lock[b].Lock()
	defer l.lock[b].Unlock()
	if l.done[b] {
		return nil
	}
	g := newReading(l.f, 0)
	defer readings.Put(g)
	lo, hi := l.f.Block(b)
	if err := l.do(g, lo, hi); err != nil {
		return err
	}
	l.done[b] = true
	return nil
}
