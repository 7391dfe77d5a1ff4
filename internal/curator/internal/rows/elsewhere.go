package rows

import (
	"context"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// ErrNotAsked is the error of what can't be asked of rows elsewhere.
var ErrNotAsked = check.Fail(check.ErrConfig, "rows", nil, "must lie in memory or in a file of this machine for what is asked of them: an engine's workers answer with sums over rows")

// Nothing is a pass without arguments, which gob wouldn't send.
type Nothing struct{}

// GobEncode writes nothing.
func (Nothing) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode reads nothing.
func (*Nothing) GobDecode([]byte) error { return nil }

// Pass is a sum over rows, as a value: whose exported fields are all that who holds the rows
// must be sent to answer it.
type Pass interface {
	// cut is how the rows are read.
	Cut(t *Table) Cut
	// add returns what adds the rows of a part.
	Add(p *Part) Adder
	// shifted reports whether rows' offsets are asked for, too.
	Shifted() bool
}

// Measure is numbers that a pass needs of each row, found of that row alone, once for a file.
type Measure interface {
	Key() ([]byte, error)
	// find sets the numbers of a part's rows, of those of all of t.
	Find(t *Table, p *Part, all []float64) error
	// bind tells the pass what was found.
	Bind(t *Table, all []float64) error
}

// Measuring is a pass that needs measures.
type Measuring interface{ Measures() []Measure }

// Elsewhere is who holds rows that this process doesn't read.
type Elsewhere interface {
	// sum calls merge with the sums of all blocks, in their order. Where it fails what was merged
	// is of no use.
	Sum(ctx context.Context, t *Table, q Pass, c Cut, merge func(sum []float64)) error
	Rows() int
	// of are so many of the rows, which these persons have.
	Of(rows int, o *blocks.Persons) Elsewhere
	// after are the rows that a step makes.
	After(next Step) Elsewhere
	// tells reports whether it is known there what rows count that begin at the given one.
	Tells(at int, o *blocks.Persons) bool
	// copy copies rows of a file in an order, and returns what removes the copy.
	Copy(ctx context.Context, f *rowfile.File, order []int) (of *rowfile.File, remove func(), err error)
	// Several reports whether several parties hold the rows, who answer with sums of integers.
	Several() bool
	Close() error
}

// Cut is how rows are cut into blocks, and how many numbers a block's sum has.
type Cut struct {
	blocks.Layout
	Width int
	Dim   int // of second moments, of which the numbers are the triangle; 0 for other sums
}
