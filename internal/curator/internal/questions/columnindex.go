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

// moveSparse is Move for sparse rows in memory, in time proportional to the entries of those that have
// one in column j.
func (v *Coordinates) moveSparse(j int, changed func(j int)) {
	const some = 256
	var c, y [some]float64
	var columns []int
	for having := v.index.having(j); len(having) > 0; {
		rows := having[:min(some, len(having))]
		having = having[len(rows):]
		n := len(rows)
		for k, i := range rows {
			c[k], y[k] = v.at.score(v.s.t, v.index.of.Tile(int(i), int(i)+1, nil), int(i), 0), v.s.labels[i]
		}
		v.at.slopes(v.s, c[:n], y[:n], func(k int) int { return int(rows[k]) })
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
	before := v.at.kept[i]
	if c == before {
		return columns
	}
	v.at.kept[i] = c
	steps, units := 1/v.at.step(), 1/v.at.unit()
	v.sums[len(v.touched)] += int64(fixed(c, units)) - int64(fixed(before, units))
	v.at.eachEntry(v.s.t, v.index.of.Tile(i, i+1, nil), i, 0, func(j int, x float64) {
		v.sums[j] += int64(fixed(c*x, steps)) - int64(fixed(before*x, steps))
		if !v.touched[j] {
			v.touched[j] = true
			columns = append(columns, j)
		}
	})
	return columns
}
