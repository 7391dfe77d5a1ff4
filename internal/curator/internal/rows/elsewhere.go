package rows

import "github.com/dpglm/dpglm/internal/check"

// Elsewhere reports whether other processes read the rows.
func (t *Table) Elsewhere() bool { return t.Place != nil && t.Place.Remote != nil }

// AsHeld reports whether rows elsewhere are those that are held there, as they are.
func (t *Table) AsHeld() bool {
	return t.Place.Whole == nil && t.Place.of == nil && t.Persons == nil
}

// ErrNotAsked is the error of what can't be asked of rows elsewhere.
var ErrNotAsked = check.Fail(check.ErrConfig, "rows", nil, "must lie in memory or in a file of this machine for what is asked of them: an engine's workers answer with sums over rows")

// Nothing is a pass without arguments, which gob wouldn't send.
type Nothing struct{}

// GobEncode writes nothing.
func (Nothing) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode reads nothing.
func (*Nothing) GobDecode([]byte) error { return nil }

// EachRow adds what add adds for each row.
func EachRow(add func(i int, sum []float64)) Adder {
	return func(a *Workspace, tile Tile, lo int) {
		for i := lo; i < lo+tile.Rows; i++ {
			add(i, a.Sum)
		}
	}
}

// rebound notes a smaller bound for those who read the rows.
func (s *Place) rebound(bound, constant float64) *Place {
	if s == nil || s.Remote == nil {
		return s
	}
	return s.after(Step{Bound: bound, Constant: constant})
}

// after are the rows that a step makes.
func (s *Place) after(next Step) *Place {
	of := s.derived()
	of.Remote = s.Remote.After(next)
	return of
}
