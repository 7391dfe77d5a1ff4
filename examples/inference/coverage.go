package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// source is a population to draw rows from, each within its public bounds.
type source interface {
	name() string
	facts(losses.Loss) dpglm.Facts
	// largest is the count above which labels are held.
	largest() float64
	sample(n int, loss losses.Loss, seed uint64) *drawn
	// truth are the coefficients that minimise the expected loss, NaN for those that samples
	// can't tell.
	truth(losses.Loss) ([]float64, error)
}

// cell is what several lines of the study have in common: budgets share samples.
type cell struct {
	source
	loss     losses.Loss
	rows     int
	epsilons []float64

	labelsOnly bool // whether budgets are for labels only
}

// study runs all cells and prints their lines.
func study(ctx context.Context, stdout io.Writer, cells []cell, repeats int) error {
	fmt.Fprintf(stdout, "%-9s %-12s %7s %4s  %-21s %-21s %-22s %s\n", "loss", "population", "rows", "ε",
		"coverage (not private)", "worst coefficient's", "width ratio, its largest", "determined")
	step, done := progress.Count(ctx, "samples", len(cells)*repeats), 0
	truths := map[string][]float64{}
	for _, c := range cells {
		key := c.name() + c.loss.Name()
		if truths[key] == nil {
			truth, err := c.truth(c.loss)
			if err != nil {
				return err
			}
			truths[key] = truth
		}
		var tallies []*tally
		for range c.epsilons {
			tallies = append(tallies, newTally(truths[key]))
		}
		for k := range repeats {
			if err := c.once(ctx, tallies, uint64(k)); err != nil {
				return err
			}
			done++
			step(done)
		}
		for k, t := range tallies {
			fmt.Fprintf(stdout, "%-9s %-12s %7d %4g  %v\n", c.loss.Name(), c.name(), c.rows, c.epsilons[k], t)
		}
	}
	return nil
}

// once draws a sample and fits it without privacy and with each budget.
func (c *cell) once(ctx context.Context, tallies []*tally, seed uint64) error {
	rows := c.sample(c.rows, c.loss, 1000+seed)
	plain, err := fitExactly(rows, capped(c.loss, c.source))
	if err != nil {
		return err
	}
	data, err := dpglm.NewDataset(rows.x, rows.y, c.facts(c.loss), rows.details()...)
	if err != nil {
		return err
	}
	for k, epsilon := range c.epsilons {
		budget := dpglm.ApproxDP(epsilon, math.Pow(float64(c.rows), -1.5))
		if c.labelsOnly {
			budget = budget.LabelsOnly()
		}
		// Seeded noise: the samples are made up, and the study is to be reproducible.
		env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)}
		private, err := dpglm.Infer(ctx, data, dpglm.Problem{Loss: c.loss}, budget, dpglm.InferConfig{}, env)
		if err != nil {
			return err
		}
		tallies[k].add(private.Coefficients(), plain)
	}
	return nil
}

// capped is the loss that Infer minimises: counts have one that is linear above the
// largest.
func capped(loss losses.Loss, s source) losses.Loss {
	if loss.Labels() == losses.Count {
		return losses.CappedPoisson{Cap: s.largest()}
	}
	return loss
}

// tally counts what intervals cover.
type tally struct {
	truth         []float64
	fits          int
	plain         int // covered without privacy, of all coefficients
	found, finite []int
	ratios        []float64 // of standard errors
}

func newTally(truth []float64) *tally {
	return &tally{truth: truth, found: make([]int, len(truth)), finite: make([]int, len(truth))}
}

func (t *tally) add(private []dpglm.Coefficient, plain *exact) {
	t.fits++
	for j, c := range private {
		if math.IsNaN(t.truth[j]) {
			continue
		}
		if math.Abs(plain.coefficients[j]-t.truth[j]) <= 1.959964*plain.errors[j] {
			t.plain++
		}
		if c.Undetermined() {
			continue
		}
		t.finite[j]++
		if c.Low <= t.truth[j] && t.truth[j] <= c.High {
			t.found[j]++
		}
		t.ratios = append(t.ratios, c.StandardError/plain.errors[j])
	}
}

// String is the rest of a line. Coverage is that of the finite intervals.
func (t *tally) String() string {
	found, finite, told, worst := 0, 0, 0, 1.0
	for j, truth := range t.truth {
		if !math.IsNaN(truth) {
			told++
		}
		found, finite = found+t.found[j], finite+t.finite[j]
		if t.finite[j] > 0 {
			worst = math.Min(worst, float64(t.found[j])/float64(t.finite[j]))
		}
	}
	all := float64(t.fits * told)
	if told == 0 {
		return "samples can't tell any coefficient"
	}
	if finite == 0 {
		return fmt.Sprintf("nothing determined (%.3f)", float64(t.plain)/all)
	}
	slices.Sort(t.ratios)
	return fmt.Sprintf("%.3f (%.3f)          %.3f                 %5.2f %6.2f           %.3f",
		float64(found)/float64(finite), float64(t.plain)/all, worst, t.ratios[len(t.ratios)/2], t.ratios[len(t.ratios)-1], float64(finite)/all)
}
