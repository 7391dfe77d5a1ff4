package encoding

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// MaxOffset limits how narrow a range may be for its distance from zero:
// beyond it, rounding would cost noticeable noise.
const MaxOffset = 1 << 20

// NewSchema returns the encoding of named columns: each numeric range is mapped
// to [−1, 1], each one-hot column to [0, 1], and p numeric columns with g
// groups have the bound √(p+g). Names are unique and not empty.
func NewSchema(names []string, numeric map[string][2]float64, groups map[string][]string, intercept bool) (Encoding, error) {
	c, err := newColumns(names)
	if err != nil {
		return Encoding{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(numeric)) {
		r := numeric[name]
		if err := c.describeRange(name, r[0], r[1]); err != nil {
			return Encoding{}, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if err := c.describeGroup(name, groups[name]); err != nil {
			return Encoding{}, err
		}
	}
	if j := slices.Index(c.known, false); j >= 0 {
		return Encoding{}, check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", names[j]), "must have a numeric range or belong to a group")
	}
	e := NewAffine(math.Sqrt(float64(len(numeric)+len(groups))), intercept, c.scale, c.shift, c.min, c.max)
	if e.Offset() > MaxOffset {
		j := c.farthest()
		return Encoding{}, check.Fail(check.ErrSchema, fmt.Sprintf("range of %q", names[j]), [2]float64{c.min[j], c.max[j]},
			"must not be narrow and far from zero; subtract a public constant from the column")
	}
	slices.Sort(c.ranged)
	e.Groups, e.Ranged, e.Names = c.groups, c.ranged, names
	return e, nil
}

// cell is the place of a value, for the curator's messages. Rows and columns are counted
// from 1, as lines of a file are.
func (e *Encoding) cell(i, j int) string {
	if e.Names == nil {
		return fmt.Sprintf("row %d, column %d (counted from 1)", e.From+i+1, j+1)
	}
	return fmt.Sprintf("row %d (counted from 1), column %q", e.From+i+1, e.Names[j])
}

// column is what messages call a column.
func (e *Encoding) column(j int) string {
	if e.Names == nil {
		return fmt.Sprintf("column %d (counted from 1)", j+1)
	}
	return fmt.Sprintf("%q", e.Names[j])
}

// columns collects the affine map and the range of each column, and the groups.
type columns struct {
	index                  map[string]int
	known                  []bool
	scale, shift, min, max []float64
	ranged                 []int
	groups                 []Group
}

func newColumns(names []string) (*columns, error) {
	n := len(names)
	c := &columns{index: make(map[string]int, n), known: make([]bool, n), scale: make([]float64, n),
		shift: make([]float64, n), min: make([]float64, n), max: make([]float64, n)}
	for j, name := range names {
		if name == "" {
			return nil, check.Fail(check.ErrSchema, fmt.Sprintf("name of column %d (counted from 1)", j+1), nil, "must not be empty")
		}
		if _, dup := c.index[name]; dup {
			return nil, check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", name), "must be listed once")
		}
		c.index[name] = j
	}
	return c, nil
}

// describeRange maps the range [lo, hi] of the named column to [−1, 1].
func (c *columns) describeRange(name string, lo, hi float64) error {
	j, err := c.claim(name)
	if err != nil {
		return err
	}
	if !(lo < hi) || math.Abs(lo) > check.MaxScale || math.Abs(hi) > check.MaxScale || hi-lo < check.MinScale {
		return check.Fail(check.ErrBound, fmt.Sprintf("range of %q", name), [2]float64{lo, hi},
			fmt.Sprintf("must be two finite numbers, min < max, at least %g apart and at most %g in magnitude", check.MinScale, check.MaxScale))
	}
	c.min[j], c.max[j] = lo, hi
	c.scale[j] = 2 / (hi - lo)
	c.shift[j] = -1 - float64(c.scale[j]*lo)
	c.ranged = append(c.ranged, j)
	return nil
}

// describeGroup takes the one-hot columns of a group as they are.
func (c *columns) describeGroup(name string, names []string) error {
	if name == "" {
		return check.Fail(check.ErrSchema, "name of a one-hot group", nil, "must not be empty")
	}
	if len(names) == 0 {
		return check.Fail(check.ErrSchema, "group", fmt.Sprintf("%q", name), "must have at least one column")
	}
	g := Group{Name: name, Names: names}
	for _, column := range names {
		j, err := c.claim(column)
		if err != nil {
			return err
		}
		c.max[j], c.scale[j] = 1, 1
		g.Columns = append(g.Columns, j)
	}
	c.groups = append(c.groups, g)
	return nil
}

// claim returns the index of the named column, which must not be described yet.
func (c *columns) claim(name string) (int, error) {
	j, ok := c.index[name]
	if !ok {
		return 0, check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", name), "is unknown: the matrix has no such column")
	}
	if c.known[j] {
		return 0, check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", name), "must be described once")
	}
	c.known[j] = true
	return j, nil
}

// farthest is the column whose raw terms cancel most.
func (c *columns) farthest() int {
	var worst int
	var most float64
	for j, scale := range c.scale {
		if m := scale * math.Max(math.Abs(c.min[j]), math.Abs(c.max[j])); m > most {
			worst, most = j, m
		}
	}
	return worst
}
