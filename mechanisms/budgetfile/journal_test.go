package budgetfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// charged is a budget with an entry.
func charged(t *testing.T) (f *File, id string) {
	t.Helper()
	f, _ = created(t)
	id, err := f.Spend(context.Background(), survey, "fit", fit(t, 0.01))
	if err != nil {
		t.Fatal(err)
	}
	return f, id
}

func journal(t *testing.T, f *File, id string) *Journal {
	t.Helper()
	j, err := f.Journal(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// of are a part's records.
func of(t *testing.T, j *Journal, part string) string {
	t.Helper()
	list, err := j.Part(part).Records()
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(list, []byte(",")))
}

// The first record begins the entry; what is there is read again, part by part, by one program
// at a time.
func TestJournalsAreReadAgain(t *testing.T) {
	f, id := charged(t)
	j := journal(t, f, id)
	if _, err := f.Journal(context.Background(), id); !errors.Is(err, check.ErrConfig) {
		t.Errorf("opened twice: %v", err)
	}
	if !entries(t, f)[0].Begun.IsZero() || j.Begun() || of(t, j, "fit") != "" {
		t.Error("begun before the first record")
	}
	for i, r := range []string{"fit a", "fit b", "evaluation c", "fit d"} {
		part, text, _ := strings.Cut(r, " ")
		if err := j.Part(part).Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if entries(t, f)[0].Begun.IsZero() || !j.Begun() {
			t.Fatalf("not begun at record %d", i+1)
		}
	}
	if err := f.GiveBack(context.Background(), id, "none"); !errors.Is(err, check.ErrConfig) {
		t.Errorf("given back after its first record: %v", err)
	}
	for range 2 {
		if got := of(t, j, "fit") + " " + of(t, j, "evaluation") + " " + of(t, j, "fi"); got != "a,b,d c " {
			t.Errorf("records %q", got)
		}
		if err := errors.Join(j.Close(), j.Close()); err != nil {
			t.Fatal(err)
		}
		j = journal(t, opened(t, f.files.path), id)
	}
	if err := j.Part("fit").Append([]byte("e")); err != nil || of(t, j, "fit") != "a,b,d,e" {
		t.Errorf("%q (%v)", of(t, j, "fit"), err)
	}
	if err := j.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := j.Part("fit").Append([]byte("f")); !errors.Is(err, check.ErrConfig) {
		t.Errorf("appended to a closed one: %v", err)
	}
	if _, err := f.Journal(context.Background(), id); !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), "can't be gone on with") {
		t.Errorf("an entry that has begun and whose journal is gone: %v", err)
	}
}

// What a crash leaves of the last record is cut off, wherever it is torn; any other change is
// refused.
func TestJournalsThatAreTornOrDamaged(t *testing.T) {
	f, id := charged(t)
	j, sizes := journal(t, f, id), []int64{}
	for _, r := range []string{"head", "first", "second"} {
		if err := j.Part("fit").Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, j.end)
	}
	path := j.path
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := func(data []byte) (string, error) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := f.Journal(context.Background(), id)
		if err != nil {
			return "", err
		}
		defer j.Close()
		return of(t, j, "fit"), nil
	}
	for n := 0; n < len(whole); n += 1 + n%3 {
		want, size, gone := "head,first", sizes[1], false
		title := sizes[0] - int64(lineHead+len("fit head")+lineTail)
		switch at := int64(n); {
		case at < title:
			gone = true
		case at < sizes[0]:
			want, size = "", title
		case at < sizes[1]:
			want, size = "head", sizes[0]
		}
		got, err := at(whole[:n])
		if gone {
			if !errors.Is(err, check.ErrConfig) {
				t.Errorf("cut to %d bytes: %q, %v", n, got, err)
			}
			continue
		}
		if left, _ := os.Stat(path); err != nil || got != want || left.Size() != size {
			t.Errorf("cut to %d bytes: %q, want %q (%v)", n, got, want, err)
		}
	}
	for n := range whole {
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		if got, err := at(changed); err == nil {
			t.Errorf("byte %d changed: %q", n, got)
		}
	}
	if got, err := at(slices.Concat(whole[:sizes[0]], whole[sizes[1]:])); err == nil {
		t.Errorf("the second record removed: %q", got)
	}
	if got, err := at(whole); err != nil || got != "head,first,second" {
		t.Errorf("%q (%v)", got, err)
	}
}

// Of an entry that hasn't begun no noise was drawn: what a journal has of it doesn't count.
func TestJournalsOfEntriesThatHaventBegun(t *testing.T) {
	f, id := charged(t)
	path, err := f.Releases(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("what a program left that died before it began"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := journal(t, f, id)
	if err := j.Part("fit").Append([]byte("a")); err != nil || of(t, j, "fit") != "a" {
		t.Errorf("%v", err)
	}
	j.Close()
	if j = journal(t, f, id); of(t, j, "fit") != "a" {
		t.Errorf("%q", of(t, j, "fit"))
	}
	j.Close()
	back, err := f.Spend(context.Background(), survey, "fit", fit(t, 0.01))
	if err != nil {
		t.Fatal(err)
	}
	j = journal(t, f, back)
	if err := f.GiveBack(context.Background(), back, "cancelled"); err != nil {
		t.Fatal(err)
	}
	if err := j.Part("fit").Append([]byte("a")); !errors.Is(err, check.ErrConfig) || j.Begun() {
		t.Errorf("begun after it was given back: %v", err)
	}
	if err := j.Part("fit").Append([]byte("b")); !errors.Is(err, check.ErrConfig) {
		t.Errorf("appended after that: %v", err)
	}
	if err := j.Remove(); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{back, "1-0123456789abcdef", "../elsewhere"} {
		if _, err := f.Journal(context.Background(), other); !errors.Is(err, check.ErrConfig) {
			t.Errorf("entry %s: %v", other, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+releasesName)); err != nil || len(left) != 1 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

// fullDisk takes so many bytes of a journal.
type fullDisk struct {
	system
	left *int
}

type fullFile struct {
	handle
	left *int
}

var errDisk = errors.New("no space left on device")

func (d fullDisk) open(path string, flag int) (handle, error) {
	h, err := d.system.open(path, flag)
	if err == nil && strings.HasSuffix(path, releasesName) {
		h = fullFile{h, d.left}
	}
	return h, err
}

func (f fullFile) WriteAt(p []byte, at int64) (int, error) {
	if *f.left -= len(p); *f.left >= 0 {
		return f.handle.WriteAt(p, at)
	}
	n, _ := f.handle.WriteAt(p[:max(0, *f.left+len(p))], at)
	return n, errDisk
}

// A disk that is full at any byte leaves whole records, which are read again, or an entry that
// hasn't begun.
func TestJournalsOnFullDisks(t *testing.T) {
	for room := 0; ; room += 61 {
		f, id := charged(t)
		left := room
		f.files.disk = fullDisk{left: &left}
		j := journal(t, f, id)
		var err error
		var kept []string
		for i := 0; i < 3 && err == nil; i++ {
			if err = j.Part("fit").Append([]byte(fmt.Sprint("record", i))); err == nil {
				kept = append(kept, fmt.Sprint("record", i))
			}
		}
		if err != nil && !errors.Is(err, errDisk) || j.Begun() != (len(kept) > 0) {
			t.Fatalf("%d bytes: %v after %v", room, err, kept)
		}
		j.Close()
		left = 1 << 20
		if again := journal(t, f, id); of(t, again, "fit") != strings.Join(kept, ",") {
			t.Errorf("%d bytes: %q, want %v", room, of(t, again, "fit"), kept)
		}
		if err == nil {
			break
		}
	}
}
