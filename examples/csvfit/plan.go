package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/forecast"
	"github.com/dpglm/dpglm/table"
)

// plan needs no data: what is released, and how noisily, follows from public facts, and
// what it will be worth can be tried on made-up rows.
func plan(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit plan", flag.ContinueOnError)
	source, b, e := task.NewFacts(f), new(budget), new(expected)
	source.TakesLevels = true
	b.addTo(f)
	e.addTo(f)
	rows := f.Int("rows", 0, "`number` of rows to train on, or of persons, where the schema names them; with -evaluate, that of all (default: the schema's at_most or persons, which it must be where there is one)")
	share := evaluated(f)
	of := f.String("largest", "", "`file` of a budget: find the largest ε that is left in it, at its δ and for its group, and plan with that")
	asJSON := f.Bool("json", false, "print one JSON object")
	given, err := task.Parse(f, args, stdout)
	if err != nil {
		return err
	}
	if err := e.check(given, b); err != nil {
		return err
	}
	if err := canEvaluate(given, *share); err != nil {
		return err
	}
	if given["rows"] && *rows < 1 {
		return task.Usage("-rows %d must be at least 1: the number of rows to train on", *rows)
	}
	if err := source.Resolve("csvfit", stderr); err != nil {
		return err
	}
	if err := statedRows(rows, given["rows"], source.Facts()); err != nil {
		return err
	}
	if err := b.choose(source); err != nil {
		return err
	}
	if err := errors.Join(b.checkRadius(), b.checkCohort(source, *share), e.checkMean(source), e.needsMean(source)); err != nil {
		return err
	}
	if source.Classes > 0 && (e.table || e.sought()) {
		return task.Usage(`a forecast is for one score a row, and %s has one for each level: where levels ascend ("ordered": true in the schema), add -loss ordinal`, b.method)
	}
	if e.sought() {
		return e.seek(ctx, b, source, *rows, *asJSON, stdout)
	}
	held := int(math.Ceil(*share * float64(*rows)))
	if held >= *rows {
		return task.Usage("-evaluate %g leaves none of -rows %d to train on", *share, *rows)
	}
	shape, err := shapeOf(source.Facts(), *rows-held)
	if err != nil {
		return err
	}
	if *of != "" {
		if err := b.findLargest(ctx, *of, given, source, shape, held); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "csvfit: -epsilon %g -delta %g is the largest that -largest %s has left for this fit\n", b.epsilon, b.delta, *of)
	}
	p, warnings, err := b.of(shape, source, stderr)
	if err != nil {
		return err
	}
	evaluation, err := e.evaluation(ctx, b, source, shape, held, p.Ledger)
	if err != nil {
		return fmt.Errorf("-evaluate: %w", err)
	}
	note := ""
	if p.Note != "" {
		note = fmt.Sprintf("%s. What helps: %s", p.Note, helps(shape.PersonRows > 0))
	}
	made, err := e.around(ctx, b, source, shape.Rows)
	if err != nil {
		return err
	}
	if !*asJSON {
		if note != "" {
			note = "NOTE: " + note + ".\n"
		}
		if made != nil {
			note += "\n" + made.String()
		}
		if held > 0 {
			note += fmt.Sprintf("\nof -rows %d, %d are to evaluate on: figures cost nothing more, as a row is in one part\n%s", *rows, held, evaluation)
		}
		_, err := fmt.Fprintf(stdout, "%s, %s%d %s, %s weights, feature bound %.4g%s\n%s\n%s",
			b.named(source), atMost(shape), shape.Rows, units(shape), weights(source, shape), shape.FeatureBound, radiusOf(b.bound(p)), explained(evaluation.ledger), note)
		return err
	}
	if note != "" {
		warnings = append(warnings, note)
	}
	if evaluation.none != "" {
		warnings = append(warnings, strings.TrimSpace(evaluation.none))
	}
	return json.NewEncoder(stdout).Encode(struct {
		Rows         int                  `json:"rows"`
		Weights      int                  `json:"weights"`
		FeatureBound float64              `json:"feature_bound"`
		Loss         string               `json:"loss"`
		Method       string               `json:"method"`
		Radius       float64              `json:"radius,omitempty"` // that holds the weights
		Epsilon      float64              `json:"epsilon"`
		Delta        float64              `json:"delta"`
		Group        int                  `json:"group"`
		Warnings     []string             `json:"warnings,omitempty"`
		Ledger       *dpglm.Ledger        `json:"ledger"`
		Forecast     *forecast.Forecast   `json:"forecast,omitempty"`
		Held         int                  `json:"evaluation_rows,omitempty"`
		Evaluation   *forecast.Evaluation `json:"evaluation_forecast,omitempty"`
	}{shape.Rows, scores(source) * shape.Dim, shape.FeatureBound, b.lossName(source), b.method, b.bound(p), b.epsilon, b.delta, b.group, warnings, evaluation.ledger, made, held, evaluation.Evaluation})
}

// statedRows takes the number of rows, or persons, from a schema that states it or a bound on it, as a fit does, and refuses another one.
func statedRows(rows *int, given bool, schema *table.Schema) error {
	of, key, number := "rows", "at_most", schema.AtMost
	if schema.Person != "" {
		of = "persons"
	}
	if number == 0 {
		key, number = "persons", schema.Persons
	}
	switch {
	case number == 0 && !given:
		return task.Usage("-rows is missing: the number of %s to train on, which is public", of)
	case number == 0:
		return nil
	case given && *rows != number:
		return task.Usage(`-rows %d must be the schema's %q, %d, which a fit takes for the number of %s: leave -rows out`, *rows, key, number, of)
	}
	*rows = number
	return nil
}

// shapeOf is the shape of a data set of so many rows of a schema.
func shapeOf(schema *table.Schema, rows int) (dpglm.Shape, error) {
	e, err := table.NewEncoder(*schema)
	if err != nil {
		return dpglm.Shape{}, err
	}
	of := e.Schema() // of the rows that are made of records
	schema = &of
	lo, hi := e.Label().Range[0], e.Label().Range[1]
	s := dpglm.Shape{Rows: rows, PersonRows: schema.MaxRows, EachRow: schema.MaxRows > 1 && !schema.PersonsAlike, PersonsOccur: schema.Person != "" && schema.Persons == 0 && schema.AtMost == 0 && !schema.Recorded(), AddRemove: schema.AtMost > 0, Weighted: schema.Weight != "", Dim: len(e.Features()) + 1, Intercept: true, FeatureBound: math.Hypot(e.Bound(), 1),
		LabelCentre: (lo + hi) / 2, LabelBound: (hi - lo) / 2}
	if least, most := e.Exposure(); most > 0 {
		s.OffsetRange = [2]float64{math.Log(least), math.Log(most)}
	}
	return s, nil
}
