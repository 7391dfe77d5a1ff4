package rows

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
// groups have the bound √(p+g).
func NewSchema(names []string, numeric map[string][2]float64, groups map[string][]string, intercept bool) (Encoding, error) {
	c, err := newColumns(names)
	if err != nil {
		return Encoding{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(numeric)) {
		r := numeric[name]
		if err := c.describe(name, r[0], r[1], -1); err != nil {
			return Encoding{}, err
		}
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if len(groups[group]) == 0 {
			return Encoding{}, check.Fail(check.ErrSchema, "group", fmt.Sprintf("%q", group), "must have at least one column")
		}
		for _, name := range groups[group] {
			if err := c.describe(name, 0, 1, 0); err != nil {
				return Encoding{}, err
			}
		}
	}
	if j := slices.Index(c.known, false); j >= 0 {
		return Encoding{}, check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", names[j]), "must have a numeric range or belong to a group")
	}
	e := NewAffine(math.Sqrt(float64(len(numeric)+len(groups))), intercept, c.scale, c.shift, c.min, c.max)
	if e.Offset() > MaxOffset {
		return Encoding{}, check.Fail(check.ErrSchema, "numeric ranges", nil, "must not be narrow and far from zero; subtract a public constant from the column")
	}
	return e, nil
}

// columns collects the affine map and the range of each column.
type columns struct {
	index                  map[string]int
	known                  []bool
	scale, shift, min, max []float64
}

func newColumns(names []string) (*columns, error) {
	n := len(names)
	c := &columns{make(map[string]int, n), make([]bool, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	for j, name := range names {
		if _, dup := c.index[name]; dup {
			return nil, check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", name), "must be listed once")
		}
		c.index[name] = j
	}
	return c, nil
}

// describe maps the range [lo, hi] of the named column to [bottom, 1].
func (c *columns) describe(name string, lo, hi, bottom float64) error {
	j, ok := c.index[name]
	if !ok {
		return check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", name), "is unknown: the matrix has no such column")
	}
	if c.known[j] {
		return check.Fail(check.ErrSchema, "column", fmt.Sprintf("%q", name), "must be described once")
	}
	if !(lo < hi) || math.Abs(lo) > check.MaxScale || math.Abs(hi) > check.MaxScale || hi-lo < check.MinScale {
		return check.Fail(check.ErrBound, fmt.Sprintf("range of %q", name), [2]float64{lo, hi}, "must be finite with min < max")
	}
	c.known[j], c.min[j], c.max[j] = true, lo, hi
	c.scale[j] = (1 - bottom) / (hi - lo)
	c.shift[j] = bottom - c.scale[j]*lo
	return nil
}
