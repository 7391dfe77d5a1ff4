package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// parseMoments are the flags of moments, those of a fit as far as they are the same.
func parseMoments(args []string, stdout, stderr io.Writer) (*fitting, error) {
	f := flag.NewFlagSet("csvfit moments", flag.ContinueOnError)
	o := &fitting{source: task.NewSource(f)}
	o.source.TakesLevels, o.method = true, "auto"
	o.addNumbersTo(f)
	f.StringVar(&o.output, "o", "", "`file` for the moments; there must be none of that name")
	f.StringVar(&o.file, "budget", "", "`file` of a budget to spend from, that csvfit budget made")
	f.StringVar(&o.dataName, "name", "", "`name` of the data that the budget is for, as csvfit budget was told")
	f.Uint64Var(&o.noiseSeed, "insecure-noise-seed", 0, "`seed` of the noise, for experiments: no privacy against those who know it")
	given, err := task.Parse(f, args, stdout)
	if err != nil {
		return nil, err
	}
	if err := o.check(given); err != nil {
		return nil, err
	}
	o.seeded = given["insecure-noise-seed"]
	switch {
	case o.output == "":
		return nil, task.Usage("-o is missing: name a file for the moments")
	case given["radius"]:
		return nil, task.Usage("-radius is for methods that bound weights, and moments have none: leave it out")
	case given["loss"]:
		return nil, task.Usage("-loss is for fits; regressions by moments are linear: leave it out")
	case given["budget"] != given["name"]:
		return nil, task.Usage("-budget and -name go together: the file's budget is for data of one name")
	}
	if err := o.source.ResolveData("csvfit", stderr); err != nil {
		return nil, err
	}
	if err := task.HasColumns("data", o.source.Path); err != nil {
		return nil, err
	}
	of := o.source.FileFacts()
	if of == nil {
		return nil, task.Usage("-data %q must be a file with columns: .csv, .tsv or .txt, or any of them with .gz", o.source.Path)
	}
	if of.Person != "" || of.Weight != "" || of.AtRisk() != "" || of.Followup != nil {
		return nil, task.Usage(`-schema: moments are of rows that count alike, each a person's only one: leave out "person", "weight", "exposure", "offset" and "followup"`)
	}
	if of.Private != nil {
		return nil, task.Usage(`-schema: moments are of all columns, so that all are protected: leave out "private"`)
	}
	return o, nil
}

