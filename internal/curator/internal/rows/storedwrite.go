package rows

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Write writes the rows of a matrix to a file, with their labels, whose they are and what is
// added to their scores, nil for nothing. Rows are read one by one, and not checked: that is
// for who opens the file. A context that is cancelled stops it before the next row, and there is no
// file.
func Write(ctx context.Context, path string, x mat.Matrix, labels []float64, o Owners, offsets []float64, within Range) error {
	n, columns, err := Dims(x)
	if err != nil {
		return err
	}
	if err := o.check(n); err != nil {
		return err
	}
	names, beside, given := o.columns()
	if offsets != nil {
		names, beside = append(names, rowfile.Offset), append(beside, offsets)
	}
	for k, of := range append([][]float64{labels}, beside...) {
		if len(of) != n {
			return check.Fail(check.ErrShape, append([]string{"label"}, names...)[k]+"s", len(of), fmt.Sprintf("must be one for each of the %d rows", n))
		}
	}
	src, err := newSource(x, n, columns)
	if err != nil {
		return err
	}
	_, sparse := src.(SparseSource)
	w, err := rowfile.Create(path, rowfile.Facts{Columns: columns, Sparse: sparse, Beside: names})
	if err != nil {
		return err
	}
	if err := writeRows(ctx, w, src, columns, labels, beside); err != nil {
		w.Discard()
		return err
	}
	return w.Close(rowfile.Details{Persons: rowfile.Persons{Count: o.Count, MaxRows: o.Most, Alike: o.Persons != nil && !o.Each, Given: given}, AtMost: o.Places, MaxWeight: o.Heavy, Offsets: within})
}

// mostExact is a number up to which float64 has all whole numbers.
const mostExact = 1 << 53

// columns are those of a file, with their names, and whether persons have the numbers that were
// given: others, where float64 doesn't have these.
func (f *Owners) columns() (names []string, columns [][]float64, given bool) {
	if f.Persons != nil {
		persons := make([]float64, len(f.Persons))
		given = !slices.ContainsFunc(f.Persons, func(p int) bool { return int64(p) > mostExact || int64(p) < -mostExact })
		for k, rows := range f.rows(len(persons)) {
			for _, i := range rows {
				if persons[i] = float64(k); given {
					persons[i] = float64(f.Persons[i])
				}
			}
		}
		names, columns = append(names, rowfile.Person), append(columns, persons)
	}
	if f.Weights != nil {
		names, columns = append(names, rowfile.Weight), append(columns, f.Weights)
	}
	return names, columns, given
}

func writeRows(ctx context.Context, w *rowfile.Writer, src source, columns int, labels []float64, beside [][]float64) error {
	row, buf := make([]float64, len(beside)), make([]float64, columns)
	for i, y := range labels {
		if err := check.Cancelled(ctx); err != nil {
			return err
		}
		var t Tile
		if err := unlessItPanics("At", func() { t = src.Tile(i, i+1, buf) }); err != nil {
			return err
		}
		for k, of := range beside {
			row[k] = of[i]
		}
		entries, values := []int(nil), t.Data
		if t.Sparse {
			entries, values = t.Indices[t.Start[0]:t.End[0]], values[t.Start[0]:t.End[0]]
		}
		if err := w.Append(entries, values, y, row...); err != nil {
			return err
		}
	}
	return nil
}

// ReadBeside reads what the rows of a file have beside features and labels: whose they are, and
// their offsets; nil if they have none.
func ReadBeside(ctx context.Context, f *rowfile.File) (o Owners, offsets []float64, err error) {
	columns := make([][]float64, len(f.Beside))
	r, c := f.Reader(), new(rowfile.Chunk)
	for b := 0; b < f.Blocks() && len(columns) > 0; b++ {
		if err := check.Cancelled(ctx); err != nil {
			return o, nil, err
		}
		lo, hi := f.Block(b)
		if err := r.Read(c, lo, hi); err != nil {
			return o, nil, err
		}
		for k := range columns {
			columns[k] = append(columns[k], c.Beside[k]...)
		}
	}
	o, err = OwnersOf(&f.Facts, columns)
	if k := slices.Index(f.Beside, rowfile.Offset); k >= 0 {
		offsets = columns[k]
	}
	return o, offsets, err
}

// OwnersOf says whose the rows of a file are, of which these columns are what is beside.
func OwnersOf(f *rowfile.Facts, columns [][]float64) (Owners, error) {
	of := func(name string) []float64 {
		if k := slices.Index(f.Beside, name); k >= 0 {
			return columns[k]
		}
		return nil
	}
	o := Owners{Count: f.Persons.Count, Places: f.AtMost, Most: f.Persons.MaxRows, Each: !f.Persons.Alike, Weights: of(rowfile.Weight), Heavy: f.MaxWeight}
	for i, p := range of(rowfile.Person) {
		if p != float64(int(p)) {
			return o, check.Fail(check.ErrValue, fmt.Sprintf("person of row %d (counted from 1)", i+1), nil, "must be a whole number")
		}
		o.Persons = append(o.Persons, int(p))
	}
	return o, nil
}
