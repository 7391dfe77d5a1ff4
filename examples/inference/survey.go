package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/tabular"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// survey is the data of the wage equation: raw features with their public description,
// and the logarithm of the weekly wage.
type survey struct {
	x      *mat.Dense
	y      []float64
	schema dpglm.Schema
}

// load reads the survey; ranges and levels are those of its codebook. One level of each
// group has no column: it is what the others are compared with.
func load(path string) (*survey, error) {
	table, err := tabular.ReadCSVFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (run this from the root of the repository, or say where the file is with -data)", err)
	}
	if err != nil {
		return nil, err
	}
	if err := table.Derive("experience²", "experience", func(v float64) float64 { return v * v }); err != nil {
		return nil, err
	}
	s := dpglm.Schema{
		Columns:   []string{"education", "experience", "experience²"},
		Numeric:   map[string][2]float64{"education": {0, 18}, "experience": {-4, 63}, "experience²": {0, 63 * 63}},
		OneHot:    map[string][]string{},
		Intercept: true,
	}
	for _, g := range []struct {
		name   string
		levels []string
	}{
		{"ethnicity", []string{"cauc", "afam"}}, {"smsa", []string{"no", "yes"}},
		{"region", []string{"northeast", "midwest", "south", "west"}}, {"parttime", []string{"no", "yes"}},
	} {
		columns, err := table.OneHot(g.name, g.levels)
		if err != nil {
			return nil, err
		}
		s.Columns = append(s.Columns, columns[1:]...)
		s.OneHot[g.name] = columns[1:]
	}
	x, err := table.Matrix(s.Columns)
	if err != nil {
		return nil, err
	}
	y, err := table.Numbers("wage")
	if err != nil {
		return nil, err
	}
	for i, wage := range y {
		y[i] = math.Log(wage)
	}
	return &survey{x, y, s}, nil
}

func (s *survey) name() string { return "survey" }

// facts are the public facts: weekly wages from e³ to e¹⁰ dollars, where they are the label.
func (s *survey) facts(loss losses.Loss) dpglm.Schema {
	f := s.schema
	if loss.Labels() == losses.Real {
		f.LabelRange = [2]float64{3, 10}
	}
	return f
}

// labels are the logarithms of wages or, for classes, whether a man earns more than $600.
func (s *survey) labels(loss losses.Loss) []float64 {
	y := make([]float64, len(s.y))
	for i, v := range s.y {
		switch {
		case loss.Labels() == losses.Real:
			y[i] = v
		case v > math.Log(600):
			y[i] = 1
		}
	}
	return y
}

// sample draws rows with replacement, so that the survey is the population.
func (s *survey) sample(n int, loss losses.Loss, seed uint64) (*mat.Dense, []float64) {
	r := rand.New(mechanisms.NewSeededSource(seed))
	rows, all := make([]int, n), s.labels(loss)
	for i := range rows {
		rows[i] = r.IntN(len(all))
	}
	return tabular.Take(s.x, rows), tabular.TakeLabels(all, rows)
}

func (s *survey) truth(loss losses.Loss) ([]float64, error) {
	f, err := fitExactly(s.x, s.labels(loss), loss)
	if err != nil {
		return nil, err
	}
	return f.coefficients, nil
}
