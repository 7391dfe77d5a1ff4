package rows

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// group is a group of one-hot columns. Each cell of a row is 0 or 1 there, and at
// most one is 1: other values would be no levels of a category, and two ones would
// have the whole row scaled down, without a word. So they are refused, not clamped.
type group struct {
	name    string
	columns []int
	names   []string
}

// admitGroups checks the one-hot columns of raw row i. Numbers equal to their square
// are 0, 1 and +Inf.
func (e *Encoding) admitGroups(row []float64, i int) error {
	for k := range e.groups {
		var sum float64
		for _, j := range e.groups[k].columns {
			v := row[j]
			if v*v != v {
				return e.groups[k].explain(row, e.from+i)
			}
			sum += v
		}
		if sum > 1 {
			return e.groups[k].explain(row, e.from+i)
		}
	}
	return nil
}

// explain is the error of a row that breaks a group's rule.
func (g *group) explain(row []float64, i int) error {
	for k, j := range g.columns {
		if row[j] != 0 && row[j] != 1 {
			return g.notOneHot(i, k)
		}
	}
	return g.notOne(i)
}

func (g *group) notOneHot(i, k int) error {
	return check.Fail(check.ErrValue, fmt.Sprintf("row %d (counted from 1), column %q", i+1, g.names[k]), nil, fmt.Sprintf("must be 0 or 1, as a column of the one-hot group %q", g.name))
}

func (g *group) notOne(i int) error {
	return check.Fail(check.ErrValue, fmt.Sprintf("row %d (counted from 1), one-hot group %q", i+1, g.name), nil, "must have at most one column equal to 1")
}

// admitSparseGroups is admitGroups for all rows of a sparse matrix.
func (e *Encoding) admitSparseGroups(s sparseSource) error {
	if e.groups == nil {
		return nil
	}
	type place struct{ group, at int }
	places, last := make([]place, e.Columns), make([]int, len(e.groups)) // the last row with a one is last−1
	for j := range places {
		places[j].group = -1
	}
	for k, g := range e.groups {
		for at, j := range g.columns {
			places[j] = place{k, at}
		}
	}
	for i := range s.start {
		for k := s.start[i]; k < s.end[i]; k++ {
			p, v := places[s.indices[k]], s.values[k]
			switch {
			case p.group < 0 || v == 0:
			case v != 1:
				return e.groups[p.group].notOneHot(e.from+i, p.at)
			case last[p.group] == i+1:
				return e.groups[p.group].notOne(e.from + i)
			default:
				last[p.group] = i + 1
			}
		}
	}
	return nil
}
