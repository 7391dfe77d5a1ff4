package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// inferred is what -method infer finds, of one score or of several classes; neither is there by other methods.
type inferred struct {
	one     *dpglm.Inference
	classes *dpglm.ClassInference
}

// or is what is inferred, with the model in it, else the model.
func (f inferred) or(m *dpglm.Model) any {
	switch {
	case f.one != nil:
		return f.one
	case f.classes != nil:
		return f.classes
	}
	return m
}

// none is nil, or what is inferred.
func (f inferred) none() any {
	if f == (inferred{}) {
		return nil
	}
	return f.or(nil)
}

// decode reads a model or, by -method infer, an inference with the model in it.
func decode(text []byte) (m *dpglm.Model, found inferred, err error) {
	var file struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, found, err
	}
	switch file.Format {
	case "dpglm inference":
		found.one = new(dpglm.Inference)
		err := json.Unmarshal(text, found.one)
		return found.one.Model(), found, err
	case "dpglm inference of classes":
		found.classes = new(dpglm.ClassInference)
		err := json.Unmarshal(text, found.classes)
		return found.classes.Model(), found, err
	}
	m = new(dpglm.Model)
	return m, found, json.Unmarshal(text, m)
}

// several reports whether a model has a score for each of several classes.
func several(m *dpglm.Model) bool { return m.Classes() > 0 }

// lossOf is the loss's name without thresholds, of softmax the method's.
func lossOf(m *dpglm.Model) string {
	switch {
	case several(m) && m.Reference() < 0:
		return m.Loss() + ", each level against the rest,"
	case !several(m) && m.Levels() != nil:
		return ordinal
	}
	return m.Loss()
}

// linkOf is the link of one score.
func linkOf(m *dpglm.Model) string {
	if several(m) {
		return ""
	}
	return string(m.Link())
}

// sayOrdinal says what the coefficients of levels that ascend are.
func sayOrdinal(w io.Writer, m *dpglm.Model) error {
	if lossOf(m) != ordinal {
		return nil
	}
	_, err := fmt.Fprintf(w, "coefficients of the log-odds of a higher level, of %s:\n", strings.Join(m.Levels(), " < "))
	return err
}

// printClasses prints coefficients, a column for each class but the reference.
func printClasses(w io.Writer, m *dpglm.Model) error {
	list, err := m.Coefficients()
	if err != nil {
		return err
	}
	list = withSteps(list)
	names, reference := m.Levels(), m.Reference()
	lists := slices.Collect(slices.Chunk(list, len(list)/len(names)))
	against := "the rest"
	if reference >= 0 {
		against = strconv.Quote(names[reference])
	}
	print := func(first string, rows int, of func(float64) float64) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprint(t, first)
		for k, name := range names {
			if k != reference {
				fmt.Fprintf(t, "\t%s", name)
			}
		}
		fmt.Fprintln(t)
		for j, c := range lists[0][:rows] {
			fmt.Fprint(t, c.Name)
			for k := range lists {
				if k != reference {
					fmt.Fprintf(t, "\t%.6g", of(lists[k][j].Value))
				}
			}
			fmt.Fprintln(t)
		}
		return t.Flush()
	}
	fmt.Fprintf(w, "coefficients of the log-odds of each level against %s:\n", against)
	if err := print("coefficient", len(lists[0]), func(v float64) float64 { return v }); err != nil || m.Ratio() == "" {
		return err
	}
	fmt.Fprintf(w, "their exponentials, %ss:\n", m.Ratio())
	return print(m.Ratio(), len(lists[0])-1, math.Exp) // but for the intercept
}

// printLevels prints what the private model takes the rows of each level for.
func printLevels(w io.Writer, f *task.LevelFigures) error {
	if f == nil {
		return nil
	}
	fmt.Fprintln(w, "\nprivate model, rows held out by their level and, across, the most likely one; AUC of a level against all others:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "level\t%s\tauc\n", strings.Join(f.Levels, "\t"))
	for k, name := range f.Levels {
		fmt.Fprint(t, name)
		for _, n := range f.Confusion[k] {
			fmt.Fprintf(t, "\t%s", strconv.Itoa(n))
		}
		fmt.Fprintf(t, "\t%v\n", metrics.Metric{Value: f.AUC[k]})
	}
	return t.Flush()
}

// levelFigures are those of a task as JSON, with null where an AUC isn't defined.
type levelFigures struct {
	Levels    []string   `json:"names"`
	AUC       []*float64 `json:"auc"`
	Confusion [][]int    `json:"confusion"` // by the row's level, then the most likely one
}

func levelsJSON(f *task.LevelFigures) *levelFigures {
	if f == nil {
		return nil
	}
	out := &levelFigures{f.Levels, make([]*float64, len(f.AUC)), f.Confusion}
	for k, v := range f.AUC {
		if !math.IsNaN(v) {
			out.AUC[k] = &v
		}
	}
	return out
}
