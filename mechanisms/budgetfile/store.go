package budgetfile

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// The names of what lies in the directory beside the budget's file.
const (
	entriesName  = "entries"
	holderName   = "holder"
	releasesName = ".releases" // after an entry's ID
)

// files are the budget's file, and those in the directory beside it.
type files struct {
	path     string // without symbolic links: who comes by another name meets the same lock
	disk     disk
	patience time.Duration
}

// beside is the path of something in the directory beside the file.
func (f *files) beside(name string) string { return filepath.Join(f.path+".d", name) }

// read returns the file's state. Reading needs no lock, as the file is replaced whole.
func (f *files) read() (*state, error) {
	s, _, _, err := f.readFor()
	return s, err
}

// readFor is read for a writer, who asks for the file's mode and names, too.
func (f *files) readFor() (s *state, mode fs.FileMode, links uint64, err error) {
	h, err := f.disk.open(f.path, os.O_RDONLY)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	defer h.Close()
	info, err := h.Stat()
	if err == nil {
		links, err = h.names()
	}
	if err != nil {
		return nil, 0, 0, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	data, err := content(h)
	if err == nil {
		s, err = decode(data)
	}
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w", f.path, err)
	}
	return s, info.Mode().Perm(), links, nil
}

// writer has the lock, and the state that the last one left.
type writer struct {
	files *files
	lines handle
	state *state
	mode  fs.FileMode
}

