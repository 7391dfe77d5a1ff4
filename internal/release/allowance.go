package release

import (
	"fmt"
	"math"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// Allowance is the right to make a schedule's releases from a set of rows, each of
// them once. It refuses what isn't planned: one release too many, another
// mechanism, another dimension, an answer from other rows. It is safe for
// concurrent use.
type Allowance struct {
	schedule *Schedule
	place    string // in the whole schedule: the numbers of the parts that lead here
	rows     *Rows
	run      *run
	void     bool    // whether it refuses all releases
	regions  []*Rows // that the parts of a parallel node were given, shared by the copies that are woven

	made  []int   // releases of a leaf; uses of each part of a node
	drawn float64 // shares of a pool's μ² that were used
}

// run is what all allowances of one schedule share.
type run struct {
	lock sync.Mutex
	src  mechanisms.Source

	begun             bool // noise may have been drawn
	releases, planned int
	journal           Journal  // nil for none
	identity          string   // its first record
	moves             bool     // in the next run, rows may lie in other parts
	kept              [][]byte // its releases that are to be made again
}

// Allow returns the right to make the releases of the schedule once, from the
// given rows and with noise from the given source. What it returns the second time, or of a
// part of another schedule, refuses every release.
func (s *Schedule) Allow(rows *Rows, src mechanisms.Source) *Allowance {
	a := s.allow(rows, &run{src: src, planned: s.releases()}, "0", nil)
	a.void = s.allowed.Swap(true)
	return a
}

func (s *Schedule) allow(rows *Rows, r *run, place string, shared []*Rows) *Allowance {
	uses := max(len(s.parts), 1)
	if s.how == replicated {
		uses = s.count
	}
	a := &Allowance{schedule: s, place: place, rows: rows, run: r, regions: shared, made: make([]int, uses)}
	switch {
	case s.how == woven:
		a.regions = make([]*Rows, len(s.parts[0].split().parts))
	case a.regions == nil && (s.how == parallel || s.how == replicated):
		a.regions = make([]*Rows, uses)
	}
	return a
}

// Part returns the allowance of the i-th part of a composition on the same rows,
// which is given once.
func (a *Allowance) Part(i int) (*Allowance, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	s := a.schedule
	if s.how != sequential && s.how != woven {
		return nil, a.refuse("has no parts on the same rows")
	}
	if err := a.use(i); err != nil {
		return nil, err
	}
	var shared []*Rows
	if s.how == woven || len(s.parts) == 1 {
		shared = a.regions
	}
	return s.parts[i].allow(a.rows, a.run, a.part(i), shared), nil
}

// On returns the allowance of the i-th part of a parallel composition, which is
// given once, for rows that must be disjoint from those of the other parts.
func (a *Allowance) On(i int, rows *Rows) (*Allowance, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	s := a.schedule
	if s.how != parallel && s.how != replicated {
		return nil, a.refuse("has no parts on disjoint rows")
	}
	if err := a.use(i); err != nil {
		return nil, err
	}
	if rows == nil || !rows.within(a.rows) {
		return nil, a.refuse("is for other rows")
	}
	for k, other := range a.regions {
		if k != i && other != nil && !other.disjoint(rows) {
			return nil, a.refuse(fmt.Sprintf("needs disjoint rows, and part %d may share some with part %d", i, k))
		}
	}
	if known := a.regions[i]; known != nil && known != rows {
		return nil, a.refuse(fmt.Sprintf("needs the same split each time, and part %d has other rows than before", i))
	}
	a.regions[i] = rows
	place := a.part(i)
	if s.how == replicated {
		i = 0
	}
	return s.parts[i].allow(rows, a.run, place, nil), nil
}

// part is the place of a part.
func (a *Allowance) part(i int) string { return fmt.Sprintf("%s.%d", a.place, i) }

// use counts the i-th part, or a leaf's releases where i is 0.
func (a *Allowance) use(i int) error {
	planned := 1
	if a.schedule.how == leafOnly {
		planned = a.schedule.count
	}
	if a.void {
		return a.refuse("was allowed before, or is a part of another schedule")
	}
	if i < 0 || i >= len(a.made) {
		return a.refuse(fmt.Sprintf("has no part %d", i))
	}
	if a.made[i] >= planned {
		return a.refuse(fmt.Sprintf("is planned %d times, all of which were made", planned))
	}
	a.made[i]++
	return nil
}

// refuse is the error about a release that isn't planned. It depends on public
// facts only.
func (a *Allowance) refuse(why string) error {
	return check.Fail(check.ErrUnplanned, fmt.Sprintf("release %q", a.schedule.label), nil, why)
}

// Skip counts releases of a leaf as made, which an earlier program made. A pool doesn't
// know what shares these took.
func (a *Allowance) Skip(releases int) error {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	if _, shared := a.schedule.leaf.(pool); shared {
		return a.refuse("can't skip releases of a pool")
	}
	if a.void || a.schedule.how != leafOnly || releases < 0 || releases > a.schedule.count-a.made[0] {
		return a.refuse(fmt.Sprintf("has no %d releases left", releases))
	}
	a.made[0] += releases
	return nil
}

// Made is the number of a leaf's releases so far, those that were skipped included.
func (a *Allowance) Made() int {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	return a.made[0]
}

// AddNoise releases a vector by the planned Gaussian or Laplace mechanism.
func (a *Allowance) AddNoise(x Answer) ([]float64, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	m, ok := a.schedule.leaf.(additive)
	if !ok || x.each != nil {
		return nil, a.refuse("isn't planned as a vector with noise")
	}
	if err := a.admit(x.rows, len(x.values), m.dim); err != nil {
		return nil, err
	}
	return a.release(m.name(), m.dim, x.l2, 0, func() ([]float64, error) {
		v := append([]float64(nil), x.values...)
		a.record(m.name(), v, x, 0)
		if err := m.release(v, x.l2, a.run.src); err != nil {
			return nil, err // v may be raw
		}
		return v, nil
	})
}

// Draw releases a vector by a planned pool of Gaussian releases, with a share of its μ².
// All shares add up to 1 at most.
func (a *Allowance) Draw(share float64, x Answer) ([]float64, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	m, ok := a.schedule.leaf.(pool)
	if !ok || x.each != nil {
		return nil, a.refuse("isn't planned as a pool of vectors with noise")
	}
	if len(x.values) > m.dim {
		return nil, a.refuse(fmt.Sprintf("is planned for at most %d coordinates, not for %d", m.dim, len(x.values)))
	}
	if !(share > 0 && a.drawn+share <= 1+1e-12) {
		return nil, a.refuse("has too little of its μ² left")
	}
	if err := a.admit(x.rows, m.dim, m.dim); err != nil {
		return nil, err
	}
	a.drawn += share
	of := m.of(share)
	return a.release(m.name(), len(x.values), x.l2, of.Mu, func() ([]float64, error) {
		v := append([]float64(nil), x.values...)
		a.record(m.name(), v, x, of.Mu)
		if err := of.Release(v, v, x.l2, a.run.src); err != nil {
			return nil, err // v may be raw
		}
		return v, nil
	})
}

// Select releases the index of one of several scores by the planned mechanism.
func (a *Allowance) Select(x Answer) (int, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	m, ok := a.schedule.leaf.(chooser)
	if !ok || len(x.each) != len(x.values) {
		return 0, a.refuse("isn't planned as a selection")
	}
	if err := a.admit(x.rows, 0, 0); err != nil {
		return 0, err
	}
	return a.index(m.name(), largest(x.each), func() (int, error) {
		v := append([]float64(nil), x.values...)
		a.record(m.name(), v, x, 0)
		return m.choose(v, x.each, a.run.src)
	})
}

// index is release for what releases an index.
func (a *Allowance) index(mechanism string, sensitivity float64, draw func() (int, error)) (int, error) {
	v, err := a.release(mechanism, 1, sensitivity, 0, func() ([]float64, error) {
		i, err := draw()
		return []float64{float64(i)}, err
	})
	if err != nil {
		return 0, err
	}
	return int(v[0]), nil
}

// Vote releases yes or no by a margin.
func (a *Allowance) Vote(x Answer) (bool, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	m, ok := a.schedule.leaf.(vote)
	if !ok || x.each != nil || !(x.l2 <= 2) {
		return false, a.refuse("isn't planned as a vote by a margin of sensitivity 2")
	}
	if err := a.admit(x.rows, len(x.values), 1); err != nil {
		return false, err
	}
	yes, err := a.index(m.name(), x.l2, func() (int, error) {
		v := append([]float64(nil), x.values...)
		a.record(m.name(), v, x, 0)
		if v[0] != math.Trunc(v[0]) || math.Abs(v[0]) > 1<<52 {
			return 0, a.refuse("needs a whole number")
		}
		yes, err := m.Answer(int(v[0]), a.run.src)
		if yes {
			return 1, err
		}
		return 0, err
	})
	return yes == 1, err
}

// admit holds an answer's rows and length against the plan, and counts it.
func (a *Allowance) admit(rows *Rows, dim, planned int) error {
	if rows == nil || !rows.within(a.rows) {
		return a.refuse("is for other rows")
	}
	if dim != planned {
		return a.refuse(fmt.Sprintf("is planned for %d coordinates, not for %d", planned, dim))
	}
	return a.use(0)
}

// record shows values, a copy of an answer's, to a test, and the μ of a pool's release.
func (a *Allowance) record(mechanism string, values []float64, x Answer, mu float64) {
	if r, ok := a.run.src.(Recorder); ok {
		r.Record(&Event{Label: a.schedule.label, Mechanism: mechanism, Rows: x.rows, Values: values, L2: x.l2, Each: x.each, Mu: mu, Drawn: a.drawn, Centre: x.centre})
	}
}
