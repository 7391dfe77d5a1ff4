// Package hazards has hazards and survival by a model of times at risk.
package hazards

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// Curve is what a model says of the persons of one record. It is made of released numbers.
type Curve struct {
	Periods  [][2]float64
	Hazard   []float64        // in each period, per unit of time
	Survival []dpglm.Interval // the part that is without the event from the first cut to the end of each period
}

// Of finds the curve of a record, of which x has a row in each of its model's periods. Without an inference, which may be nil,
// intervals are their values. That of survival is by the delta method, on the logarithm of the cumulated hazard: its
// gradient is a mean of the rows, weighed by what each period adds, so that it has the interval of this row's score.
// It fails as [dpglm.Model.Means] does.
func Of(m *dpglm.Model, found *dpglm.Inference, periods [][2]float64, x *mat.Dense) (*Curve, error) {
	hazard, err := m.Means(x)
	if err != nil {
		return nil, err
	}
	c := &Curve{Periods: periods, Hazard: hazard}
	n, columns := x.Dims()
	row, weighed, sums := make([]float64, columns), mat.NewDense(n, columns, nil), make([]float64, n)
	sum := 0.0
	for k, p := range periods {
		adds := hazard[k] * (p[1] - p[0])
		sum += adds
		sums[k] = sum
		floats.AddScaled(row, adds, x.RawRowView(k))
		if copy(weighed.RawRowView(k), x.RawRowView(k)); sum > 0 { // a hazard may be too small for a float64
			floats.ScaleTo(weighed.RawRowView(k), 1/sum, row)
		}
	}
	list, err := means(m, found, weighed)
	if err != nil {
		return nil, err
	}
	for k, of := range list {
		if sums[k] == 0 {
			c.Survival = append(c.Survival, dpglm.Interval{Value: 1, High: 1})
			continue
		}
		after := func(ratio float64) float64 { return math.Exp(-sums[k] * ratio) }
		c.Survival = append(c.Survival, dpglm.Interval{Value: after(1), Low: after(of.High / of.Value), High: after(of.Low / of.Value)})
	}
	return c, nil
}

// means are those of rows, with intervals if there is an inference.
func means(m *dpglm.Model, found *dpglm.Inference, x *mat.Dense) ([]dpglm.Interval, error) {
	if found != nil {
		return found.Means(x, nil)
	}
	list, err := m.Means(x)
	out := make([]dpglm.Interval, len(list))
	for i, v := range list {
		out[i] = dpglm.Interval{Value: v, Low: v, High: v}
	}
	return out, err
}

// Baseline is the curve of a record that public facts make, which Text tells: the reference of each column with levels, "no" where
// there is yes or no, and the middle of ranges.
type Baseline struct {
	Curve
	Hazards []dpglm.Interval // those of the curve
	Text    string
}

// NewBaseline finds it, and is nil for models of no hazards, or of one period.
func NewBaseline(m *dpglm.Model, found *dpglm.Inference) (*Baseline, error) {
	e := m.Encoder()
	if e == nil || e.Schema().Periods() == nil {
		return nil, nil
	}
	s := e.Schema()
	record, text := typical(s, e.Inputs())
	var records []map[string]string
	for _, level := range s.PeriodLevels() {
		one := map[string]string{table.PeriodColumn: level}
		for name, v := range record {
			one[name] = v
		}
		records = append(records, one)
	}
	x, err := m.Encode(records...)
	if err != nil {
		return nil, err
	}
	c, err := Of(m, found, s.Periods(), x)
	if err != nil {
		return nil, err
	}
	of, err := means(m, found, x)
	return &Baseline{*c, of, text}, err
}

// typical is a record of a schema, in its own writing, and what it says.
func typical(s table.Schema, inputs []string) (map[string]string, string) {
	needed := map[string]bool{}
	for _, name := range inputs {
		needed[name] = true
	}
	record, said := map[string]string{}, []string{}
	for _, c := range s.Columns {
		switch {
		case c.Name == table.PeriodColumn:
		case c.Kind == table.OneHot:
			for _, level := range c.Levels {
				record[c.Name+"="+level] = "0"
			}
			said = append(said, c.Name+" none of those listed")
		case needed[c.Name]:
			record[c.Name] = middle(s, c)
			said = append(said, c.Name+" "+record[c.Name])
		}
	}
	return record, strings.Join(said, ", ")
}

// middle is what typical has for a column.
func middle(s table.Schema, c table.Column) string {
	switch c.Kind {
	case table.Numeric:
		v := (c.Range[0] + c.Range[1]) / 2
		if c.Log {
			v = math.Sqrt(c.Range[0] * c.Range[1])
		}
		text := fmt.Sprintf("%.4g", v)
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		if s.Decimal == "," {
			text = strings.Replace(text, ".", ",", 1)
		}
		return text
	case table.Date:
		from, _ := time.Parse(time.DateOnly, c.From)
		to, _ := time.Parse(time.DateOnly, c.To)
		layout := time.DateOnly
		if len(c.Layouts) > 0 {
			layout = c.Layouts[0]
		}
		return from.Add(to.Sub(from) / 2).Format(layout)
	case table.Binary:
		return c.Negative[0]
	}
	if c.Reference != "" {
		return c.Reference
	}
	return c.Levels[0]
}
