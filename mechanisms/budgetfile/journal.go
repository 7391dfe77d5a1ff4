package budgetfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
)

// Journal is the file of an entry's releases, at the path that [File.Releases] tells, for an
// entry's runs to go on from. Part makes one for each run, for dpglm.Env.
//
// The first record comes before the entry's noise and begins it ([File.Begin]): so an entry that
// has begun has a journal, and without it nothing goes on. A record is on the disk when
// Append returns. Of one that a crash has torn, what is there is cut off by the next program that
// opens the journal, whose run draws that release afresh: until the entry's runs have ended,
// the file is for the curator's eyes only. Any changed byte, and any record that is missing
// before others, is refused; records that are missing at the end can't be noticed. Who removes
// these, or goes on with a copy of the file, has two releases where the ledger counts one.
//
// It is safe for concurrent use.
type Journal struct {
	budget *File
	id     string
	ctx    context.Context
	path   string

	lock    sync.Mutex
	file    handle // locked, so that one program goes on at a time; nil when it is closed
	begun   bool
	end     int64  // of what is whole
	sum     string // of all lines
	records []string
	failed  error // after which nothing is appended
}

// Journal opens the journal of an entry, for one program at a time. It fails for an entry that
// was given back or isn't there, for one that has begun and whose journal is gone, and where
// another program has it open. ctx is for the entry's Begin.
func (f *File) Journal(ctx context.Context, id string) (*Journal, error) {
	path, err := f.Releases(id)
	if err != nil {
		return nil, err
	}
	if err := check.Given("context", ctx); err != nil {
		return nil, err
	}
	j := &Journal{budget: f, id: id, ctx: ctx, path: path}
	if j.file, err = f.files.disk.open(path, os.O_RDWR|os.O_CREATE); err != nil {
		return nil, fmt.Errorf("dpglm: the entry's releases: %w", err)
	}
	locked, err := j.file.lock()
	switch {
	case err != nil:
		err = fmt.Errorf("dpglm: the entry's releases can't be locked: %w", err)
	case !locked || !j.named():
		err = check.Fail(check.ErrConfig, "journal", path, "must not be open elsewhere: another program runs this entry's fit")
	default:
		err = j.read()
	}
	if err != nil {
		j.file.Close()
		return nil, err
	}
	return j, nil
}

// named reports whether the open file is still that of the path.
func (j *Journal) named() bool {
	now, err := j.budget.files.disk.lstat(j.path)
	mine, also := j.file.Stat()
	return err == nil && also == nil && os.SameFile(mine, now)
}

// read takes the records, and cuts off what is torn. Nothing counts of an entry that hasn't begun.
func (j *Journal) read() error {
	list, err := j.budget.Entries()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(e Entry) bool { return e.ID == j.id })
	switch {
	case at < 0:
		err = check.Fail(check.ErrConfig, "id", j.id, "must be of an entry that is in the file")
	case !list[at].GivenBack.IsZero():
		err = check.Fail(check.ErrConfig, "id", j.id, "must be of an entry that counts: this one was given back")
	default:
		j.begun = !list[at].Begun.IsZero()
	}
	if err != nil {
		j.budget.files.disk.remove(j.path) //nolint:errcheck // it was made just now
		return err
	}
	if !j.begun {
		return j.cut()
	}
	info, err := j.file.Stat()
	if err != nil {
		return fmt.Errorf("dpglm: the entry's releases: %w", err)
	}
	data, err := io.ReadAll(io.NewSectionReader(j.file, 0, info.Size()))
	if err != nil {
		return fmt.Errorf("dpglm: the entry's releases: %w", err)
	}
	for {
		next, err := j.next(data)
		if err != nil {
			return fmt.Errorf("%s: %w", j.path, err)
		}
		if next == nil {
			break
		}
		data = next
	}
	if len(j.records) == 0 || j.records[0] != j.title() {
		return check.Fail(check.ErrConfig, "journal", j.path, "must hold what the entry's fit released, which has begun: without that it can't be gone on with")
	}
	if j.records = j.records[1:]; j.end == info.Size() {
		return nil
	}
	return j.cut()
}

// title is the first record.
func (j *Journal) title() string { return "dpglm releases 1 of " + j.id }

// A line is the length of its record, a check of that, the record, and the sum of it and of all
// lines before.
const (
	lineHead = 18 // "%08x %08x "
	lineTail = 66 // " %064x\n"
)

