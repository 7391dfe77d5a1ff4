package replay_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// alike are tables whose rows are one row over and over: of zeros, at the bound, and far beyond it, with the least label
// that a design has and with the largest. What a sum, a norm, a spread or a matrix may be 0 or singular of, or
// a minimiser at the end of its ball, it is here.
func (d design) alike() (all []table) {
	centre, bound := d.labelRange()
	ends := [2]float64{centre - bound, centre + bound}
	switch {
	case d.labels == losses.Binary:
		ends = [2]float64{0, 1}
	case d.labels == classLabels:
		ends = [2]float64{0, 2}
	case d.labels.FromZero():
		ends = [2]float64{0, bound}
	}
	for _, length := range []float64{0, 1, 1e9} {
		for _, y := range ends {
			u := given.Row{X: make([]float64, d.columns), Y: y, Weight: given.Heavy}
			switch f := d.facts.(type) {
			case dpglm.Bounds:
				floats.AddConst(length*f.Feature/math.Sqrt(float64(d.columns)), u.X)
			case dpglm.Schema:
				for j, name := range f.Columns {
					if limits, ok := f.Numeric[name]; ok {
						u.X[j] = length * limits[1]
					}
				}
			}
			all = append(all, table{rows: slices.Repeat([]given.Row{u}, d.n)})
		}
	}
	return all
}

// rowsAlike runs a trial where all rows are alike and where one of them is another one. Nothing is refused there either, and what is told, released and
// declared is the same: a step that is left out where a sum is 0, a message about labels of one kind or a ball that is too small shows in
// these tables before it does in usual ones.
func (c *trial) rowsAlike(t *testing.T, i int) {
	t.Helper()
	tables := c.design.alike()
	if !*longAudit { // rows of zeros, and others
		tables = []table{tables[i%2], tables[2+i%4]}
	}
	for k, of := range tables {
		p := c.design.removing(pair{[2]given.Row{of.rows[0], c.design.base(uint64(k)).rows[0]}, (i + k) % c.design.n})
		c.neighbours(t, of.with(p.at, p.of[0]), of.with(p.at, p.of[1]), uint64(i))
	}
}
