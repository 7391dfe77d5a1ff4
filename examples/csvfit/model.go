package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// model is what fit releases: a *dpglm.Model or, by softmax, a *dpglm.ClassModel.
type model interface {
	Label() string
	Levels() []string // of a label that has several
	Ledger() *dpglm.Ledger
	Encoder() *table.Encoder
}

// decode reads a model or, by -method infer, an inference with the model in it.
func decode(text []byte) (model, *dpglm.Inference, error) {
	var file struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, nil, err
	}
	switch file.Format {
	case "dpglm inference":
		found := new(dpglm.Inference)
		err := json.Unmarshal(text, found)
		return found.Model(), found, err
	case "dpglm class model":
		m := new(dpglm.ClassModel)
		return m, nil, json.Unmarshal(text, m)
	}
	m := new(dpglm.Model)
	return m, nil, json.Unmarshal(text, m)
}

// lossOf is the loss's name without thresholds, of softmax the method's.
func lossOf(m model) string {
	several, ok := m.(*dpglm.ClassModel)
	switch {
	case ok && several.Reference() < 0:
		return several.Loss() + ", each level against the rest,"
	case ok:
		return several.Loss()
	case m.Levels() != nil:
		return ordinal
	}
	return m.(*dpglm.Model).Loss()
}

func linkOf(m model) string {
	if m, ok := m.(*dpglm.Model); ok {
		return string(m.Link())
	}
	return ""
}

// weightsOf are a model's, of each score.
func weightsOf(m model) [][]float64 {
	if m, ok := m.(*dpglm.ClassModel); ok {
		return m.Weights()
	}
	return [][]float64{m.(*dpglm.Model).Weights()}
}

// coefficientLists are a model's: of the one score, or of each class.
func coefficientLists(m model) (classes []string, lists [][]table.Coefficient, err error) {
	if m, ok := m.(*dpglm.ClassModel); ok {
		lists, err := m.Coefficients()
		return m.Levels(), lists, err
	}
	list, err := m.(*dpglm.Model).Coefficients()
	return []string{""}, [][]table.Coefficient{list}, err
}

// sayOrdinal says what the coefficients of levels that ascend are.
func sayOrdinal(w io.Writer, m model) error {
	if lossOf(m) != ordinal {
		return nil
	}
	_, err := fmt.Fprintf(w, "coefficients of the log-odds of a higher level, of %s:\n", strings.Join(m.Levels(), " < "))
	return err
}

// printClasses prints coefficients, a column for each class but the reference.
func printClasses(w io.Writer, m *dpglm.ClassModel) error {
	lists, err := m.Coefficients()
	if err != nil {
		return err
	}
	names, reference := m.Levels(), m.Reference()
	against := "the rest"
	if reference >= 0 {
		against = strconv.Quote(names[reference])
	}
	fmt.Fprintf(w, "coefficients of the log-odds of each level against %s:\n", against)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "coefficient")
	for k, name := range names {
		if k != reference {
			fmt.Fprintf(t, "\t%s", name)
		}
	}
	fmt.Fprintln(t)
	for j, c := range lists[0] {
		fmt.Fprint(t, c.Name)
		for k := range lists {
			if k != reference {
				fmt.Fprintf(t, "\t%.6g", lists[k][j].Value)
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// score scores a model on the rows that were held out, for the curator.
func score(trial *task.Trial, m model) ([]metrics.Metric, *task.LevelFigures, error) {
	if one, ok := m.(*dpglm.Model); ok && m.Levels() == nil {
		list, err := trial.Score(one)
		return list, nil, err
	}
	return trial.ScoreLevels(m)
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
