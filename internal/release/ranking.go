package release

import (
	"fmt"

	"github.com/dpglm/dpglm/mechanisms"
)

// Rankings plans so many choices of one of several candidates by whole-numbered scores that
// are to be small and are kept from one choice to the next.
func Rankings(label string, by mechanisms.Exponential, releases int) (*Schedule, error) {
	return newLeaf(label, ranking{by}, releases)
}

type ranking struct{ by mechanisms.Exponential }

func (r ranking) name() string { return "ranking" }

func (r ranking) entry(label string, count int) (*mechanisms.Ledger, error) {
	return r.by.Selections(label, count)
}

// Ranking is an answer that changes: scores of candidates to choose from, with their
// sensitivity. It can't be read. Package curator makes it, sets its scores, and answers for
// the sensitivity, which holds at any time, given what was released before.
type Ranking struct {
	rows        *Rows
	by          mechanisms.Exponential
	sensitivity uint64
	scores      []int64
	ranked      *mechanisms.Ranking
}

// NewRanking returns scores that a replaced row moves by at most the sensitivity, each, for
// choices by the given mechanism; it keeps the slice.
func NewRanking(rows *Rows, by mechanisms.Exponential, scores []int64, sensitivity uint64) (*Ranking, error) {
	ranked, err := by.Rank(scores, sensitivity)
	return &Ranking{rows, by, sensitivity, scores, ranked}, err
}

// Set gives a candidate another score.
func (x *Ranking) Set(candidate int, score int64) { x.ranked.Set(candidate, score) }

// Choose releases the index of a candidate by the planned mechanism.
func (a *Allowance) Choose(x *Ranking) (int, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	m, ok := a.schedule.leaf.(ranking)
	if !ok || x == nil || x.by != m.by {
		return 0, a.refuse("isn't planned as a choice from a ranking by this mechanism")
	}
	if err := a.admit(x.rows, 0, 0); err != nil {
		return 0, err
	}
	return a.index(m.name(), float64(x.sensitivity), func() (int, error) {
		if r, ok := a.run.src.(Recorder); ok {
			return a.chooseRecorded(r, m, x)
		}
		return x.ranked.Select(a.run.src)
	})
}

// chooseRecorded shows a test the scores, and chooses by what it leaves of them.
func (a *Allowance) chooseRecorded(r Recorder, m ranking, x *Ranking) (int, error) {
	values, each := make([]float64, len(x.scores)), make([]float64, len(x.scores))
	for i, s := range x.scores {
		values[i], each[i] = float64(s), float64(x.sensitivity)
	}
	r.Record(&Event{Label: a.schedule.label, Mechanism: m.name(), Rows: x.rows, Values: values, Each: each})
	scores := make([]int64, len(values))
	for i, v := range values {
		scores[i] = int64(v)
	}
	ranked, err := m.by.Rank(scores, x.sensitivity)
	if err != nil {
		return 0, err
	}
	return ranked.Select(r)
}

// Format prints the shape, whatever the verb: fmt would print the fields.
func (x *Ranking) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "release.Ranking of %d candidates", len(x.scores))
}
