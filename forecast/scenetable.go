package forecast

import (
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// missing is how often a value is missing where a rule says what becomes of it.
const missing = 0.05

// ofTable makes records, as texts, and has them encoded as those of a file would be.
func (s *Scenario) ofTable() (*scene, error) {
	e, err := table.NewEncoder(*s.Table)
	if err != nil {
		return nil, err
	}
	schema := e.Schema()
	used, known := map[string]bool{}, map[string]int{}
	for _, f := range e.Features() {
		for _, name := range f.Columns {
			used[name] = true
		}
	}
	m := &maker{header: e.Inputs()}
	for i := range schema.Columns {
		c := &schema.Columns[i]
		if !used[c.Name] {
			continue
		}
		f := field{column: c, skips: c.Missing == table.MissingIndicator || c.Missing == table.MissingLevel}
		switch c.Kind {
		case table.OneHot, table.Categorical:
			known[c.Name] = len(c.Levels)
		case table.Binary:
			known[c.Name] = 2
		}
		if known[c.Name] > 0 {
			f.odds = s.odds(c.Name, known[c.Name])
		}
		if c.Kind == table.OneHot && c.Reference == "" {
			f.odds = s.withNone(c.Name, len(c.Levels))
		}
		m.fields = append(m.fields, f)
	}
	if err := s.knows(known); err != nil {
		return nil, err
	}
	c := &scene{features: len(e.Features()), personRows: schema.MaxRows, alike: schema.PersonsAlike}
	c.facts = dpglm.Bounds{Feature: e.Bound(), LabelRange: e.Label().Range, Intercept: true}
	c.ranges(e)
	c.draw = func(r *rand.Rand, n int) (*mat.Dense, error) {
		records := *m
		records.rand, records.left = r, n
		t, err := table.ReadFeatures(&records, schema)
		if err != nil {
			return nil, err
		}
		return denseOf(t), nil
	}
	return c, nil
}

// ranges are what is beside features and labels.
func (c *scene) ranges(e *table.Encoder) {
	c.exposure[0], c.exposure[1] = e.Exposure()
	c.weight[0], c.weight[1] = e.Weights()
}

func denseOf(t *table.Table) *mat.Dense {
	sparse := t.Sparse()
	if sparse == nil {
		return t.Dense()
	}
	x := mat.NewDense(sparse.Rows, sparse.Cols, nil)
	for i := range sparse.Rows {
		row := x.RawRowView(i)
		for k := sparse.Indptr[i]; k < sparse.Indptr[i+1]; k++ {
			row[sparse.Indices[k]] = sparse.Values[k]
		}
	}
	return x
}

// maker is a table.Source of made-up records.
type maker struct {
	header []string
	fields []field
	rand   *rand.Rand
	left   int
	made   int
	record []string
}

// field is a column's, or a group's.
type field struct {
	column *table.Column
	odds   odds // of levels
	skips  bool // values may be missing
}

// Header returns the columns' names.
func (m *maker) Header() []string { return m.header }

// Place is the record's number.
func (m *maker) Place() (string, int) { return "row", m.made }

// Next makes a record up.
func (m *maker) Next() ([]string, error) {
	if m.left == 0 {
		return nil, io.EOF
	}
	m.left--
	m.made++
	m.record = m.record[:0]
	common := m.rand.NormFloat64()
	for i := range m.fields {
		m.record = m.fields[i].write(m.rand, common, m.record)
	}
	return m.record, nil
}

// write appends what the field holds.
func (f *field) write(r *rand.Rand, common float64, record []string) []string {
	c := f.column
	skip := f.skips && r.Float64() < missing
	u := unit(r, common)
	switch {
	case c.Kind == table.OneHot:
		at := f.odds.draw(r)
		if c.Reference == "" {
			at-- // the first is none
		}
		for k := range c.Levels {
			digit := "0"
			if k == at {
				digit = "1"
			}
			record = append(record, digit)
		}
		return record
	case skip:
		return append(record, "")
	case c.Kind == table.Categorical:
		return append(record, c.Levels[f.odds.draw(r)])
	case c.Kind == table.Binary:
		return append(record, [2]string{c.Negative[0], c.Positive[0]}[f.odds.draw(r)])
	case c.Kind == table.Date:
		return append(record, day(c, u))
	}
	lo, hi := c.Range[0], c.Range[1]
	if c.Log {
		return append(record, text(math.Exp(between(math.Log(lo), math.Log(hi), u))))
	}
	return append(record, text(between(lo, hi, u)))
}

// between is where u of [−1, 1] lies in a range.
func between(lo, hi, u float64) float64 { return lo + (hi-lo)*(1+u)/2 }

func text(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// day is a date of the column's range as its file writes it.
func day(c *table.Column, u float64) string {
	const iso = "2006-01-02"
	from, _ := time.Parse(iso, c.From) // checked with the schema
	to, _ := time.Parse(iso, c.To)
	layout := iso
	if len(c.Layouts) > 0 {
		layout = c.Layouts[0]
	}
	days := to.Sub(from).Hours() / 24
	return from.AddDate(0, 0, int(math.Round(between(0, days, u)))).Format(layout)
}