// head begins a line. No line of another length, or of another entry, has it.
func (j *Journal) head(length int) string {
	size := fmt.Sprintf("%08x", length)
	return fmt.Sprintf("%s %08x ", size, crc32.ChecksumIEEE([]byte(j.id+size)))
}

// tail ends it.
func (j *Journal) tail(record string) (text, sum string) {
	sum = fmt.Sprintf("%x", sha256.Sum256([]byte(j.sum+record)))
	return " " + sum + "\n", sum
}

// next takes a line off data, and returns what is behind it: nil where there is none, or one that
// isn't whole.
func (j *Journal) next(data []byte) ([]byte, error) {
	if len(data) < lineHead {
		return nil, nil
	}
	head := string(data[:lineHead])
	length, err := strconv.ParseUint(head[:8], 16, 32)
	if err != nil || head != j.head(int(length)) {
		return nil, errDamaged
	}
	whole := lineHead + int(length) + lineTail
	if len(data) < whole {
		return nil, nil
	}
	record := string(data[lineHead : whole-lineTail])
	tail, sum := j.tail(record)
	if !bytes.Equal(data[whole-lineTail:whole], []byte(tail)) {
		return nil, errDamaged
	}
	j.end, j.sum, j.records = j.end+int64(whole), sum, append(j.records, record)
	return data[whole:], nil
}

// cut leaves what is whole.
func (j *Journal) cut() error {
	if err := errors.Join(j.file.Truncate(j.end), j.file.Sync()); err != nil {
		return fmt.Errorf("dpglm: the entry's releases: %w", err)
	}
	return nil
}

// append adds a record, which begins the entry if it is the first.
func (j *Journal) append(record string) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	switch {
	case j.file == nil:
		return check.Fail(check.ErrConfig, "journal", j.path, "is closed")
	case j.failed != nil:
		return j.failed
	}
	j.failed = j.write(record)
	return j.failed
}

func (j *Journal) write(record string) error {
	if j.begun {
		return j.line(record)
	}
	if err := errors.Join(j.line(j.title()), j.line(record)); err != nil {
		return err
	}
	if err := j.budget.files.disk.syncDirectory(j.budget.files.beside("")); err != nil {
		return fmt.Errorf("dpglm: the entry's releases: %w", err)
	}
	if err := j.budget.Begin(j.ctx, j.id); err != nil {
		return err
	}
	j.begun = true
	return nil
}

// line writes a line to the disk. What was written of one that fails is cut off.
func (j *Journal) line(record string) error {
	if len(record) > maxSize {
		return check.Fail(check.ErrConfig, "record", len(record), fmt.Sprintf("bytes long must be at most %d", maxSize))
	}
	tail, sum := j.tail(record)
	text := j.head(len(record)) + record + tail
	if _, err := j.file.WriteAt([]byte(text), j.end); err != nil {
		return fmt.Errorf("dpglm: the entry's releases: %w", errors.Join(err, j.cut()))
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("dpglm: the entry's releases: %w", err)
	}
	j.end, j.sum = j.end+int64(len(text)), sum
	if record != j.title() {
		j.records = append(j.records, record)
	}
	return nil
}

// Begun reports whether the entry's noise has begun.
func (j *Journal) Begun() bool {
	j.lock.Lock()
	defer j.lock.Unlock()
	return j.begun
}

// Close lets others go on with the entry. It removes a file without records.
func (j *Journal) Close() error {
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.file == nil {
		return nil
	}
	var err error
	if j.end == 0 {
		err = j.budget.files.disk.remove(j.path)
	}
	err = errors.Join(err, j.file.Close())
	j.file = nil
	return err
}

// Remove closes the journal and removes its file, once all that its runs return is kept, or the
// entry was given back: after that nothing can go on from there.
func (j *Journal) Remove() error {
	err := j.Close()
	if gone := j.budget.files.disk.remove(j.path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// Part is the journal of one of the entry's runs, by a name without spaces.
func (j *Journal) Part(name string) *Part { return &Part{j, name + " "} }

// Part is a part of a [Journal], in the form of dpglm.Journal.
type Part struct {
	whole  *Journal
	prefix string
}

// Records returns the part's records, the earliest first.
func (p *Part) Records() ([][]byte, error) {
	p.whole.lock.Lock()
	defer p.whole.lock.Unlock()
	var list [][]byte
	for _, r := range p.whole.records {
		if text, mine := strings.CutPrefix(r, p.prefix); mine {
			list = append(list, []byte(text))
		}
	}
	return list, nil
}

// Append adds a record, and returns when it is on the disk.
func (p *Part) Append(record []byte) error { return p.whole.append(p.prefix + string(record)) }
