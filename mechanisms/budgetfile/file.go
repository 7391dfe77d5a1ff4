// Package budgetfile keeps a privacy budget in a file that several programs share: what
// each spends is in the file before its noise is drawn, and together they can't spend
// more than the total.
//
// # An entry's life
//
// Spend charges a ledger and returns the entry's ID. A program that has read and checked all
// that its fit needs calls Begin, and only then draws noise. Where it fails before that, it
// gives the charge back; where it died, anybody may, by GiveBack or Reclaim.
//
//	Spend ──▶ Begin ──▶ noise       charged for ever
//	   └────▶ GiveBack              not charged; the file keeps both lines
//
// Begin reaches the disk before it returns, and exactly one of Begin and GiveBack succeeds. So
// of an entry that was given back no noise was drawn, if programs keep to the order, and none
// will be: whoever spent it and is still alive is refused at Begin. No clock and no knowledge
// of who is alive enters into that.
//
// # What is written
//
// The file is small JSON: the total, what an accountant has taken of it and the entries whose
// noise hasn't begun, under a checksum of each of its bytes. Beside it is a directory, named as the
// file with ".d", that belongs to it:
//
//	entries       one line for each Spend, Begin and GiveBack, each with the checksum of all lines so far
//	ID.releases   what a fit has released so far, see [Journal]
//	holder        who has the lock
//
// Spend, Begin and GiveBack read the file, write a line and replace the file. The file grows
// with the entries whose noise hasn't begun, not with the number of entries. Only Entries reads all lines, and checks them.
//
// # What it withstands
//
// Programs that write at the same time wait for each other, at a lock on the entries, which are
// never replaced: whatever is removed while they run, they don't get past each other. A line
// reaches the disk before the file that counts it, and that file before it takes the old one's
// place: a crash at any moment, or a full disk, leaves the file as it was or as it should be. A
// line that no file counts was never acknowledged, and is written over. A program that dies
// after Begin has spent, whether or not it drew noise. Where any byte of the file was changed,
// or lines are missing, all but reading what is whole is refused, as is a later format; a
// changed line is found by Entries, and no sum rests on it.
//
// It can't withstand a copy of the file and its directory that is spent from too, or somebody
// who writes to them by other means: keep both where the data is kept, on a local disk, for
// programs of one user. Locks are those of Linux, the BSDs, macOS or Windows; elsewhere
// nothing can be spent.
package budgetfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// File is a budget in a file. It is safe for concurrent use, as is the file by several
// Files and programs.
type File struct{ files *files }

// Total is what a file allows, and of what.
type Total struct {
	Data           string          // a name for the data, which whoever spends must give
	Unit           mechanisms.Unit // what ledgers must protect
	Group          int             // how many of the unit together, 1 for one alone
	Epsilon, Delta float64         // see mechanisms.NewGroupAccountant
}

// Create makes a file, and the directory beside it, with the given total. It refuses a path that
// is taken, entries that are there without their file, and what [mechanisms.NewGroupAccountant]
// refuses. It waits as Spend does.
func Create(ctx context.Context, path string, of Total) (*File, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("dpglm: the budget's directory: %w", err)
	}
	return create(ctx, system{}, filepath.Join(dir, filepath.Base(path)), of)
}

func create(ctx context.Context, d disk, path string, of Total) (*File, error) {
	if err := named(check.ErrConfig, of.Data); err != nil {
		return nil, err
	}
	if _, err := mechanisms.NewGroupAccountant(of.Unit, of.Group, of.Epsilon, of.Delta); err != nil {
		return nil, err
	}
	f := &files{path, d, patience}
	if err := f.free(); err != nil {
		return nil, err
	}
	if err := f.prepare(); err != nil {
		return nil, fmt.Errorf("dpglm: the budget's directory: %w", err)
	}
	lines, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer f.unlock(lines)
	if err := f.free(); err != nil { // another may have made it meanwhile
		return nil, err
	}
	return &File{f}, f.begin(lines, of)
}

// Open opens a file that Create made, and checks what is in it. It fails where there is no
// such file, or it is damaged or not one of budgets, or its entries are missing.
func Open(path string) (*File, error) {
	whole, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	if whole, err = filepath.Abs(whole); err != nil {
		return nil, fmt.Errorf("dpglm: the budget file: %w", err)
	}
	return open(system{}, whole)
}

func open(d disk, path string) (*File, error) {
	f := &files{path, d, patience}
	s, err := f.read()
	if err != nil {
		return nil, err
	}
	if _, err := s.accountant(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	lines, err := f.disk.open(f.beside(entriesName), os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("dpglm: the budget's entries: %w", err)
	}
	defer lines.Close()
	if _, err := f.behind(s, lines); err != nil {
		return nil, err
	}
	return &File{f}, nil
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

// Entries lists what was spent, the earliest first, with what was given back. It reads and
// checks every line, and fails where one was changed or is missing.
func (f *File) Entries() ([]Entry, error) {
	s, err := f.files.read()
	if err != nil {
		return nil, err
	}
	lines, err := f.files.disk.open(f.files.beside(entriesName), os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("dpglm: the budget's entries: %w", err)
	}
	defer lines.Close()
	list, err := s.entries(lines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.files.beside(entriesName), err)
	}
	return list, nil
}

// Total is what the file was made with. It fails where the file can't be read any more, or is
// damaged.
func (f *File) Total() (Total, error) {
	s, err := f.files.read()
	if err != nil {
		return Total{}, err
	}
	h := s.Header
	return Total{h.Data, h.Unit, h.Group, h.Epsilon, h.Delta}, nil
}

// String says how much of the total was spent, and of which data.
func (f *File) String() string {
	s, err := f.files.read()
	if err != nil {
		return err.Error()
	}
	a, err := s.accountant()
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", f.files.path, err)
	}
	return fmt.Sprintf("%v, of %q", a, s.Header.Data)
}

// accountant is that of the file's present state.
func (f *File) accountant() (*mechanisms.Accountant, error) {
	s, err := f.files.read()
	if err != nil {
		return nil, err
	}
	a, err := s.accountant()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.files.path, err)
	}
	return a, nil
}
