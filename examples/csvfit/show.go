package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// coefficient is one of a model, as JSON.
type coefficient struct {
	Class string   `json:"class,omitempty"` // of several, compared with the reference
	Name  string   `json:"name"`
	From  []string `json:"columns,omitempty"`
	Level []string `json:"levels,omitempty"` // of each column, "" for a number
	Value float64  `json:"value"`            // in the columns' own units
	Ratio *float64 `json:"ratio,omitempty"`  // its exponential, by the model's name for it
	Per   *perStep `json:"per_step,omitempty"`
}

// perStep is a coefficient for the step that the schema states of its column.
type perStep struct {
	Step  float64  `json:"step"`
	Value float64  `json:"value"`
	Ratio *float64 `json:"ratio,omitempty"`
}

func coefficientsOf(m *dpglm.Model) ([]coefficient, error) {
	list, err := m.Coefficients()
	var out []coefficient
	for _, c := range list {
		out = append(out, coefficient{c.Class, c.Name, c.Columns, c.Levels, c.Value, exponential(m, c.Name, c.Value), nil})
		if per, ok := c.PerStep(); ok {
			out[len(out)-1].Per = &perStep{c.Step, per.Value, exponential(m, per.Name, per.Value)}
		}
	}
	return out, err
}

// withSteps has behind each coefficient that for the step that the schema states.
func withSteps(list []table.Coefficient) (out []table.Coefficient) {
	for _, c := range list {
		out = append(out, c)
		if per, ok := c.PerStep(); ok {
			out = append(out, per)
		}
	}
	return out
}

// printFound prints coefficients, with intervals if they were found.
func printFound(w io.Writer, m *dpglm.Model, of inferred) error {
	found := of.one
	switch {
	case of.classes != nil:
		return printFoundClasses(w, of.classes)
	case found == nil:
		return printCoefficients(w, m)
	}
	if err := sayOrdinal(w, m); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, found, levelTests(found))
	return errors.Join(err, printEffects(w, found), printBaseline(w, m, found), noteInference(w, found))
}

// levelTests tests, for each column of three levels or more, that none of them matters, where
// that can be tested.
func levelTests(found *dpglm.Inference) string {
	var groups []string
	levels := map[string][]string{}
	for _, c := range found.Coefficients() {
		if levels[c.Group] == nil {
			groups = append(groups, c.Group)
		}
		levels[c.Group] = append(levels[c.Group], c.Name)
	}
	var b strings.Builder
	for _, group := range groups {
		if group == "" || len(levels[group]) < 2 {
			continue
		}
		if test, err := found.Wald(dpglm.AllZero(levels[group]...)...); err == nil {
			fmt.Fprintf(&b, "levels of %q together: %v\n", group, test)
		}
	}
	return b.String()
}

// printFoundClasses prints the coefficients of each class against the reference, with intervals.
func printFoundClasses(w io.Writer, found *dpglm.ClassInference) error {
	_, err := fmt.Fprint(w, found)
	for _, class := range found.Model().Levels() {
		one, of := found.Of(class)
		if of != nil { // the reference
			continue
		}
		if tests := levelTests(one); tests != "" {
			_, of = fmt.Fprintf(w, "%s:\n%s", class, tests)
		}
		err = errors.Join(err, of)
	}
	return err
}

func printCoefficients(w io.Writer, m *dpglm.Model) error {
	if several(m) {
		return printClasses(w, m)
	}
	if err := sayOrdinal(w, m); err != nil {
		return err
	}
	list, err := m.Coefficients()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.TrimSpace("coefficient\tvalue\t"+m.Ratio()))
	for _, c := range withSteps(list) {
		fmt.Fprintf(t, "%s\t%.6g", c.Name, c.Value)
		if ratio := exponential(m, c.Name, c.Value); ratio != nil {
			fmt.Fprintf(t, "\t%.4g", *ratio)
		}
		fmt.Fprintln(t)
	}
	return errors.Join(t.Flush(), printBaseline(w, m, nil))
}

// show prints what a model says: all of it may be published with the model.
func show(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit show", flag.ContinueOnError)
	path := f.String("model", "", "`file` of a model")
	asJSON := f.Bool("json", false, "print one JSON object")
	var of questions
	of.flags(f)
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	m, found, err := readModel(*path)
	if err != nil {
		return err
	}
	given, err := of.answer(found.one)
	if err != nil {
		return err
	}
	if *asJSON {
		return showJSON(stdout, m, found, given)
	}
	fmt.Fprintf(stdout, "%s model of %s\n%s\n\n", lossOf(m), m.Label(), explained(m.Ledger()))
	if err := errors.Join(printFound(stdout, m, found), given.print(stdout, found.one), noteModel(stdout, m, found)); err != nil {
		return err
	}
	if e := m.Encoder(); e != nil {
		_, err = fmt.Fprintf(stdout, "\npredicts from %s, by the schema\n%v", strings.Join(e.Inputs(), ", "), e.Schema())
	}
	return err
}

func showJSON(w io.Writer, m *dpglm.Model, found inferred, given *answers) error {
	coefficients, err := coefficientsOf(m)
	if err != nil {
		return err
	}
	claim, _ := m.Ledger().Claim()
	out := struct {
		Label        string           `json:"label"`
		Loss         string           `json:"loss"`
		Link         string           `json:"link,omitempty"`
		Levels       []string         `json:"levels,omitempty"`
		Unit         mechanisms.Unit  `json:"unit"`
		Guarantee    mechanisms.Claim `json:"guarantee"`
		Coefficients []coefficient    `json:"coefficients"`
		Ratio        string           `json:"ratio,omitempty"`    // what their exponentials are
		Baseline     *baseline        `json:"baseline,omitempty"` // of hazards
		Notes        []string         `json:"notes,omitempty"`    // on the coefficients
		Inference    any              `json:"inference,omitempty"`
		Answers      *answers         `json:"answers,omitempty"` // to -contrast and -test
		Ledger       *dpglm.Ledger    `json:"ledger"`
		Schema       *table.Schema    `json:"schema,omitempty"`
	}{m.Label(), lossOf(m), linkOf(m), m.Levels(), m.Ledger().Unit(), claim, coefficients, m.Ratio(), baselineOf(m, found.one), modelNotes(m, found), found.none(), given, m.Ledger(), nil}
	if e := m.Encoder(); e != nil {
		s := e.Schema()
		out.Schema = &s
	}
	return json.NewEncoder(w).Encode(out)
}
