// Package metrics scores predictions on labels that were held out. Nothing in
// it is private: these numbers are for whoever holds the data.
//
// Accuracy alone doesn't show that probabilities, means and coefficients are
// wrong, so [Of] has what is defined for a loss: how good the predictions are
// (log-loss, deviance, R²), how well they order the rows (AUC), whether they are
// too bold or too timid (calibration slope), and whether they are right on average
// (mean error).
//
// Binary labels and classes follow one rule, y > 0 is class 1 and the rest is
// class 0, so that 0/1, −1/1 and scores all fit. Slices must have equal lengths
// above 0. What is not defined is NaN.
package metrics

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/losses"
)

// Metric is one number; Value is NaN where it isn't defined.
type Metric struct {
	Name  string
	Value float64
}

// Defined reports whether there is a value.
func (m Metric) Defined() bool { return !math.IsNaN(m.Value) }

// String is the value with four digits after the point, fewer for large numbers,
// or a dash.
func (m Metric) String() string {
	switch {
	case !m.Defined():
		return "–"
	case math.Abs(m.Value) < 1000:
		return fmt.Sprintf("%.4f", m.Value)
	}
	return fmt.Sprintf("%.4g", m.Value)
}

// Value returns the metric of that name, NaN if there is none.
func Value(metrics []Metric, name string) float64 {
	if i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name }); i >= 0 {
		return metrics[i].Value
	}
	return math.NaN()
}

// Hold holds scores to what means in the labels' public range have, as a model's means are.
func Hold(z []float64, ends [2]float64) {
	for i, v := range z {
		z[i] = max(ends[0], min(v, ends[1]))
	}
}

// Of compares the scores of a linear model with labels. Which metrics there are
// depends on the loss only, and the first is the one to judge by:
//
//	probabilities    log_loss, auc, calibration_slope, mean_error, accuracy
//	other classes    accuracy, auc, mean_loss
//	counts           deviance, deviance_explained, mean_error
//	amounts, others     r2, rmse, mean_error, mean_loss
//
// The mean error is the mean prediction minus the mean label. No metric is defined
// if a score is NaN.
func Of(loss losses.Loss, z, y []float64) []Metric {
	var m []Metric
	link, mean := losses.LinkOf(loss), make([]float64, len(z))
	for i, v := range z {
		mean[i] = link.Mean(v)
	}
	switch labels := loss.Labels(); {
	case link.Probability():
		z = logOdds(loss, z)
		m = []Metric{{"log_loss", LogLoss(z, y)}, {"auc", AUC(z, y)}, {"calibration_slope", CalibrationSlope(z, y)},
			{"mean_error", MeanError(mean, indicators(y))}, {"accuracy", Accuracy(z, y)}}
	case labels == losses.Binary:
		m = []Metric{{"accuracy", Accuracy(z, y)}, {"auc", AUC(z, y)}, {"mean_loss", meanLoss(loss, z, signs(y))}}
	case labels == losses.Count && link == losses.Log:
		m = []Metric{{"deviance", Deviance(mean, y)}, {"deviance_explained", DevianceExplained(mean, y)}, {"mean_error", MeanError(mean, y)}}
	default:
		m = []Metric{{"r2", R2(mean, y)}, {"rmse", RMSE(mean, y)}, {"mean_error", MeanError(mean, y)}, {"mean_loss", meanLoss(loss, z, y)}}
	}
	if slices.ContainsFunc(z, math.IsNaN) {
		for i := range m {
			m[i].Value = math.NaN()
		}
	}
	return m
}

// logOdds are those of the probabilities at scores.
func logOdds(loss losses.Loss, z []float64) []float64 {
	if losses.LinkOf(loss) == losses.Logit {
		return z
	}
	odds := make([]float64, len(z))
	for i, v := range z {
		odds[i] = loss.Value(v, -1) - loss.Value(v, 1)
	}
	return odds
}

// LowerIsBetter reports whether the metric of that name is an error.
func LowerIsBetter(name string) bool {
	return slices.Contains([]string{"log_loss", "deviance", "mean_loss", "rmse"}, name)
}

func meanLoss(loss losses.Loss, z, y []float64) float64 {
	var sum float64
	for i, v := range z {
		sum += loss.Value(v, y[i])
	}
	return sum / float64(len(z))
}

// indicators are 1 for class 1 and 0 for class 0.
func indicators(y []float64) []float64 { return classes(y, 0) }

// signs are 1 for class 1 and −1 for class 0.
func signs(y []float64) []float64 { return classes(y, -1) }

func classes(y []float64, other float64) []float64 {
	c := make([]float64, len(y))
	for i, v := range y {
		c[i] = other
		if v > 0 {
			c[i] = 1
		}
	}
	return c
}
