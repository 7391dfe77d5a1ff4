package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dpglm/dpglm/examples/internal/task"
)

// verify recomputes what a model, or a budget, promises from the releases that it lists. It is for
// whoever has no more than the file.
func verify(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit verify", flag.ContinueOnError)
	model := f.String("model", "", "`file` of a model, which csvfit fit -o wrote")
	budget := f.String("budget", "", "`file` of a budget, which csvfit budget made; with -model or -report, whether the fit was charged to it, too")
	report := f.String("report", "", "`file` of a page, which csvfit fit -report wrote; with -model, whether it is of that model")
	schema := f.String("schema", "", "with -report, `file` of the schema that the page should be of")
	sums := f.String("moments", "", "`file` of moments, which csvfit moments wrote")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	switch {
	case *model == "" && *budget == "" && *report == "" && *sums == "":
		return task.Usage("-model, -report, -moments and -budget are missing: name a file that csvfit fit -o or -report, or csvfit moments, wrote, or one that csvfit budget made, or several")
	case *schema != "" && *report == "":
		return task.Usage("-schema %s is for -report: name the page that should be of it", *schema)
	}
	all, err := verdicts(ctx, *model, *report, *schema, *sums, *budget)
	if err != nil {
		return err
	}
	var failed error
	for _, v := range all {
		if err := v.print(stdout); err != nil {
			return err
		}
		failed = errors.Join(failed, v.failed())
	}
	return failed
}

// verdicts are of the files that are named, each held against the others.
func verdicts(ctx context.Context, model, report, schema, sums, budget string) (all []*verdict, err error) {
	var ofModel, ofReport, ofBudget *verdict
	if model != "" {
		if ofModel, err = verifyModel(model); err != nil {
			return nil, err
		}
		all = append(all, ofModel)
	}
	if report != "" {
		if ofReport, err = verifyReport(report, schema); err != nil {
			return nil, err
		}
		all = append(all, ofReport)
	}
	fits := all
	if sums != "" {
		ofMoments, err := verifyMoments(sums)
		if err != nil {
			return nil, err
		}
		all = append(all, ofMoments)
	}
	if budget != "" {
		if ofBudget, err = verifyBudget(ctx, budget); err != nil {
			return nil, err
		}
		all = append(all, ofBudget)
	}
	if ofModel != nil && ofReport != nil {
		err = ofModel.within("report", "what "+report+" lists", ofReport)
	}
	for _, v := range fits {
		if ofBudget != nil {
			err = errors.Join(err, v.within("charge", "an entry of "+budget, ofBudget))
		}
	}
	if ofReport != nil && ofBudget != nil {
		err = errors.Join(err, ofReport.ofBudget(budget))
	}
	return all, err
}

// verdict is what came of checking a file.
type verdict struct {
	flag, path string
	checked    []finding
	wrong      []string // of checked, what doesn't hold
	unchecked  [][2]string
	guarantee  string            // its first line says it all
	facts      map[string]string // of a page

	ledgers []statement // what was checked of a budget's entries, or a model's one
}

// finding is something that a file states, and what follows from the rest of it.
type finding struct {
	what, stated, found string
	holds               bool
}

// check adds a finding.
func (v *verdict) check(what, stated, found string, holds bool) {
	v.checked = append(v.checked, finding{what, stated, found, holds})
	if !holds {
		v.wrong = append(v.wrong, fmt.Sprintf("%s: stated is %s, and by the rest of the file it is %s", what, stated, found))
	}
}

// leave adds what can't be checked.
func (v *verdict) leave(what, why string) { v.unchecked = append(v.unchecked, [2]string{what, why}) }

// failed is an error that names all that doesn't hold.
func (v *verdict) failed() error {
	if v.wrong == nil {
		return nil
	}
	return fmt.Errorf("-%s %s: what it states doesn't hold: %s", v.flag, v.path, strings.Join(v.wrong, "; "))
}

func (v *verdict) print(w io.Writer) error {
	fmt.Fprintf(w, "%s %s\n\n", v.flag, v.path)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "checked\t\tstated\tby the rest of the file")
	for _, c := range v.checked {
		came := "right"
		if !c.holds {
			came = "WRONG"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.what, came, c.stated, c.found)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nstated, or taken for granted, and not to be checked by the file")
	for _, u := range v.unchecked {
		fmt.Fprintf(t, "%s\t%s\n", u[0], u[1])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nguarantee: %s\n\n", v.guarantee)
	return err
}
