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

func newClassEvaluation(e *dpglm.ClassEvaluation) *evaluation {
	v := &evaluation{Count: grouped(e.Rows), Level: level(e.Level)}
	v.add([]measure{
		{"accuracy", "rows whose level is the most likely one", true, true, e.Accuracy},
		{"mean AUC", "mean of the levels’; ½ is blind", true, false, e.AUC},
		{"log-loss", "mean of −log probability of what was right, in nats", false, false, e.LogLoss},
		{"Brier score", "mean sum of the probabilities’ squared errors", false, false, e.Brier},
	})
	table := &confusion{}
	for k, c := range e.Classes {
		of := classFigures{Name: c.Name}
		for _, f := range []dpglm.Interval{c.Rate, c.Recall, c.Precision, c.AUC} {
			of.Figures = append(of.Figures, shown(f))
		}
		v.Classes = append(v.Classes, of)
		table.Names = append(table.Names, c.Name)
		row, sum := classRow{Name: c.Name}, floats.Sum(e.Confusion[k])
		for _, n := range e.Confusion[k] {
			if sum > 0 {
				row.Values = append(row.Values, fixed(100*n/sum, 0))
			} else {
				row.Values = append(row.Values, "–")
			}
		}
		table.Rows = append(table.Rows, row)
	}
	v.Confusion = table
	return v
}

// shown is a figure between 0 and 1, or that it drowned in the noise.
func shown(f dpglm.Interval) figure {
	if f == (dpglm.Interval{}) || f.Low <= 0 && f.High >= 1 {
		return figure{Value: "not determined"}
	}
	value, interval := estimate(f.Value, f.Low, f.High)
	return figure{Value: value, Interval: interval}
}
