package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/page"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
)

// printEffects prints average marginal effects where they aren't the coefficients themselves, and which columns have none.
func printEffects(w io.Writer, found *dpglm.Inference) error {
	effects, err := found.MarginalEffects()
	if err != nil || found.Note() != "" || found.Model().Link() == losses.Identity { // levels have none
		return nil
	}
	over := ""
	if claim, _ := found.Model().Ledger().Claim(); claim.PersonRows > 1 && !claim.Alike {
		over = ", in which each person counts alike"
	}
	fmt.Fprintf(w, "\naverage marginal effects, on the mean of %s%s\n", found.Model().Label(), over)
	if len(effects) > 0 {
		if err := printIntervals(w, effects, found.Confidence(), "effect", ""); err != nil {
			return err
		}
	}
	if out := page.LeftOut(found, effects); out != "" {
		fmt.Fprintln(w, out)
	}
	return nil
}

// printIntervals prints coefficients with their intervals and, where they have a name, their exponentials.
func printIntervals(w io.Writer, list []dpglm.Coefficient, confidence float64, name, ratio string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	tail := 100 * (1 - confidence) / 2
	header := fmt.Sprintf("\t%s\tstd err\tz\tP>|z|\t[%.4g%%\t%.4g%%]", name, tail, 100-tail)
	if ratio != "" {
		header += "\t" + ratio
	}
	fmt.Fprintln(t, header)
	for _, c := range list {
		fmt.Fprintln(t, interval(c, ratio != ""))
		if per, ok := c.PerStep(); ok {
			fmt.Fprintln(t, interval(per, ratio != ""))
		}
	}
	return t.Flush()
}

// interval is a line of printIntervals.
func interval(c dpglm.Coefficient, exponential bool) string {
	if c.Undetermined() {
		return fmt.Sprintf("%s\t%.4g\tinf", c.Name, c.Estimate)
	}
	line := fmt.Sprintf("%s\t%.4g\t%.4g\t%.2f\t%.3f\t%.4g\t%.4g", c.Name, c.Estimate, c.StandardError, c.Z, c.P, c.Low, c.High)
	if e := c.Exp(); exponential {
		line += fmt.Sprintf("\t%.4g [%.4g, %.4g]", e.Value, e.Low, e.High)
	}
	return line
}

// questions are those about coefficients that flags put to an inference.
type questions struct{ contrasts, tests []string }

func (q *questions) flags(f *flag.FlagSet) {
	list := func(to *[]string) func(string) error {
		return func(text string) error {
			*to = append(*to, text)
			return nil
		}
	}
	f.Func("contrast", "a `column:level:base` whose difference is printed with its interval, of a model by -method infer; may be given again", list(&q.contrasts))
	f.Func("test", "`coefficients` or columns, as age,region, that are tested to be 0 together: whether a smaller model would do; a column stands for all that it alone makes, which are its levels, spline, square, logarithm and indicator of missing values, and products with others are named one by one, as age:region=west; may be given again", list(&q.tests))
}

// fields are the parts of a text.
func fields(text, between string) []string {
	list := strings.Split(text, between)
	for k, part := range list {
		list[k] = strings.TrimSpace(part)
	}
	return list
}

// answers are those to questions.
type answers struct {
	Contrasts []dpglm.Coefficient `json:"contrasts,omitempty"`
	Tests     []joint             `json:"tests,omitempty"`
}

// joint is a test that coefficients are 0 together.
type joint struct {
	Of []string `json:"of"`
	dpglm.WaldTest
}

// answer answers, or says which flag can't be.
func (q *questions) answer(found *dpglm.Inference) (*answers, error) {
	if len(q.contrasts)+len(q.tests) == 0 {
		return nil, nil
	}
	if found == nil {
		return nil, task.Usage("-contrast, -test: the model has no intervals of one score; fit it by -method infer, for a label that has no levels or levels that ascend")
	}
	r := new(answers)
	for _, text := range q.contrasts {
		of := fields(text, ":")
		if len(of) != 3 {
			return nil, task.Usage("-contrast %q: must be a column and two of its levels, as region:south:west", text)
		}
		answer, err := found.Contrast(of[0], of[1], of[2])
		if err != nil {
			return nil, task.Usage("-contrast %q: %v", text, err)
		}
		r.Contrasts = append(r.Contrasts, answer)
	}
	for _, text := range q.tests {
		names := fields(text, ",")
		made, err := coefficientsNamed(found.Model(), names)
		if err != nil {
			return nil, err
		}
		test, err := found.Wald(dpglm.AllZero(made...)...)
		if err != nil {
			return nil, task.Usage("-test %q: %v", text, err)
		}
		r.Tests = append(r.Tests, joint{names, test})
	}
	return r, nil
}

// coefficientsNamed are coefficients by their names, each once: a column's or a group's name stands for all that it alone makes.
func coefficientsNamed(m *dpglm.Model, names []string) (list []string, err error) {
	all, err := m.Coefficients()
	if err != nil {
		return nil, err
	}
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range names {
		known := false
		for _, c := range all {
			if name != "" && (c.Group == name || len(c.Columns) == 1 && c.Columns[0] == name) {
				add(c.Name)
				known = true
			}
		}
		if !known {
			add(name)
		}
	}
	return list, nil
}

func (r *answers) print(w io.Writer, found *dpglm.Inference) error {
	if r == nil {
		return nil
	}
	for _, t := range r.Tests {
		fmt.Fprintf(w, "\n%s all 0: %v\n", strings.Join(t.Of, ", "), t.WaldTest)
	}
	if len(r.Contrasts) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return printIntervals(w, r.Contrasts, found.Confidence(), "contrast", found.Model().Ratio())
}

// exponential is that of a coefficient, nil where a model has no name for it, and for the intercept.
func exponential(m *dpglm.Model, name string, value float64) *float64 {
	e := math.Exp(value)
	if m.Ratio() == "" || name == dpglm.InterceptName || math.IsInf(e, 0) {
		return nil
	}
	return &e
}
