package dpglm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/table"
)

// Coefficients returns the model's coefficients in the columns' own units, the intercept
// last: what a score changes by with one more year, or one level in place of the
// reference.
//
// Those of a model that was trained on a table have the features' names. Otherwise they
// have the Schema's, where a level is a column's name less a prefix "group=", or x1, x2, …
// under Bounds. Where ranges are mapped there is an intercept even if none was trained.
func (m *Model) Coefficients() ([]table.Coefficient, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if e := m.Encoder(); e != nil {
		last := len(m.weights) - 1
		return e.Coefficients(m.weights[:last], m.weights[last])
	}
	enc, err := m.facts.encoding(m.columns)
	if err != nil {
		return nil, err
	}
	out, intercept := m.named(), m.offset
	if m.facts.intercept() {
		intercept += m.weights[m.columns]
	}
	for j := range out {
		out[j].Value = m.weights[j]
		if enc.Scale != nil {
			out[j].Value *= enc.Scale[j]
			intercept += float64(m.weights[j] * enc.Shift[j])
		}
	}
	return append(out, table.Coefficient{Feature: table.Feature{Name: table.Intercept}, Value: intercept}), nil
}

// named are the coefficients of a matrix's columns, without values.
func (m *Model) named() []table.Coefficient {
	out := make([]table.Coefficient, m.columns)
	schema, ok := m.facts.(Schema)
	for j := range out {
		name := fmt.Sprintf("x%d", j+1)
		if ok {
			name = schema.Columns[j]
		}
		out[j].Feature = table.Feature{Name: name, Columns: []string{name}, Levels: []string{""}, Block: j}
	}
	for group, names := range schema.OneHot {
		first := slices.Index(schema.Columns, names[0])
		for _, name := range names {
			out[slices.Index(schema.Columns, name)].Feature = table.Feature{Name: name, Columns: []string{group},
				Levels: []string{strings.TrimPrefix(name, group+"=")}, OneHot: true, Block: first, Group: group}
		}
	}
	return out
}
