package rows

import (
	"slices"

	"github.com/dpglm/dpglm/internal/kernel"
)

// Workspace is what one goroutine needs for a pass.
type Workspace struct {
	Buf  []float64 // a tile of raw rows, where they must be copied
	Row  []float64 // an encoded row, for those who make room
	Z    []float64 // scores, then coefficients, of a tile
	Sum  []float64 // of a block
	Done int       // the rows before this one are in the sum already

	Beside []float64 // other coefficients of a tile
	Many   []float64 // scores of a tile for several classes, for those who make room

	Coordinates []float64 // of a row in a frame, for those who make room

	Open    []Open       // for each sum of persons' gradients, those whose rows haven't ended
	Squares Squares      // of a person whose rows haven't ended
	moments *momentsRoom // for second moments
}

// Squares are vectors of a person's rows, of which some are kept, and a bound on what the others come to.
type Squares struct {
	Kept          []float64
	Rows          int
	Bound, Missed float64
}

func (s *Squares) begin() { *s = Squares{Kept: s.Kept[:0]} }

// Open is what has been added up of a person whose rows haven't ended.
type Open struct {
	Sum  []float64
	Rows int
}

// Opens are so many, of whom none has begun but in earlier tiles of the block.
func (a *Workspace) Opens(n int) []Open {
	for len(a.Open) < n {
		a.Open = append(a.Open, Open{})
	}
	return a.Open[:n]
}

// Adder adds a tile, which starts at row lo, to a.sum, or more tiles of a block, and then
// sets a.done.
type Adder func(a *Workspace, tile Tile, lo int)

// Zeros returns n zeros, in place of v where it has room.
func Zeros(v []float64, n int) []float64 { return append(v[:0], make([]float64, n)...) }

// Room returns a slice of n numbers, of any value, in place of v likewise.
func Room(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }

// momentsRoom is what one goroutine needs for second moments.
type momentsRoom struct {
	Weights []float64       // of the tile's rows
	Norms   []float64       // and what else belongs to these
	Row     []float64       // one row in a frame
	Open    []float64       // of a person's rows, what has been added up so far
	Encoded []float64       // encoded rows, times the roots of their weights
	Held    []float64       // such rows of a person whose rows haven't ended
	Folded  *kernel.Moments // of those that aren't held; nil where all are
	values  []float64       // of a sparse row, likewise
	columns []int           // of these values, the intercept's included
	Sum     kernel.Moments
}

// begin is that of a block.
func (m *momentsRoom) begin() {
	clear(m.Open)
	m.Held, m.Folded = m.Held[:0], nil
}

// EachRow adds what add adds for each row.
func EachRow(add func(i int, sum []float64)) Adder {
	return func(a *Workspace, tile Tile, lo int) {
		for i := lo; i < lo+tile.Rows; i++ {
			add(i, a.Sum)
		}
	}
}
