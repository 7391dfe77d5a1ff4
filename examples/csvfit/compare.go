package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/internal/digits"
)

// compare scores methods on the same rows that were held out. What it prints is for the
// curator: none of the fits is counted against a budget.
func compare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit compare", flag.ContinueOnError)
	source, b := task.NewSource(f), new(budget)
	source.TakesLevels = true
	b.addNumbersTo(f)
	methods := f.String("methods", "", "`names` of the methods, with commas (default: "+strings.Join(task.Compared(), ",")+"; softmax,oneagainstrest where the label has several levels)")
	f.Float64Var(&source.HeldOut, "test", 0.2, "`share` of the rows, to the nearest number, or of the persons, rounded up, to hold out")
	seed := f.Uint64("seed", 1, "`seed` of the split; the noise doesn't use it")
	asJSON := f.Bool("json", false, "print one JSON object")
	given, err := task.Parse(f, args, stdout)
	if err != nil {
		return err
	}
	names := strings.Split(*methods, ",")
	if *methods == "" {
		names = []string{"auto"}
	}
	for _, b.method = range names {
		if err := b.check(given); err != nil {
			return err
		}
	}
	if !(source.HeldOut > 0 && source.HeldOut < 1) {
		return task.Usage("-test %g must lie strictly between 0 and 1", source.HeldOut)
	}
	if err := source.ResolveData("csvfit", stderr); err != nil {
		return err
	}
	if names, err = b.compared(names, *methods == "", source); err != nil {
		return err
	}
	t, err := source.Load(ctx)
	if err != nil {
		return err
	}
	trial, err := source.Divide(t, *seed)
	if err != nil {
		return err
	}
	rows, err := b.scores(ctx, names, source, trial)
	if err != nil {
		return err
	}
	if *asJSON {
		return compareJSON(stdout, rows)
	}
	fmt.Fprintf(stdout, "%s%d training %s, %d held out, each fit at ε = %g, δ = %s%s\n\n", atMost(trial.Train.Shape()), trial.Train.Shape().Rows, units(trial.Train.Shape()), trial.HeldOut(), b.epsilon, digits.RoundedUp(b.delta), b.groups(trial.Train.Shape()))
	if err := metrics.Print(stdout, "hold-out", rows...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\nNote: %s. A model to release is trained once more, by fit.\n", curatorNote)
	return err
}

// scores are those of each method, of the model without privacy and of the constant.
func (b *budget) scores(ctx context.Context, names []string, source *task.Source, trial *task.Trial) ([]metrics.Row, error) {
	rows := []metrics.Row{{Name: "constant", Metrics: trial.Constant()}}
	progress.Doing(ctx, "fitting without privacy")
	plain, err := trial.NonPrivate(ctx)
	if err != nil {
		return nil, err
	}
	rows = append(rows, metrics.Row{Name: "non-private", Metrics: plain, Reason: noBaseline})
	count := progress.Count(ctx, "fits", len(names))
	for i, name := range names {
		b.method = name
		if err := b.find(); err != nil {
			return nil, err
		}
		row := metrics.Row{Name: name}
		plan, _, err := b.of(trial.Train.Shape(), source, io.Discard)
		if err != nil {
			row.Reason = err.Error()
		} else if model, _, err := b.train(ctx, plan, trial.Train, nil); err != nil {
			return nil, err
		} else if row.Metrics, err = trial.Score(model); err != nil {
			return nil, err
		}
		rows = append(rows, row)
		count(i + 1)
	}
	return rows, nil
}

func compareJSON(w io.Writer, rows []metrics.Row) error {
	type row struct {
		Method  string              `json:"method"`
		Metrics map[string]*float64 `json:"metrics,omitempty"`
		Reason  string              `json:"reason,omitempty"`
	}
	var out struct {
		HoldOut []row  `json:"hold_out"`
		Note    string `json:"note"`
	}
	out.Note = curatorNote
	for _, r := range rows {
		reason := r.Reason
		if r.Metrics != nil {
			reason = ""
		}
		out.HoldOut = append(out.HoldOut, row{r.Name, named(r.Metrics), reason})
	}
	return json.NewEncoder(w).Encode(out)
}
