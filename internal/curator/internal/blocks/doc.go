// Package blocks cuts rows into blocks whose sums are added up in order, so that a sum has the
// same bits for any number of goroutines.
//
// A Layout cuts the rows of so many persons, of whom Persons says which rows are whose and what
// they count. InOrder works on the blocks at once and merges what came out in their order. The
// bound on a sum's rounding that follows from a layout is Layout.Chain.
//
// Read layout.go first, then persons.go.
package blocks
