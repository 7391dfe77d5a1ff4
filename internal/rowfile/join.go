package rowfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"

	"github.com/dpglm/dpglm/internal/check"
)

// join finds the facts of all rows of the files, which must agree.
func (f *File) join() error {
	if len(f.parts) == 0 {
		return check.Fail(check.ErrRowFile, "files", 0, "must be at least one")
	}
	f.Facts = f.parts[0].facts
	f.Rows, f.Part = 0, Part{}
	blocks, sets := 0, 0
	for k, p := range f.parts {
		if err := p.agrees(f.parts[0]); err != nil {
			return err
		}
		begins, err := p.follows(f.parts[:k])
		if err != nil {
			return err
		}
		if begins {
			sets++
		}
		if sets > 1 && slices.Contains(f.Beside, Person) && !p.facts.Persons.Given {
			return check.Fail(check.ErrRowFile, "persons of "+p.path, nil, "must be numbered alike in all files: write their rows at once, in parts, or by WriteRows with the same numbers")
		}
		p.row, p.block = f.Rows, blocks
		if f.Rows += p.facts.Rows; f.Rows < 0 {
			return check.Fail(check.ErrRowFile, "rows", nil, "must be countable")
		}
		blocks += p.facts.blockCount()
	}
	if last := f.parts[len(f.parts)-1]; last.facts.Part.Number > 0 && !last.facts.Part.Last {
		return check.Fail(check.ErrRowFile, last.path, nil, fmt.Sprintf("is part %d of several, and must be followed by the next: open all of them, in their order", last.facts.Part.Number))
	}
	return nil
}

// agrees refuses a file whose rows are of another form than the first's, or have other facts.
func (p *part) agrees(first *part) error {
	a, b := &p.facts, &first.facts
	another := func(what string, is, must any) error {
		return check.Fail(check.ErrRowFile, what+" of "+p.path, is, fmt.Sprintf("must be those of %s, %v", first.path, must))
	}
	switch {
	case a.Columns != b.Columns:
		return another("columns", a.Columns, b.Columns)
	case a.Sparse != b.Sparse:
		return another("rows", map[bool]string{true: "sparse", false: "dense"}[a.Sparse], map[bool]string{true: "sparse", false: "dense"}[b.Sparse])
	case !slices.Equal(a.Beside, b.Beside):
		return another("columns beside features", a.Beside, b.Beside)
	case !bytes.Equal(a.Schema, b.Schema) || !bytes.Equal(a.Records, b.Records):
		return check.Fail(check.ErrRowFile, "schema of "+p.path, nil, "must be that of "+first.path+", to the letter")
	}
	x, err := json.Marshal(a.Details)
	if err != nil {
		return err
	}
	y, err := json.Marshal(b.Details)
	if err == nil && !bytes.Equal(x, y) {
		return check.Fail(check.ErrRowFile, "facts of "+p.path, nil, "must be those of "+first.path+": what is public of persons, weights, offsets and the number of rows")
	}
	return err
}

// follows refuses a part that doesn't follow the one that it was written after, and reports whether it
// follows none.
func (p *part) follows(before []*part) (begins bool, err error) {
	at, was := p.facts.Part, Part{}
	var sum uint32
	if len(before) > 0 {
		last := before[len(before)-1]
		was, sum = last.facts.Part, last.sum
	}
	open := was.Number > 0 && !was.Last
	switch {
	case open && (at.Number != was.Number+1 || at.After != sum):
		return false, check.Fail(check.ErrRowFile, p.path, nil, fmt.Sprintf("must be the part that was written after %s: open all parts, in their order", before[len(before)-1].path))
	case !open && at.Number > 1:
		return false, check.Fail(check.ErrRowFile, p.path, nil, fmt.Sprintf("is part %d of several, and must follow the one before: open all of them, in their order", at.Number))
	}
	return !open, nil
}

// Blocks is the number of blocks.
func (f *File) Blocks() int {
	last := f.parts[len(f.parts)-1]
	return last.block + last.facts.blockCount()
}

// partOf is the file that has a block.
func (f *File) partOf(b int) *part {
	return f.parts[sort.Search(len(f.parts), func(k int) bool { return f.parts[k].block > b })-1]
}

// Block is where a block's rows begin and end.
func (f *File) Block(b int) (lo, hi int) {
	p := f.partOf(b)
	lo = p.row + (b-p.block)*p.facts.BlockRows
	return lo, lo + p.facts.rowsOf(b-p.block)
}

// BlockAt is the block that has a row.
func (f *File) BlockAt(row int) int {
	p := f.parts[sort.Search(len(f.parts), func(k int) bool { return f.parts[k].row > row })-1]
	return p.block + (row-p.row)/p.facts.BlockRows
}

// size is how many bytes the blocks have.
func (f *File) size() (n int64) {
	for _, p := range f.parts {
		n += p.blocks[len(p.blocks)-1].start
	}
	return n
}

// Checksum is that of index and facts, and so of all; of several files, that of theirs.
func (f *File) Checksum() uint32 {
	if len(f.parts) == 1 {
		return f.parts[0].sum
	}
	var sums []byte
	for _, p := range f.parts {
		sums = binary.LittleEndian.AppendUint32(sums, p.sum)
	}
	return crc32.Checksum(sums, checksum)
}

// Paths are what the files were opened as.
func (f *File) Paths() (list []string) {
	for _, p := range f.parts {
		list = append(list, p.path)
	}
	return list
}

// Close closes the files; later reads fail.
func (f *File) Close() (err error) {
	for _, p := range f.parts {
		err = errors.Join(err, p.file.Close())
	}
	return err
}
