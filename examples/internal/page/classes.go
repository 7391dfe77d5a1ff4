package page

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// classEffects are the coefficients of several classes, compared with a reference or the rest.
type classEffects struct {
	Reference string   // empty where each class is compared with all others
	Names     []string // of the classes that are compared
	Left      string   // how many aren't shown
	Constant  bool     // whether the model predicts the same for all
	Together  bool     // whether intervals of all classes are of one sum
	Tables    []classTable
	Level     string // of the intervals; empty where there are none
}

// classTable has a line for each feature and a column for each class but the reference.
type classTable struct {
	Title string
	Rows  []classRow
}

type classRow struct {
	Name, Unit string
	Values     []string
}

func newClassEffects(m *dpglm.Model, found *dpglm.ClassInference) (*classEffects, error) {
	all, err := m.Coefficients()
	if err != nil {
		return nil, err
	}
	levels, compared := m.Levels(), m.Reference()
	v := &classEffects{Constant: Constant(m), Together: found.Together()}
	if compared >= 0 {
		v.Reference = levels[compared]
	}
	var others [][]table.Coefficient
	var known [][]dpglm.Coefficient // with intervals; nil without
	for k, list := range slices.Collect(slices.Chunk(all, len(all)/len(levels))) {
		if k != compared {
			v.Names, others = append(v.Names, levels[k]), append(others, list)
			if of, err := found.Of(levels[k]); err == nil {
				v.Level, known = level(of.Confidence()), append(known, of.Coefficients())
			}
		}
	}
	sizes := make([]table.Coefficient, len(others[0])) // of each feature, the largest
	for j := range sizes {
		for _, list := range others {
			sizes[j].Value = math.Max(sizes[j].Value, math.Abs(list[j].Value))
		}
	}
	shown := largest(sizes)
	if left := len(sizes) - 1 - len(shown); left > 0 {
		v.Left = leftOut(len(shown), len(sizes)-1)
	}
	p := newParts(m.Encoder())
	steps, units := classTable{Title: "Per step of the columns"}, classTable{Title: "Per unit of the columns"}
	for _, at := range append(shown, len(sizes)-1) {
		f := others[0][at].Feature
		units.Rows = append(units.Rows, classRow{f.Name, "", valuesAt(others, known, at, 1, 4)})
		if at == len(sizes)-1 { // the intercept
			continue
		}
		name, unit, step := p.describe(f)
		if p.grouped(f) {
			c := p.columns[f.Columns[0]]
			name, unit = c.Name+" = "+name, "against "+reference(c)
		}
		steps.Rows = append(steps.Rows, classRow{name, unit, valuesAt(others, known, at, step, 3)})
	}
	v.Tables = []classTable{steps, units}
	return v, nil
}

// valuesAt are the coefficients of one feature, for each class, with intervals where they are known.
func valuesAt(lists [][]table.Coefficient, known [][]dpglm.Coefficient, at int, step float64, digits int) []string {
	values := make([]string, len(lists))
	for k, list := range lists {
		values[k] = significant(step*list[at].Value, digits)
		switch {
		case known == nil:
		case known[k][at].Undetermined():
			values[k] = "not determined"
		default:
			value, interval := estimate(step*list[at].Value, step*known[k][at].Low, step*known[k][at].High)
			values[k] = value + " " + interval
		}
	}
	return values
}
