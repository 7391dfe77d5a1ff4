package release

import (
	"errors"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// pages are a journal in memory.
type pages struct {
	records [][]byte
	failure error
}

func (p *pages) Records() ([][]byte, error) { return slices.Clone(p.records), p.failure }

func (p *pages) Append(record []byte) error {
	p.records = append(p.records, slices.Clone(record))
	return p.failure
}

// A run keeps a journal from its beginning: not once it has begun, not one that can't be read, of another run, or of parts that
// nobody knows the rows of; and what it refuses it doesn't keep.
func TestKeepRefuses(t *testing.T) {
	rows := NewRows()
	answer := NewAnswer(rows, numbers(1), 1)
	allowed := func(s *Schedule) *Allowance { return s.Allow(rows, mechanisms.NewSeededSource(1)) }
	plain := func() *Allowance { return allowed(gaussianOf("sums", 2, 1)) }
	divided := func() *Allowance {
		return allowed(must(Parallel("parts", "split", gaussianOf("part", 1, 1), gaussianOf("part", 1, 1))))
	}
	failed := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		of        func() *Allowance
		journal   *pages
		sameOrder bool
		want      error // nil where it is kept
	}{
		"new":                      {plain, &pages{}, false, nil},
		"of the same run":          {plain, &pages{records: [][]byte{[]byte("run")}}, false, nil},
		"of another run":           {plain, &pages{records: [][]byte{[]byte("other")}}, false, check.ErrConfig},
		"unreadable":               {plain, &pages{failure: failed}, false, failed},
		"parts":                    {divided, &pages{}, false, nil},
		"parts, of a run":          {divided, &pages{records: [][]byte{[]byte("run")}}, false, nil},
		"parts, with a release":    {divided, &pages{records: [][]byte{[]byte("run"), []byte("release")}}, false, check.ErrConfig},
		"parts, in the same order": {divided, &pages{records: [][]byte{[]byte("run"), []byte("release")}}, true, nil},
		"one part, with a release": {plain, &pages{records: [][]byte{[]byte("run"), []byte("release")}}, false, nil},
		"begun": {func() *Allowance {
			a := plain()
			if _, err := a.AddNoise(answer); err != nil {
				t.Fatal(err)
			}
			return a
		}, &pages{}, false, check.ErrUnplanned},
	} {
		a, given := c.of(), len(c.journal.records)
		begun := a.Begun()
		if err := a.Keep(c.journal, "run", c.sameOrder); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if c.want == nil && a.Begun() != (given > 0) || c.want != nil && a.Begun() != begun {
			t.Errorf("%s: begun %t", name, a.Begun())
		}
	}
}

// What is appended before noise is drawn, and after it, are the run's name and its releases; a journal that takes neither ends the run.
func TestJournalsAreWritten(t *testing.T) {
	rows, p := NewRows(), &pages{}
	answer, a := NewAnswer(rows, numbers(1), 1), gaussianOf("sums", 2, 1).Allow(rows, mechanisms.NewSeededSource(1))
	if err := a.Keep(p, "run", true); err != nil || a.Begun() || !a.Resumes() {
		t.Fatalf("%v, begun %t, resumes %t", err, a.Begun(), a.Resumes())
	}
	first, err := a.AddNoise(answer)
	if err != nil || len(p.records) != 2 || string(p.records[0]) != "run" || !a.Begun() {
		t.Fatalf("%q, %v", p.records, err)
	}
	if made, planned := a.Releases(); made != 1 || planned != 2 {
		t.Errorf("%d of %d releases", made, planned)
	}
	b := gaussianOf("sums", 2, 1).Allow(rows, mechanisms.NewSeededSource(2))
	if err := b.Keep(&pages{records: p.records}, "run", true); err != nil {
		t.Fatal(err)
	}
	if again, err := b.AddNoise(answer); err != nil || !slices.Equal(again, first) {
		t.Errorf("%v again, %v", again, err)
	}
	if made, _ := b.Releases(); made != 1 {
		t.Errorf("%d releases were made again, want 1", made)
	}
	other := gaussianOf("others", 2, 2).Allow(rows, mechanisms.NewSeededSource(2))
	if err := other.Keep(&pages{records: p.records}, "run", true); err != nil {
		t.Fatal(err)
	}
	if _, err := other.AddNoise(NewAnswer(rows, numbers(2), 1)); !errors.Is(err, check.ErrModel) {
		t.Errorf("a release of two numbers from a record of one: %v", err)
	}
	p.failure = errors.New("the disk is full")
	if v, err := a.AddNoise(answer); v != nil || !errors.Is(err, p.failure) {
		t.Errorf("%v, %v", v, err)
	}
}
