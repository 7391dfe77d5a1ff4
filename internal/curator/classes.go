package curator

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/release"
)

// Classes answers questions about rows whose labels are one of several classes.
type Classes struct {
	c    *questions.Classes
	data *Data
}

// ClassFramed are these rows in a frame, and ClassPoint linear scores of each class.
type (
	ClassFramed = questions.ClassFramed
	ClassPoint  = questions.ClassPoint
)

// Counted says in which classes' histograms a row is counted.
type Counted = questions.Counted

// A row is counted in that of its own class, in those of all others, or in all.
const (
	Own    = questions.Own
	Others = questions.Others
	Every  = questions.Every
)

// Classes takes the labels to be classes, 0 to k−1. Another label is an error of intake.
func (d *Data) Classes(ctx context.Context, k int) (*Classes, error) {
	c, err := questions.NewClasses(ctx, d.table, d.labels, k)
	if err != nil {
		return nil, err
	}
	return &Classes{c, d}, nil
}

// Counts are how many rows each class has.
func (c *Classes) Counts(ctx context.Context) (release.Answer, error) {
	return c.c.Counts(ctx, c.data.rows)
}

// Frame measures the rows in a frame, in one pass.
func (c *Classes) Frame(ctx context.Context, f Frame) (*ClassFramed, error) {
	return c.c.Frame(ctx, c.data.rows, f)
}

// Against returns the same rows, labelled 1 if they are of a class and 0 if of any other.
func (d *Data) Against(class int) *Data {
	of := *d.held
	if d.Stored() {
		of.table = d.table.Against(class)
		return &Data{&of}
	}
	of.labels = make([]float64, len(d.labels))
	for i, y := range d.labels {
		if y == float64(class) {
			of.labels[i] = 1
		}
	}
	return &Data{&of}
}
