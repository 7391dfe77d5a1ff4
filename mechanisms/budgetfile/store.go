package budgetfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dpglm/dpglm/internal/check"
)

// maxSize limits what is read of a file.
const maxSize = 64 << 20

// read returns the file's contents.
func (f *File) read() (*contents, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, check.Fail(check.ErrModel, "budget file", f.path, fmt.Sprintf("must be a regular file of at most %d bytes", maxSize))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSize))
	if err != nil {
		return nil, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	c, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return c, nil
}

// lock waits until nobody else holds the lock. It is on a file of its own, which is never
// removed: the budget's is replaced whenever something is spent.
func (f *File) lock() (unlock func(), err error) {
	file, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("dpglm: nothing was spent, the budget file can't be locked: %w", err)
	}
	if err := lockFile(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("dpglm: nothing was spent, the budget file can't be locked: %w", err)
	}
	return func() { file.Close() }, nil // which unlocks it
}

// write replaces the file, under the lock. What an earlier writer left of a new file when
// it died is removed.
func (f *File) write(c *contents) error {
	data, err := c.encode()
	if err != nil {
		return err
	}
	mode, err := f.mode()
	if err != nil {
		return err
	}
	next := f.path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("dpglm: nothing was spent: %w", err)
	}
	if err := writeThrough(next, data, mode); err != nil {
		return fmt.Errorf("dpglm: nothing was spent: %w", err)
	}
	if err := os.Rename(next, f.path); err != nil {
		return fmt.Errorf("dpglm: nothing was spent: %w", err)
	}
	if err := syncDirectory(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("dpglm: spent, though a crash may undo it: %w", err)
	}
	return nil
}

// mode is the present file's, which its successor gets. A file with a second name would
// keep its old contents under that one, so it is refused.
func (f *File) mode() (fs.FileMode, error) {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0o600, nil
	}
	if err != nil {
		return 0, fmt.Errorf("dpglm: nothing was spent: %w", err)
	}
	if names(info) > 1 {
		return 0, check.Fail(check.ErrConfig, "budget file", f.path, "must not have a second name (hard link), which would keep what was spent before")
	}
	return info.Mode().Perm(), nil
}

// writeThrough writes a new file to the disk.
func writeThrough(path string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
}
