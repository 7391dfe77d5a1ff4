package rowfile

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
)

// Writer writes a file, row after row, or several. It holds three blocks: while one is filled,
// another goroutine encodes and writes those before it, in their order. Files have other names
// until all are whole.
type Writer struct {
	facts Facts
	path  string // what it is to be called; empty for a scratch file
	limit int64  // of the bytes of a part; 0 for one file
	block *Chunk // that is filled
	empty chan *Chunk
	full  chan *Chunk
	ended chan struct{} // when all are written
	parts []*output     // of which the last is being written
	raw   []byte        // of a block
	named []string      // files that have their names

	lock   sync.Mutex
	failed error
}

// output is a file that is being written.
type output struct {
	name  string   // that it has until it is whole
	file  *os.File // nil where it is full
	out   *bufio.Writer
	at    int64 // bytes written
	rows  int
	index []byte
}

const (
	blocksHeld  = 3
	bufferBytes = 1 << 16
)

// Create begins a file for rows of the given form; Rows and BlockRows are the writer's to
// find. There must be no file of that name yet.
func Create(path string, f Facts) (*Writer, error) { return create(path, 0, f) }

// CreateParts begins several files of at most so many bytes of rows each, or of one block where its rows
// are longer, for rows of the given form. They are called as PartPath says.
func CreateParts(path string, bytes int64, f Facts) (*Writer, error) {
	if bytes < 1 {
		return nil, check.Fail(check.ErrConfig, "bytes of a part", bytes, "must be at least 1")
	}
	return create(path, bytes, f)
}

// PartPath is the name of the k-th part, counted from 1, of rows that are called path: rows-00001.rows for rows.rows.
func PartPath(path string, k int) string {
	ending := filepath.Ext(path)
	return fmt.Sprintf("%s-%05d%s", strings.TrimSuffix(path, ending), k, ending)
}

func create(path string, limit int64, f Facts) (*Writer, error) {
	w := &Writer{path: path, limit: limit}
	file, err := w.temporary()
	if err != nil {
		return nil, err
	}
	if err := w.begin(file, f); err != nil {
		return nil, err
	}
	return w, nil
}

// temporary makes the file of the next part, for its owner's eyes.
func (w *Writer) temporary() (*os.File, error) {
	path := w.called(len(w.parts) + 1)
	if err := free(path); err != nil {
		return nil, err
	}
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
}

// called is what the k-th file is to be called, counted from 1.
func (w *Writer) called(k int) string {
	if w.limit == 0 {
		return w.path
	}
	return PartPath(w.path, k)
}

// free is an error if there is a file of that name.
func free(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = check.Fail(check.ErrRowFile, path, nil, "must not exist yet: remove it, or name another file")
	}
	return err
}

// FreeParts is an error if there is a part of that name, of any number.
func FreeParts(path string) error {
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	ending := filepath.Ext(path)
	stem := strings.TrimSuffix(filepath.Base(path), ending)
	part := regexp.MustCompile("^" + regexp.QuoteMeta(stem) + "-[0-9]{5}" + regexp.QuoteMeta(ending) + "$")
	for _, n := range names {
		if part.MatchString(n.Name()) {
			return free(filepath.Join(filepath.Dir(path), n.Name()))
		}
	}
	return nil
}

// removable reports whether an open file can be removed, so that nothing stays of it when the
// program ends.
const removable = runtime.GOOS != "windows"

// Scratch begins a file that has no name, in the directory for temporary files, which
// TMPDIR names on most systems. It is gone when it is closed, or when the program ends; on
// Windows, which removes no open file, when it is closed or collected.
func Scratch(f Facts) (*Writer, error) {
	file, err := os.CreateTemp("", "dpglm-rows-*")
	if err != nil {
		return nil, err
	}
	if removable {
		os.Remove(file.Name())
	}
	w := new(Writer)
	if err := w.begin(file, f); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) begin(file *os.File, f Facts) error {
	f.Rows, f.BlockRows = 1, 1
	if err := f.check(); err != nil {
		discard(file)
		return err
	}
	f.Rows, f.BlockRows = 0, f.blockRows()
	if w.limit > 0 {
		f.BlockRows = max(1, min(f.BlockRows, int(w.limit/int64(f.leastRow()))))
	}
	w.facts = f
	w.empty, w.full, w.ended = make(chan *Chunk, blocksHeld), make(chan *Chunk, blocksHeld), make(chan struct{})
	for range blocksHeld {
		c := &Chunk{Beside: make([][]float64, len(f.Beside))}
		c.clear()
		w.empty <- c
	}
	w.block = <-w.empty
	w.open(file)
	go w.run(w.full)
	return nil
}

