package forecast

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/check"
)

// scene is what rows are made up from. They are encoded: features lie in [−1, 1] but for
// those of Bounds.
type scene struct {
	features   int
	facts      dpglm.Bounds // of encoded rows
	personRows int          // the most rows of a person; 0 where each has one
	alike      bool         // whether each person counts alike, and not each row
	exposure   [2]float64   // zeros where there is none
	weight     [2]float64   // likewise
	draw       func(r *rand.Rand, n int) (*mat.Dense, error)
}

// scene checks the facts.
func (s *Scenario) scene() (*scene, error) {
	switch f := s.Facts.(type) {
	case nil:
		if s.Table == nil {
			return nil, check.Fail(dpglm.ErrConfig, "Scenario", nil, "must have a Table, or Facts")
		}
		return s.ofTable()
	case dpglm.Schema:
		if s.Table == nil {
			return s.ofSchema(f)
		}
	case dpglm.Bounds:
		if s.Table == nil {
			return s.ofBounds(f)
		}
	default:
		return nil, check.Fail(dpglm.ErrConfig, "Scenario.Facts", fmt.Sprintf("%T", f), "must be a dpglm.Schema or dpglm.Bounds")
	}
	return nil, check.Fail(dpglm.ErrConfig, "Scenario.Facts", nil, "must be left out beside a Table")
}

// rowsEach is how many rows a person has on average.
func (c *scene) rowsEach() float64 { return float64(max(1, c.personRows)+1) / 2 }

// shape is that of so many rows, or persons.
func (c *scene) shape(n int) (dpglm.Shape, error) {
	var details []dpglm.RowDetail
	if c.personRows > 0 {
		details = append(details, dpglm.Persons{Of: []int{0}, Count: 1, MaxRows: c.personRows, Alike: c.alike})
	}
	if c.exposure[1] > 0 {
		details = append(details, dpglm.Offsets{Of: []float64{math.Log(c.exposure[0])}, Range: c.offsets()})
	}
	if c.weight[1] > 0 {
		details = append(details, dpglm.Weights{Of: []float64{c.weight[1]}, Max: c.weight[1]})
	}
	one, err := dpglm.NewDataset(mat.NewDense(1, c.features, nil), []float64{0}, c.facts, details...)
	if err != nil {
		return dpglm.Shape{}, err
	}
	shape := one.Shape()
	shape.Rows = n
	return shape, nil
}

// offsets are the logarithms of the exposure's range.
func (c *scene) offsets() [2]float64 {
	return [2]float64{math.Log(c.exposure[0]), math.Log(c.exposure[1])}
}

// ofBounds makes rows of normal numbers.
func (s *Scenario) ofBounds(b dpglm.Bounds) (*scene, error) {
	if s.Columns < 1 || s.Columns > mostFeatures {
		return nil, check.Fail(dpglm.ErrShape, "Scenario.Columns", s.Columns, fmt.Sprintf("must lie between 1 and %d: bounds don't tell", mostFeatures))
	}
	if err := s.knows(nil); err != nil {
		return nil, err
	}
	scale := b.Feature / 2 / math.Sqrt(float64(s.Columns))
	return &scene{features: s.Columns, facts: b, draw: func(r *rand.Rand, n int) (*mat.Dense, error) {
		x := mat.NewDense(n, s.Columns, nil)
		for i := range n {
			row, common := x.RawRowView(i), r.NormFloat64()
			for j := range row {
				row[j] = scale * correlated(r, common)
			}
		}
		return x, nil
	}}, nil
}

// correlated is a normal number that has a fifth of its variance in common with others.
func correlated(r *rand.Rand, common float64) float64 {
	return math.Sqrt(0.8)*r.NormFloat64() + math.Sqrt(0.2)*common
}

// unit is a number of a range that is [−1, 1]: exponential from the lower end, of which the
// mean is an eighth of the range away.
func unit(r *rand.Rand, common float64) float64 {
	return math.Min(1, -1-math.Log(distuv.UnitNormal.Survival(correlated(r, common)))/4)
}

