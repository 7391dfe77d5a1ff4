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

// ClassFramed are these rows in a frame, ClassPoint linear scores of each class there, and
// ClassScores those of encoded rows, with what makes probabilities of them.
type (
	ClassFramed = questions.ClassFramed
	ClassPoint  = questions.ClassPoint
	ClassScores = questions.ClassScores
)

// Counted says in which classes' histograms a row is counted.
type Counted = questions.Counted

// A row is counted in that of its own class, in those of all others, or in all.
const (
	Own    = questions.Own
	Others = questions.Others
	Every  = questions.Every
)

// Classes takes the labels to be classes, 0 to k−1. Another label is an error of intake. Parties
// that hold rows aren't asked here: they check their labels when they agree to a fit of a class
// against the rest, which comes before anything is released of it ([Data.Agree]).
func (d *Data) Classes(ctx context.Context, k int) (*Classes, error) {
	c, err := questions.NewClasses(ctx, d.table, d.labels, k)
	if err != nil {
		return nil, err
	}
	return &Classes{c, d}, nil
}

// Len is the number of persons: that of rows where each is a person's only one.
func (c *Classes) Len() int { return c.c.Len() }

// Dim is the number of weights of one class.
func (c *Classes) Dim() int { return c.c.Dim() }

// Counts are how many rows each class has.
func (c *Classes) Counts(ctx context.Context) (release.Answer, error) {
	return c.c.Counts(ctx, c.data.rows)
}

// Frame measures the rows in a frame, in one pass.
func (c *Classes) Frame(ctx context.Context, f Frame) (*ClassFramed, error) {
	return c.c.Frame(ctx, c.data.rows, f)
}

// Losses are scores to select models by: score j is Σᵢ −log p_{yᵢ} under model j, each term
// held to [0, caps_j], plus the public offset_j. A replaced row moves it by at most caps_j and
// rounding, whatever the models are; caps_j must be finite. Offsets of rows' scores have no part
// in it.
func (c *Classes) Losses(ctx context.Context, models []ClassScores, caps, offsets []float64) (release.Answer, error) {
	scores := make([]float64, len(models))
	if err := c.c.Losses(ctx, scores, models, caps); err != nil {
		return release.Answer{}, err
	}
	return lossScores(c.data.rows, c.c.Bounds(), c.Len(), scores, caps, offsets), nil
}

// Errors are scores to select models by: the numbers of rows whose class isn't that of the
// largest score, the first of several. A replaced row moves each by at most 1, and counts are
// exact.
func (c *Classes) Errors(ctx context.Context, models []ClassScores) (release.Answer, error) {
	scores := make([]float64, len(models))
	if err := c.c.Errors(ctx, scores, models); err != nil {
		return release.Answer{}, err
	}
	return countScores(c.data.rows, scores), nil
}

// Against returns the same rows, labelled 1 if they are of a class and 0 if of any other. What
// parties had agreed to is for other labels.
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

// Among returns the same rows, in memory, labelled 1 if they are of a class and 0 if of another one; rows of neither
// have a weight of 0. A row's weight and label depend on its own class only.
func Among(d *Data, class, other int) *Data {
	of := *d.Against(class).held
	of.table = d.table.Counting(func(row int) bool { return d.labels[row] == float64(class) || d.labels[row] == float64(other) })
	return &Data{&of}
}
