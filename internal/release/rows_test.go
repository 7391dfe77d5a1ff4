package release

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/dpglm/dpglm/mechanisms"
)

// Whatever an allowance is for, all rows, a part of them or a part of a part, each way to release takes answers from these rows and what they are split
// into, and from no others: not from the whole, nor from a part beside, nor from the same part of another split or of other rows. So does each
// way to its parts.
func TestAllowancesAreForTheirRows(t *testing.T) {
	all, others := NewRows(), NewRows()
	half, beside := all.Split("in order", 2)[0], all.Split("in order", 2)[1]
	quarter := half.Split("in order", 2)[0]
	named := map[string]*Rows{
		"all": all, "half": half, "the other half": beside, "half by a seed": all.Split("by seed 1", 2)[0], "a third": all.Split("in order", 3)[0],
		"a quarter": quarter, "the next quarter": half.Split("in order", 2)[1], "a quarter of the other half": beside.Split("in order", 2)[0],
		"an eighth": quarter.Split("in order", 2)[0], "other rows": others, "half of other rows": others.Split("in order", 2)[0], "none": nil,
	}
	within := map[string][]string{
		"all":       {"all", "half", "the other half", "half by a seed", "a third", "a quarter", "the next quarter", "a quarter of the other half", "an eighth"},
		"half":      {"half", "a quarter", "the next quarter", "an eighth"},
		"a quarter": {"a quarter", "an eighth"},
	}
	one := func() *Schedule { return gaussianOf("part", 1, 1) }
	release := map[string]func(a *Rows, of *Rows) error{
		"AddNoise": func(a, of *Rows) error {
			_, err := one().Allow(a, newRecorder()).AddNoise(NewAnswer(of, numbers(1), 1))
			return err
		},
		"Draw": func(a, of *Rows) error {
			_, err := poolOf(1, 2, 1).Allow(a, newRecorder()).Draw(0.5, NewAnswer(of, numbers(1), 1))
			return err
		},
		"Select": func(a, of *Rows) error {
			s := must(Selection("choice", mechanisms.Exponential{Epsilon: 1}))
			_, err := s.Allow(a, newRecorder()).Select(NewScores(of, numbers(2), []float64{1, 1}))
			return err
		},
		"Vote": func(a, of *Rows) error {
			_, err := must(Vote("vote", 1, 1)).Allow(a, newRecorder()).Vote(NewAnswer(of, numbers(1), 2))
			return err
		},
		"Choose": func(a, of *Rows) error {
			_, err := rankingOf(1).Allow(a, newRecorder()).Choose(newRanking(t, of, halving))
			return err
		},
		"On": func(a, of *Rows) error {
			_, err := must(Parallel("parts", "split", one(), one())).Allow(a, newRecorder()).On(1, of)
			return err
		},
		"On a copy": func(a, of *Rows) error {
			_, err := must(Replicated("copies", 2, one())).Allow(a, newRecorder()).On(1, of)
			return err
		},
	}
	for whose, inside := range within {
		for name, of := range named {
			taken := false
			for _, other := range inside {
				taken = taken || other == name
			}
			for way, ask := range release {
				if err := ask(named[whose], of); (err == nil) != taken {
					t.Errorf("%s for %s, of %s: %v", way, whose, name, err)
				}
			}
		}
	}
}

// onceFull is a journal that doesn't take one of its records, counted from 0.
type onceFull struct {
	records        []string
	appends, fails int
}

func (p *onceFull) Records() ([][]byte, error) { return nil, nil }

func (p *onceFull) Append(record []byte) error {
	if p.appends++; p.appends-1 == p.fails {
		return errors.New("the disk is full")
	}
	p.records = append(p.records, string(record))
	return nil
}

// A journal that fails at one record, whichever it is, and takes others, has the run's name first and then what was released, in order; nothing
// counts as begun before it has the name, and a run of parts resumes until it has released something.
func TestJournalsThatFailOnce(t *testing.T) {
	const releases = 3
	for fails := range releases + 2 {
		rows, p := NewRows(), &onceFull{fails: fails}
		a := gaussianOf("sums", 2*releases, 1).Allow(rows, mechanisms.NewSeededSource(1))
		if err := a.Keep(p, "run", true); err != nil {
			t.Fatal(err)
		}
		var released []string
		failed := 0
		for range releases + 1 {
			if a.Begun() != (len(p.records) > 0) {
				t.Errorf("record %d fails: begun is %v after %d records", fails, a.Begun(), len(p.records))
			}
			v, err := a.AddNoise(NewAnswer(rows, numbers(1), 1))
			if err != nil {
				failed++
				continue
			}
			released = append(released, fmt.Sprintf("0 gaussian 3ff0000000000000 0000000000000000|%016x", math.Float64bits(v[0])))
		}
		if failed != 1 {
			t.Errorf("record %d fails: %d releases fail", fails, failed)
		}
		if len(p.records) != len(released)+1 || p.records[0] != "run" {
			t.Fatalf("record %d fails: %q of %q", fails, p.records, released)
		}
		for k, want := range released {
			if p.records[k+1] != want {
				t.Errorf("record %d fails: release %d is %q, released %q", fails, k, p.records[k+1], want)
			}
		}
	}
	for _, divided := range []bool{false, true} {
		for _, same := range []bool{false, true} {
			rows := NewRows()
			s := must(Sequential("run", gaussianOf("sum", 1, 1), gaussianOf("another", 1, 1)))
			if divided {
				s = must(Sequential("run", gaussianOf("sum", 1, 1), must(Replicated("copies", 2, gaussianOf("another", 1, 1)))))
			}
			a := s.Allow(rows, mechanisms.NewSeededSource(1))
			if a.Resumes() {
				t.Error("a run without a journal resumes")
			}
			if err := a.Keep(&pages{}, "run", same); err != nil {
				t.Fatal(err)
			}
			before := a.Resumes()
			part, err := a.Part(0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := part.AddNoise(NewAnswer(rows, numbers(1), 1)); err != nil {
				t.Fatal(err)
			}
			if after := a.Resumes(); !before || after != (!divided || same) {
				t.Errorf("in parts %v, in the same order %v: resumes %v before and %v after a release", divided, same, before, after)
			}
		}
	}
}
