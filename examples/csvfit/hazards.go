package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/hazards"
	"github.com/dpglm/dpglm/examples/internal/page"
)

// printBaseline prints the hazard in each period of a record of public facts, and how many are without the event at its end: nothing
// where a model has no hazards, is constant, or isn't determined.
func printBaseline(w io.Writer, m *dpglm.Model, found *dpglm.Inference) error {
	if page.Constant(m) || found != nil && found.Note() != "" {
		return nil
	}
	of, err := hazards.NewBaseline(m, found)
	if err != nil || of == nil {
		return err
	}
	fmt.Fprintf(w, "\nbaseline hazard per unit of time, of persons with %s\n", of.Text)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ends := ""
	if found != nil {
		ends = fmt.Sprintf(" [%.4g %% interval]", percent*found.Confidence())
	}
	fmt.Fprintf(t, "period\thazard%s\twithout the event at its end%s\n", ends, ends)
	for k, level := range m.Encoder().Schema().PeriodLevels() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", level, ranged(of.Hazard[k], found), ranged(of.Survival[k], found))
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
