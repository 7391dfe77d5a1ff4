package questions

import (
	"slices"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// columnIndex tells which rows have an entry in a column.
type columnIndex struct {
	start []int   // of each column's rows
	rows  []int32 // in their order
	of    rows.SparseSource
}

func newColumnIndex(of rows.SparseSource) *columnIndex {
	x := &columnIndex{start: make([]int, of.Cols+1), of: of}
	for i, lo := range of.Start {
		for _, j := range of.Indices[lo:of.End[i]] {
			x.start[j+1]++
		}
	}
	for j := range of.Cols {
		x.start[j+1] += x.start[j]
	}
	x.rows = make([]int32, x.start[of.Cols])
	next := slices.Clone(x.start)
	for i, lo := range of.Start {
		for _, j := range of.Indices[lo:of.End[i]] {
			x.rows[next[j]] = int32(i)
			next[j]++
		}
	}
	return x
}

// having are the rows with an entry in column j.
func (x *columnIndex) having(j int) []int32 { return x.rows[x.start[j]:x.start[j+1]] }

// at is row i's raw entry in column j, which it has.
func (x *columnIndex) at(i, j int) float64 {
	lo := x.of.Start[i]
	k, _ := slices.BinarySearch(x.of.Indices[lo:x.of.End[i]], j)
	return x.of.Values[lo+k]
}

// eachEntry calls f with each entry of sparse row i: its feature, held.
func (v *Coordinates) eachEntry(i int, f func(j int, x float64)) {
	of := &v.index.of
	lo, hi := of.Start[i], of.End[i]
	values := of.Values[lo:hi]
	for k, j := range of.Indices[lo:hi] {
		f(j, v.feature(i, j, values[k]))
	}
}

// feature is that of row i in column j, of a raw entry, held.
func (v *Coordinates) feature(i, j int, raw float64) float64 {
	return hold(rows.Factor(v.s.t.Shrink, i)*v.s.t.Enc.Feature(j, raw), v.entry)
}

// moveSparse is Move for sparse rows, in time proportional to the entries of those that have
// one in column j.
func (v *Coordinates) moveSparse(j int, delta float64, changed func(j int)) {
	const some = 256
	var z, y, c [some]float64
	var columns []int
	for having := v.index.having(j); len(having) > 0; {
		rows := having[:min(some, len(having))]
		having = having[len(rows):]
		n := len(rows)
		for k, i := range rows {
			v.z[i] += float64(delta * v.feature(int(i), j, v.index.at(int(i), j)))
			z[k], y[k] = v.z[i], v.s.labels[i]
		}
		v.slopes(c[:n], z[:n], y[:n],
			func(k int) float64 { return v.s.offsets.at(int(rows[k])) }, func(k int) float64 { return v.s.t.Persons.Share(int(rows[k])) })
		for k, i := range rows {
			columns = v.change(int(i), c[k], columns)
		}
	}
	for _, j := range columns {
		v.touched[j] = false
		changed(j)
	}
}

// change gives row i another coefficient and appends the columns that it is the first to
// touch.
func (v *Coordinates) change(i int, c float64, columns []int) []int {
	before := v.c[i]
	if c == before {
		return columns
	}
	v.c[i] = c
	v.total += fixed(c, v.Unit) - fixed(before, v.Unit)
	v.eachEntry(i, func(j int, x float64) {
		v.g[j] += v.part(c, x) - v.part(before, x)
		if !v.touched[j] {
			v.touched[j] = true
			columns = append(columns, j)
		}
	})
	return columns
}
