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
	"runtime"

	"github.com/dpglm/dpglm/internal/check"
)

// Writer writes a file, row after row; it holds one block. The file has another name until
// it is whole.
type Writer struct {
	facts  Facts
	path   string // what it is to be called; empty for a scratch file
	file   *os.File
	out    *bufio.Writer
	at     int64 // bytes written
	block  Chunk
	raw    []byte
	index  []byte
	failed error
}

// Create begins a file for rows of the given form; Rows and BlockRows are the writer's to
// find. There must be no file of that name yet.
func Create(path string, f Facts) (*Writer, error) {
	if err := free(path); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // for its owner's eyes
	if err != nil {
		return nil, err
	}
	return begin(file, path, f)
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
	return begin(file, "", f)
}

func begin(file *os.File, path string, f Facts) (*Writer, error) {
	f.Rows, f.BlockRows = 1, 1
	if err := f.check(); err != nil {
		discard(file)
		return nil, err
	}
	f.Rows, f.BlockRows = 0, f.blockRows()
	w := &Writer{facts: f, path: path, file: file, out: bufio.NewWriterSize(file, 1<<20)}
	w.block.Beside = make([][]float64, len(f.Beside))
	w.clear()
	head := make([]byte, headSize)
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[len(magic):], version)
	w.write(head)
	return w, nil
}

func discard(file *os.File) {
	file.Close()
	os.Remove(file.Name())
}

func (w *Writer) clear() {
	b := &w.block
	b.Rows, b.Values, b.Indices, b.Labels, b.Indptr = 0, b.Values[:0], b.Indices[:0], b.Labels[:0], append(b.Indptr[:0], 0)
	for k := range b.Beside {
		b.Beside[k] = b.Beside[k][:0]
	}
}

// Append writes a row of all features, or of the entries in the given columns, which
// increase, its label, and what is beside.
func (w *Writer) Append(columns []int, values []float64, label float64, beside ...float64) error {
	b, d := &w.block, w.facts.Columns
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
		b.Values = append(b.Values, make([]float64, d)...)
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
	return w.failed
}

// flush writes the block.
func (w *Writer) flush() {
	b := &w.block
	if b.Rows == 0 {
		return
	}
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
	}
	w.write(raw)
	w.index = binary.LittleEndian.AppendUint32(w.index, uint32(len(raw)))
	w.index = binary.LittleEndian.AppendUint32(w.index, crc32.Checksum(raw, checksum))
	w.facts.Rows += b.Rows
	w.clear()
}

func appendFloats(to []byte, values []float64) []byte {
	for _, v := range values {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(v))
	}
	return to
}

func (w *Writer) write(p []byte) {
	if w.failed == nil {
		n, err := w.out.Write(p)
		w.at += int64(n)
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	if w.failed == nil {
		w.failed = err
	}
}

// finish writes what comes after the rows.
func (w *Writer) finish(d Details) error {
	w.flush()
	w.facts.Details = d
	if w.failed == nil && w.facts.Rows == 0 {
		w.fail(check.Fail(check.ErrShape, "rows", 0, "must be at least one"))
	}
	facts, err := json.Marshal(w.facts)
	w.fail(err)
	if len(facts) >= maxFacts {
		w.fail(check.Fail(check.ErrRowFile, "facts", len(facts), fmt.Sprintf("must have fewer than %d bytes", maxFacts)))
	}
	tail := binary.LittleEndian.AppendUint64(nil, uint64(w.at))
	end := append(w.index, facts...)
	tail = binary.LittleEndian.AppendUint64(tail, uint64(w.at)+uint64(len(w.index)))
	tail = binary.LittleEndian.AppendUint64(tail, uint64(w.at)+uint64(len(end)))
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(end, checksum))
	w.write(end)
	w.write(append(tail, ending...))
	if w.failed == nil {
		w.fail(w.out.Flush())
	}
	return w.failed
}

// Close ends the file, which then has its name, with what there is more to say of the rows.
// After an error there is no file.
func (w *Writer) Close(d Details) error {
	err := w.finish(d)
	if err == nil {
		err = w.file.Sync()
	}
	if closed := w.file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = name(w.file.Name(), w.path)
	}
	if err != nil {
		os.Remove(w.file.Name())
	}
	return err
}

// name gives a file its name, unless another file has got it meanwhile: a link is made only
// where there is none. Where the file system knows no links, only a file that comes between
// two calls gives way.
func name(file, path string) error {
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
func (w *Writer) Discard() { discard(w.file) }

// Reopen ends a scratch file and opens it.
func (w *Writer) Reopen() (*File, error) {
	err := w.finish(Details{})
	if err != nil {
		w.Discard()
		return nil, err
	}
	f, err := openFile(w.file, "scratch file "+w.file.Name())
	if err != nil {
		w.Discard()
		return nil, err
	}
	if !removable {
		name, unused := w.file.Name(), runtime.AddCleanup(f, discard, w.file) // where nobody closes it
		f.file = removing{f.file, func() {
			unused.Stop()
			os.Remove(name)
		}}
	}
	return f, nil
}
