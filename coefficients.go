package dpglm

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/table"
)

// Coefficients returns the model's coefficients in the columns' own units, the intercept
// last: what a score changes by with one more year, or one level in place of the
// reference.
//
// Those of a model that was trained on a table have the features' names. Otherwise they
// have the Schema's, where a level is a column's name less a prefix "group=", or x1, x2, …
// under Bounds. Where ranges are mapped there is an intercept even if none was trained.
//
// Of several classes they are those of each, named by Class, in the order of Levels, less those
// of the [Model.Reference]: what one more year, or one level in place of another, changes the
// logarithm of this class's probability over that of the reference by. The reference's own are 0.
// By [OneAgainstRest] they are those of the model that tells a class from all others.
//
// For the step that a table's schema states of a column ("per") it is [table.Coefficient.PerStep].
//
// It fails for a model that was neither trained nor decoded.
func (m *Model) Coefficients() ([]table.Coefficient, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	reference := make([]float64, len(m.weights[0]))
	if k := m.Reference(); k >= 0 {
		reference = m.weights[k]
	}
	var all []table.Coefficient
	for k, w := range m.weights {
		list, err := coefficients(m.facts, m.columns, floats.SubTo(make([]float64, len(w)), w, reference), m.offset)
		if err != nil {
			return nil, err
		}
		for j := range list {
			if m.response.classes > 0 {
				list[j].Class = m.Levels()[k]
			}
		}
		all = append(all, list...)
	}
	return all, nil
}

// Reference is the place among Levels of the class that [Model.Coefficients] compare
// the others with: that of the table's schema, else the first. It is −1 where each class is
// compared with all others, and for models of one score.
func (m *Model) Reference() int {
	if m == nil || !m.response.joint() {
		return -1
	}
	return referenceOf(m.facts)
}

// referenceOf is the place of the class that facts compare others with.
func referenceOf(facts Facts) int {
	if e := encoderOf(facts); e != nil {
		return e.Label().Reference
	}
	return 0
}

// coefficients are the weights of the encoded features in the columns' own units; offset is
// added to scores.
func coefficients(facts Facts, columns int, weights []float64, offset float64) ([]table.Coefficient, error) {
	if e := encoderOf(facts); e != nil {
		last := len(weights) - 1
		return e.Coefficients(weights[:last], weights[last])
	}
	enc, err := facts.encoding(columns)
	if err != nil {
		return nil, err
	}
	out, intercept := make([]table.Coefficient, columns), offset
	for j, f := range features(facts, columns) {
		out[j].Feature = f
	}
	if facts.intercept() {
		intercept += weights[columns]
	}
	for j := range out {
		out[j].Value = weights[j]
		if enc.Scale != nil {
			out[j].Value *= enc.Scale[j]
			intercept += float64(weights[j] * enc.Shift[j])
		}
	}
	return append(out, table.Coefficient{Feature: table.Feature{Name: table.Intercept}, Value: intercept}), nil
}

// features are those of the encoded rows, in their order.
func features(facts Facts, columns int) []table.Feature {
	if e := encoderOf(facts); e != nil {
		return e.Features()
	}
	out := make([]table.Feature, columns)
	schema, ok := facts.(Schema)
	for j := range out {
		name := fmt.Sprintf("x%d", j+1)
		if ok {
			name = schema.Columns[j]
		}
		out[j] = table.Feature{Name: name, Columns: []string{name}, Levels: []string{""}, Block: j}
	}
	at := schema.places()
	for group, names := range schema.OneHot {
		first := at[names[0]]
		for _, name := range names {
			out[at[name]] = table.Feature{Name: name, Columns: []string{group},
				Levels: []string{strings.TrimPrefix(name, group+"=")}, OneHot: true, Block: first, Group: group}
		}
	}
	return out
}
