package rows

import "github.com/dpglm/dpglm/internal/check"

// elsewhere reports whether other processes read the rows.
func (t *Table) elsewhere() bool { return t.stored != nil && t.stored.remote != nil }

// asHeld reports whether rows elsewhere are those that are held there, as they are.
func (t *Table) asHeld() bool {
	return t.stored.whole == nil && t.stored.of == nil && t.Persons == nil
}

// errNotAsked is the error of what can't be asked of rows elsewhere.
var errNotAsked = check.Fail(check.ErrConfig, "rows", nil, "must lie in memory or in a file of this machine for what is asked of them: an engine's workers answer with sums over rows")

// nothing is a pass without arguments, which gob wouldn't send.
type nothing struct{}

// GobEncode writes nothing.
func (nothing) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode reads nothing.
func (*nothing) GobDecode([]byte) error { return nil }

// eachRow adds what add adds for each row.
func eachRow(add func(i int, sum []float64)) adder {
	return func(a *workspace, rows tile, lo int) {
		for i := lo; i < lo+rows.rows; i++ {
			add(i, a.sum)
		}
	}
}

// rebound notes a smaller bound for those who read the rows.
func (s *stored) rebound(bound, constant float64) *stored {
	if s == nil || s.remote == nil {
		return s
	}
	return s.after(step{Bound: bound, Constant: constant})
}

// after are the rows that a step makes.
func (s *stored) after(next step) *stored {
	of := s.derived()
	of.remote = s.remote.after(next)
	return of
}