// open begins a part in a file.
func (w *Writer) open(file *os.File) {
	w.parts = append(w.parts, &output{name: file.Name(), file: file, out: bufio.NewWriterSize(file, bufferBytes)})
	head := make([]byte, headSize)
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[len(magic):], version)
	w.write(head)
}

func discard(file *os.File) {
	file.Close()
	os.Remove(file.Name())
}

func (c *Chunk) clear() {
	c.Rows, c.Values, c.Indices, c.Labels, c.Indptr = 0, c.Values[:0], c.Indices[:0], c.Labels[:0], append(c.Indptr[:0], 0)
	for k := range c.Beside {
		c.Beside[k] = c.Beside[k][:0]
	}
}

// run writes blocks, in their order.
func (w *Writer) run(full <-chan *Chunk) {
	defer close(w.ended)
	for c := range full {
		if w.failure() == nil {
			w.put(c)
		}
		c.clear()
		w.empty <- c // never blocks: it has room for all there are
	}
}

// stop has all blocks written.
func (w *Writer) stop() {
	if w.full != nil {
		w.flush()
		close(w.full)
		w.full = nil
	}
	<-w.ended
}

// Append writes a row of all features, or of the entries in the given columns, which
// increase, its label, and what is beside.
func (w *Writer) Append(columns []int, values []float64, label float64, beside ...float64) error {
	b, d := w.block, w.facts.Columns
	if len(beside) != len(b.Beside) || (columns == nil && len(values) != d) || (columns != nil && len(columns) != len(values)) {
		return check.Fail(check.ErrShape, "row", nil, "must have the file's columns")
	}
	last := -1
	for _, j := range columns {
		if j <= last || j >= d {
			return check.Fail(check.ErrShape, "columns of a row", nil, fmt.Sprintf("must increase strictly within [0, %d)", d))
		}
		last = j
	}
	switch {
	case !w.facts.Sparse && columns == nil:
		b.Values = append(b.Values, values...)
	case !w.facts.Sparse:
		at := len(b.Values)
		b.Values = slices.Grow(b.Values, d)[:at+d]
		clear(b.Values[at:])
		for k, j := range columns {
			b.Values[at+j] = values[k]
		}
	default:
		for j, v := range values {
			if columns != nil {
				j = columns[j]
			} else if v == 0 {
				continue
			}
			b.Indices, b.Values = append(b.Indices, j), append(b.Values, v)
		}
		b.Indptr = append(b.Indptr, len(b.Indices))
	}
	b.Labels = append(b.Labels, label)
	for k, v := range beside {
		b.Beside[k] = append(b.Beside[k], v)
	}
	if b.Rows++; b.Rows == w.facts.BlockRows {
		w.flush()
	}
	return w.failure()
}

// flush hands the block on, and goes on with another one.
func (w *Writer) flush() {
	if w.block.Rows > 0 {
		w.full <- w.block // never blocks
		w.block = <-w.empty
	}
}

// put writes a block, to the next part where it has no room in this one.
func (w *Writer) put(b *Chunk) {
	raw := w.raw[:0]
	if w.facts.Sparse {
		for i := range b.Rows {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(b.Indptr[i+1]-b.Indptr[i]))
		}
		for _, j := range b.Indices {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(j))
		}
	}
	raw = appendFloats(appendFloats(raw, b.Values), b.Labels)
	for _, of := range b.Beside {
		raw = appendFloats(raw, of)
	}
	if w.raw = raw; len(raw) >= maxBlock {
		w.fail(check.Fail(check.ErrRowFile, "block", nil, fmt.Sprintf("must have fewer than %d bytes: rows are too long", maxBlock)))
		return
	}
	if p := w.last(); w.limit > 0 && p.rows > 0 && p.at+int64(len(raw)) > w.limit {
		w.next()
	}
	p := w.last()
	w.write(raw)
	p.index = binary.LittleEndian.AppendUint32(p.index, uint32(len(raw)))
	p.index = binary.LittleEndian.AppendUint32(p.index, crc32.Checksum(raw, checksum))
	p.rows += b.Rows
}

func (w *Writer) last() *output { return w.parts[len(w.parts)-1] }

// next ends a part but for what comes after the rows, and begins the next.
func (w *Writer) next() {
	if len(w.parts) == MaxParts {
		w.fail(check.Fail(check.ErrConfig, "bytes of a part", w.limit, fmt.Sprintf("must be more: there would be more than %d parts", MaxParts)))
		return
	}
	if w.fail(w.last().shut()); w.failure() != nil {
		return
	}
	file, err := w.temporary()
	if w.fail(err); err == nil {
		w.open(file)
	}
}

