package page

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// parts tells features of a schema in words. Without a schema they have names only.
type parts struct {
	columns map[string]table.Column
	levels  map[string]int // how many levels of a column have features
	last    string         // the column of the last heading
}

func newParts(e *table.Encoder) *parts {
	p := &parts{columns: map[string]table.Column{}, levels: map[string]int{}}
	if e == nil {
		return p
	}
	for _, c := range e.Schema().Columns {
		p.columns[c.Name] = c
	}
	for _, f := range e.Features() {
		if f.OneHot && len(f.Columns) == 1 {
			p.levels[f.Columns[0]]++
		}
	}
	return p
}

// grouped reports whether a feature is one of several levels, under a heading.
func (p *parts) grouped(f table.Feature) bool {
	return f.OneHot && len(f.Columns) == 1 && p.levels[f.Columns[0]] > 1
}

// headings come before the first level of a column that is shown: its name, and the
// reference.
func (p *parts) headings(list []table.Coefficient, at int, found *dpglm.Inference) []effect {
	f := list[at].Feature
	if !p.grouped(f) || p.last == f.Columns[0] {
		return nil
	}
	p.last = f.Columns[0]
	var names []string
	for _, c := range list {
		if c.OneHot && len(c.Columns) == 1 && c.Columns[0] == p.last {
			names = append(names, c.Name)
		}
	}
	head := effect{Heading: true, Name: p.last}
	if test, err := found.Wald(dpglm.AllZero(names...)...); err == nil && !test.Undetermined {
		head.Together = fmt.Sprintf("χ²(%d) = %s, p %s", test.Freedom, fixed(test.Statistic, 1), equals(pValue(test.P)))
	}
	return []effect{head, {Reference: true, Inside: true, Name: reference(p.columns[p.last])}}
}

func equals(p string) string {
	if strings.HasPrefix(p, "<") {
		return p
	}
	return "= " + p
}

// describe names a feature, and the step for which its coefficient is drawn: that which
// the schema states, or a round part of the column's public range, as coefficients per unit can't
// be compared.
func (p *parts) describe(f table.Feature) (name, unit string, step float64) {
	if len(p.columns) == 0 {
		return f.Name, "per 1", 1
	}
	if len(f.Columns) == 1 && f.Levels[0] != "" { // a level
		c := p.columns[f.Columns[0]]
		switch {
		case p.grouped(f):
			return f.Levels[0], "", 1
		case c.Kind == table.Numeric || c.Kind == table.Date:
			return f.Name, "against known", 1
		}
		return c.Name + " = " + f.Levels[0], "against " + reference(c), 1
	}
	var names, steps []string
	step = 1
	for k, column := range f.Columns {
		c := p.columns[column]
		if f.Levels[k] != "" {
			names = append(names, column+" = "+f.Levels[k])
			continue
		}
		own, text, size := stepOf(c)
		names, steps, step = append(names, own), append(steps, text), step*size
		if len(f.Columns) > 1 || f.Name == own {
			continue
		}
		if f.Name == own+"^2" {
			return own + "²", text + " squared", size * size
		}
		return f.Name, "part of a spline", 1
	}
	return strings.Join(names, " × "), "per " + strings.Join(steps, " × "), step
}

// stepOf is the step that the schema states, else a round part of the column's range, the column as
// features are named by it, and the step's size on the feature's scale.
func stepOf(c table.Column) (name, text string, size float64) {
	switch {
	case c.Per > 0 && c.Kind == table.Date:
		return c.Name, plain(c.Per) + " days", c.Per
	case c.Per > 0:
		return c.Name, plain(c.Per), c.Per
	case c.Kind == table.Date:
		from, errFrom := time.Parse(time.DateOnly, c.From)
		to, errTo := time.Parse(time.DateOnly, c.To)
		if days := to.Sub(from).Hours() / 24; errFrom == nil && errTo == nil && days >= 3*365 {
			return c.Name, "year", 365.25
		}
		return c.Name, "30 days", 30
	case c.Log:
		return "log(" + c.Name + ")", "doubling", math.Ln2
	case len(c.Range) == 2:
		size = below125((c.Range[1] - c.Range[0]) / 3)
		return c.Name, plain(tidy(size)), size
	}
	return c.Name, "1", 1
}

// below125 returns the largest of 1, 2 and 5 times powers of ten that is at most v.
func below125(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{5, 2} {
		if k*base <= v*(1+1e-9) {
			return k * base
		}
	}
	return base
}
