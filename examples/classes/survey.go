package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// schema is from the survey's public codebook.
var schema = table.Schema{
	Version: table.Version,
	Label:   "wage",
	Columns: []table.Column{
		{Name: "wage", Kind: table.Numeric, Range: []float64{0, 2000}},
		{Name: "education", Kind: table.Numeric, Range: []float64{0, 18}},
		{Name: "experience", Kind: table.Numeric, Range: []float64{-4, 63}, Square: true},
		{Name: "ethnicity", Kind: table.Categorical, Levels: []string{"cauc", "afam"}},
		{Name: "smsa", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
		{Name: "region", Kind: table.Categorical, Levels: []string{"northeast", "midwest", "south", "west"}},
		{Name: "parttime", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
	},
}

// bands are public ends of classes of wages, in dollars a week.
var bands = []float64{300, 500, 750}

// survey is a contest on the bands of wages, of which a fifth of the rows is held out.
func survey(path string) (*contest, error) {
	train, err := table.ReadCSVFile(path, schema)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (run this from the root of the repository, or say where the file is with -data)", err)
	}
	if err != nil {
		return nil, err
	}
	n, _ := train.Dims()
	test, err := train.HoldOut(task.Split(n, 0.2, 1))
	if err != nil {
		return nil, err
	}
	tried := settings([]int{75, 150, 300}, []float64{0.4, 0.8, 1.6}, []float64{0.75, 3, 12})
	return &contest{banded(train), banded(test), len(bands) + 1, train.Bound(), tried}, nil
}

// banded turns wages into classes.
func banded(t *table.Table) *rows {
	y := make([]float64, len(t.Labels()))
	for i, wage := range t.Labels() {
		for _, end := range bands {
			if wage > end {
				y[i]++
			}
		}
	}
	return &rows{t.Dense(), y}
}

// pictures is a contest on images, whose pixels lie between 0 and 1. It trains on the first
// rows, all if that is 0.
func pictures(dir string, first int) (*contest, error) {
	train, err := images(dir, "train")
	if err != nil {
		return nil, err
	}
	test, err := images(dir, "t10k")
	if err != nil {
		return nil, err
	}
	n, d := train.x.Dims()
	if _, other := test.x.Dims(); other != d {
		return nil, fmt.Errorf("%s: images of %d pixels to train on, and of %d to test", dir, d, other)
	}
	if first < 0 || first > n {
		return nil, fmt.Errorf("-rows is %d and must lie between 1 and %d, or be 0 for all", first, n)
	}
	if first > 0 {
		train = &rows{train.x.Slice(0, first, 0, d).(*mat.Dense), train.y[:first]}
	}
	classes := int(math.Max(floats.Max(train.y), floats.Max(test.y))) + 1
	tried := settings([]int{75, 150, 300}, []float64{2.5, 5, 10}, []float64{0.2, 0.4, 0.8})
	return &contest{train, test, classes, math.Sqrt(float64(d)), tried}, nil
}
