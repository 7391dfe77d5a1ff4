package table

import (
	"gonum.org/v1/gonum/mat"
)

// store keeps encoded rows while they are read, dense or sparse by their widths alone.
type store struct {
	columns int
	sparse  bool
	rows    int
	indptr  []int
	indices []int
	values  []float64
	// expected guesses, after some rows, how many there will be; 0 is unknown.
	expected func(rows int) int
}

// sparser reports whether rows of the given number of columns, of which at most some aren't 0,
// take less memory by these: a sparse entry takes 16 bytes and a dense one 8.
func sparser(columns, entries int) bool { return 2*entries+1 < columns }

// newStore keeps rows of the given number of columns, of which at most some aren't 0.
func newStore(columns, entries int, expected func(rows int) int) *store {
	s := &store{columns: columns, sparse: sparser(columns, entries), expected: expected}
	if s.sparse {
		s.indptr = []int{0}
	}
	return s
}

// add appends a row, given by its entries that aren't 0.
func (s *store) add(indices []int, values []float64) {
	if s.sparse {
		s.indices = append(grow(s, s.indices, len(indices)), indices...)
		s.values = append(grow(s, s.values, len(values)), values...)
		s.indptr = append(grow(s, s.indptr, 1), len(s.indices))
	} else {
		at := len(s.values)
		s.values = grow(s, s.values, s.columns)[:at+s.columns] // zeros, as nothing was there before
		for k, j := range indices {
			s.values[at+j] = values[k]
		}
	}
	s.rows++
}

// guessFrom is the number of rows after which a guess of their number is trusted: then
// what has been read ahead, which spoils it, is a few percent of what has been used.
const guessFrom = 1 << 17

// maxGrowth limits what a guess may allocate, as a compressed file can mislead it.
const maxGrowth = 16

// grow makes room for more elements: at once for all that are expected, so that large
// tables are not copied over and over, or for half as many again.
func grow[T any](s *store, list []T, more int) []T {
	if len(list)+more <= cap(list) {
		return list
	}
	size := max(cap(list)+cap(list)/2, len(list)+more, 1024)
	if s.rows >= guessFrom {
		perRow := float64(len(list)) / float64(s.rows)
		guess := min(1.05*perRow*float64(s.expected(s.rows)), maxGrowth*float64(len(list)))
		if guess > float64(len(list)+more) {
			size = int(guess)
		}
	}
	bigger := make([]T, len(list), size)
	copy(bigger, list)
	return bigger
}

// finish hands over the matrix.
func (s *store) finish() (*mat.Dense, *CSR) {
	if s.sparse {
		return nil, &CSR{s.rows, s.columns, s.indptr, s.indices, s.values}
	}
	return mat.NewDense(s.rows, s.columns, s.values), nil
}
