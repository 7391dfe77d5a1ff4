package rowfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// File is an open file, or several that hold the rows of one data set, one file's after the
// other's. It is safe for concurrent use. It keeps 16 bytes for each block in memory.
type File struct {
	Facts // of all rows
	parts []*part
}

// part is one file.
type part struct {
	stored
	facts      Facts
	blocks     []block // and one that begins at the last one's end
	sum        uint32  // the checksum of blocks and facts
	row, block int     // the file's first ones, of those of all files
}

// stored is where bytes lie, and what that is called.
type stored struct {
	file storage
	path string
}

// block is where one begins, and its checksum.
type block struct {
	start int64
	sum   uint32
}

// storage is where the bytes lie.
type storage interface {
	io.ReaderAt
	io.Closer
}

// Open opens files, which are read as one in the order of the list, and checks all but the
// blocks, which are checked when they are read. They must hold rows of the same form, with the same
// facts. Files that were written as parts must be there together, in their order; and where rows have
// persons, all files must be parts of one, or have the numbers that the caller gave them.
func Open(paths ...string) (*File, error) {
	f := new(File)
	for _, path := range paths {
		p, err := openPath(path)
		if err == nil {
			f.parts = append(f.parts, p)
			continue
		}
		f.Close()
		return nil, err
	}
	if err := f.join(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openPath(path string) (*part, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p, err := openFile(file, path)
	if err != nil {
		file.Close()
		return nil, err
	}
	return p, nil
}

func openFile(file *os.File, path string) (*part, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, damaged(path, "kind", "must be a regular file")
	}
	return open(file, info.Size(), path)
}

func open(file storage, size int64, path string) (*part, error) {
	if size < headSize+tailSize {
		return nil, damaged(path, "size", "must be that of a row file")
	}
	f := &part{stored: stored{file, path}}
	head, err := f.read(nil, 0, headSize)
	if err != nil {
		return nil, err
	}
	if string(head[:len(magic)]) != magic {
		return nil, damaged(path, "beginning", fmt.Sprintf("must be %q: it is no row file", magic))
	}
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != version {
		return nil, check.Fail(check.ErrRowFile, "version of "+path, v, fmt.Sprintf("must be %d", version))
	}
	tail, err := f.read(nil, size-tailSize, tailSize)
	if err != nil {
		return nil, err
	}
	if string(tail[28:]) != ending {
		return nil, damaged(path, "end", "must be that of a row file: the file was cut short, or isn't written to its end")
	}
	index, facts, end := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint64(tail[8:]), binary.LittleEndian.Uint64(tail[16:])
	if index < headSize || facts < index || end < facts || end != uint64(size-tailSize) || end-facts > maxFacts || (facts-index)%entryOnDisk != 0 {
		return nil, damaged(path, "tail", "must fit the file: it was damaged or cut")
	}
	return f, f.readEnd(int64(index), int(facts-index), int(end-facts), binary.LittleEndian.Uint32(tail[24:]))
}

// readEnd reads index and facts.
func (f *part) readEnd(at int64, index, facts int, sum uint32) error {
	end, err := f.read(nil, at, index+facts)
	if err != nil {
		return err
	}
	if crc32.Checksum(end, checksum) != sum {
		return damaged(f.path, "index", "must have its checksum: the file was damaged")
	}
	f.sum = sum
	d := json.NewDecoder(bytes.NewReader(end[index:]))
	d.DisallowUnknownFields()
	if err := d.Decode(&f.facts); err != nil {
		return fmt.Errorf("%w: facts of %s: %w", check.ErrRowFile, f.path, err)
	}
	if err := f.facts.check(); err != nil {
		return err
	}
	return f.readIndex(end[:index], at)
}

// readIndex finds the blocks, which end where the index begins.
func (f *part) readIndex(index []byte, at int64) error {
	n := f.facts.blockCount()
	if n != len(index)/entryOnDisk {
		return damaged(f.path, "index", "must have an entry for each block")
	}
	f.blocks = make([]block, n+1)
	f.blocks[0].start = headSize
	for b := range n {
		length := binary.LittleEndian.Uint32(index[b*entryOnDisk:])
		rows := int64(f.facts.rowsOf(b))
		least := 8 * rows * int64(f.facts.perRow())
		if fits := f.facts.Sparse && int64(length) >= least+4*rows || !f.facts.Sparse && int64(length) == least+8*rows*int64(f.facts.Columns); !fits || length >= maxBlock {
			return damaged(f.path, "a block", "must have the length of its rows")
		}
		f.blocks[b].sum = binary.LittleEndian.Uint32(index[b*entryOnDisk+4:])
		f.blocks[b+1].start = f.blocks[b].start + int64(length)
	}
	if f.blocks[n].start != at {
		return damaged(f.path, "blocks", "must reach to the index")
	}
	return nil
}

// read reads so many bytes into buf, where it has room.
func (f *stored) read(buf []byte, at int64, n int) ([]byte, error) {
	buf = slices.Grow(buf[:0], n)[:n]
	if k, err := f.file.ReadAt(buf, at); k < n {
		return nil, fmt.Errorf("%w: reading %s: %w", check.ErrRowFile, f.path, err) // where it was may depend on the rows
	}
	return buf, nil
}

// removing is storage that is removed once it is closed.
type removing struct {
	storage
	remove func()
}

func (r removing) Close() error {
	err := r.storage.Close()
	r.remove()
	return err
}

// Reader reads rows, for one goroutine at a time. It keeps the block that it read last.
type Reader struct {
	f     *File
	part  *part // that the block is of
	block int
	raw   []byte
}

// Reader returns a reader.
func (f *File) Reader() *Reader { return &Reader{f: f, block: -1} }

// Reset makes r a reader of a file, with the memory that it has.
func (r *Reader) Reset(f *File) { r.f, r.part, r.block = f, nil, -1 }

// File is the file that it reads.
func (r *Reader) File() *File { return r.f }

// load reads a block and checks it.
func (r *Reader) load(b int) (err error) {
	if r.block == b {
		return nil
	}
	f := r.f.partOf(b)
	r.block, r.part = -1, f
	of := f.blocks[b-f.block:]
	if r.raw, err = f.read(r.raw, of[0].start, int(of[1].start-of[0].start)); err != nil {
		return err
	}
	if crc32.Checksum(r.raw, checksum) != of[0].sum {
		return damaged(f.path, "a block", "must have its checksum: the file was damaged, or changed since it was opened")
	}
	r.block = b
	return nil
}

// Read sets c to the rows [lo, hi) of the file, in memory that c brings along.
func (r *Reader) Read(c *Chunk, lo, hi int) error {
	if lo < 0 || hi > r.f.Rows || lo >= hi {
		return check.Fail(check.ErrRowFile, "rows", nil, "must lie within the file")
	}
	c.Rows, c.Values, c.Indices, c.Labels, c.Indptr = 0, c.Values[:0], c.Indices[:0], c.Labels[:0], append(c.Indptr[:0], 0)
	c.Beside = append(c.Beside, make([][]float64, max(0, len(r.f.Beside)-len(c.Beside)))...)[:len(r.f.Beside)]
	for k := range c.Beside {
		c.Beside[k] = c.Beside[k][:0]
	}
	for lo < hi {
		b := r.f.BlockAt(lo)
		if err := r.load(b); err != nil {
			return err
		}
		first, end := r.f.Block(b)
		next := min(hi, end)
		if err := r.decode(c, lo-first, next-first); err != nil {
			return err
		}
		c.Rows += next - lo
		lo = next
	}
	return nil
}

// decode appends the rows [lo, hi) of the block.
func (r *Reader) decode(c *Chunk, lo, hi int) error {
	n, rest := r.part.facts.rowsOf(r.block-r.part.block), r.raw
	if r.f.Sparse {
		var err error
		if rest, err = r.entries(c, n, lo, hi); err != nil {
			return err
		}
	} else {
		width := 8 * r.f.Columns
		c.Values = floats(c.Values, rest[lo*width:hi*width])
		rest = rest[n*width:]
	}
	c.Labels = floats(c.Labels, rest[8*lo:8*hi])
	for k := range c.Beside {
		rest = rest[8*n:]
		c.Beside[k] = floats(c.Beside[k], rest[8*lo:8*hi])
	}
	return nil
}

// entries appends those of the rows [lo, hi) of a sparse block of n rows, and returns what
// comes behind.
func (r *Reader) entries(c *Chunk, n, lo, hi int) ([]byte, error) {
	broken := func() error {
		return damaged(r.part.path, "a block", "must have columns that increase within its rows")
	}
	var before, within, all int
	for i := range n {
		count := int(binary.LittleEndian.Uint32(r.raw[4*i:]))
		switch {
		case i < lo:
			before += count
		case i < hi:
			within += count
			c.Indptr = append(c.Indptr, c.Indptr[len(c.Indptr)-1]+count)
		}
		if all += count; all > len(r.raw) { // so that nothing overflows
			return nil, broken()
		}
	}
	columns := r.raw[4*n:]
	if len(columns) != 12*all+8*n*r.f.perRow() {
		return nil, broken()
	}
	values := columns[4*all:]
	at, row := len(c.Indices), len(c.Indptr)-1-(hi-lo)
	for k := before; k < before+within; k++ {
		j := int(binary.LittleEndian.Uint32(columns[4*k:]))
		c.Indices = append(c.Indices, j)
	}
	for ; row < len(c.Indptr)-1; row++ {
		last := -1
		for _, j := range c.Indices[c.Indptr[row]:c.Indptr[row+1]] {
			if j <= last || j >= r.f.Columns {
				c.Indices = c.Indices[:at]
				return nil, broken()
			}
			last = j
		}
	}
	c.Values = floats(c.Values, values[8*before:8*(before+within)])
	return values[8*all:], nil
}

// floats appends the numbers in raw.
func floats(to []float64, raw []byte) []float64 {
	n := len(raw) / 8
	to = slices.Grow(to, n)
	out := to[len(to) : len(to)+n]
	for k := range out {
		out[k] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*k : 8*k+8]))
	}
	return to[:len(to)+n]
}
