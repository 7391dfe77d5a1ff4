package rowfile

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

const (
	magic    = Magic
	ending   = "rows"
	version  = 1
	headSize = 16
	tailSize = 32

	blockBytes  = 1 << 18       // of dense blocks, at most, unless a row is longer
	sparseRows  = 1 << 9        // of a sparse block
	maxDense    = 1 << 27       // columns
	maxBlock    = math.MaxInt32 // bytes
	maxFacts    = 1 << 24       // bytes
	entryOnDisk = 8             // of the index
)

// MaxParts is how many parts there are at most: numbers in their names have five digits.
const MaxParts = 99999

// Magic is what a row file begins with.
const Magic = "dpglmrow"

var checksum = crc32.MakeTable(crc32.Castagnoli)

// Facts are what a file says of its rows, which is public.
type Facts struct {
	Rows      int  `json:"rows"`
	Columns   int  `json:"columns"`
	Sparse    bool `json:"sparse,omitempty"`
	BlockRows int  `json:"block_rows"`
	// Beside names what rows have beside features and a label.
	Beside []string `json:"beside,omitempty"`
	// Part says which of several files that were written together it is.
	Part Part `json:"part,omitzero"`
	Details
}

// Part is a file's place among several that one writer wrote, which are opened together.
type Part struct {
	Number int    `json:"number,omitempty"` // from 1; 0 for a file that was written alone
	After  uint32 `json:"after,omitempty"`  // the checksum of the part before
	Last   bool   `json:"last,omitempty"`
}

// What rows may have beside.
const (
	Person = "person"
	Weight = "weight"
	Offset = "offset"
	Share  = "share" // what a row counts, of a file of PickTo
	Last   = "last"  // 1 if it is its person's last, likewise
)

// Details are what the writer says of the rows.
type Details struct {
	Schema    json.RawMessage `json:"schema,omitempty"`  // of the table that they were read from
	Records   json.RawMessage `json:"records,omitempty"` // the schema of records, where rows were made of these
	Persons   Persons         `json:"persons,omitzero"`
	AtMost    int             `json:"at_most,omitempty"`     // there may be of rows or persons, whose number is secret; 0 where it is public
	MaxWeight float64         `json:"max_weight,omitempty"`  // that a row may have
	Offsets   [2]float64      `json:"offset_range,omitzero"` // of scores
}

// Persons are what is public of persons.
type Persons struct {
	Count   int  `json:"count,omitempty"`    // how many there are; 0 for those who occur
	MaxRows int  `json:"max_rows,omitempty"` // of a person
	Alike   bool `json:"alike,omitempty"`    // whether each person counts alike, and not each row
	Given   bool `json:"given,omitempty"`    // whether their numbers are the caller's, and so mean the same in other files
}

// blockCount is the number of blocks.
func (f *Facts) blockCount() int { return (f.Rows + f.BlockRows - 1) / f.BlockRows }

// rowsOf is the number of rows in a block.
func (f *Facts) rowsOf(block int) int { return min(f.BlockRows, f.Rows-block*f.BlockRows) }

// denseRow is the length of a dense row in bytes, with all that belongs to it.
func (f *Facts) denseRow() int { return 8 * (f.Columns + f.perRow()) }

// leastRow is the least length of a row in bytes.
func (f *Facts) leastRow() int {
	if f.Sparse {
		return 4 + 8*f.perRow()
	}
	return f.denseRow()
}

// perRow is how many numbers a row has beside its features.
func (f *Facts) perRow() int { return 1 + len(f.Beside) }

// check refuses facts of which Create makes none.
func (f *Facts) check() error {
	switch {
	case f.Columns < 1 || f.Columns > math.MaxInt32 || !f.Sparse && f.Columns > maxDense:
		return check.Fail(check.ErrRowFile, "columns", f.Columns, fmt.Sprintf("must lie between 1 and %d, %d of dense rows", math.MaxInt32, maxDense))
	case f.Rows < 1 || f.Rows > math.MaxInt-blockBytes:
		return check.Fail(check.ErrRowFile, "rows", f.Rows, "must be at least 1, and countable")
	case f.BlockRows < 1 || f.BlockRows > blockBytes:
		return check.Fail(check.ErrRowFile, "rows of a block", f.BlockRows, fmt.Sprintf("must lie between 1 and %d", blockBytes))
	case !f.Sparse && f.BlockRows > 1 && f.BlockRows*f.denseRow() > blockBytes:
		return check.Fail(check.ErrRowFile, "rows of a block", f.BlockRows, fmt.Sprintf("must fit into %d bytes", blockBytes))
	}
	if f.Part.Number < 0 || f.Part.Number > MaxParts || f.Part.Number <= 1 && f.Part.After != 0 {
		return check.Fail(check.ErrRowFile, "number of a part", f.Part.Number, fmt.Sprintf("must lie between 0 and %d, and only a first part follows none", MaxParts))
	}
	if lo, hi := f.Offsets[0], f.Offsets[1]; f.Offsets != [2]float64{} && !(lo < hi && lo >= -check.MaxOffset && hi <= check.MaxOffset) {
		return check.Fail(check.ErrRowFile, "offset_range", f.Offsets, fmt.Sprintf("must be two numbers within ±%d, the first below the second", check.MaxOffset))
	}
	for k, name := range f.Beside {
		if !slices.Contains([]string{Person, Weight, Offset, Share, Last}, name) || slices.Contains(f.Beside[:k], name) {
			return check.Fail(check.ErrRowFile, "what is beside", fmt.Sprintf("%q", name), "must be a person, a weight, an offset, a share or a last row, each once")
		}
	}
	return nil
}

// blockRows is how many rows a block gets.
func (f *Facts) blockRows() int {
	if f.Sparse {
		return sparseRows
	}
	return max(blockBytes/f.denseRow(), 1)
}

// Chunk is a number of consecutive rows.
type Chunk struct {
	Rows    int
	Values  []float64   // dense: row after row; sparse: the entries'
	Indptr  []int       // of a sparse chunk: row i has the entries from Indptr[i] up to Indptr[i+1]
	Indices []int       // the entries' columns
	Labels  []float64   // of each row
	Beside  [][]float64 // the columns of Facts.Beside
}

// damaged is the error of a file that isn't what Create wrote.
func damaged(path, what, rule string) error {
	return check.Fail(check.ErrRowFile, fmt.Sprintf("%s of %s", what, path), nil, rule)
}
