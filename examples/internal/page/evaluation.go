package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm"
)

// evaluation are the figures of rows held out.
type evaluation struct {
	Count, Level     string // of rows or persons; of the intervals
	Figures          []figure
	Lost             []string // which drowned in the noise, and why
	ROC, Calibration *chart
	Hidden           string // about groups of the calibration curve that aren't drawn
	Band             string // how far labels lie from what is predicted of them
	Classes          []classFigures
	Confusion        *confusion
}

type figure struct{ Name, Meaning, Value, Interval string }

func newEvaluation(e *dpglm.Evaluation, c Content) *evaluation {
	v := &evaluation{Count: counted(e.Ledger, e.Rows), Level: level(e.Confidence)}
	for _, m := range measuresOf(e, c) {
		if f, known := e.Figure(m.name); known && !f.Vacuous() {
			v.Figures = append(v.Figures, m.shown(f))
		}
	}
	for _, sentence := range e.Withheld() {
		v.Lost = append(v.Lost, sentence+".")
	}
	if f, known := e.Figure("AUC"); known && !f.Vacuous() && len(e.ROC) > 0 {
		v.ROC = rocChart(e)
	}
	v.Calibration, v.Hidden = calibrationChart(e, c.Model.Label())
	if b := e.Band; b != nil {
		v.Band = fmt.Sprintf("At least %s of new labels lie from %s below to %s above their prediction, on average over rows.",
			v.Level, significant(-b.Low, 3), significant(b.High, 3))
	}
	if e.Classes != nil {
		v.Classes, v.Confusion = classFiguresOf(e), newConfusion(e)
	}
	return v
}

// measure is a figure that a model of its kind has.
type measure struct{ name, meaning string }

// shown is a figure in print, fractions in percent.
func (m measure) shown(f dpglm.Figure) figure {
	if f.Unit != "fraction" {
		value, interval := estimate(f.Value, f.Low, f.High)
		return figure{m.name, m.meaning, value, interval}
	}
	value, interval := estimate(100*f.Value, 100*f.Low, 100*f.High)
	return figure{m.name, m.meaning, value + space + "%", interval + space + "%"}
}

func measuresOf(e *dpglm.Evaluation, c Content) []measure {
	switch {
	case e.Classes != nil:
		return []measure{
			{"accuracy", "rows whose level is the most likely one"},
			{"mean AUC", "mean of the levels’; ½ is blind"},
			{"log-loss", "mean of −log probability of what was right, in nats"},
			{"Brier score", "mean sum of the probabilities’ squared errors"},
		}
	case len(e.ROC) == 0:
		return []measure{
			{"R²", "part of the label’s variance that is explained; with heavy tails the interval may miss"},
			{"RMSE", "root of the mean squared error, in units of the label"},
			{"mean error", "prediction less label, in units of the label; 0 is right"},
		}
	}
	list := []measure{
		{"accuracy", "rows that are classified rightly at a probability of ½"},
		{"AUC", "chance that a row of the class scores above one that isn’t; ½ is blind"},
		{"rate of ones", "rows for which it holds that " + c.Model.Label()},
	}
	if !c.Model.Link().Probability() {
		list[0].meaning = "rows that are classified rightly"
		return list
	}
	return append(list,
		measure{"log-loss", "mean of −log probability of what was right, in nats"},
		measure{"Brier score", "mean squared error of the probability"},
		measure{"calibration intercept", "0 is right; above, probabilities are too low"},
		measure{"calibration slope", "1 is right; below, probabilities are too extreme"})
}

// headline is the figure for the page's top.
func (v *evaluation) headline() []tile {
	for _, f := range v.Figures {
		if f.Name == "AUC" || f.Name == "mean AUC" || f.Name == "R²" {
			return []tile{{f.Name, f.Value, v.Level + " interval " + f.Interval}}
		}
	}
	return nil
}

// rocChart draws the curve, and as its band all boxes of both rates' intervals.
func rocChart(e *dpglm.Evaluation) *chart {
	c := unitChart("roc", "false positive rate", "true positive rate")
	c.Title = "ROC curve"
	c.Description = fmt.Sprintf("True positive rate against false positive rate at %d thresholds, with a band of both rates’ %s intervals. Blind guessing is the diagonal.", len(e.ROC), level(e.Confidence))
	upper, curve, lower := []point{{0, 0}}, []point{{0, 0}}, []point{{0, 0}}
	for _, p := range e.ROC {
		fpr, tpr := p.Across, p.Up
		if fpr == (dpglm.Interval{}) || tpr == (dpglm.Interval{}) {
			continue
		}
		upper = append(upper, point{fpr.Low, tpr.High})
		curve = append(curve, point{fpr.Value, tpr.Value})
		lower = append(lower, point{fpr.High, tpr.Low})
	}
	end := point{1, 1}
	upper, curve, lower = rising(append(upper, end)), rising(append(curve, end)), rising(append(lower, end))
	c.band(upper, lower)
	c.line("curve", curve...)
	return c
}

// rising holds rates to those before them, as they are without noise.
func rising(list []point) []point {
	for i := 1; i < len(list); i++ {
		list[i] = point{math.Max(list[i].x, list[i-1].x), math.Max(list[i].y, list[i-1].y)}
		list[i] = point{within(list[i].x), within(list[i].y)}
	}
	return list
}

// widest is the interval beyond which a group says nothing.
const widest = 0.5

// calibrationChart draws the groups of rows that stand out from the noise, if any do.
func calibrationChart(e *dpglm.Evaluation, label string) (*chart, string) {
	c := unitChart("calibration", "predicted probability", "rate among the rows")
	c.Title = "Calibration"
	groups := slices.Clone(e.Calibration)
	slices.SortStableFunc(groups, func(a, b dpglm.CurvePoint) int { return cmp.Compare(a.Across.Value, b.Across.Value) })
	drawn, curve, upper, lower := 0, []point(nil), []point(nil), []point(nil)
	for _, g := range groups {
		mean, rate := g.Across, g.Up
		if rate == (dpglm.Interval{}) || rate.High-rate.Low > widest || mean.High-mean.Low > widest {
			continue
		}
		drawn++
		at := within(mean.Value)
		curve = append(curve, point{at, rate.Value})
		upper, lower = append(upper, point{at, rate.High}), append(lower, point{at, rate.Low})
		c.whisker(at, rate.Low, rate.High)
		c.dot("point", point{at, rate.Value})
	}
	if drawn == 0 {
		return nil, ""
	}
	c.band(upper, lower)
	c.line("thin", curve...)
	c.Description = fmt.Sprintf("Rate of “%s” against the predicted probability for %d groups of rows, with %s intervals. On the diagonal probabilities are right.", label, drawn, level(e.Confidence))
	if hidden := len(e.Calibration) - drawn; hidden > 0 {
		return c, fmt.Sprintf("%d of %d groups hold too few rows to stand out from the noise, and aren’t drawn.", hidden, len(e.Calibration))
	}
	return c, ""
}
