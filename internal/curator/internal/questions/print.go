package questions

import (
	"fmt"
	"io"
)

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

// Format prints the shape, whatever the verb.
func (r *Framed) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Framed of a %v", r.s.t)
}

// Format prints the shape, whatever the verb.
func (n *frameNorms) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "norms of %d rows", len(n.length)) }

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
