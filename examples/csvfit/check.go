package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// checkData counts what a file has beside what its schema says, for the curator: nothing of it is
// private, and nothing is spent.
func checkData(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit check", flag.ContinueOnError)
	source := task.NewSource(f)
	source.TakesLevels = true
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	if err := source.ResolveData("csvfit", stderr); err != nil {
		return err
	}
	if err := task.HasColumns("data", source.Path); err != nil {
		return err
	}
	if source.Facts() == nil {
		return task.Usage("-data %q must be a file with columns: .csv, .tsv or .txt, or any of them with .gz, or - for standard input", source.Path)
	}
	c, err := table.OpenCSVAs(source.Path, *source.FileFacts())
	if err != nil {
		return err
	}
	defer c.Close()
	counts, err := newCounts(c, *source.FileFacts())
	if err != nil {
		return fmt.Errorf("%s: %w", task.Called(source.Path), err)
	}
	counts.loss = source.Loss
	t, bad := table.Read(table.WithContext(ctx, counts), *source.FileFacts())
	if counts.drain(ctx); ctx.Err() != nil {
		return ctx.Err()
	}
	if bad != nil {
		bad = fmt.Errorf("%s: %w", task.Called(source.Path), bad)
	}
	if counts.rows == 0 { // and there is nothing to say but what is wrong
		return bad
	}
	if err := counts.print(stdout, source.Path, t); err != nil {
		return err
	}
	return bad
}

// counts is a source that counts what is read from it.
type counts struct {
	*table.CSV
	schema  table.Schema
	header  []string
	columns []*tally
	loss    losses.Loss    // nil for levels
	person  int            // the field; −1 if the schema has none
	persons map[string]int // the rows of each
	times   *times         // at risk; nil where the schema has no persons with such
	present func(fields []string) bool
	left    int   // rows that aren't there by the schema's conditions
	nobody  int   // rows without a person
	rows    int   // that have as many fields as the header
	ragged  int   // that have not
	ended   error // how reading has ended: io.EOF where that was the end of the file
}

// newCounts counts each column that the header has: what it lacks, reading tells.
func newCounts(c *table.CSV, s table.Schema) (*counts, error) {
	k := &counts{CSV: c, schema: s, header: c.Header(), persons: map[string]int{}, present: func([]string) bool { return true }}
	if present, err := s.Present(k.header); err == nil { // reading says what is wrong
		k.present = present
	}
	k.person = slices.Index(k.header, s.Person)
	if s.Person == "" {
		k.person = -1
	}
	if k.person >= 0 {
		k.times = newTimes(s, k.header)
	}
	for _, column := range s.Columns {
		if column.Kind == table.ID || column.Kind == table.Ignored {
			continue
		}
		t, err := newTally(s, column, k.header)
		if err != nil {
			return nil, err
		}
		if t != nil {
			k.columns = append(k.columns, t)
		}
	}
	return k, nil
}

// Next counts the next record.
func (k *counts) Next() ([]string, error) {
	fields, err := k.CSV.Next()
	switch {
	case err != nil:
		k.ended = err
	case len(fields) != len(k.header):
		k.ragged++
	case !k.present(fields):
		k.left++
	default:
		k.rows++
		k.count(fields)
	}
	return fields, err
}

func (k *counts) count(fields []string) {
	for _, t := range k.columns {
		t.count(fields)
	}
	if k.person < 0 {
		return
	}
	id := trimmed(fields[k.person])
	if isMissing(k.schema, id) {
		k.nobody++
		return
	}
	id = strings.Clone(id)
	k.persons[id]++
	if k.times != nil {
		k.times.add(id, fields)
	}
}

// drain counts what was left when so much was wrong that reading ended.
func (k *counts) drain(ctx context.Context) {
	for k.ended == nil && ctx.Err() == nil {
		k.Next()
	}
}

const forCurator = "not for publication: exact counts of the rows of %s, for the curator only; nothing was spent\n\n"

