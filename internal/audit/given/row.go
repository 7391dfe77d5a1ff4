package given

import (
	"fmt"
)

// Row is a raw row with its label: in the form "persons" the first of a person's, of whom
// mostRows count, and in the form "detailed" with a weight and an offset.
type Row struct {
	X []float64
	Y float64

	Others         []Row
	None           bool // whether there is none, nor others
	Weight, Offset float64
}

// What is public of persons, weights and offsets.
const (
	MostRows  = 3
	Heavy     = 2.0
	OffsetEnd = 0.7
)

func (r Row) String() string { return fmt.Sprintf("(%g, label %g)", r.X, r.Y) }
