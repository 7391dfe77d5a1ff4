package blocks

import (
	"slices"
	"testing"
)

// Rows of each number and width are cut as is stated: the cut decides in which order sums are rounded, and so the bits of all results and
// the rounding that sensitivities count. Each row lies in one tile of one block, whatever the cut.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		n, cols                int
		sparse                 bool
		tile, persons, blocks  int // of gradients
		momentPersons, moments int // of second moments
	}{
		{1, 1, false, 96, 1, 1, 1, 1}, {96, 1, false, 96, 96, 1, 96, 1}, {97, 1, false, 96, 97, 1, 97, 1},
		{4095, 1, false, 96, 4095, 1, 640, 7}, {4096, 1, false, 96, 2112, 2, 512, 8}, {4097, 21, false, 96, 2112, 2, 640, 7},
		{4097, 22, false, 88, 2112, 2, 640, 7}, {10_000, 64, false, 32, 2016, 5, 640, 16}, {10_000, 200, false, 8, 632, 16, 640, 16},
		{10_000, 300, false, 8, 440, 23, 640, 16}, {10_000, 5000, false, 8, 64, 157, 5120, 2}, {3_000_000, 10, false, 96, 11808, 255, 46976, 64},
		{3_000_000, 10, true, 256, 11776, 255, 46976, 64}, {3000, 10_000, true, 256, 1536, 2, 1536, 2}, {500, 3, true, 256, 500, 1, 256, 2},
		{100_000, 100_000, true, 256, 12544, 8, 50048, 2}, {1_000_000, 400_000, true, 256, 100096, 10, 500096, 2},
	} {
		l := NewLayout(c.n, c.cols, c.sparse, nil)
		m := l.Moments(c.cols)
		if got, want := [5]int{l.TileRows, l.BlockPersons, l.Blocks, m.BlockPersons, m.Blocks}, [5]int{c.tile, c.persons, c.blocks, c.momentPersons, c.moments}; got != want {
			t.Errorf("%d rows of %d columns, sparse %t: tiles, blocks %v, want %v", c.n, c.cols, c.sparse, got, want)
		}
		for _, l := range []Layout{l, m} {
			next := 0
			for b := range l.Blocks {
				l.EachTile(b, func(lo, hi int) {
					if lo != next || hi <= lo || hi-lo > l.TileRows {
						t.Errorf("%d rows of %d columns: tile [%d, %d) after %d", c.n, c.cols, lo, hi, next)
					}
					next = hi
				})
			}
			if next != c.n {
				t.Errorf("%d rows of %d columns: tiles end at %d", c.n, c.cols, next)
			}
			for _, pieces := range []int{1, 3, l.Blocks, l.Blocks + 2} {
				last := 0
				for k := range pieces {
					first, end := l.Piece(k, pieces)
					if first != last || end < first || end-first > l.Blocks/pieces+1 {
						t.Errorf("%d blocks: piece %d of %d is [%d, %d) after %d", l.Blocks, k, pieces, first, end, last)
					}
					last = end
				}
				if last != l.Blocks {
					t.Errorf("%d blocks: pieces end at %d", l.Blocks, last)
				}
			}
		}
	}
}

// What rounding counts of blocks of persons: a block's rows are as many as its persons may have, each counts once, or for each that a
// person may have.
func TestChains(t *testing.T) {
	for _, c := range []struct {
		of         *Persons
		rows       int
		terms      float64
		chain      float64
		boundaries []int
	}{
		{nil, 2, 3, 2*2 + 2*3 + 5*3, nil},
		{&Persons{Most: 4, Start: []int{0, 1, 5, 6}}, 2 * 4, 3, 2*8 + 2*3 + 5*3, []int{0, 5, 6}},
		{&Persons{Most: 4, Each: true, Start: []int{0, 1, 5, 6}}, 2 * 4, 12, 8*8 + 2*12 + 5*12, []int{0, 5, 6}},
	} {
		l := Layout{N: 3, TileRows: 2, BlockPersons: 2, Blocks: 2, Persons: c.of}
		if l.BlockRows() != c.rows || l.Terms(3) != c.terms || l.Chain(5) != c.chain || !slices.Equal(l.Bounds(), c.boundaries) {
			t.Errorf("%+v: %d rows, %g terms, chain %g, bounds %v; want %+v", c.of, l.BlockRows(), l.Terms(3), l.Chain(5), l.Bounds(), c)
		}
	}
}
