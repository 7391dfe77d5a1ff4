// Package budgetfile keeps a privacy budget in a file that several programs share: what
// each spends is in the file before its noise is drawn, and together they can't spend
// more than the total.
//
// # What it withstands
//
// Programs that spend at the same time wait for each other, at a lock beside the file. An
// entry is written to a new file, which reaches the disk and then takes the old one's
// place, so that a crash leaves the file as it was or as it should be. A program that dies
// after Spend has spent, whether or not it drew noise; nothing is given back. A file that
// was damaged is refused, as is one of a later format.
//
// It can't withstand a copy of the file that is spent from too, or somebody who writes to
// it by other means: keep it where the data is kept, on a local disk, for programs of one
// user. Locks are those of Linux, the BSDs, macOS or Windows; elsewhere nothing can be
// spent.
package budgetfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// File is a budget in a file. It is safe for concurrent use, as is the file by several
// Files and programs.
type File struct {
	path string // without symbolic links: who comes by another name meets the same lock
}

// Entry is what was spent at a time.
type Entry struct {
	Time   time.Time          // when, by the clock of who spent
	Label  string             // what for, as Spend was told
	Ledger *mechanisms.Ledger // what was planned
}

// Create makes a file with a total of (epsilon, delta)-DP for any group of up to the given
// number of rows, 1 for single rows; see [mechanisms.NewGroupAccountant]. It refuses a
// path that is taken.
func Create(path string, rows int, epsilon, delta float64) (*File, error) {
	if _, err := mechanisms.NewGroupAccountant(rows, epsilon, delta); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("dpglm: the budget's directory: %w", err)
	}
	f := &File{filepath.Join(dir, filepath.Base(path))}
	unlock, err := f.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) {
		return nil, check.Fail(check.ErrConfig, "budget file", f.path, "must not exist yet")
	}
	return f, f.write(&contents{Rows: rows, Epsilon: epsilon, Delta: delta})
}

// Open opens a file that Create made, and checks what is in it. It fails where there is no
// such file, or it is damaged or not one of budgets.
func Open(path string) (*File, error) {
	whole, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	if whole, err = filepath.Abs(whole); err != nil {
		return nil, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	f := &File{whole}
	if _, err = f.accountant(); err != nil {
		return nil, err
	}
	return f, nil
}

// Spend adds an entry, as [mechanisms.Accountant.Spend] does. Call it before the fit runs:
// when it returns nil, the entry is on the disk. If it returns an error about the budget,
// nothing was spent; after any other, don't draw noise, and look at Entries.
func (f *File) Spend(label string, l *mechanisms.Ledger) error {
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	c, err := f.read()
	if err != nil {
		return err
	}
	a, err := c.accountant()
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if err := a.Spend(l); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	c.Entries = append(c.Entries, entry{time.Now().UTC().Truncate(time.Second), label, l})
	if _, err := c.sum(); err != nil { // or else it couldn't be read again
		return fmt.Errorf("%s: nothing was spent: %w", f.path, err)
	}
	return f.write(c)
}

// Remaining is how much more Spend would take, unless others spend meanwhile; see
// [mechanisms.Accountant.Remaining]. It fails where the file can't be read any more, or is
// damaged.
func (f *File) Remaining() (mechanisms.Remaining, error) {
	a, err := f.accountant()
	if err != nil {
		return mechanisms.Remaining{}, err
	}
	return a.Remaining()
}

// Entries lists what was spent, the earliest first. It fails where the file can't be read any
// more, or is damaged.
func (f *File) Entries() ([]Entry, error) {
	c, err := f.read()
	if err != nil {
		return nil, err
	}
	list := make([]Entry, len(c.Entries))
	for i, e := range c.Entries {
		list[i] = Entry(e)
	}
	return list, nil
}

// String says how much of the total was spent.
func (f *File) String() string {
	a, err := f.accountant()
	if err != nil {
		return err.Error()
	}
	return a.String()
}

// accountant is that of the file's present contents. Reading needs no lock, as files are
// replaced whole.
func (f *File) accountant() (*mechanisms.Accountant, error) {
	c, err := f.read()
	if err != nil {
		return nil, err
	}
	a, err := c.accountant()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return a, nil
}
