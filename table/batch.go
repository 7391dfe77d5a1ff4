package table

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
)

const (
	batchRows  = 256 // of a source that gives records one by one
	maxReaders = 8   // that take batches apart: one that joins them keeps up with no more
)

// records are some that were read.
type records interface {
	// next returns the next, and io.EOF after the last.
	next() (fields []string, at place, err error)
}

// single are records that came one by one.
type single struct {
	places []place
	ends   []int // of the records' fields
	fields []string
	read   int
}

func (s *single) next() (fields []string, at place, err error) {
	if s.read == len(s.ends) {
		return nil, at, io.EOF
	}
	from := 0
	if s.read > 0 {
		from = s.ends[s.read-1]
	}
	s.read++
	return s.fields[from:s.ends[s.read-1]], s.places[s.read-1], nil
}

// fill reads the next records of a source.
func (s *single) fill(src Source) error {
	*s = single{places: s.places[:0], ends: s.ends[:0], fields: s.fields[:0]}
	for range batchRows {
		fields, err := src.Next()
		if err != nil {
			return err
		}
		unit, number := src.Place()
		s.places = append(s.places, place{unit, number})
		s.fields = append(s.fields, fields...)
		s.ends = append(s.ends, len(s.fields))
	}
	return nil
}

// batch is a number of records, and what becomes of them.
type batch struct {
	records
	single single
	own    *intake
	rows   []row
	err    error         // after these
	made   chan struct{} // one, when the rows are
	wanted []string
}

// encode makes rows of the records, as far as their intake can know without those before them.
func (b *batch) encode() {
	r := b.own
	for n := 0; ; {
		b.rows = b.rows[:n]
		fields, at, err := b.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && len(fields) != len(r.header) {
			err = placed(fileError(0, `it has %d fields where the header has %d; put a field that holds the delimiter in quotes ("), or correct the row`, len(fields), len(r.header)), at)
		}
		if err != nil {
			b.err = err
			return
		}
		if r.filter != nil && !r.filter.fulfilled(fields) {
			r.seen.left++
			continue
		}
		b.wanted = b.wanted[:0]
		for _, at := range r.wanted {
			b.wanted = append(b.wanted, fields[at])
		}
		if n++; n > cap(b.rows) {
			b.rows = append(b.rows, row{})
		}
		b.rows = b.rows[:n] // whose slices are used again
		r.binding.At(at.unit, at.number)
		r.record(&b.rows[n-1], b.wanted)
	}
}

// join takes the rows of a batch that follows what was joined.
func (r *intake) join(b *batch, keep func(*row) error) error {
	for i := range b.rows {
		w := &b.rows[i]
		r.problems.rows++
		r.number(w)
		if w.faults != nil {
			if err := r.problems.add(w.faults); err != nil {
				return err
			}
		} else if err := keep(w); err != nil {
			return err
		}
	}
	r.add(b.own)
	return b.err
}

// drain reads all records, and hands on the row of each: one goroutine takes batches of them from
// the source, some make rows, and this one joins these in the order of the records.
func (r *intake) drain(src Source, keep func(*row) error) error {
	readers := min(runtime.GOMAXPROCS(0), maxReaders)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n := 2 * (readers + 1)
	empty, full, inOrder := make(chan *batch, n), make(chan *batch, n), make(chan *batch, n)
	for range n {
		empty <- &batch{own: r.apart(), made: make(chan struct{}, 1)}
	}
	for range readers {
		go func() {
			for b := range full {
				b.encode()
				b.made <- struct{}{}
			}
		}()
	}
	go func() {
		defer close(inOrder)
		defer close(full)
		takeAll(ctx, src, empty, func(b *batch) {
			full <- b // never blocks: it has room for all there are
			inOrder <- b
		})
	}()
	var failed error
	for b := range inOrder { // until src is no longer in use
		<-b.made
		if failed != nil {
			continue
		}
		if failed = r.join(b, keep); failed != nil {
			stop()
			continue
		}
		empty <- b
	}
	return r.ended(src, failed)
}

// take takes the next records, in pieces where a source has them so, and reports whether there may be more.
func (b *batch) take(src Source, pieces func() (*piece, error)) bool {
	var p *piece
	if pieces == nil {
		b.records, b.err = &b.single, b.single.fill(src)
	} else if p, b.err = pieces(); b.err == nil {
		b.records = p
	} else {
		b.records = new(piece) // without records
	}
	return b.err == nil
}

// takeAll fills batches, until the source ends or ctx does.
func takeAll(ctx context.Context, src Source, empty <-chan *batch, give func(*batch)) {
	cut := cutInto(src)
	for {
		var b *batch
		select {
		case b = <-empty:
		case <-ctx.Done():
			return
		}
		last := !b.take(src, cut)
		if give(b); last {
			return
		}
	}
}

// ended is the error of a source that was read, as far as an error allowed.
func (r *intake) ended(src Source, failed error) error {
	if made, ok := src.(*episodes); ok {
		r.seen = made.seen
		r.header = slices.DeleteFunc(r.header, func(name string) bool { // what the followup mentions, and makes
			return slices.Contains([]string{made.f.Start, made.f.End, PeriodColumn}, name)
		})
	}
	if errors.Is(failed, io.EOF) {
		failed = nil
	}
	if err := r.problems.with(failed); err != nil {
		endWith(src, err)
		return err
	}
	return r.some()
}
