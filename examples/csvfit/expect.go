package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/forecast"
	"github.com/dpglm/dpglm/internal/digits"
	"github.com/dpglm/dpglm/losses"
)

// expected is what flags ask of a forecast, by made-up rows.
type expected struct {
	table  bool
	mean   *float64 // of the labels, nil for the default
	target forecast.Target
}

func (e *expected) addTo(f *flag.FlagSet) {
	f.BoolVar(&e.table, "expect", false, "forecast what is lost at this and other ε, by made-up rows that follow the schema: no data are read, no budget is spent")
	f.Float64Var(&e.target.Width, "width", 0, "find the ε at which intervals of -method infer are, in the median, this `ratio` times as wide as without privacy")
	f.Float64Var(&e.target.Excess, "excess", 0, "find the ε at which the mean loss, such as log-loss, is this `much` above that without privacy")
	f.Float64Var(&e.target.Lost, "lost", 0, "find the ε at which this `fraction` is lost of what features gain over the constant model")
	e.addMeanTo(f, "the labels' `mean` to forecast with, such as the fraction of ones, if it is publicly known (default: that of package forecast; a forecast of counts has none)")
}

// addMeanTo adds the flag of the mean. That it is 0 is something else than that it isn't given.
func (e *expected) addMeanTo(f *flag.FlagSet, usage string) {
	f.Func("mean", usage, func(text string) error {
		mean, err := strconv.ParseFloat(text, 64)
		e.mean = &mean
		return err
	})
}

// sought reports whether it is an ε that is asked for.
func (e *expected) sought() bool { return e.target != forecast.Target{} }

// check is the budget's, too, which needs no ε where one is sought.
func (e *expected) check(given map[string]bool, b *budget) error {
	var seeks []string
	for _, name := range []string{"width", "excess", "lost"} {
		if given[name] {
			seeks = append(seeks, "-"+name)
		}
	}
	seeking := strings.Join(seeks, " and ") + " looks for an ε"
	if len(seeks) > 1 {
		seeking = strings.Join(seeks, " and ") + " look for an ε"
	}
	switch {
	case len(seeks) == 0 && given["mean"] && !e.table && !given["evaluate"]:
		return task.Usage("-mean is for a forecast: give -expect, -evaluate, -width, -excess or -lost with it")
	case given["largest"] && (given["epsilon"] || len(seeks) > 0):
		return task.Usage("-largest looks for an ε, as -width, -excess and -lost do: leave them out, and -epsilon")
	case given["largest"]:
		return b.checkAll(given)
	case len(seeks) == 0:
		return b.check(given)
	case given["epsilon"]:
		return task.Usage("%s: leave out -epsilon, or give -expect in its place", seeking)
	case e.table:
		return task.Usage("%s, and -expect takes one: leave one of them out", seeking)
	case given["evaluate"]:
		return task.Usage("%s, and -evaluate takes one: leave one of them out", seeking)
	case given["width"] && !(e.target.Width > 1 && e.target.Width < 1e6):
		return task.Usage("-width %g must be above 1, which is the width without privacy: 1.5 is half as wide again", e.target.Width)
	case given["excess"] && !(e.target.Excess > 0 && e.target.Excess < 1e300):
		return task.Usage("-excess %g must be a number above 0, such as 0.005", e.target.Excess)
	case given["lost"] && !(e.target.Lost > 0 && e.target.Lost < 1):
		return task.Usage("-lost %g must lie between 0 and 1: 0.05 is a twentieth", e.target.Lost)
	case given["width"] && given["method"] && b.method != "infer":
		return task.Usage("-width is for -method infer: %s has no intervals", b.method)
	}
	if given["width"] {
		b.method = "infer"
	}
	return b.checkAll(given)
}

// checkMean refuses a mean that the labels can't have, before the data are read.
func (e *expected) checkMean(source *task.Source) error {
	if e.mean == nil || source.Classes > 0 || source.Facts() == nil {
		return nil
	}
	s, err := shapeOf(source.Facts(), 1)
	if err != nil {
		return err
	}
	low, high := s.LabelCentre-s.LabelBound, s.LabelCentre+s.LabelBound
	if source.Loss.Labels() == losses.Binary {
		low, high = 0, 1
	}
	if !(*e.mean > low && *e.mean < high) {
		return task.Usage("-mean %g must lie between %.4g and %.4g, as labels do by the schema", *e.mean, low, high)
	}
	return nil
}

