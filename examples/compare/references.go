package main

import (
	"errors"

	"github.com/dpglm/dpglm/examples/compare/internal/reference"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// fitter fits a model of another kind than a Learner's, and scores it on the rows held out.
type fitter func(r *rawRows, epsilon float64, seed uint64) ([]metrics.Metric, error)

// references are the field's methods, to compare with.
var references = map[string]fitter{
	"dpsgd-tuned": tunedDescent,
	"adassp":      adaSSP,
	"kifer2012":   objective,
}

// about says what else holds of a reference.
var about = map[string]string{
	"dpsgd-tuned": "its parameters are the best of 27 on the rows held out, which isn't private",
	"adassp":      "exact noise for replacing a row, in place of its paper's",
	"kifer2012":   "its paper's noise, for adding or removing a row: half as strict a promise",
}

// aboutReferences are the lines that the table needs for its references.
func (e *experiment) aboutReferences() string {
	text := ""
	for _, r := range e.table() {
		if note, ok := about[r.name]; ok {
			text += r.name + ": " + note + ".\n"
		}
	}
	return text
}

// tunedDescent is full-batch DP-SGD with the steps, step size and clip that do best on the
// rows held out: more than anybody can have who must not look at them.
func tunedDescent(r *rawRows, epsilon float64, seed uint64) ([]metrics.Metric, error) {
	mu, err := mechanisms.GaussianMu(epsilon, r.delta)
	if err != nil {
		return nil, err
	}
	var best []metrics.Metric
	for _, c := range reference.Grid(r.Data) {
		m := r.score(c.Fit(r.Data, r.loss, mu, seed))
		if best == nil || better(m[0], best[0]) {
			best = m
		}
	}
	return best, nil
}

// better compares the first metric of two models.
func better(a, b metrics.Metric) bool {
	if metrics.LowerIsBetter(a.Name) {
		return a.Value < b.Value
	}
	return a.Value > b.Value
}

func adaSSP(r *rawRows, epsilon float64, seed uint64) ([]metrics.Metric, error) {
	if _, ok := r.loss.(losses.Squared); !ok {
		return nil, errors.New("is for the squared loss")
	}
	mu, err := mechanisms.GaussianMu(epsilon, r.delta)
	if err != nil {
		return nil, err
	}
	w, err := reference.AdaSSP(r.Data, mu, seed)
	if err != nil {
		return nil, err
	}
	return r.score(w), nil
}

func objective(r *rawRows, epsilon float64, seed uint64) ([]metrics.Metric, error) {
	if _, ok := r.loss.(losses.Logistic); !ok {
		return nil, errors.New("is for the logistic loss")
	}
	w, err := reference.Objective(r.Data, epsilon, r.delta, seed)
	if err != nil {
		return nil, err
	}
	return r.score(w), nil
}
