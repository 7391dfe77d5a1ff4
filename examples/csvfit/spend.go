package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// keepBudget makes a file with a budget that several fits share, or shows what they spent.
func keepBudget(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit budget", flag.ContinueOnError)
	path := f.String("file", "", "`file` of the budget; with -epsilon it is made, and there must be none of that name")
	epsilon := f.Float64("epsilon", 0, "the `ε` that all fits may spend together")
	delta := f.Float64("delta", 0, "the `δ` that all fits may spend together")
	group := f.Int("group", 1, "`number` of rows, or persons, that are protected together")
	name := f.String("name", "", "`name` for the data that the budget is for, which fits must give")
	unit := f.String("unit", "", "`row, person or label`: what the budget protects; person where the schema names persons, label where it names that alone private (default row)")
	neighbours := f.String("neighbours", string(mechanisms.ReplaceOne), "`replace-one or add/remove`: the latter where the schema has at_most")
	given, err := task.Parse(f, args, stdout)
	if err != nil {
		return err
	}
	var b *budgetfile.File
	switch {
	case *path == "":
		return task.Usage("-file is missing: name the budget's file")
	case given["epsilon"] != given["delta"]:
		return task.Usage("-epsilon and -delta go together: they make the file")
	case given["epsilon"] != given["name"] || given["unit"] && !given["epsilon"]:
		return task.Usage("-name goes with -epsilon and -delta, and -unit with all of them: they make the file")
	case given["unit"] && *unit != string(mechanisms.Row) && *unit != string(mechanisms.Person) && *unit != string(mechanisms.Label):
		return task.Usage("-unit %s must be row, person or label", *unit)
	case given["neighbours"] && !given["epsilon"] || *neighbours != string(mechanisms.ReplaceOne) && *neighbours != string(mechanisms.AddRemove):
		return task.Usage("-neighbours %s must be replace-one or add/remove, with -epsilon and -delta, which make the file", *neighbours)
	case given["epsilon"]:
		b, err = budgetfile.Create(ctx, *path, budgetfile.Total{Data: *name, Unit: unitNamed(*unit, *neighbours), Group: *group, Epsilon: *epsilon, Delta: *delta})
	default:
		if err := task.Exists("file", *path); err != nil {
			return err
		}
		b, err = budgetfile.Open(*path)
	}
	if err != nil {
		return err
	}
	entries, err := b.Entries()
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, b)
	for _, e := range entries {
		fmt.Fprintf(stdout, "\n%s entry %s, %s%s\n%s\n", e.Time.Format(time.DateTime), e.ID, e.Label, became(b, e), explained(e.Ledger))
	}
	return nil
}

// unitNamed is the unit of flags.
func unitNamed(kind, neighbours string) mechanisms.Unit {
	unit := mechanisms.OneRow()
	switch kind {
	case string(mechanisms.Person):
		unit = mechanisms.OnePerson()
	case string(mechanisms.Label):
		unit = mechanisms.OneLabel()
	}
	unit.Neighbours = mechanisms.Neighbours(neighbours)
	return unit
}

// became says what became of an entry whose fit hasn't come to its end.
func became(b *budgetfile.File, e budgetfile.Entry) string {
	if !e.GivenBack.IsZero() {
		return ", given back: " + e.Reason
	}
	if path, err := b.Releases(e.ID); err == nil {
		if _, err := os.Stat(path); err == nil || e.Begun.IsZero() {
			return ", unfinished: its fit runs, or goes on with -resume " + e.ID
		}
	}
	return ""
}
