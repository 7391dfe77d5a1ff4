package rows

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// What rows have beside features and labels, where workers read them. The driver is told whose
// they are and what they weigh, as it says which rows count and in what order. Their shares are
// in the copies that follow from that; offsets workers read themselves.

// Beside says whose the rows are, and their weights.
func (t *Table) Beside(ctx context.Context) (Owners, error) {
	f := t.stored.file
	columns := make([][]float64, len(f.Beside))
	if !slices.Contains(f.Beside, rowfile.Person) && !slices.Contains(f.Beside, rowfile.Weight) {
		return ownersOf(&rowfile.Facts{}, nil)
	}
	raw := make([]float64, len(f.Beside)*f.Rows)
	q, at := &besides{len(f.Beside)}, 0
	c := q.cut(t)
	err := (&Sums{t: t}).remotePass(ctx, q, c, func(of []float64) {
		rows := min(c.BlockPersons, f.Rows-at)
		for k := range columns {
			copy(raw[k*f.Rows+at:], of[k*c.BlockPersons:][:rows])
		}
		at += rows
	})
	if err != nil {
		return Owners{}, err
	}
	for k := range columns {
		columns[k] = raw[k*f.Rows : (k+1)*f.Rows]
	}
	return ownersOf(&f.Facts, columns)
}

// besides asks for so many columns beside features and labels, one after the other: a block's sum
// are those of its rows.
type besides struct{ Columns int }

func (q *besides) cut(t *Table) cut { return t.inTiles(q.Columns * t.layout.BlockPersons) }

func (q *besides) adder(s *Sums) adder {
	return func(a *workspace, rows tile, lo int) {
		n := len(a.sum) / q.Columns
		at := (s.t.from + lo) % n
		for k := range q.Columns {
			copy(a.sum[k*n+at:], s.beside[k][lo:lo+rows.rows])
		}
	}
}

// shares are the owners of a part's rows, as the file has them: whose last rows these are and
// what they count. Of rows that have weights only these say it.
func shares(f *rowfile.File, c *rowfile.Chunk) *blocks.Persons {
	o := &blocks.Persons{Most: 1, Given: true, Weighted: true}
	if k := slices.Index(f.Beside, rowfile.Share); k >= 0 {
		o.Shares = slices.Clone(c.Beside[k])
		for i, last := range c.Beside[slices.Index(f.Beside, rowfile.Last)] {
			if last != 0 {
				o.Start = append(o.Start, i+1)
			}
		}
		return o
	}
	for i, weight := range c.Beside[slices.Index(f.Beside, rowfile.Weight)] {
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

// checkOffsets refuses those that are no numbers, of rows from lo on.
func checkOffsets(f *rowfile.File, c *rowfile.Chunk, lo int) error {
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

// allClasses refuses rows elsewhere whose labels aren't all classes.
func (t *Table) allClasses(ctx context.Context, k int) error {
	count := make([]float64, 1)
	err := (&Sums{t: t}).sum(ctx, count, &strangers{k})
	if err == nil && count[0] > 0 {
		err = check.Fail(check.ErrLabel, "labels of the file", nil, fmt.Sprintf("must be classes, whole numbers from 0 to %d", k-1))
	}
	return err
}

// strangers asks for the number of rows whose labels aren't classes.
type strangers struct{ Classes int }

func (*strangers) cut(t *Table) cut { return t.inTiles(1) }

func (q *strangers) adder(s *Sums) adder {
	return eachRow(func(i int, sum []float64) {
		if y := s.labels[i]; !(y >= 0 && y < float64(q.Classes) && y == math.Trunc(y)) {
			sum[0]++
		}
	})
}
