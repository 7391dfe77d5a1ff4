package table

import (
	"context"

	"github.com/dpglm/dpglm/internal/check"
)

// Source gives records one by one. *CSV and *SQL are Sources, and so are the readers of the
// nested module table/columnar, for Parquet and Arrow.
type Source interface {
	// Header returns the columns' names.
	Header() []string
	// Next returns the fields of the next record, in the header's order, and io.EOF
	// after the last. The slice is valid until the next call.
	Next() ([]string, error)
	// Place says where the record of the last call is: in line 7, or in row 6.
	Place() (unit string, number int)
}

// cancellable is a source that ends when a context does.
type cancellable struct {
	Source
	ctx context.Context
}

// WithContext returns a source that reads what src reads, until ctx is cancelled: then it fails,
// by an error for which errors.Is(err, context.Canceled) holds, or of its deadline. So what reads
// it, as [Read], can be interrupted.
func WithContext(ctx context.Context, src Source) Source { return cancellable{src, ctx} }

// givenSource refuses a source that is missing, also within one that a context ends.
func givenSource(src Source) error {
	if c, ok := src.(cancellable); ok {
		if err := check.Given("context", c.ctx); err != nil {
			return err
		}
		return givenSource(c.Source)
	}
	return check.Given("source", src)
}

func (c cancellable) Next() ([]string, error) {
	if err := check.Cancelled(c.ctx); err != nil {
		return nil, err
	}
	return c.Source.Next()
}

// cutInto returns what gives the records of a CSV in pieces, until a context ends where there is one;
// nil for other sources.
func cutInto(src Source) func() (*piece, error) {
	switch s := src.(type) {
	case *CSV:
		return s.rest
	case cancellable:
		next := cutInto(s.Source)
		if next == nil {
			return nil
		}
		return func() (*piece, error) {
			if err := check.Cancelled(s.ctx); err != nil {
				return nil, err
			}
			return next()
		}
	}
	return nil
}

// endWith ends a CSV by the error at which reading it in pieces stopped: those beside the one with the error are gone.
func endWith(src Source, err error) {
	switch s := src.(type) {
	case *CSV:
		s.ended = err
	case cancellable:
		endWith(s.Source, err)
	}
}

// expects is a source's guess, after some rows, of how many there will be; 0 is none.
func expects(src Source) func(rows int) int {
	if c, ok := src.(cancellable); ok {
		return expects(c.Source)
	}
	if sized, ok := src.(interface{ expected(rows int) int }); ok {
		return sized.expected
	}
	return func(int) int { return 0 }
}
