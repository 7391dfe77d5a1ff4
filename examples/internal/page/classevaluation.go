package page

import (
	"github.com/dpglm/dpglm"
	"gonum.org/v1/gonum/floats"
)

// classFigures are those of one level: its rate, recall, precision and AUC.
type classFigures struct {
	Name    string
	Figures []figure
}

// confusion has a row for each level, in percent of its rows.
type confusion struct {
	Names []string
	Rows  []classRow
}

func classFiguresOf(e *dpglm.Evaluation) (list []classFigures) {
	for _, name := range e.Classes {
		of := classFigures{Name: name}
		for _, figure := range []string{"rate", "recall", "precision", "AUC"} {
			of.Figures = append(of.Figures, shown(e.ClassFigure(name, figure)))
		}
		list = append(list, of)
	}
	return list
}

func newConfusion(e *dpglm.Evaluation) *confusion {
	table := &confusion{Names: e.Classes}
	for k, name := range e.Classes {
		row, sum := classRow{Name: name}, floats.Sum(e.Confusion[k])
		for _, n := range e.Confusion[k] {
			if sum > 0 {
				row.Values = append(row.Values, fixed(100*n/sum, 0))
			} else {
				row.Values = append(row.Values, "–")
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// shown is a figure between 0 and 1, or that it drowned in the noise.
func shown(f dpglm.Figure, known bool) figure {
	if !known || f.Vacuous() {
		return figure{Value: "not determined"}
	}
	value, interval := estimate(f.Value, f.Low, f.High)
	return figure{Value: value, Interval: interval}
}
