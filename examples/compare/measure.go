package main

import (
	"math"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// summary is a mean over seeds and its standard error, which is NaN for one seed.
type summary struct{ mean, standardError float64 }

// summarise returns ok = false if a fit failed or the metric isn't defined.
func (c *cell) summarise(metric string) (s summary, ok bool) {
	if c.refusal != nil {
		return s, false
	}
	var values []float64
	for _, run := range c.runs {
		values = append(values, metrics.Value(run, metric))
	}
	s.mean, s.standardError = metrics.Summary(values)
	return s, !math.IsNaN(s.mean)
}

// spread is the standard error for a picture, 0 where there is none.
func (s summary) spread() float64 {
	if math.IsNaN(s.standardError) {
		return 0
	}
	return s.standardError
}

func (c *cell) format(metric string) string {
	s, ok := c.summarise(metric)
	switch {
	case !ok:
		return "–"
	case math.IsNaN(s.standardError):
		return number(s.mean)
	}
	return number(s.mean) + " ± " + number(s.standardError)
}

func number(v float64) string { return metrics.Metric{Value: v}.String() }

// title is a metric's name for people.
func title(metric string) string {
	switch metric {
	case "log_loss":
		return "log-loss"
	case slope:
		return "calibration slope"
	case "r2":
		return "R²"
	case "deviance":
		return "Poisson deviance of a row"
	}
	return metric
}
