package encoding

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// Group is a group of one-hot columns. Each cell of a row is 0 or 1 there, and at
// most one is 1: other values would be no levels of a category, and two ones would
// have the whole row scaled down, without a word. So they are refused, not clamped.
type Group struct {
	Name    string
	Columns []int
	Names   []string
}

// admitGroups checks the one-hot columns of raw row i. Numbers equal to their square
// are 0, 1 and +Inf.
func (e *Encoding) admitGroups(row []float64, i int) error {
	for k := range e.Groups {
		var sum float64
		for _, j := range e.Groups[k].Columns {
			v := row[j]
			if v*v != v {
				return e.Groups[k].explain(row, e.From+i)
			}
			sum += v
		}
		if sum > 1 {
			return e.Groups[k].explain(row, e.From+i)
		}
	}
	return nil
}

// explain is the error of a row that breaks a group's rule.
func (g *Group) explain(row []float64, i int) error {
	for k, j := range g.Columns {
		if row[j] != 0 && row[j] != 1 {
			return g.notOneHot(i, k)
		}
	}
	return g.notOne(i)
}

func (g *Group) notOneHot(i, k int) error {
	return check.Fail(check.ErrValue, fmt.Sprintf("row %d (counted from 1), column %q", i+1, g.Names[k]), nil, fmt.Sprintf("must be 0 or 1, as a column of the one-hot group %q", g.Name))
}

func (g *Group) notOne(i int) error {
	return check.Fail(check.ErrValue, fmt.Sprintf("row %d (counted from 1), one-hot group %q", i+1, g.Name), nil, "must have at most one column equal to 1")
}
