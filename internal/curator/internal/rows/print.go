package rows

import (
	"fmt"
	"io"
)

// What holds raw data prints its shape only. Package fmt reads unexported fields, so
// that a log line with a Table would hold rows; a method Format keeps every verb from
// them. The receivers are values, as a copied struct would print its fields otherwise.

// String is the shape.
func (t Table) String() string {
	if t.Persons != nil {
		return fmt.Sprintf("table of %d persons and %d columns", t.Layout.N, t.Enc.Columns)
	}
	return fmt.Sprintf("table of %d rows and %d columns", t.Layout.N, t.Enc.Columns)
}

// GoString is the shape.
func (t Table) GoString() string { return t.String() }

// Format writes the shape, whatever the verb.
func (t Table) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

// Format writes the shape, whatever the verb.
func (p Part) Format(f fmt.State, verb rune) { p.Table.Format(f, verb) }

// String is the shape, without the number of entries, which is data.
func (s Sparse) String() string { return fmt.Sprintf("%d×%d sparse matrix", s.rows, s.cols) }

// GoString is the shape.
func (s Sparse) GoString() string { return s.String() }

// Format writes the shape, whatever the verb.
func (s Sparse) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }
