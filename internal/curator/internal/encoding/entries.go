package encoding

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// Entries are those of sparse rows: row i's lie between Start[i] and End[i].
type Entries struct {
	Start, End []int
	Indices    []int
	Values     []float64
}

// AdmitSparse checks the values of all rows, clamps them in a copy where a range
// asks for it, and returns those to use from then on.
func (e *Encoding) AdmitSparse(s Entries) ([]float64, error) {
	for j := range e.Min {
		if e.Min[j] > 0 || e.Max[j] < 0 {
			return nil, check.Fail(check.ErrSchema, "range of "+e.column(j), [2]float64{e.Min[j], e.Max[j]}, "must contain 0, as the matrix is sparse")
		}
	}
	if err := e.admitSparseGroups(s); err != nil {
		return nil, err
	}
	clamped := false
	for i := range s.Start {
		for k := s.Start[i]; k < s.End[i]; k++ {
			v, err := e.admit(s.Values[k], i, s.Indices[k])
			if err != nil {
				return nil, err
			}
			if v != s.Values[k] {
				if !clamped {
					s.Values, clamped = slices.Clone(s.Values), true
				}
				s.Values[k] = v
			}
		}
	}
	return s.Values, nil
}

// admitSparseGroups is admitGroups for all rows of a sparse matrix.
func (e *Encoding) admitSparseGroups(s Entries) error {
	if e.Groups == nil {
		return nil
	}
	type place struct{ group, at int }
	places, last := make([]place, e.Columns), make([]int, len(e.Groups)) // the last row with a one is last−1
	for j := range places {
		places[j].group = -1
	}
	for k, g := range e.Groups {
		for at, j := range g.Columns {
			places[j] = place{k, at}
		}
	}
	for i := range s.Start {
		for k := s.Start[i]; k < s.End[i]; k++ {
			p, v := places[s.Indices[k]], s.Values[k]
			switch {
			case p.group < 0 || v == 0:
			case v != 1:
				return e.Groups[p.group].notOneHot(e.From+i, p.at)
			case last[p.group] == i+1:
				return e.Groups[p.group].notOne(e.From + i)
			default:
				last[p.group] = i + 1
			}
		}
	}
	return nil
}

// SparseNorm is norm for a sparse row. Absent columns contribute their shift:
// its squares are summed once, in base, and corrected where a value is present.
// The correction cancels, so its rounding error is added.
func (e *Encoding) SparseNorm(indices []int, values []float64, base float64) float64 {
	if e.Scale == nil {
		return e.Norm(values)
	}
	sum, magnitude := base, base
	for k, j := range indices {
		u := e.Feature(j, values[k])
		here, absent := float64(u*u), float64(e.Shift[j]*e.Shift[j])
		sum += here - absent
		magnitude += here + absent
	}
	return math.Sqrt(math.Max(0, sum) + float64(4*Unit*float64(e.Columns)*magnitude))
}
