package release

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Journal is a list of records that outlives the program.
type Journal interface {
	// Records are those that were appended, in their order.
	Records() ([][]byte, error)
	// Append adds a record, and returns once it will be there after a crash.
	Append(record []byte) error
}

// Keep has a journal keep each release, once it has its noise and before anyone sees it. If
// it holds releases of an earlier run that stopped, these are made again as they are there,
// without new noise, before others follow. identity names the run by public facts: a journal of
// another one is refused. So is one with releases where rows lie in parts, unless the rows are
// in the order that they had then.
//
// # Privacy
//
// Replace-one. Two runs of a schedule, of which the second replays the first's releases,
// are one run of it: each release is drawn once, by its mechanism, from the rows and from the
// releases before it, which the second run reads in the journal. What the first run drew and
// didn't record, nobody has seen: not the caller, as a release is recorded before it is
// returned, nor the journal. It is drawn afresh, with the law that it had, as what stops a run
// doesn't depend on it: a record's length depends on the number of coordinates alone.
// Only what was released is recorded, so that the coins of a selection and the linear term of
// objective perturbation, which have to stay secret, are forgotten with the run and drawn anew
// together with what hangs on them.
//
// Releases of a run are made one at a time, in an order that the schedule and earlier releases
// determine. A record says where in the schedule its release stands, by which mechanism and
// with which noise; one that isn't the next is refused.
//
// The rows must be the same. In one part, two releases from different orders of them are
// still two releases about each row. Where rows lie in several parts, by their places, another
// order moves rows to other parts, and releases that were counted side by side add up: so the
// caller says whether it is the same. Nothing here compares rows: a fingerprint of them, without
// a key, would tell whoever knows all rows but one what that one is.
func (a *Allowance) Keep(j Journal, identity string, sameOrder bool) error {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	if a.run.begun {
		return a.refuse("has been begun without a journal")
	}
	records, err := j.Records()
	if err != nil {
		return err
	}
	a.run.journal, a.run.identity = j, identity
	a.run.moves = !sameOrder && (a.rows.whole != nil || a.schedule.divides())
	if len(records) == 0 {
		return nil
	}
	if string(records[0]) != identity {
		return check.Fail(check.ErrConfig, "journal", nil, "must be empty, or one of the same run: of a learner with the same configuration, problem and budget, "+
			"on as many rows with the same facts, by the same version of this library")
	}
	if len(records) > 1 && a.run.moves {
		return check.Fail(check.ErrConfig, "journal", nil, "can't be gone on with: the run has disjoint parts, and nobody knows whether each person is in the same part as before")
	}
	a.run.begun, a.run.kept = true, records[1:]
	return nil
}

// Begun reports whether noise may have been drawn, by this run or an earlier one whose journal
// it has.
func (a *Allowance) Begun() bool {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	return a.run.begun
}

// Resumes reports whether a run that stops now can go on from its journal.
func (a *Allowance) Resumes() bool {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	return a.run.journal != nil && !(a.run.moves && a.run.releases > 0)
}

// Releases are how many the run has made, and how many are planned at most.
func (a *Allowance) Releases() (made, planned int) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	return a.run.releases, a.run.planned
}

// release returns the next release, dim numbers, or an index or a truth value as one: as the
// journal has it or, where that has no more, as it is drawn. sensitivity and mu are public
// numbers that the noise depends on.
func (a *Allowance) release(mechanism string, dim int, sensitivity, mu float64, draw func() ([]float64, error)) ([]float64, error) {
	r := a.run
	of := fmt.Sprintf("%s %s %016x %016x|", a.place, mechanism, math.Float64bits(sensitivity), math.Float64bits(mu))
	if len(r.kept) > 0 {
		values, err := replayed(string(r.kept[0]), of, dim)
		if err != nil {
			return nil, err
		}
		r.kept = r.kept[1:]
		r.releases++
		return values, nil
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	values, err := draw()
	if err != nil {
		return nil, err
	}
	if r.journal != nil {
		text := []byte(of)
		for _, v := range values {
			text = fmt.Appendf(text, "%016x", math.Float64bits(v))
		}
		if err := r.journal.Append(text); err != nil {
			return nil, fmt.Errorf("dpglm: the journal: %w", err)
		}
	}
	r.releases++
	return values, nil
}

// begin has the journal know that noise is about to be drawn.
func (r *run) begin() error {
	if r.begun {
		return nil
	}
	if r.journal != nil {
		if err := r.journal.Append([]byte(r.identity)); err != nil {
			return fmt.Errorf("dpglm: the journal: %w", err)
		}
	}
	r.begun = true
	return nil
}

// replayed reads a record, which must be that of the given release: what it is, and the bits of
// each number.
func replayed(text, of string, dim int) ([]float64, error) {
	if len(text) != len(of)+16*dim || text[:len(of)] != of {
		return nil, check.Fail(check.ErrModel, "journal", nil, fmt.Sprintf("must have %d numbers of the release %q at this place: it is of another run, or the rows have changed", dim, of))
	}
	values := make([]float64, dim)
	for i := range values {
		var bits uint64
		digits := text[len(of)+16*i:][:16]
		if _, err := fmt.Sscanf(digits, "%16x", &bits); err != nil || fmt.Sprintf("%016x", bits) != digits {
			return nil, check.Fail(check.ErrModel, "journal", nil, fmt.Sprintf("must have numbers of 64 bits in the release %q", of))
		}
		values[i] = math.Float64frombits(bits)
	}
	return values, nil
}

// divides reports whether a schedule has parts on disjoint rows: those that are woven are found by their own.
func (s *Schedule) divides() bool {
	if s.how == parallel || s.how == replicated {
		return true
	}
	for _, p := range s.parts {
		if p.divides() {
			return true
		}
	}
	return false
}

// releases is how many a schedule plans, at most.
func (s *Schedule) releases() int {
	switch s.how {
	case leafOnly:
		return s.count
	case replicated:
		return s.count * s.parts[0].releases()
	}
	total := 0
	for _, p := range s.parts {
		total += p.releases()
	}
	return total
}