// print tells the counts, and of a table that could be read its label.
func (k *counts) print(w io.Writer, path string, t *table.Table) error {
	fmt.Fprintf(w, forCurator, task.Called(path))
	each := k.each()
	of := each
	if !errors.Is(k.ended, io.EOF) {
		of += ", after which the file can't be read"
	}
	p := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(p, "%s\t%d\n", of, k.rows)
	if k.ragged > 0 {
		fmt.Fprintf(p, "%s of another length than the header\t%d\n", each, k.ragged)
	}
	if k.left > 0 {
		fmt.Fprintf(p, "%s that \"where\" leaves out\t%d, of which nothing else is counted\n", each, k.left)
	}
	k.printPersons(p)
	if k.times != nil {
		k.times.print(p, len(k.persons))
	}
	atRisk := k.schema.Followup != nil && t != nil
	if atRisk {
		fmt.Fprintf(p, "rows\t%d: one for each period in which a record is at risk, which is what a fit takes\nlabel, of these rows\t%s\n", len(t.Labels()), labelUse(t))
	} else {
		fmt.Fprintf(p, "label\t%s\n", labelUse(t))
	}
	if t != nil && t.Weights() != nil {
		_, most := t.Encoder().Weights()
		sum := floats.Sum(t.Weights())
		fmt.Fprintf(p, "weights\tmean %.4g, range to %g: noise is as large as for %.4g rows that all weigh %g\n", sum/float64(len(t.Weights())), most, sum/most, most)
	}
	if err := p.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(p, "\ncolumn"+k.of()+"\tkind\tmissing\tunreadable or not listed\toutside the range\trange")
	for _, c := range k.columns {
		fmt.Fprintf(p, "%s\t%s\t%s\t%s\t%s\n", c.column.Name, c.column.Kind, share(c.missing, k.rows), share(c.bad, k.rows), c.outsideOf(k.rows))
	}
	if err := p.Flush(); err != nil {
		return err
	}
	k.printLevels(p)
	if err := p.Flush(); err != nil {
		return err
	}
	if t != nil {
		if atRisk && t.Warnings() != nil {
			fmt.Fprintln(w, "\nof rows as a fit takes them:")
		}
		for _, text := range t.Warnings() {
			fmt.Fprintf(w, "\nNOTE: %s\n", text)
		}
	}
	units := k.rows
	if k.person >= 0 {
		units = len(k.persons)
	}
	if text := spiked(t, units, k.loss); text != "" {
		fmt.Fprintf(w, "\nNOTE: %s.\n", text)
	}
	_, err := fmt.Fprintln(w, "\nNote: a range or a level that is changed because of these counts isn't publicly known any more: where it was wrong, the codebook says so, too.")
	return err
}

// each is what a file has many of: of a followup records, each of which is a row for each period.
func (k *counts) each() string {
	if k.schema.Followup != nil {
		return "records"
	}
	return "rows"
}

// of says of what columns' counts are, where that isn't rows.
func (k *counts) of() string {
	if k.schema.Followup != nil {
		return ", of records"
	}
	return ""
}

// printPersons tells how many rows persons have.
func (k *counts) printPersons(w io.Writer) {
	if k.person < 0 {
		return
	}
	if k.nobody > 0 {
		fmt.Fprintf(w, "%s without a person\t%d\n", k.each(), k.nobody)
	}
	n := len(k.persons)
	if n == 0 {
		return
	}
	each, beyond, left := make([]int, 0, n), 0, 0
	for _, rows := range k.persons {
		each = append(each, rows)
		if rows > k.schema.MaxRows {
			beyond, left = beyond+1, left+rows-k.schema.MaxRows
		}
	}
	slices.Sort(each)
	stated := ""
	if k.schema.Persons+k.schema.AtMost > 0 {
		stated = fmt.Sprintf(", of %d that the schema has", k.schema.Persons+k.schema.AtMost)
	}
	fmt.Fprintf(w, "persons\t%d by %q%s\n", n, k.schema.Person, stated)
	fmt.Fprintf(w, "%s of a person\tsmallest %d, median %g, largest %d\n", k.each(), each[0], float64(each[(n-1)/2]+each[n/2])/2, each[n-1])
	fmt.Fprintf(w, "beyond \"max_rows\" %d\t%s persons; of their %s %s don't count in a fit\n", k.schema.MaxRows, share(beyond, n), k.each(), share(left, k.rows))
}

// labelUse says what labels are, and how much of their range they take.
func labelUse(t *table.Table) string {
	if t == nil {
		return "can't be told before the file is put right"
	}
	y, l := t.Labels(), t.Label()
	if l.Kind == table.Categorical {
		return fmt.Sprintf("%s, with the levels below", l)
	}
	mean := floats.Sum(y) / float64(len(y))
	if l.Kind == table.Binary {
		return fmt.Sprintf("%s, mean %.4g", l, mean)
	}
	low, high, atLow, atHigh := floats.Min(y), floats.Max(y), 0, 0
	for _, v := range y {
		if v == l.Range[0] {
			atLow++
		}
		if v == l.Range[1] {
			atHigh++
		}
	}
	used := percent * (high - low) / (l.Range[1] - l.Range[0])
	return fmt.Sprintf("%s, mean %.4g, from %.4g to %.4g: %.3g %% of its range [%g, %g], with %s at the lower end and %s at the upper",
		l, mean, low, high, used, l.Range[0], l.Range[1], share(atLow, len(y)), share(atHigh, len(y)))
}

const percent = 100

// share is a count with its part of a whole.
func share(n, of int) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.3g %%)", n, percent*float64(n)/float64(of))
}
