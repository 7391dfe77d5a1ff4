package budgetfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// memory is a disk that counts what is read and written, that may fail, and that knows what
// a crash of the machine would leave of it.
type memory struct {
	files, lasting map[string]*inode // by name; what is lasting was synced

	read, written int
	steps         int  // changes so far
	failAt        int  // the change that fails, -1 for none
	dead          bool // from then on all of them fail
	cut           int  // how many bytes the write that fails has written

	torn string // the file that was written to in part
}

type inode struct {
	data, lasting []byte
	mode          fs.FileMode
	locked        bool
}

var errFull = errors.New("no space left on device")

func newMemory() *memory {
	return &memory{files: map[string]*inode{}, lasting: map[string]*inode{}, failAt: -1}
}

// step is a change, which may fail.
func (m *memory) step() error {
	m.steps++
	if m.failAt >= 0 && (m.steps-1 == m.failAt || m.dead && m.steps-1 > m.failAt) {
		return errFull
	}
	return nil
}

// left is what a process finds after another one died; or, if the machine has crashed, after
// that: names or contents may be there that were not synced, or not.
func (m *memory) left(allNames, allContents bool) *memory {
	from, left, copies := m.lasting, newMemory(), map[*inode]*inode{}
	if allNames {
		from = m.files
	}
	for name, f := range from {
		if copies[f] == nil {
			data := f.lasting
			if allContents {
				data = f.data
			}
			copies[f] = &inode{data: bytes.Clone(data), lasting: bytes.Clone(data), mode: f.mode}
		}
		left.files[name] = copies[f]
	}
	left.lasting = maps.Clone(left.files)
	return left
}

func (m *memory) open(path string, flag int) (handle, error) {
	f, ok := m.files[path]
	switch {
	case ok && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	case !ok && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case !ok:
		if err := m.step(); err != nil {
			return nil, err
		}
		f = &inode{mode: 0o600}
		m.files[path] = f
	}
	if flag&os.O_TRUNC != 0 {
		f.data = nil
	}
	return &memoryFile{disk: m, inode: f, name: path}, nil
}

func (m *memory) lstat(path string) (fs.FileInfo, error) {
	f, ok := m.files[path]
	if !ok {
		return nil, &fs.PathError{Op: "lstat", Path: path, Err: fs.ErrNotExist}
	}
	return info{f}, nil
}

func (m *memory) mkdir(string) error { return m.step() }

func (m *memory) rename(from, to string) error {
	if err := m.step(); err != nil {
		return err
	}
	m.files[to] = m.files[from]
	delete(m.files, from)
	return nil
}

func (m *memory) remove(path string) error {
	if _, ok := m.files[path]; !ok {
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	if err := m.step(); err != nil {
		return err
	}
	delete(m.files, path)
	return nil
}

func (m *memory) syncDirectory(path string) error {
	if err := m.step(); err != nil {
		return err
	}
	within := func(name string, _ *inode) bool { return filepath.Dir(name) == path }
	maps.DeleteFunc(m.lasting, within)
	for name, f := range m.files {
		if within(name, f) {
			m.lasting[name] = f
		}
	}
	return nil
}

// memoryFile is open in memory.
type memoryFile struct {
	disk   *memory
	inode  *inode
	name   string
	locked bool
}

func (h *memoryFile) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(h.inode.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.inode.data[at:])
	h.disk.read += n
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *memoryFile) WriteAt(p []byte, at int64) (int, error) {
	err := h.disk.step()
	switch m := h.disk; {
	case err != nil && m.steps-1 > m.failAt:
		p = nil
	case err != nil && m.cut < len(p):
		m.torn = h.name
		p = p[:m.cut]
	}
	h.disk.written += len(p)
	if int(at) < len(h.inode.data) { // what was synced stays
		h.inode.data = bytes.Clone(h.inode.data)
	}
	if end := int(at) + len(p); end > len(h.inode.data) {
		h.inode.data = append(h.inode.data, make([]byte, end-len(h.inode.data))...)
	}
	return copy(h.inode.data[at:], p), err
}

func (h *memoryFile) Truncate(size int64) error {
	if int64(len(h.inode.data)) == size {
		return nil
	}
	if err := h.disk.step(); err != nil {
		return err
	}
	h.inode.data = bytes.Clone(h.inode.data[:size])
	return nil
}

func (h *memoryFile) Sync() error {
	if err := h.disk.step(); err != nil {
		return err
	}
	h.inode.lasting = h.inode.data
	return nil
}

func (h *memoryFile) Chmod(mode fs.FileMode) error { h.inode.mode = mode; return nil }
func (h *memoryFile) Stat() (fs.FileInfo, error)   { return info{h.inode}, nil }
func (h *memoryFile) names() (uint64, error)       { return 1, nil }
func (h *memoryFile) same(of handle) bool          { return h.inode == of.(*memoryFile).inode }

func (h *memoryFile) lock() (bool, error) {
	if h.inode.locked {
		return false, nil
	}
	h.inode.locked, h.locked = true, true
	return true, nil
}

func (h *memoryFile) Close() error {
	if h.locked {
		h.inode.locked = false
	}
	return nil
}

type info struct{ of *inode }

func (i info) Name() string       { return "" }
func (i info) Size() int64        { return int64(len(i.of.data)) }
func (i info) Mode() fs.FileMode  { return i.of.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

const inMemory = "budget.json"

// remembered is a new budget in memory.
func remembered(t testing.TB, of Total) (*File, *memory) {
	t.Helper()
	m := newMemory()
	f, err := create(t.Context(), m, inMemory, of)
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}
