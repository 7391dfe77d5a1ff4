package evaluate

import (
	"math"
	"slices"
)

// Result is what was made of released histograms.
type Result struct {
	Figures []Figure
	// ROC has false and true positive rates, at thresholds that decrease, and Calibration mean
	// probabilities and rates of ones, of groups of rows by score.
	ROC, Calibration []Point
	// Errors are the ends that errors of prediction, of numbers, have but for a part of rows in ranges of it.
	Errors [2]float64
	// Confusion has how many rows of each class are predicted to be of each.
	Confusion [][]float64
}

// Figure is an estimate with an interval, found by its name.
type Figure struct {
	Name  string
	Unit  string // see the constants
	Class int    // that it is of, from 1; 0 for all rows together
	Of    Interval
}

// Point is one of a curve.
type Point struct{ X, Y Interval }

// Interval is an estimate between the ends of an interval; zero where it drowned in the noise.
type Interval struct{ Value, Low, High float64 }

// known reports whether it didn't drown.
func (x Interval) known() bool { return x != Interval{} }

// within is the estimate and the ends of its interval, held to a range; what drowned stays so.
func (x Interval) within(low, high float64) Interval {
	if !x.known() {
		return x
	}
	hold := func(v float64) float64 { return math.Max(low, math.Min(v, high)) }
	return Interval{hold(x.Value), hold(x.Low), hold(x.High)}
}

// wider has ends that lie farther out; what drowned stays so.
func (x Interval) wider(below, above float64) Interval {
	if !x.known() {
		return x
	}
	return Interval{x.Value, x.Low - below, x.High + above}
}

// Units of figures: a fraction of rows, natural units of information, and the label's own; other
// figures are plain numbers.
const (
	ofRows  = "fraction"
	inNats  = "nats"
	ofLabel = "label"
)

// measure is what a figure is called, what it is of, and what it can be.
type measure struct {
	name, unit string
	low, high  float64
	class      int
}

var inf = math.Inf(1)

// Measures of two classes.
var (
	accuracy     = measure{name: "accuracy", unit: ofRows, high: 1}
	area         = measure{name: "AUC", high: 1}
	rateOfOnes   = measure{name: "rate of ones", unit: ofRows, high: 1}
	logLoss      = measure{name: "log-loss", unit: inNats, high: inf}
	brierScore   = measure{name: "Brier score", high: 1}
	calibratedAt = measure{name: "calibration intercept", low: -inf, high: inf}
	calibratedBy = measure{name: "calibration slope", low: -inf, high: inf}
	// Of points of curves.
	falsePositive = measure{name: "false positive rate", unit: ofRows, high: 1}
	truePositive  = measure{name: "true positive rate", unit: ofRows, high: 1}
	predicted     = measure{name: "mean probability", high: 1}
	observed      = measure{name: "rate of a group", unit: ofRows, high: 1}
)

// Measures of numbers, and the sums that R² is made of.
var (
	meanError  = measure{name: "mean error", unit: ofLabel, low: -inf, high: inf}
	rootSquare = measure{name: "RMSE", unit: ofLabel, high: inf}
	explained  = measure{name: "R²", low: -inf, high: 1}
	meanSquare = measure{name: "mean square of errors"}
	variance   = measure{name: "variance of labels"}
)

// Measures of several classes, beside some of those of two.
var (
	brierSum  = measure{name: "Brier score", high: 2}
	meanArea  = measure{name: "mean AUC", high: 1}
	classRate = measure{name: "rate", unit: ofRows, high: 1}
	recall    = measure{name: "recall", unit: ofRows, high: 1}
	precision = measure{name: "precision", unit: ofRows, high: 1}
)

// order is that of figures of several classes, of all rows and of each class.
var order = []string{accuracy.name, logLoss.name, brierSum.name, meanArea.name, classRate.name, recall.name, precision.name, area.name}

// of is the same of a class.
func (m measure) of(class int) measure {
	m.class = class + 1
	return m
}

func (m measure) figure(of Interval) Figure {
	return Figure{Name: m.name, Unit: m.unit, Class: m.class, Of: of}
}

// reading is a figure of counts.
type reading struct {
	of    measure
	value float64
}

// part is a ratio, which isn't known where noise leaves nothing that it is a part of.
func part(of, all float64) float64 {
	if !(all > 0) {
		return math.NaN()
	}
	return of / all
}

// add appends figures that didn't drown; a class's rate, which may be 0 as far as is known, is
// there always.
func (r *Result) add(list ...Figure) {
	for _, f := range list {
		if f.Of.known() || f.Name == classRate.name {
			r.Figures = append(r.Figures, f)
		}
	}
}

// arrange puts figures into their order.
func (r *Result) arrange() {
	slices.SortStableFunc(r.Figures, func(a, b Figure) int {
		if a.Class != b.Class {
			return a.Class - b.Class
		}
		return slices.Index(order, a.Name) - slices.Index(order, b.Name)
	})
}

// called are the intervals of all figures of a measure.
func called(list []Figure, m measure) (found []Interval) {
	for _, f := range list {
		if f.Name == m.name {
			found = append(found, f.Of)
		}
	}
	return found
}

// curve makes points of the figures of two measures.
func curve(list []Figure, x, y measure) (points []Point) {
	across := called(list, x)
	for k, up := range called(list, y) {
		points = append(points, Point{across[k], up})
	}
	return points
}
