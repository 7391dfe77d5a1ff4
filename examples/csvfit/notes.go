package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/page"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// explained is a ledger, with a word before its tree of what that lists.
func explained(l *dpglm.Ledger) string {
	claim, tree, more := strings.Cut(l.String(), "\n")
	if !more || strings.HasPrefix(tree, "NOTE: ") {
		return l.String()
	}
	return claim + "\nreleases, as planned before any noise was drawn:\n" + tree
}

// noteModel prints what to know of a model's coefficients.
func noteModel(w io.Writer, m *dpglm.Model, found inferred) error {
	var b strings.Builder
	for _, note := range modelNotes(m, found) {
		b.WriteString(note + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// modelNotes say what to know of a model's coefficients: they need no more than the model's file.
func modelNotes(m *dpglm.Model, found inferred) (notes []string) {
	if e := m.Encoder(); e != nil {
		var days []string
		for _, c := range e.Schema().Columns {
			if c.Kind == table.Date {
				days = append(days, strconv.Quote(c.Name))
			}
		}
		if len(days) > 0 {
			notes = append(notes, fmt.Sprintf("Coefficients of numbers from %s are per day.", strings.Join(days, ", ")))
		}
		if lossOf(m) == softmax && e.Label().Ordered {
			notes = append(notes, "The levels ascend by the schema: -loss ordinal fits one score for all, with less noise and, by -method infer, intervals.")
		}
		if e.Schema().Periods() != nil && found.one == nil && !page.Constant(m) {
			notes = append(notes, "These hazard ratios have no intervals: -method infer gives them, by persons, and says which aren't determined.")
		}
	}
	if kinked(lossOf(m)) {
		notes = append(notes, "Kinks of this loss are smoothed over some hundredths of the label's range, unless by -method noisygd: where labels vary by no more than that, predictions are nearer to their mean.")
	}
	if page.Constant(m) {
		notes = append(notes, fmt.Sprintf("NOTE: the weights of all features are 0: the budget and n suffice for the constant model only. What helps: %s.", helps(m.Ledger().Unit().Of == mechanisms.Person)))
	}
	return notes
}

// kinked reports whether a loss of real labels has a kink.
func kinked(loss string) bool {
	return loss == losses.Absolute{}.Name() || strings.HasPrefix(loss, "quantile(")
}

// helps is what would make for more than noise.
func helps(persons bool) string {
	more := "rows"
	if persons {
		more = "persons"
	}
	return "a larger -epsilon, more " + more + ", or fewer columns"
}

// noteInference says what helps where most coefficients aren't determined.
func noteInference(w io.Writer, found *dpglm.Inference) error {
	list, unknown := found.Coefficients(), 0
	for _, c := range list {
		if c.Undetermined() {
			unknown++
		}
	}
	if 2*unknown <= len(list) {
		return nil
	}
	_, err := fmt.Fprintf(w, "To determine more of them, what helps: %s. If predictions are all you need: -method auto.\n", helps(found.Model().Ledger().Unit().Of == mechanisms.Person))
	return err
}
