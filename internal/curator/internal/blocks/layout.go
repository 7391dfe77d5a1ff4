package blocks

// maxBlocks is the most blocks that a pass is cut into. Blocks depend on the
// shape only, and their sums are merged in order, so that a result is the same
// bits for any number of goroutines.
const maxBlocks = 256

// Layout cuts the rows of n persons, of one row each unless Persons tells otherwise, into
// blocks of so many persons, and these into tiles that stay in cache between their two uses.
type Layout struct {
	N, TileRows, BlockPersons, Blocks int
	Persons                           *Persons
}

// NewLayout makes blocks so long that starting and merging one, which costs O(cols)
// and some microseconds, is small against its work, and no longer, as the rounding
// bound grows with their length.
func NewLayout(n, cols int, sparse bool, o *Persons) Layout {
	if sparse { // many short rows must pay for a merge
		l := Layout{N: n, TileRows: 256, Persons: o}
		return l.Cut(min(max(4*n/cols, 8), n/2048+1, maxBlocks))
	}
	const tileNumbers, blockNumbers = 1 << 11, 1 << 17 // 16 KiB and 1 MiB
	l := Layout{N: n, TileRows: min(max(tileNumbers/cols&^7, 8), 96), Persons: o}
	return l.Cut(min(n/min(max(blockNumbers/cols, 64), 4096)+1, maxBlocks))
}

// Cut sets the blocks, at most the given number.
func (l Layout) Cut(blocks int) Layout {
	tiles := (l.N + l.TileRows - 1) / l.TileRows
	perBlock := (tiles + blocks - 1) / blocks
	l.Blocks, l.BlockPersons = (tiles+perBlock-1)/perBlock, min(l.N, perBlock*l.TileRows)
	return l
}

// Moments cuts rows with so many features for sums of their second moments: into fewer blocks
// than for a gradient's, as merging one costs dim², and at least so many rows a tile that reading
// and writing all sums for them is cheap.
func (l Layout) Moments(dim int) Layout {
	const tileRows = 128
	of := Layout{N: l.N, TileRows: tileRows, Persons: l.Persons}
	return of.Cut(min(max(l.N/max(4*tileRows, 2*dim), 2), 64))
}

// BlockRows is the largest number of rows in a block.
func (l Layout) BlockRows() int { return l.BlockPersons * l.Persons.MostRows() }

// Chain is m·r + B·n + more·n for m persons and r rows a block and B blocks: u times that,
// times a bound on a term, bounds the rounding of what a sum's answer has of the block with
// the replaced row, a chain of r additions of terms that m bounds; of the B merges; and of
// so many more roundings of the sum.
func (l Layout) Chain(more float64) float64 {
	n, m := l.Terms(l.N), l.Terms(l.BlockPersons)
	return float64(m*float64(l.BlockRows())) + float64(float64(l.Blocks)*n) + float64(more*n)
}

// Terms is how many times a bound on a row's term the magnitudes of those of so many persons add up to: of each
// person to one, as shares do to 1, or where each row counts to one for each that a person may have.
func (l Layout) Terms(persons int) float64 {
	if l.Persons != nil && l.Persons.Each {
		persons *= l.Persons.Most
	}
	return float64(persons)
}

// Rows are where those of a block begin and end.
func (l Layout) Rows(block int) (lo, hi int) {
	first := block * l.BlockPersons
	return l.Persons.Rows(first, min(first+l.BlockPersons, l.N))
}

// EachTile calls f for the tiles [lo, hi) of a block's rows. Where these begin has no part
// in how they are cut.
func (l Layout) EachTile(block int, f func(lo, hi int)) {
	for lo, hi := l.Rows(block); lo < hi; lo += l.TileRows {
		f(lo, min(lo+l.TileRows, hi))
	}
}

// Bounds are the rows at which blocks begin and the last one ends; nil where each person has one.
func (l Layout) Bounds() (at []int) {
	if l.Persons == nil {
		return nil
	}
	for b := range l.Blocks + 1 {
		at = append(at, l.Persons.Start[min(b*l.BlockPersons, l.N)])
	}
	return at
}

// Piece is the range of blocks of a piece.
func (l Layout) Piece(k, pieces int) (first, last int) {
	return k * l.Blocks / pieces, (k + 1) * l.Blocks / pieces
}
