package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/hazards"
	"github.com/dpglm/dpglm/examples/internal/page"
	"github.com/dpglm/dpglm/table"
)

// baseline is the hazard of one record in each period, as JSON.
type baseline struct {
	Of      string           `json:"of,omitempty"` // the record
	None    string           `json:"none,omitempty"`
	Periods []baselinePeriod `json:"periods,omitempty"`
}

type baselinePeriod struct {
	Period   string    `json:"period"`
	Hazard   valueEnds `json:"hazard"`   // per unit of time
	Survival valueEnds `json:"survival"` // the part without the event at the period's end
}

// valueEnds are a value and the ends of its interval, if it has any: a high end may be all that there is none of.
type valueEnds struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

func endsOf(i dpglm.Interval, found *dpglm.Inference) valueEnds {
	e := valueEnds{Value: i.Value}
	if found != nil {
		e.Low = &i.Low
		if !math.IsInf(i.High, 1) {
			e.High = &i.High
		}
	}
	return e
}

// baselineOf is that which printBaseline prints, nil where that prints none.
func baselineOf(m *dpglm.Model, found *dpglm.Inference) *baseline {
	of, err := newBaseline(m, found)
	switch {
	case err != nil:
		return &baseline{None: err.Error()}
	case of == nil:
		return nil
	}
	b := &baseline{Of: of.Text}
	for k, level := range m.Encoder().Schema().PeriodLevels() {
		b.Periods = append(b.Periods, baselinePeriod{level, endsOf(of.Hazards[k], found), endsOf(of.Survival[k], found)})
	}
	return b
}

// newBaseline is nil where a model has no hazards, is constant, or isn't determined.
func newBaseline(m *dpglm.Model, found *dpglm.Inference) (*hazards.Baseline, error) {
	if page.Constant(m) || found != nil && found.Note() != "" {
		return nil, nil
	}
	return hazards.NewBaseline(m, found)
}

// printBaseline prints the hazard in each period of a record of public facts, and how many are without the event at its end, where
// newBaseline is any.
func printBaseline(w io.Writer, m *dpglm.Model, found *dpglm.Inference) error {
	of, err := newBaseline(m, found)
	if err != nil { // what was released is shown all the same
		_, err = fmt.Fprintf(w, "\nno baseline hazard: %v\n", err)
		return err
	}
	if of == nil {
		return nil
	}
	fmt.Fprintf(w, "\nbaseline hazard per unit of time, of persons with %s\n", of.Text)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ends := ""
	if found != nil {
		ends = fmt.Sprintf(" [%.4g %% interval]", percent*found.Confidence())
	}
	fmt.Fprintf(t, "period\thazard%s\twithout the event at its end%s\n", ends, ends)
	for k, level := range m.Encoder().Schema().PeriodLevels() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", level, ranged(of.Hazards[k], found), ranged(of.Survival[k], found))
	}
	return t.Flush()
}

// ranged is a value, with its interval if there is an inference.
func ranged(i dpglm.Interval, found *dpglm.Inference) string {
	if found == nil {
		return fmt.Sprintf("%.4g", i.Value)
	}
	return fmt.Sprintf("%.4g [%.4g, %.4g]", i.Value, i.Low, i.High)
}

// persons reports whether a header is of persons, without a period, of whom a model of hazards tells survival.
func (p *predictions) persons(header []string) bool {
	return p.Encoder().Schema().Periods() != nil && !slices.Contains(header, table.PeriodColumn)
}

// survival adds to each record what part of its like are without the event from the first cut to each further one.
func (p *predictions) survival(ctx context.Context, src *table.CSV) error {
	s, header := p.Encoder().Schema(), src.Header()
	levels, periods := s.PeriodLevels(), s.Periods()
	b, err := p.Encoder().Bind(append(slices.Clone(header), table.PeriodColumn))
	if err != nil {
		return err
	}
	names := slices.Clone(header)
	for _, ends := range periods {
		name := "survival to " + strconv.FormatFloat(ends[1], 'g', -1, 64)
		if names = append(names, name); p.found != nil {
			names = append(names, name+" low", name+" high")
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("column %q is in the file, and would be that of the predictions; rename it", name)
		}
	}
	if err := p.w.Write(names); err != nil {
		return err
	}
	x := mat.NewDense(len(levels), len(p.Encoder().Features()), nil)
	for {
		fields, err := src.Next()
		if errors.Is(err, io.EOF) {
			p.warnings = append(p.warnings, b.Warnings()...)
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		row := append(slices.Clone(fields), "")
		b.At(src.Place())
		for k, level := range levels {
			row[len(fields)] = level
			if err := b.Encode(x.RawRowView(k), row); err != nil {
				return remedied(err)
			}
		}
		of, err := hazards.Of(p.Model, p.found, periods, x)
		if err != nil {
			return err
		}
		if err := p.w.Write(append(slices.Clone(fields), p.parts(of)...)); err != nil {
			return err
		}
	}
}

// parts are the texts of survival, with the ends of intervals where these are asked for.
func (p *predictions) parts(of *hazards.Curve) (list []string) {
	for _, part := range of.Survival {
		for _, v := range []float64{part.Value, part.Low, part.High} {
			if list = append(list, strconv.FormatFloat(v, 'g', 6, 64)); p.found == nil {
				break
			}
		}
	}
	return list
}
