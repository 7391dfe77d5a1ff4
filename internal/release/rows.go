package release

import (
	"fmt"
	"sync"
)

// Rows stands for a set of rows. It holds none of them: it is how an Allowance
// knows that an answer was computed from the rows that it is for, and that the
// parts of a parallel composition are disjoint.
type Rows struct {
	whole *Rows // of which this is a part; nil for a whole data set
	part  int   // its place among the parts
	by    string

	lock   sync.Mutex
	splits map[string][]*Rows
}

// NewRows returns a new data set's.
func NewRows() *Rows { return &Rows{splits: map[string][]*Rows{}} }

// Split returns disjoint parts. The caller, package curator, answers for it: by
// must say how the rows are split, in public numbers, and the same words get the
// same parts.
func (r *Rows) Split(by string, parts int) []*Rows {
	r.lock.Lock()
	defer r.lock.Unlock()
	by = fmt.Sprintf("%d parts, %s", parts, by)
	if r.splits[by] == nil {
		made := make([]*Rows, parts)
		for i := range made {
			made[i] = &Rows{whole: r, part: i, by: by, splits: map[string][]*Rows{}}
		}
		r.splits[by] = made
	}
	return r.splits[by]
}

// Parts say which part of which split the rows are, the innermost first; nothing of a whole data set.
func (r *Rows) Parts() (parts []string) {
	for ; r.whole != nil; r = r.whole {
		parts = append(parts, fmt.Sprintf("part %d of %s", r.part, r.by))
	}
	return parts
}

// within reports whether all rows of r are among those of s, as far as is known.
func (r *Rows) within(s *Rows) bool {
	for ; r != nil; r = r.whole {
		if r == s {
			return true
		}
	}
	return false
}

// disjoint reports whether r and s are known to share no row: they lie in two
// parts of one split.
func (r *Rows) disjoint(s *Rows) bool {
	for p := r; p.whole != nil; p = p.whole {
		for q := s; q.whole != nil; q = q.whole {
			if p.whole == q.whole && p.by == q.by && p.part != q.part {
				return true
			}
		}
	}
	return false
}
