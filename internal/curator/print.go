package curator

import "fmt"

// Format prints the shape, whatever the verb: fmt would print the rows.
func (d *Data) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Data of %d rows", d.Len())
}

// Format prints the shape, whatever the verb.
func (s *Sums) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Sums over %d rows", s.s.Len())
}

// Format prints the shape, whatever the verb.
func (p Point) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "curator.Point of %d weights", len(p.w)) }

// Format prints the shape, whatever the verb.
func (e *Ensemble) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Ensemble of %d models", len(e.models))
}

// Format prints the shape, whatever the verb.
func (e *ClassEnsemble) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.ClassEnsemble of %d models", len(e.models))
}

// Format prints the shape, whatever the verb.
func (w *Walk) Format(f fmt.State, _ rune) {
	fmt.Fprint(f, "curator.Walk")
}

// Format prints the shape, whatever the verb.
func (o *objective) Format(f fmt.State, _ rune) { fmt.Fprint(f, "curator.objective") }

// Format prints the shape, whatever the verb.
func (c *Classes) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%v", c.c) }