// ofSchema makes rows of numbers and levels.
func (s *Scenario) ofSchema(f dpglm.Schema) (*scene, error) {
	// One row, for the schema to be checked: numbers at the ends of their ranges.
	row := make([]float64, len(f.Columns))
	for j, name := range f.Columns {
		row[j] = f.Numeric[name][0]
	}
	if len(row) == 0 {
		return nil, check.Fail(dpglm.ErrSchema, "Schema.Columns", nil, "must name at least one column")
	}
	if _, err := dpglm.NewDataset(mat.NewDense(1, len(row), row), []float64{0}, f); err != nil {
		return nil, err
	}
	var groups [][]int
	var odds []odds
	known := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(f.OneHot)) {
		var columns []int
		for _, column := range f.OneHot[name] {
			columns = append(columns, slices.Index(f.Columns, column))
		}
		groups = append(groups, columns)
		odds = append(odds, s.withNone(name, len(columns)))
		known[name] = len(columns)
	}
	if err := s.knows(known); err != nil {
		return nil, err
	}
	c := &scene{features: len(row)}
	c.facts = dpglm.Bounds{Feature: math.Sqrt(float64(len(f.Numeric) + len(groups))), LabelRange: f.LabelRange, Label: f.Label, Intercept: f.Intercept}
	c.draw = func(r *rand.Rand, n int) (*mat.Dense, error) {
		x := mat.NewDense(n, c.features, nil)
		for i := range n {
			row, common := x.RawRowView(i), r.NormFloat64()
			for j, name := range f.Columns {
				if _, ok := f.Numeric[name]; ok {
					row[j] = unit(r, common)
				}
			}
			for k, columns := range groups {
				if level := odds[k].draw(r); level > 0 {
					row[columns[level-1]] = 1
				}
			}
		}
		return x, nil
	}
	return c, nil
}

// odds are cumulative proportions of levels.
type odds []float64

// odds are those that were given for k levels, or fall off as 1, 1/2, 1/3.
func (s *Scenario) odds(name string, k int) odds {
	given, sum := s.Proportions[name], 0.0
	out := make(odds, k)
	for j := range out {
		if given == nil {
			sum += 1 / float64(j+1)
		} else if j < len(given) {
			sum += given[j]
		}
		out[j] = sum
	}
	return out
}

// withNone are the odds of none of k levels, and of these: what given ones lack of 1, or as
// if none were listed first.
func (s *Scenario) withNone(name string, k int) odds {
	if s.Proportions[name] == nil {
		return s.odds(name, k+1)
	}
	levels := s.odds(name, k)
	out := odds{math.Max(0, 1-levels[k-1])}
	for _, sum := range levels {
		out = append(out, out[0]+sum)
	}
	return out
}

func (o odds) draw(r *rand.Rand) int {
	u := r.Float64() * o[len(o)-1]
	for j, sum := range o {
		if u < sum {
			return j
		}
	}
	return len(o) - 1
}

// knows refuses proportions that are not those of known columns, with so many levels.
func (s *Scenario) knows(levels map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(s.Proportions)) {
		given, sum := s.Proportions[name], 0.0
		param := fmt.Sprintf("Scenario.Proportions[%q]", name)
		if levels[name] == 0 {
			return check.Fail(dpglm.ErrSchema, param, nil, "must be those of a column of levels or of answers, or of a one-hot group")
		}
		if len(given) != levels[name] {
			return check.Fail(dpglm.ErrShape, param, len(given), fmt.Sprintf("must be %d numbers, one for each level", levels[name]))
		}
		for _, p := range given {
			if !(p >= 0 && p <= check.MaxScale) {
				return check.Fail(dpglm.ErrValue, param, p, "must not be negative, and finite")
			}
			sum += p
		}
		if sum == 0 {
			return check.Fail(dpglm.ErrValue, param, given, "must not all be 0")
		}
	}
	return nil
}
