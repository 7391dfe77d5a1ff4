package budgetfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// disk is what this package asks of the file system. Tests put one in its place that
// counts, or fails.
type disk interface {
	open(path string, flag int) (handle, error) // a new file is its owner's alone
	lstat(path string) (fs.FileInfo, error)
	mkdir(path string) error
	rename(from, to string) error
	remove(path string) error
	syncDirectory(path string) error // so that names last
}

// handle is an open file.
type handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Chmod(fs.FileMode) error
	Truncate(size int64) error
	Sync() error
	lock() (bool, error)    // false where another open file has the lock
	names() (uint64, error) // hard links
	same(handle) bool       // whether the other one is open on the same file
}

// system is the operating system's.
type system struct{}

func (system) open(path string, flag int) (handle, error) {
	file, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{file}, nil
}

func (system) lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (system) rename(from, to string) error           { return os.Rename(from, to) }
func (system) remove(path string) error               { return os.Remove(path) }
func (system) syncDirectory(path string) error        { return syncDirectory(path) }

// mkdir makes a directory that is its owner's alone, if there is none.
func (system) mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

type osFile struct{ file *os.File }

func (f osFile) ReadAt(p []byte, at int64) (int, error)  { return f.file.ReadAt(p, at) }
func (f osFile) WriteAt(p []byte, at int64) (int, error) { return f.file.WriteAt(p, at) }
func (f osFile) Close() error                            { return f.file.Close() }
func (f osFile) Stat() (fs.FileInfo, error)              { return f.file.Stat() }
func (f osFile) Chmod(mode fs.FileMode) error            { return f.file.Chmod(mode) }
func (f osFile) Truncate(size int64) error               { return f.file.Truncate(size) }
func (f osFile) Sync() error                             { return f.file.Sync() }
func (f osFile) lock() (bool, error)                     { return tryLock(f.file) }
func (f osFile) names() (uint64, error)                  { return names(f.file) }

func (f osFile) same(h handle) bool {
	mine, err := f.Stat()
	other, also := h.Stat()
	return err == nil && also == nil && os.SameFile(mine, other)
}

// content reads a whole file, which must be a regular one of at most maxSize bytes.
func content(h handle) ([]byte, error) {
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, errNoBudget
	}
	return io.ReadAll(io.NewSectionReader(h, 0, info.Size()))
}