// needsMean asks for the mean of counts, which a forecast can't do without. Without one a plan of an evaluation says so.
func (e *expected) needsMean(source *task.Source) error {
	if !(e.table || e.sought()) || !e.lacksMean(source) {
		return nil
	}
	return task.Usage("-mean is missing: %s", whyMean)
}

const whyMean = "a forecast of counts needs their mean, as far as it is publicly known, as all that is lost depends on it"

// lacksMean reports whether there is no forecast as labels are counts, whose mean isn't given.
func (e *expected) lacksMean(source *task.Source) bool {
	_, ordinal := source.Loss.(losses.Ordinal)
	return !ordinal && e.mean == nil && source.Loss.Labels() == losses.Count
}

// scenario is what is planned.
func (e *expected) scenario(b *budget, source *task.Source, rows int) forecast.Scenario {
	return forecast.Scenario{Table: source.Facts(), Rows: rows, Problem: b.problem(source),
		Learner: b.learner, Delta: b.delta, Group: b.group, LabelMean: e.mean}
}

// around forecasts for the ε that was given, and for smaller and larger ones; nil unless it
// was asked for.
func (e *expected) around(ctx context.Context, b *budget, source *task.Source, rows int) (*forecast.Forecast, error) {
	if !e.table {
		return nil, nil
	}
	var epsilons []float64
	for _, times := range []float64{0.125, 0.25, 0.5, 1, 2, 4, 8} {
		epsilons = append(epsilons, times*b.epsilon)
	}
	return e.scenario(b, source, rows).At(ctx, epsilons, progress.Steps(ctx, "fits of made-up rows"))
}

// seek finds an ε and says what else was tried.
func (e *expected) seek(ctx context.Context, b *budget, source *task.Source, rows int, asJSON bool, stdout io.Writer) error {
	if err := b.settle(rows); err != nil {
		return err
	}
	epsilon, tried, err := e.scenario(b, source, rows).EpsilonFor(ctx, e.target, progress.Steps(ctx, "fits of made-up rows"))
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(stdout).Encode(struct {
			Epsilon  float64            `json:"epsilon"`
			Delta    float64            `json:"delta"`
			Group    int                `json:"group"`
			Method   string             `json:"method"`
			Forecast *forecast.Forecast `json:"forecast"`
		}{epsilon, b.delta, b.group, b.method, tried})
	}
	_, err = fmt.Fprintf(stdout, "-epsilon %.4g with -method %s, by a forecast (δ = %s)\n\n%s", epsilon, b.method, digits.RoundedUp(b.delta), tried)
	return err
}

// foreseen is a forecast of an evaluation, or why there is none.
type foreseen struct {
	*forecast.Evaluation
	none   string
	ledger *dpglm.Ledger // of the fit, and the evaluation if there is one
}

func (f foreseen) String() string {
	if f.Evaluation == nil {
		return f.none
	}
	return f.Evaluation.String()
}

// evaluation forecasts that on rows that are held out, if any are.
func (e *expected) evaluation(ctx context.Context, b *budget, source *task.Source, trained dpglm.Shape, held int, fit *dpglm.Ledger) (f foreseen, err error) {
	if f.ledger = fit; held == 0 {
		return f, nil
	}
	shape, err := shapeOf(source.Facts(), held)
	if err != nil {
		return f, err
	}
	ledger, err := b.evaluationLedger(source, shape)
	if err != nil {
		return f, err
	}
	if f.ledger, err = b.together(parts{"of disjoint rows", trained.Rows + held}, fit, ledger); err != nil {
		return f, err
	}
	if source.Levels() != nil {
		f.none = "how wide intervals will be isn't forecast where the label has several levels\n"
		return f, nil
	}
	if e.lacksMean(source) {
		f.none = "how wide intervals will be isn't forecast without -mean: " + whyMean + "\n"
		return f, nil
	}
	f.Evaluation, err = e.scenario(b, source, trained.Rows).Evaluation(ctx, b.epsilon, held, progress.Steps(ctx, "fits of made-up rows"))
	if errors.Is(err, dpglm.ErrShape) { // too many features
		f.none, err = fmt.Sprintf("how wide intervals will be isn't forecast: %v\n", err), nil
	}
	return f, err
}
