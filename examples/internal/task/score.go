package task

import (
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
)

// Metric is one score on the held-out rows.
type Metric struct {
	Name  string
	Value float64
}

// Score compares the scores of a linear model with the labels. The squared error
// is not what most losses of real labels aim at, so their mean is there too.
func Score(loss losses.Loss, z, y []float64) []Metric {
	if loss.Labels() == losses.Binary {
		return scoreClasses(loss, z, y)
	}
	mean, total := make([]float64, len(z)), 0.0
	for i, v := range z {
		mean[i] = losses.LinkOf(loss).Mean(v)
		total += loss.Value(v, y[i])
	}
	m := []Metric{{"mean_loss", total / float64(len(z))}, {"rmse", metrics.RMSE(mean, y)}}
	if r2, ok := metrics.R2(mean, y); ok {
		m = append(m, Metric{"r2", r2})
	}
	if loss.Labels() == losses.Count {
		if d2, ok := metrics.DevianceExplained(mean, y); ok {
			m = append(m, Metric{"deviance_explained", d2})
		}
	}
	return m
}

func scoreClasses(loss losses.Loss, z, y []float64) []Metric {
	m := []Metric{{"accuracy", metrics.Accuracy(z, y)}}
	if auc, ok := metrics.AUC(z, y); ok {
		m = append(m, Metric{"auc", auc})
	}
	if losses.LinkOf(loss) == losses.Logit {
		m = append(m, Metric{"log_loss", metrics.LogLoss(z, y)})
	}
	return m
}
