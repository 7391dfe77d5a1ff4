package table

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
)

// HoldOut removes the given rows, which ascend from 0, and returns them as a table of
// their own; at least one row must stay. What stays moves up in its place, so that no
// second copy of it is made: slices and matrices that were returned before are void. Persons
// are numbered anew in both tables; give all rows of one or none. It fails where the rows
// don't ascend within the table, and for none or all of them.
func (t *Table) HoldOut(rows []int) (*Table, error) {
	if len(rows) == 0 || len(rows) >= t.rows {
		return nil, check.Fail(check.ErrConfig, "len(rows)", len(rows), fmt.Sprintf("must be at least 1, and leave at least one of the %d rows", t.rows))
	}
	last := -1
	for _, i := range rows {
		if i <= last || i >= t.rows {
			return nil, check.Fail(check.ErrConfig, "rows", i, fmt.Sprintf("must lie in [0, %d) and be larger than the one before it", t.rows))
		}
		last = i
	}
	out := &Table{encoder: t.encoder, features: t.features, label: t.label, bound: t.bound, rows: len(rows)}
	t.rows -= len(rows)
	t.labels, out.labels = divide(t.labels, rows, 1)
	t.persons, out.persons = divide(t.persons, rows, 1)
	t.exposure, out.exposure = divide(t.exposure, rows, 1)
	t.renumber()
	out.renumber()
	if t.sparse != nil {
		out.sparse = t.sparse.divide(rows)
		return out, nil
	}
	data, held := divide(t.dense.RawMatrix().Data, rows, t.features)
	t.dense, out.dense = mat.NewDense(t.rows, t.features, data), mat.NewDense(out.rows, t.features, held)
	return out, nil
}

// divide moves up the elements of the rows that stay, and copies the others. It leaves
// nil as it is.
func divide[T any](list []T, rows []int, width int) (stay, held []T) {
	if list == nil {
		return nil, nil
	}
	held = make([]T, 0, len(rows)*width)
	at := rows[0] * width
	for k, i := range rows {
		held = append(held, list[i*width:(i+1)*width]...)
		end := len(list)
		if k+1 < len(rows) {
			end = rows[k+1] * width
		}
		at += copy(list[at:], list[(i+1)*width:end])
	}
	return list[:at:at], held
}

// divide removes rows and returns them.
func (c *CSR) divide(rows []int) *CSR {
	held := &CSR{Rows: len(rows), Cols: c.Cols, Indptr: []int{0}}
	stay := 0 // rows that stay so far; their entries are at the front
	at := 0
	for i, k := 0, 0; i < c.Rows; i++ {
		lo, hi := c.Indptr[i], c.Indptr[i+1]
		if k < len(rows) && rows[k] == i {
			held.Indices, held.Values = append(held.Indices, c.Indices[lo:hi]...), append(held.Values, c.Values[lo:hi]...)
			held.Indptr = append(held.Indptr, len(held.Indices))
			k++
			continue
		}
		copy(c.Indices[at:], c.Indices[lo:hi])
		at += copy(c.Values[at:], c.Values[lo:hi])
		stay++
		c.Indptr[stay] = at
	}
	c.Rows, c.Indptr, c.Indices, c.Values = stay, c.Indptr[:stay+1:stay+1], c.Indices[:at:at], c.Values[:at:at]
	return held
}
