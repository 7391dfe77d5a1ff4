package release

import (
	"fmt"
	"sync/atomic"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// Schedule is a tree of planned releases. Its leaves are releases by one mechanism,
// a fixed number of them; inner nodes compose parts, as those of a
// [mechanisms.Ledger] do. It is immutable, but for this: it is allowed once, and not at all
// where it is a part of another one.
type Schedule struct {
	label  string
	how    composition
	leaf   leaf // of a leaf
	count  int  // releases of a leaf
	parts  []*Schedule
	by     string // how rows are split for a parallel node
	ledger *mechanisms.Ledger

	allowed *atomic.Bool // itself, or by what it is a part of
}

type composition int

const (
	leafOnly   composition = iota
	sequential             // parts one after the other on the same rows
	parallel               // parts on disjoint rows
	replicated             // many copies of one part on disjoint rows
	woven                  // parallel schedules, one after the other on one split
)

// leaf is a mechanism with its parameters.
type leaf interface {
	name() string
	entry(label string, count int) (*mechanisms.Ledger, error)
}

func newLeaf(label string, l leaf, count int) (*Schedule, error) {
	return Schedule{label: label, leaf: l, count: count}.with(l.entry(label, count))
}

func (s Schedule) with(ledger *mechanisms.Ledger, err error) (*Schedule, error) {
	if err != nil {
		return nil, err
	}
	s.ledger, s.allowed = ledger, new(atomic.Bool)
	for _, p := range s.parts {
		p.allowed.Store(true)
	}
	return &s, nil
}

// Anew is the same schedule for another run, whose releases the ledger of this one doesn't
// count.
func (s *Schedule) Anew() *Schedule {
	other := *s
	other.allowed = new(atomic.Bool)
	return &other
}

// Ledger is what all planned releases spend together.
func (s *Schedule) Ledger() *mechanisms.Ledger { return s.ledger }

// Sequential composes schedules that run one after the other on the same rows.
func Sequential(label string, parts ...*Schedule) (*Schedule, error) {
	return Schedule{label: label, how: sequential, parts: parts}.with(mechanisms.Sequential(label, ledgers(parts)...))
}

// Parallel composes schedules on disjoint rows, split as by says in public
// numbers.
func Parallel(label, by string, parts ...*Schedule) (*Schedule, error) {
	return Schedule{label: label, how: parallel, parts: parts, by: by}.with(mechanisms.Parallel(label+", "+by, ledgers(parts)...))
}

// Replicated is the parallel composition of copies of one schedule, on as many
// disjoint sets of rows. It costs what one of them does.
func Replicated(label string, copies int, part *Schedule) (*Schedule, error) {
	if copies < 1 {
		return nil, check.Fail(check.ErrConfig, "copies", copies, "must be at least 1")
	}
	return Schedule{label: label, how: replicated, parts: []*Schedule{part}, count: copies}.with(mechanisms.Parallel(label, part.ledger))
}

// Woven composes schedules that run one after the other on the same rows. Where
// all of them are parallel and split these in the same way, a row lies in the same
// part each time: the parts compose in sequence and the results in parallel, so
// that a row meets either all first parts or all second ones. Elsewhere it is
// Sequential.
func Woven(label string, plans ...*Schedule) (*Schedule, error) {
	splits := make([]*Schedule, len(plans))
	for j, p := range plans {
		if splits[j] = p.split(); splits[j] == nil || splits[j].by != splits[0].by || len(splits[j].parts) != len(splits[0].parts) {
			return Sequential(label, plans...)
		}
	}
	if len(plans) == 0 {
		return Sequential(label)
	}
	merged := make([]*mechanisms.Ledger, len(splits[0].parts))
	for i := range merged {
		part := make([]*mechanisms.Ledger, len(plans))
		for j, s := range splits {
			part[j] = s.parts[i].ledger
		}
		var err error
		if merged[i], err = mechanisms.Sequential(fmt.Sprintf("part %d, %d times", i+1, len(plans)), part...); err != nil {
			return nil, err
		}
	}
	return Schedule{label: label, how: woven, parts: plans}.with(mechanisms.Parallel(label+", "+splits[0].by, merged...))
}

// split is the parallel node that all of a schedule runs in, nil if there is none.
func (s *Schedule) split() *Schedule {
	for s.how == sequential && len(s.parts) == 1 {
		s = s.parts[0]
	}
	if s.how != parallel {
		return nil
	}
	return s
}

func ledgers(parts []*Schedule) []*mechanisms.Ledger {
	l := make([]*mechanisms.Ledger, len(parts))
	for i, p := range parts {
		l[i] = p.ledger
	}
	return l
}
