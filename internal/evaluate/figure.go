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

// within is the estimate and the ends of its interval, held to a range.
func (x Interval) within(low, high float64) Interval {
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

// Names of figures.
const (
	accuracy      = "accuracy"
	area          = "AUC"
	meanArea      = "mean AUC"
	rateOfOnes    = "rate of ones"
	logLoss       = "log-loss"
	brierScore    = "Brier score"
	calibratedAt  = "calibration intercept"
	calibratedBy  = "calibration slope"
	meanError     = "mean error"
	rootSquare    = "RMSE"
	explained     = "R²"
	rate          = "rate"
	recall        = "recall"
	precision     = "precision"
	falsePositive = "false positive rate" // of a point of the ROC curve, as the next
	truePositive  = "true positive rate"
	predicted     = "mean probability" // of a point of calibration, as the next
	observed      = "rate of a group"
)

// order is that of figures of several classes, of all rows and of each class.
var order = []string{accuracy, logLoss, brierScore, meanArea, rate, recall, precision, area}

// Units of figures: a fraction of rows, natural units of information, and the label's own; other
// figures are plain numbers.
const (
	fraction = "fraction"
	nats     = "nats"
	label    = "label"
)

// measure is what a figure is called, and what it can be.
type measure struct {
	name, unit string
	class      int
	low, high  float64
}

func fractionOf(name string) measure { return measure{name: name, unit: fraction, high: 1} }

func numberOf(name string) measure {
	return measure{name: name, low: math.Inf(-1), high: math.Inf(1)}
}

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

// add appends figures that didn't drown; a class's rate, which may be 0 as far as is known, is
// there always.
func (r *Result) add(list ...Figure) {
	for _, f := range list {
		if f.Of.known() || f.Name == rate {
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

// called are the intervals of all figures of a name.
func called(list []Figure, name string) (found []Interval) {
	for _, f := range list {
		if f.Name == name {
			found = append(found, f.Of)
		}
	}
	return found
}

// curve makes points of the figures of two names.
func curve(list []Figure, x, y string) (points []Point) {
	across := called(list, x)
	for k, up := range called(list, y) {
		points = append(points, Point{across[k], up})
	}
	return points
}