// writer waits for the lock and reads the state. A second name of either file would keep what
// it held before, so it is refused.
func (f *files) writer(ctx context.Context) (*writer, error) {
	lines, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{files: f, lines: lines}
	if err := w.start(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *writer) close() { w.files.unlock(w.lines) }

func (w *writer) start() error {
	s, mode, links, err := w.files.readFor()
	if err != nil {
		return err
	}
	w.state, w.mode = s, mode
	more, err := w.lines.names()
	if err != nil {
		return fmt.Errorf("dpglm: the budget's entries: %w", err)
	}
	if max(links, more) > 1 {
		return check.Fail(check.ErrConfig, "budget file", w.files.path, "and its entries must not have a second name (hard link), which would keep what was spent before")
	}
	behind, err := w.files.behind(s, w.lines)
	if err != nil {
		return err
	}
	return w.newest(behind)
}

// behind counts the bytes behind the lines of a state. It refuses entries that are too few.
func (f *files) behind(s *state, lines handle) (int64, error) {
	info, err := lines.Stat()
	if err != nil {
		return 0, fmt.Errorf("dpglm: the budget's entries: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() < s.Lines.Bytes {
		return 0, fmt.Errorf("%s: %w", f.beside(entriesName), errDamaged)
	}
	return info.Size() - s.Lines.Bytes, nil
}

// newest refuses a file that has less than all lines but one. One more is what a program left
// that died before it replaced the file.
func (w *writer) newest(behind int64) (err error) {
	r, end := bufio.NewReader(io.NewSectionReader(w.lines, w.state.Lines.Bytes, behind)), w.state.Lines
	for range 2 {
		if _, end, err = end.read(r); err != nil {
			return nil
		}
	}
	return check.Fail(check.ErrModel, "budget file", w.files.path, "must not be older than its entries: an earlier copy was put in its place")
}

// write adds a line, on the disk, and then puts a file in the old one's place that counts it.
// Until then nothing was written: the next writer overwrites the line.
func (w *writer) write(l *line) error {
	next, err := w.state.after(l)
	if err != nil {
		return fmt.Errorf("%s: nothing was written: %w", w.files.path, err)
	}
	return w.put(l, next)
}

// put writes a line and the state after it.
func (w *writer) put(l *line, next *state) error {
	text, end, err := w.state.Lines.written(l)
	if err != nil {
		return err
	}
	next.Lines = end
	data, err := next.encode()
	if err != nil {
		return err
	}
	if err := w.append(text); err != nil {
		return fmt.Errorf("dpglm: nothing was written to the budget: %w", errors.Join(err, w.lines.Truncate(w.state.Lines.Bytes)))
	}
	if err := w.files.replace(data, w.mode, w.lines); err != nil {
		return err
	}
	w.state = next
	return nil
}

// append writes a line behind the last one that counts.
func (w *writer) append(text []byte) error {
	if err := w.lines.Truncate(w.state.Lines.Bytes); err != nil {
		return err
	}
	if _, err := w.lines.WriteAt(text, w.state.Lines.Bytes); err != nil {
		return err
	}
	return w.lines.Sync()
}

// replace puts a new file in the place of the old one, under the lock. What an earlier
// writer left of a new file when it died is removed.
func (f *files) replace(data []byte, mode fs.FileMode, lines handle) error {
	next := f.path + ".new"
	if err := f.disk.remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("dpglm: nothing was written to the budget: %w", err)
	}
	if err := f.writeThrough(next, data, mode); err != nil {
		return fmt.Errorf("dpglm: nothing was written to the budget: %w", err)
	}
	if !f.isNamed(lines) {
		return check.Fail(check.ErrConfig, "entries", f.beside(entriesName), "must not be replaced while a program writes to them; nothing was written to the budget")
	}
	if err := f.disk.rename(next, f.path); err != nil {
		return fmt.Errorf("dpglm: nothing was written to the budget: %w", err)
	}
	if err := f.disk.syncDirectory(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("dpglm: written to the budget, though a crash may undo it: %w", err)
	}
	return nil
}

// writeThrough writes a new file to the disk.
func (f *files) writeThrough(path string, data []byte, mode fs.FileMode) error {
	h, err := f.disk.open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = h.WriteAt(data, 0)
	return errors.Join(err, h.Chmod(mode), h.Sync(), h.Close())
}

// free refuses a path that is taken.
func (f *files) free() error {
	if _, err := f.disk.lstat(f.path); !errors.Is(err, fs.ErrNotExist) {
		return check.Fail(check.ErrConfig, "budget file", f.path, "must not exist yet")
	}
	return nil
}

// prepare makes the directory, and in it the file of entries, which is the lock.
func (f *files) prepare() error {
	if err := f.disk.mkdir(f.beside("")); err != nil {
		return err
	}
	lines, err := f.disk.open(f.beside(entriesName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	return lines.Close()
}

// begin writes the first line and the file. Lines that are there are of a Create that died,
// or of a budget whose file is gone: that one has more than one line.
func (f *files) begin(lines handle, of Total) error {
	present, err := content(lines)
	if err != nil {
		return fmt.Errorf("%s: %w", f.beside(entriesName), err)
	}
	if !isUnfinished(present) {
		return check.Fail(check.ErrConfig, "entries", f.beside(entriesName), "must not be there without their budget file: remove the directory to begin anew")
	}
	s := &state{Header: header{ID: random(), Created: now(), Data: of.Data, Unit: of.Unit, Group: of.Group, Epsilon: of.Epsilon, Delta: of.Delta}}
	if s.Account, err = mechanisms.NewGroupAccountant(of.Unit, of.Group, of.Epsilon, of.Delta); err != nil {
		return err
	}
	text, end, err := s.Lines.written(s.Header)
	if err != nil {
		return err
	}
	s.Lines = end
	w := &writer{files: f, lines: lines, state: new(state)}
	if err := w.append(text); err != nil {
		return fmt.Errorf("dpglm: no budget was made: %w", err)
	}
	if err := f.disk.syncDirectory(f.beside("")); err != nil { // the directory's own name comes with the file's
		return fmt.Errorf("dpglm: no budget was made: %w", err)
	}
	data, err := s.encode()
	if err != nil {
		return err
	}
	return f.replace(data, 0o600, lines)
}

// isUnfinished reports whether a file of entries is at most that of a Create that died.
func isUnfinished(lines []byte) bool {
	return bytes.Count(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n")) == 0
}

// random returns a name that nothing else has.
func random() string {
	var name [8]byte
	rand.Read(name[:]) // never fails: the runtime aborts where the system has no randomness
	return hex.EncodeToString(name[:])
}
