package dpglm

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/histogram"
)

// ClassEvaluation is what [EvaluateClasses] released of a model of several classes. All
// figures are held to what they can be; one that drowned in the noise is zero, its interval
// included, and is left out of JSON, but for a class's rate. It prints as a table.
type ClassEvaluation struct {
	Rows  int     `json:"rows"`  // n, or the number of persons
	Level float64 `json:"level"` // of the intervals

	Accuracy Interval `json:"accuracy,omitzero"` // the part of the rows whose class is predicted
	LogLoss  Interval `json:"log_loss,omitzero"` // the mean of −log p of a row's own class
	Brier    Interval `json:"brier,omitzero"`    // the mean of Σ(p_k − 1[k = y])², at most 2
	AUC      Interval `json:"auc,omitzero"`      // the mean of the classes'

	Classes []ClassFigures `json:"classes"` // of each
	// Confusion has how many rows of each class were predicted to be of each, as far as noise
	// lets see: no count is negative, and they add up to the number of rows.
	Confusion [][]float64 `json:"confusion"`

	Ledger *Ledger `json:"ledger"` // what the evaluation spent
}

// ClassFigures are those of one class against the rest.
type ClassFigures struct {
	Name      string   `json:"name"`               // of the class, as ClassModel.Levels has it
	Rate      Interval `json:"rate"`               // the part of the rows that are of it
	Recall    Interval `json:"recall,omitzero"`    // the part of these that are predicted to be
	Precision Interval `json:"precision,omitzero"` // the part of those predicted that are of it
	AUC       Interval `json:"auc,omitzero"`       // the area under the ROC curve of its probability
}

// String prints the figures as a table, and the ledger.
func (e *ClassEvaluation) String() string {
	if e == nil {
		return "no evaluation"
	}
	var b strings.Builder
	width := 22
	for _, c := range e.Classes {
		width = max(width, len("class : rate")+utf8.RuneCountInString(c.Name))
	}
	line := func(name string, v Interval) {
		fmt.Fprintf(&b, "%-*s %9.4g   [%.4g, %.4g]\n", width, name, v.Value, v.Low, v.High)
	}
	known := func(name string, v Interval) {
		if v != (Interval{}) {
			line(name, v)
		}
	}
	fmt.Fprintf(&b, "%-*s%s%18.4g %% interval\n", width, fmt.Sprintf("n = %d", e.Rows), "estimate", 100*e.Level)
	known("accuracy", e.Accuracy)
	known("log-loss", e.LogLoss)
	known("Brier score", e.Brier)
	known("mean AUC", e.AUC)
	for _, c := range e.Classes {
		line(fmt.Sprintf("class %s: rate", c.Name), c.Rate) // which may be 0, as far as is known
		known("         recall", c.Recall)
		known("         precision", c.Precision)
		known("         AUC", c.AUC)
	}
	fmt.Fprintf(&b, "%v", e.Ledger)
	return b.String()
}

// share is what a part of the rows can be.
func share(int) (low, high float64) { return 0, 1 }

// predictedTo is how many rows are predicted to be of a class.
func predictedTo(c []float64, classes, k int) (sum float64) {
	for j := range classes {
		sum += c[j*classes+k]
	}
	return sum
}

// confuse makes figures of counts by class and predicted class. A class of which no rows stand
// out from noise has no recall, and one that is not seen to be predicted has no precision.
func (e *ClassEvaluation) confuse(r *sampled, classes int) {
	least := float64(histogram.Outstanding * r.spreads[0] * math.Sqrt(float64(classes)))
	v := r.intervals(func(counts [][]float64) []float64 {
		c := counts[0]
		all, right := floats.Sum(c), 0.0
		var figures []float64
		for k := range classes {
			own, predicted, both := floats.Sum(c[k*classes:(k+1)*classes]), predictedTo(c, classes, k), c[k*classes+k]
			right += both
			figures = append(figures, own/all, both/own, both/predicted)
		}
		return append(figures, right/all)
	}, share)
	e.Classes = make([]ClassFigures, classes)
	for k := range e.Classes {
		c := &e.Classes[k]
		c.Rate = v[3*k]
		if floats.Sum(r.counts[0][k*classes:(k+1)*classes]) > least {
			c.Recall = v[3*k+1]
		}
		if predictedTo(r.counts[0], classes, k) > least {
			c.Precision = v[3*k+2]
		}
	}
	e.Accuracy = v[3*classes]
	pure := histogram.Nonnegative(r.counts[0], math.Max(1, floats.Sum(r.counts[0])))
	for k := range classes {
		e.Confusion = append(e.Confusion, pure[k*classes:(k+1)*classes])
	}
}

// areas are those under the ROC curve of each class, of the counts of its rows and of all
// others, cell by cell, and their mean.
func areas(own, others []float64, starts []int) (list []float64) {
	for k := range len(starts) - 1 {
		list = append(list, histogram.AUC(own[starts[k]:starts[k+1]], others[starts[k]:starts[k+1]]))
	}
	return append(list, floats.Sum(list)/float64(len(list)))
}

// rank makes areas under curves of the counts of classes' rows, and of all others.
//
// A row's own rank is in one class's area, and rows of different classes are independent; but
// it is among the others of all other classes, and these ranks depend on each other and on
// its own. So the mean's error is taken to be that of the classes' own ranks, which are drawn
// together, plus the mean of those that the ranks of others make, as if they all were alike.
func (e *ClassEvaluation) rank(r *sampled, starts []int) {
	classes := len(starts) - 1
	both := r.intervals(func(counts [][]float64) []float64 { return areas(counts[0], counts[1], starts) }, share)
	for k := range classes {
		e.Classes[k].AUC = both[k]
	}
	part := func(i int, figures func(counts []float64) []float64) []Interval {
		one := &sampled{level: r.level, counts: r.counts[i : i+1], spreads: r.spreads[i : i+1]}
		return one.intervals(func(counts [][]float64) []float64 { return figures(counts[0]) }, share)
	}
	own := part(0, func(counts []float64) []float64 { return areas(counts, r.counts[1], starts) })[classes]
	mean := both[classes]
	low, high := own.Value-own.Low, own.High-own.Value
	for _, of := range part(1, func(counts []float64) []float64 { return areas(r.counts[0], counts, starts) })[:classes] {
		low += (of.Value - of.Low) / float64(classes)
		high += (of.High - of.Value) / float64(classes)
	}
	if mean != (Interval{}) {
		e.AUC = Interval{mean.Value, mean.Value - low, mean.Value + high}.within(0, 1)
	}
}

// meanOf is the mean of a number that is known of each cell, and at least 0.
func meanOf(counts []float64, spread float64, of []float64, level, most float64) Interval {
	r := &sampled{level: level, counts: [][]float64{counts}, spreads: []float64{spread}}
	return r.intervals(func(counts [][]float64) []float64 {
		return []float64{floats.Dot(counts[0], of) / floats.Sum(counts[0])}
	}, func(int) (low, high float64) { return 0, most })[0]
}
