package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// check prints what one file shows: where a fit is worse than no fit, or than one under less
// budget, and how good it is.
func check(w io.Writer, path string) error {
	f, err := read(path)
	if err != nil {
		return err
	}
	if len(f.budgets()) == 0 {
		return fmt.Errorf("%s has no fits", path)
	}
	var b strings.Builder
	if err := f.belowConstant(&b); err != nil {
		return err
	}
	if err := f.rising(&b); err != nil {
		return err
	}
	f.shares(&b)
	f.table(&b)
	f.refusals(&b)
	_, err = io.WriteString(w, b.String())
	return err
}

// notable is a share of the constant's loss.
const notable = 0.01

// belowConstant lists cells that are worse than the constant.
func (f *file) belowConstant(w io.Writer) error {
	var all, worse []paired
	for _, set := range f.sets() {
		for _, b := range f.budgets() {
			p, err := pair(f, f, cell{set, constant, budget{}}, cell{set, fitted, b})
			if err != nil {
				return err
			}
			if len(p.old) < 2 {
				continue
			}
			if all = append(all, p); p.worse() {
				worse = append(worse, p)
			}
		}
	}
	excess := func(p paired) float64 {
		mean, _ := p.difference()
		return mean / meanOf(p.old)
	}
	slices.SortStableFunc(worse, func(p, q paired) int { return cmp.Compare(excess(q), excess(p)) })
	notables := 0
	for _, p := range worse {
		if excess(p) > notable {
			notables++
		}
	}
	fmt.Fprintf(w, "%s, -method %s.\n\n%d of %d cells are worse than the best constant of the training rows by more than %d paired standard errors, %d of them by more than %g %% of its loss.\n",
		f.path, f.settings().Method, len(worse), len(all), apart, notables, 100*notable)
	if len(worse) == 0 {
		return nil
	}
	head(w, "set", "budget", "constant", "fit", "fit − constant", "standard error", "% of the constant's", "splits")
	for _, p := range worse {
		mean, e := p.difference()
		line(w, p.name, p.budget.String(), digits(meanOf(p.old)), digits(meanOf(p.new)), fmt.Sprintf("%+.3g", mean), fmt.Sprintf("%.2g", e), fmt.Sprintf("%+.2f", 100*excess(p)), fmt.Sprint(len(p.old)))
	}
	return nil
}

// rising lists neighbours in budget of which the larger one has the larger loss.
func (f *file) rising(w io.Writer) error {
	budgets := f.budgets()
	var pairs, up []paired
	for _, set := range f.sets() {
		for i := range budgets[1:] {
			p, err := pair(f, f, cell{set, fitted, budgets[i]}, cell{set, fitted, budgets[i+1]})
			if err != nil {
				return err
			}
			if len(p.old) < 2 {
				continue
			}
			if pairs = append(pairs, p); p.worse() {
				up = append(up, p)
			}
		}
	}
	chance := 0.0
	for _, p := range pairs {
		chance += p.byChance()
	}
	fmt.Fprintf(w, "\nOf %d pairs of neighbouring budgets, the loss at the larger exceeds that at the smaller in %d, by more than %d paired standard errors; %.1f would by chance if no budget helped.\n", len(pairs), len(up), apart, chance)
	if len(up) == 0 {
		return nil
	}
	head(w, "set", "smaller", "larger", "loss at the smaller", "at the larger", "difference", "standard error", "splits")
	for _, p := range up {
		mean, e := p.difference()
		smaller := budgets[slices.Index(budgets, p.budget)-1]
		line(w, p.name, smaller.String(), p.budget.String(), digits(meanOf(p.old)), digits(meanOf(p.new)), fmt.Sprintf("%+.3g", mean), fmt.Sprintf("%.2g", e), fmt.Sprint(len(p.old)))
	}
	return nil
}

// shares prints (constant − fit)/(constant − MLE) by budget, over sets of which the MLE is the better.
func (f *file) shares(w io.Writer) {
	var without []string
	gaps := map[string]float64{}
	for _, set := range f.sets() {
		gap := meanOf(f.losses(cell{set, constant, budget{}})) - meanOf(f.losses(cell{set, mle, budget{}}))
		if gaps[set] = gap; !(gap > 0) {
			without = append(without, set)
		}
	}
	fmt.Fprint(w, "\nThe share of the gap between the constant's loss and the MLE's that is closed:\n")
	head(w, "budget", "mean", "median", "least", "sets", "of them below 0")
	for _, b := range f.budgets() {
		var shares []float64
		below := 0
		for _, set := range f.sets() {
			v := (meanOf(f.losses(cell{set, constant, budget{}})) - meanOf(f.losses(cell{set, fitted, b}))) / gaps[set]
			if !(gaps[set] > 0) || math.IsNaN(v) {
				continue
			}
			if shares = append(shares, v); v < 0 {
				below++
			}
		}
		if len(shares) == 0 {
			continue
		}
		slices.Sort(shares)
		mean, _ := metrics.Summary(shares)
		n := len(shares)
		line(w, b.String(), fmt.Sprintf("%.3f", mean), fmt.Sprintf("%.3f", (shares[(n-1)/2]+shares[n/2])/2), fmt.Sprintf("%.3f", shares[0]), fmt.Sprint(n), fmt.Sprint(below))
	}
	if len(without) > 0 {
		fmt.Fprintf(w, "\nWithout those whose MLE is no better than the constant, or not there: %s.\n", strings.Join(without, ", "))
	}
}

// table prints all mean losses, by set and budget.
func (f *file) table(w io.Writer) {
	titles := []string{"set", "measure", "constant", "MLE"}
	for _, b := range f.budgets() {
		titles = append(titles, b.String())
	}
	fmt.Fprintf(w, "\nMean losses over at most %d splits:\n", len(f.splits()))
	head(w, titles...)
	for _, set := range f.sets() {
		fields := []string{set, f.measure(set), digits(meanOf(f.losses(cell{set, constant, budget{}}))), digits(meanOf(f.losses(cell{set, mle, budget{}})))}
		for _, b := range f.budgets() {
			fields = append(fields, digits(meanOf(f.losses(cell{set, fitted, b}))))
		}
		line(w, fields...)
	}
}

// measure is what a set is judged by.
func (f *file) measure(set string) string {
	for k, r := range f.results {
		if k.Set == set && r.Refused == "" {
			return r.Measure
		}
	}
	return ""
}