// moments releases those of all columns, the label's among them.
func moments(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseMoments(args, stdout, stderr)
	if err != nil {
		return err
	}
	out, err := newFile("o", o.output, false)
	if err != nil {
		return err
	}
	defer out.discard()
	t, err := o.source.LoadColumns(ctx)
	if err != nil {
		return err
	}
	data, err := o.source.Dataset(t)
	if err != nil {
		return err
	}
	shape := data.Shape()
	if err := o.settle(shape.Rows); err != nil {
		return err
	}
	o.addRemove = shape.AddRemove
	b := o.total()
	planned, err := shape.MomentsLedger(b)
	if err != nil {
		return o.asTyped(err)
	}
	for _, w := range []string{notesOf(planned), o.all(shape)} {
		if w != "" {
			fmt.Fprintf(stderr, "csvfit: WARNING: %s\n", w)
		}
	}
	paid, err := o.pay(ctx, planned)
	if err != nil {
		return err
	}
	m, err := data.Moments(ctx, b, paid.keep(o.environment(ctx), "moments"))
	if err == nil {
		if err = out.keepModel(m); err != nil {
			err = fmt.Errorf("the budget is spent, but the moments can't be written: %w", err)
		}
	}
	if err := paid.settled(ctx, err); err != nil {
		return err
	}
	if err := paid.done(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%v\n", m)
	return err
}

// notesOf are what a ledger warns of.
func notesOf(l *dpglm.Ledger) string {
	var notes []string
	for _, line := range strings.Split(l.String(), "\n") {
		if text, ok := strings.CutPrefix(line, "NOTE: "); ok {
			notes = append(notes, text)
		}
	}
	return strings.Join(notes, "; ")
}

// readMoments reads a file of moments.
func readMoments(path string) (*dpglm.Moments, error) {
	if path == "" {
		return nil, task.Usage("-moments is missing: name a file that csvfit moments wrote")
	}
	if err := task.Exists("moments", path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := new(dpglm.Moments)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("-moments %s: %w", path, err)
	}
	return m, nil
}

// regress prints a regression by moments.
func regress(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := flag.NewFlagSet("csvfit regress", flag.ContinueOnError)
	path := f.String("moments", "", "`file` that csvfit moments wrote")
	response := f.String("response", "", "`name` of the column to regress")
	on := f.String("on", "", "`names` of the columns to regress it on, with commas between them; a categorical column's stands for its levels but the first")
	confidence := f.Float64("confidence", standardConfidence, "`level` of the intervals, from 0.5 to below 1")
	asJSON := f.Bool("json", false, "print one JSON object")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	m, err := readMoments(*path)
	if err != nil {
		return err
	}
	if *response == "" {
		return task.Usage("-response is missing: name a column of %s", strings.Join(m.Columns(), ", "))
	}
	var columns []string
	if *on != "" {
		columns = strings.Split(*on, ",")
	}
	for i, name := range columns {
		columns[i] = strings.TrimSpace(name)
	}
	r, err := m.Regress(*response, columns, *confidence)
	if err != nil {
		return fmt.Errorf("%w; columns are %s", err, strings.Join(m.Columns(), ", "))
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(struct {
			*dpglm.Regression
			Ledger *dpglm.Ledger `json:"ledger"`
		}{r, m.Ledger()})
	}
	_, err = fmt.Fprint(stdout, r)
	return err
}

const standardConfidence = 0.95

// describe prints the first table of a paper: means, deviations and shares, and correlations.
func describe(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := flag.NewFlagSet("csvfit describe", flag.ContinueOnError)
	path := f.String("moments", "", "`file` that csvfit moments wrote")
	confidence := f.Float64("confidence", standardConfidence, "`level` of the intervals, from 0.5 to below 1")
	correlations := f.Bool("correlations", false, "print correlations, too")
	asJSON := f.Bool("json", false, "print one JSON object")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	m, err := readMoments(*path)
	if err != nil {
		return err
	}
	var list []*dpglm.Regression
	for _, name := range m.Columns() {
		r, err := m.Regress(name, nil, *confidence)
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(struct {
			Columns []*dpglm.Regression `json:"columns"`
			Ledger  *dpglm.Ledger       `json:"ledger"`
		}{list, m.Ledger()})
	}
	fmt.Fprintf(stdout, "%v\n\n", m)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\tmean or share%s\tstd err\tlow\thigh\tstd dev\t\n", ofPresent(list))
	for _, r := range list {
		c := r.Coefficients[0]
		if c.Undetermined() {
			fmt.Fprintf(w, "%s\t?\t?\t?\t?\t?\t\n", r.Response)
			continue
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.2g\t%.4g\t%.4g\t%.4g\t\n", r.Response, c.Estimate, c.StandardError, c.Low, c.High, r.Deviation)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range list {
		if partial(r) {
			fmt.Fprintf(stdout, "* The mean of %s %s.\n", r.Response, r.Coefficients[0].Mark)
		}
	}
	if !*correlations {
		return nil
	}
	return correlate(m, list, *confidence, stdout)
}

// partial reports whether a mean is of the rows that have a value, or would be.
func partial(r *dpglm.Regression) bool { return r.Present > 0 || r.Coefficients[0].Undetermined() }

// ofPresent says in a heading that means are of the values that there are, where some are missing.
func ofPresent(list []*dpglm.Regression) string {
	if slices.ContainsFunc(list, partial) {
		return ", of the values that there are"
	}
	return ""
}

// correlate prints correlations: the means of two slopes, of one column on another and of that on the former, which have the same moments.
func correlate(m *dpglm.Moments, list []*dpglm.Regression, confidence float64, stdout io.Writer) error {
	fmt.Fprintln(stdout)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\t%s\t\n", strings.Join(m.Columns(), "\t"))
	left := []string{}
	for i, a := range list {
		if partial(a) {
			left = append(left, a.Response)
		}
		cells := slices.Repeat([]string{""}, len(list))
		for j, b := range list[:i] {
			if partial(a) || partial(b) {
				cells[j] = "-"
				continue
			}
			r, err := m.Regress(a.Response, []string{b.Response}, confidence)
			if err != nil {
				return err
			}
			back, err := m.Regress(b.Response, []string{a.Response}, confidence)
			if err != nil {
				return err
			}
			slope, other := r.Coefficients[0], back.Coefficients[0]
			cells[j] = fmt.Sprintf("%.2f", math.Copysign(min(math.Sqrt(math.Abs(slope.Estimate*other.Estimate)), 1), slope.Estimate))
			if slope.Undetermined() || other.Undetermined() {
				cells[j] = "?"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t\n", a.Response, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil || len(left) == 0 {
		return err
	}
	_, err := fmt.Fprintf(stdout, "Correlations with %s are left out: values are missing, and moments have products of all rows only.\n", strings.Join(left, ", "))
	return err
}
