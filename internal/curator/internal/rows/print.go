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
		return fmt.Sprintf("table of %d persons and %d columns", t.layout.N, t.enc.Columns)
	}
	return fmt.Sprintf("table of %d rows and %d columns", t.layout.N, t.enc.Columns)
}

// GoString is the shape.
func (t Table) GoString() string { return t.String() }

// Format writes the shape, whatever the verb.
func (t Table) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

// String is the shape.
func (s Sums) String() string {
	if s.t == nil {
		return "sums over no rows"
	}
	return fmt.Sprintf("sums over a %v", s.t)
}

// GoString is the shape.
func (s Sums) GoString() string { return s.String() }

// Format writes the shape, whatever the verb.
func (s Sums) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// String is the shape.
func (q Quadratic) String() string { return fmt.Sprintf("quadratic sums of %d weights", len(q.atZero)) }

// GoString is the shape.
func (q Quadratic) GoString() string { return q.String() }

// Format writes the shape, whatever the verb.
func (q Quadratic) Format(f fmt.State, _ rune) { io.WriteString(f, q.String()) }

// String is the shape, without the number of entries, which is data.
func (s Sparse) String() string { return fmt.Sprintf("%d×%d sparse matrix", s.rows, s.cols) }

// GoString is the shape.
func (s Sparse) GoString() string { return s.String() }

// Format writes the shape, whatever the verb.
func (s Sparse) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// Format prints the shape, whatever the verb.
func (r *Framed) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Framed of a %v", r.s.t)
}

// Format prints the shape, whatever the verb.
func (c *Classes) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Classes of a %v, %d of them", c.s.t, c.k)
}

// Format prints the shape, whatever the verb.
func (c *ClassFramed) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.ClassFramed of a %v, %d classes", c.r.s.t, c.k)
}

// Format prints the shape, whatever the verb.
func (q Question) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "curator.Question to a %v", q.s.t) }
