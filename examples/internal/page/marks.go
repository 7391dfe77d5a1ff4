package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
)

// marks are what a reader must know before any figure: why the guarantee may be void, and what is
// withheld or doubtful by the model's own diagnostics.
func (c Content) marks() (list []string) {
	if c.Ledger.CallerNoise() {
		list = append(list, "Void. The noise came from a seed that the curator chose: there is no privacy against those who know it.")
	}
	for _, note := range append(c.notes(), c.Origin.Warnings...) {
		if text := "Note: " + strings.TrimSuffix(note, ".") + "."; !slices.Contains(list, text) && !strings.HasPrefix(note, noiseNote) {
			list = append(list, text)
		}
	}
	if Constant(c.Model) {
		list = append(list, "Constant model. The weights of all features are 0: it says nothing of any column.")
	}
	if note := c.Inference.Note(); note != "" {
		list = append(list, note)
	}
	list = append(list, doubtful(c.intervals())...)
	if e := c.Evaluation; e != nil {
		list = append(list, withheld(newEvaluation(e, c))...)
	}
	return list
}

// doubtful says which coefficients have no interval, or one that has a mark.
func doubtful(all []dpglm.Coefficient) (list []string) {
	var unknown, reasons []string
	doubts := map[string][]string{} // names by the reason
	for _, k := range all {
		switch {
		case k.Undetermined():
			unknown = append(unknown, k.Name)
		case k.Mark != "":
			if doubts[k.Mark] == nil {
				reasons = append(reasons, k.Mark)
			}
			doubts[k.Mark] = append(doubts[k.Mark], k.Name)
		}
	}
	if unknown != nil {
		list = append(list, fmt.Sprintf("Intervals are withheld, as nothing is known under this noise, of %s of %s coefficients: %s.", grouped(len(unknown)), grouped(len(all)), few(unknown)))
	}
	for _, reason := range reasons {
		list = append(list, fmt.Sprintf("Intervals of %s are doubtful: each %s.", few(doubts[reason]), reason))
	}
	return list
}

// withheld says what noise hides of an evaluation.
func withheld(e *evaluation) (list []string) {
	list = append(list, e.Lost...)
	if e.Hidden != "" {
		list = append(list, "Calibration: "+e.Hidden)
	}
	return list
}

// noiseNote begins the ledger's note on noise by a caller's seed.
const noiseNote = "noise"

// notes are the ledger's, about its budget.
func (c Content) notes() (list []string) {
	for line := range strings.Lines(c.Ledger.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "NOTE: "); ok && !strings.HasPrefix(text, noiseNote) {
			list = append(list, text)
		}
	}
	return list
}

// intervals are the coefficients that have or lack one; of several classes the name says of which.
func (c Content) intervals() (list []dpglm.Coefficient) {
	if c.Classes == nil {
		return append(c.Inference.Coefficients(), c.Inference.Thresholds()...)
	}
	for _, class := range c.Model.Levels() {
		if of, err := c.Classes.Of(class); err == nil { // not the reference
			for _, k := range of.Coefficients() {
				k.Name = class + ": " + k.Name
				list = append(list, k)
			}
		}
	}
	return list
}

const mostNames = 8 // that a mark lists

// few lists names, the first of many.
func few(names []string) string {
	shown := names[:min(len(names), mostNames)]
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %s more", grouped(more))
	}
	return text
}
