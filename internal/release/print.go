package release

import "fmt"

// Format prints the shape, whatever the verb: fmt would print the fields.
func (x Answer) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "release.Answer of %d numbers", len(x.values))
}

// Format prints the shape, whatever the verb.
func (m Minimand) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "release.Minimand of %d variables", m.dim)
}
