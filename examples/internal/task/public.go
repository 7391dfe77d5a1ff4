package task

import (
	"context"
	"errors"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
)

// What public rows are fitted with.
const (
	noNoise = 1e6 // a μ that hides nothing
	steps   = 500 // n·μ over the weights, for counts and amounts: few steps hold weights of what few rows have
)

// PublicModel is a model of rows that nobody protects, to be a problem's Prior.
func PublicModel(ctx context.Context, p dpglm.Problem, rows *dpglm.Dataset) (*dpglm.Model, error) {
	s := rows.Shape()
	budget := dpglm.GDP(noNoise)
	if p.Loss.Labels().FromZero() {
		budget = dpglm.GDP(steps * float64(s.Dim) / float64(s.Rows))
	}
	fit := func(b dpglm.Budget) (*dpglm.Model, error) {
		return dpglm.Auto(ctx, rows, p, b, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}) // nobody is to be protected
	}
	if s.AddRemove {
		return fit(budget.AddRemove())
	}
	if s.PersonRows > 0 {
		return fit(budget)
	}
	m, err := fit(budget.LabelsOnly())   // a ridge by evidence, as few rows need; and features may have ranges of their own
	if errors.Is(err, dpglm.ErrBudget) { // a schema's condition on the label is for rows
		return fit(budget)
	}
	return m, err
}

// PublicModel is a model of the rows of a file that nobody protects, which are as the source's schema says.
func (s *Source) PublicModel(ctx context.Context, path string, p dpglm.Problem) (*dpglm.Model, error) {
	of := *s
	of.Path, of.Coins = path, nil
	if s.file != nil {
		file := *s.file
		file.AtMost, file.Persons = 0, 0 // which are of the rows that are protected
		facts := file.Episodes()
		of.file, of.facts = &file, &facts
	}
	rows, err := of.Load(ctx)
	if err != nil {
		return nil, err
	}
	data, err := of.Dataset(rows)
	if err != nil {
		return nil, err
	}
	return PublicModel(ctx, p, data)
}