// shut closes the file once all of it is on the disk.
func (p *output) shut() error {
	if p.file == nil {
		return nil
	}
	err := p.out.Flush()
	if err == nil {
		err = p.file.Sync()
	}
	if closed := p.file.Close(); err == nil {
		err = closed
	}
	p.file = nil
	return err
}

func appendFloats(to []byte, values []float64) []byte {
	at := len(to)
	to = slices.Grow(to, 8*len(values))[:at+8*len(values)]
	for k, v := range values {
		binary.LittleEndian.PutUint64(to[at+8*k:at+8*k+8], math.Float64bits(v))
	}
	return to
}

func (w *Writer) write(p []byte) {
	if w.failure() == nil {
		to := w.last()
		n, err := to.out.Write(p)
		to.at += int64(n)
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

func (w *Writer) failure() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.failed
}

// finish writes what comes after the rows of the k-th file, and returns its checksum. Facts are those
// of all; after is the checksum of the file before.
func (w *Writer) finish(k int, facts Facts, after uint32) (sum uint32, err error) {
	p := w.parts[k]
	if facts.Rows = p.rows; p.rows == 0 {
		return 0, check.Fail(check.ErrShape, "rows", 0, "must be at least one")
	}
	if w.limit > 0 {
		facts.Part = Part{k + 1, after, k == len(w.parts)-1}
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return 0, err
	}
	if len(text) >= maxFacts {
		return 0, check.Fail(check.ErrRowFile, "facts", len(text), fmt.Sprintf("must have fewer than %d bytes", maxFacts))
	}
	tail := binary.LittleEndian.AppendUint64(nil, uint64(p.at))
	end := append(p.index, text...)
	tail = binary.LittleEndian.AppendUint64(tail, uint64(p.at)+uint64(len(p.index)))
	tail = binary.LittleEndian.AppendUint64(tail, uint64(p.at)+uint64(len(end)))
	sum = crc32.Checksum(end, checksum)
	tail = binary.LittleEndian.AppendUint32(tail, sum)
	if p.file == nil {
		if p.file, err = os.OpenFile(p.name, os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return 0, err
		}
		p.out.Reset(p.file)
	}
	p.out.Write(end)
	p.out.Write(append(tail, ending...))
	return sum, p.out.Flush() // which tells what the writes before would
}

// end finishes all files.
func (w *Writer) end(d Details) error {
	w.stop()
	if err := w.failure(); err != nil {
		return err
	}
	facts := w.facts
	facts.Details = d
	var sum uint32
	for k, p := range w.parts {
		var err error
		if sum, err = w.finish(k, facts, sum); err != nil {
			return err
		}
		if w.path == "" { // it stays open
			continue
		}
		if err := p.shut(); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the files, which then have their names, with what there is more to say of the rows.
// After an error there is none.
func (w *Writer) Close(d Details) error {
	err := w.end(d)
	for k, p := range w.parts {
		if err != nil {
			break
		}
		path := w.called(k + 1)
		if err = Name(p.name, path); err == nil {
			w.named = append(w.named, path)
		}
	}
	if err != nil {
		w.remove()
	}
	return err
}

// Paths are the files that Close has named, in their order.
func (w *Writer) Paths() []string { return w.named }

// remove removes all files.
func (w *Writer) remove() {
	for k, p := range w.parts {
		if p.file != nil {
			p.file.Close()
		}
		if k < len(w.named) {
			os.Remove(w.named[k])
		} else {
			os.Remove(p.name)
		}
	}
	w.named = nil
}

// Name gives a file its name, unless another file has got it meanwhile: a link is made only
// where there is none. Where the file system knows no links, only a file that comes between
// two calls gives way.
func Name(file, path string) error {
	if err := os.Link(file, path); err == nil {
		os.Remove(file) // the other name
		return nil
	}
	if err := free(path); err != nil {
		return err
	}
	return os.Rename(file, path)
}

// Discard ends the writing; there is no file.
func (w *Writer) Discard() {
	w.stop()
	w.remove()
}

// Reopen ends a scratch file and opens it.
func (w *Writer) Reopen() (*File, error) {
	if err := w.end(Details{}); err != nil {
		w.remove()
		return nil, err
	}
	file := w.last().file
	p, err := openFile(file, "scratch file "+file.Name())
	if err != nil {
		w.remove()
		return nil, err
	}
	f := &File{parts: []*part{p}}
	if err := f.join(); err != nil {
		w.remove()
		return nil, err
	}
	if !removable {
		name, unused := file.Name(), runtime.AddCleanup(f, discard, file) // where nobody closes it
		p.file = removing{p.file, func() {
			unused.Stop()
			os.Remove(name)
		}}
	}
	return f, nil
}
