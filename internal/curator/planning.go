package curator

import (
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Facts are the public facts of a data set.
type Facts struct {
	Rows, Columns, Dim int // Rows are persons where these may have several, and at most so many where AddRemove
	Intercept          bool
	Bound              float64     // on a row's norm without the constant feature
	Constant           float64     // 0 without intercept
	FeatureBound       float64     // on a row's norm, with it
	LabelCentre        float64     // middle of the labels' range
	LabelBound         float64     // half its width, the upper end for counts; 0 where none was given
	Offset             float64     // see [Encoding.Offset]
	Persons            personFacts // whose the rows are
	Weighted           bool        // whether rows have weights
	AddRemove          bool        // whether how many rows there are is secret
	Offsets            rows.Range  // of scores; zeros where there are none
}

// personFacts are the public facts of persons: zeros where each row is a person's only one.
type personFacts struct {
	Most  int  // rows of a person
	Each  bool // whether each of these is to count alike, and not each person
	Occur bool // whether Facts.Rows is the number of persons who have rows
}

// Facts returns the public facts.
func (d *Data) Facts() Facts {
	e := &d.table.Enc
	f := Facts{Rows: d.Len(), Columns: e.Columns, Dim: e.Dim(), Intercept: e.Intercept, Bound: e.Bound, Constant: e.Constant, FeatureBound: e.FeatureBound(),
		LabelCentre: d.labelCentre, LabelBound: d.labelBound, Offset: e.Offset(), Offsets: d.offsetsRange}
	if o := d.table.Persons; o != nil {
		if f.Persons.Occur, f.Weighted, f.AddRemove = o.Occur, o.Weighted, o.Places; o.Given {
			f.Persons.Most, f.Persons.Each = o.Most, o.Each
		}
	}
	return f
}

// prediction is the label's mean at a score: the class where a binary loss gives
// no probability.
func prediction(loss losses.Loss) func(score float64) float64 {
	link := losses.LinkOf(loss)
	if loss.Labels() != losses.Binary || link.Probability() {
		return link.Mean
	}
	return func(score float64) float64 {
		if score > 0 {
			return 1
		}
		return 0
	}
}
