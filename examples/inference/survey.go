package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// survey is the data of the wage equation: raw features with their public description,
// and the logarithm of the weekly wage.
type survey struct {
	x      *mat.Dense
	y      []float64
	schema dpglm.Schema
}

// groups are the columns of levels. The first level of each has no column: it is what the
// others are compared with.
var groups = []struct {
	name   string
	levels []string
}{
	{"ethnicity", []string{"cauc", "afam"}}, {"smsa", []string{"no", "yes"}},
	{"region", []string{"northeast", "midwest", "south", "west"}}, {"parttime", []string{"no", "yes"}},
}

// load reads the survey; ranges and levels are those of its codebook. Its columns stay in
// their own units, in which it is known what coefficients should be.
func load(path string) (*survey, error) {
	file, err := table.OpenCSV(path, ',')
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (run this from the root of the repository, or say where the file is with -data)", err)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &survey{schema: dpglm.Schema{
		Columns:   []string{"education", "experience", "experience²"},
		Numeric:   map[string][2]float64{"education": {0, 18}, "experience": {-4, 63}, "experience²": {0, 63 * 63}},
		OneHot:    map[string][]string{},
		Intercept: true,
	}}
	for _, g := range groups {
		for _, level := range g.levels[1:] {
			s.schema.OneHot[g.name] = append(s.schema.OneHot[g.name], g.name+"="+level)
		}
		s.schema.Columns = append(s.schema.Columns, s.schema.OneHot[g.name]...)
	}
	var rows []float64
	for {
		fields, err := file.Next()
		if err == io.EOF {
			s.x = mat.NewDense(len(s.y), len(s.schema.Columns), rows)
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		if rows, err = s.add(rows, file.Header(), fields); err != nil {
			_, line := file.Place()
			return nil, fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
}

// add appends a record's features to the rows, and its label to the labels.
func (s *survey) add(rows []float64, header, fields []string) ([]float64, error) {
	text := map[string]string{}
	for i, name := range header {
		text[name] = fields[i]
	}
	var numbers [3]float64
	for i, name := range []string{"education", "experience", "wage"} {
		var err error
		if numbers[i], err = strconv.ParseFloat(text[name], 64); err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
	}
	rows = append(rows, numbers[0], numbers[1], numbers[1]*numbers[1])
	s.y = append(s.y, math.Log(numbers[2]))
	for _, g := range groups {
		at := slices.Index(g.levels, text[g.name])
		if at < 0 {
			return nil, fmt.Errorf("column %q: %q is not one of %q", g.name, text[g.name], g.levels)
		}
		indicators := make([]float64, len(g.levels))
		indicators[at] = 1
		rows = append(rows, indicators[1:]...)
	}
	return rows, nil
}

func (s *survey) name() string { return "survey" }

// facts are the public facts: weekly wages from e³ to e¹⁰ dollars, where they are the label.
func (s *survey) facts(loss losses.Loss) dpglm.Facts {
	f := s.schema
	if loss.Labels() == losses.Real {
		f.LabelRange = [2]float64{3, 10}
	}
	return f
}

// largest is none: wages aren't counts.
func (s *survey) largest() float64 { return 0 }

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
func (s *survey) sample(n int, loss losses.Loss, seed uint64) *drawn {
	return (&drawn{x: s.x, y: s.labels(loss)}).resampled(n, seed)
}

func (s *survey) truth(loss losses.Loss) ([]float64, error) {
	f, err := fitExactly(&drawn{x: s.x, y: s.labels(loss)}, loss)
	if err != nil {
		return nil, err
	}
	return f.coefficients, nil
}
