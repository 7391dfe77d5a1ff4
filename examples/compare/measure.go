package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm/losses"
)

// measure is a score that models are compared by.
type measure struct {
	name  string // as in task.Metric
	title string
	unit  float64 // what one unit of the printed numbers is
	// constant is the score of the best model that ignores the features.
	constant func(y []float64) float64
	floor    string // that model's name
}

// measures are the scores for a kind of labels, the one to draw first.
func measures(l losses.Labels) []measure {
	zero := func([]float64) float64 { return 0 }
	switch l {
	case losses.Real:
		return []measure{{"r2", "R²", 1, zero, "the mean"}}
	case losses.Count:
		return []measure{{"deviance_explained", "share of the Poisson deviance explained", 1, zero, "the mean"}}
	}
	half := func([]float64) float64 { return 0.5 }
	return []measure{{"accuracy", "accuracy in %", 0.01, majority, "majority class"}, {"auc", "AUC", 1, half, "majority class"}}
}

// majority is the share of the more frequent class.
func majority(y []float64) float64 {
	var ones float64
	for _, v := range y {
		if v > 0 {
			ones++
		}
	}
	share := ones / float64(len(y))
	return max(share, 1-share)
}

// summary is a mean over seeds and the standard deviation of one of them.
type summary struct{ mean, deviation float64 }

// summarise returns ok = false if there is no score, or a fit failed.
func (m measure) summarise(c *cell) (s summary, ok bool) {
	scores := c.scores[m.name]
	if c.refusal != nil || len(scores) == 0 {
		return s, false
	}
	s.mean, s.deviation = stat.MeanStdDev(scores, nil)
	if len(scores) == 1 {
		s.deviation = 0
	}
	return summary{s.mean / m.unit, s.deviation / m.unit}, true
}

func (m measure) format(c *cell) string {
	s, ok := m.summarise(c)
	if !ok {
		return "–"
	}
	verb := "%.3f"
	if m.unit != 1 {
		verb = "%.1f"
	}
	if !(math.Abs(s.mean) < 100) || !(s.deviation < 100) {
		verb = "%.3g"
	}
	if len(c.scores[m.name]) == 1 {
		return fmt.Sprintf(verb, s.mean)
	}
	return fmt.Sprintf(verb+" ± "+verb, s.mean, s.deviation)
}
