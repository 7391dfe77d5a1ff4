package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// print writes a table of each metric: a line for each set and ε, a column for each method.
func (o *options) print(w io.Writer, sets []task.Set, s *store) error {
	var b strings.Builder
	var worse, lost, sloping []string
	for _, metric := range o.metrics(sets, s) {
		fmt.Fprintf(&b, "\n%s on the rows held out, mean over %d seed(s)\n\n", metric, o.seeds)
		fmt.Fprintf(&b, "| set | ε | constant | private mean | non-private | %s |\n|---|---|%s\n", strings.Join(o.methods, " | "), strings.Repeat("---|", len(o.methods)+3))
		for _, set := range sets {
			if o.metric(set, s) != metric {
				continue
			}
			for i, epsilon := range o.epsilons {
				line := []string{set.Name, fmt.Sprintf("%g", epsilon), o.mean(set, s, constant, 0), o.mean(set, s, private, epsilon), o.mean(set, s, nonPrivate, 0)}
				if i > 0 {
					line[0], line[2], line[4] = "", "", ""
				}
				for _, m := range o.methods {
					of := cells{o, set, s, m, epsilon}
					line = append(line, of.against(constant, 0, false).String())
					worse = of.add(worse, of.against(constant, 0, false))
					lost = of.add(lost, of.against(private, epsilon, false))
					sloping = of.add(sloping, of.against(constant, 0, true))
				}
				fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
			}
		}
	}
	fmt.Fprintf(&b, "\n%s", note)
	fmt.Fprintf(&b, "\n%d cells are worse than the constant.\n%s", len(worse), strings.Join(worse, ""))
	fmt.Fprintf(&b, "\n%d cells are worse than a private mean, on average over its noise.\n%s", len(lost), strings.Join(lost, ""))
	fmt.Fprintf(&b, "\n%d cells are worse than the constant once their intercept is moved to predict the same on average.\n%s", len(sloping), strings.Join(sloping, ""))
	_, err := io.WriteString(w, b.String())
	return err
}

const note = `Below each mean is the standard error of its difference to the constant's on the same split.
! marks a mean that is worse than the constant's by more than two of them; – is no result.
`

// metric is the one that a set is judged by.
func (o *options) metric(set task.Set, s *store) string {
	for seed := range o.seeds {
		if m, ok := s.scores[key{set.Name, o.rows, constant, 0, seed + 1}]; ok {
			return m.Name
		}
	}
	return ""
}

// metrics are those of all sets, in order of appearance.
func (o *options) metrics(sets []task.Set, s *store) (all []string) {
	seen := map[string]bool{"": true}
	for _, set := range sets {
		if m := o.metric(set, s); !seen[m] {
			all = append(all, m)
			seen[m] = true
		}
	}
	return all
}

// cell is a method at one ε against a constant.
type cell struct {
	mean        float64
	loss, error float64 // how much worse than the constant on the same splits, and its standard error
}

// cells are those of a method at one ε on a set.
type cells struct {
	*options
	set     task.Set
	s       *store
	method  string
	epsilon float64
}

// against is that against a constant of a name and ε, of the model itself or of the one whose intercept is moved.
func (o cells) against(name string, epsilon float64, centred bool) cell {
	var values, losses []float64
	for seed := range o.seeds {
		m, ok := o.s.scores[key{o.set.Name, o.rows, o.method, o.epsilon, seed + 1}]
		base, also := o.s.scores[key{o.set.Name, o.rows, name, epsilon, seed + 1}]
		if !ok || !also {
			continue
		}
		value := m.Value
		if centred {
			value = m.centred
		}
		loss := value - base.Value
		if !metrics.LowerIsBetter(m.Name) {
			loss = -loss
		}
		values, losses = append(values, value), append(losses, loss)
	}
	c := cell{mean: math.NaN(), loss: math.NaN()}
	if len(values) > 0 {
		c.mean, _ = metrics.Summary(values)
		c.loss, c.error = metrics.Summary(losses)
	}
	return c
}

// add adds a line to a list if the cell is worse.
func (o cells) add(list []string, c cell) []string {
	if !c.worse() {
		return list
	}
	return append(list, fmt.Sprintf("  %s, ε = %g, %s: worse by %.4f ± %.4f\n", o.set.Name, o.epsilon, o.method, c.loss, c.error))
}

// worse reports whether the constant is better beyond two standard errors; a single seed
// has none.
func (c cell) worse() bool {
	return c.loss > 0 && (math.IsNaN(c.error) || c.loss > 2*c.error)
}

func (c cell) String() string {
	if math.IsNaN(c.mean) {
		return "–"
	}
	text := metrics.Metric{Value: c.mean}.String()
	if !math.IsNaN(c.error) {
		text += fmt.Sprintf(" ± %.4f", c.error)
	}
	if c.worse() {
		text += " !"
	}
	return text
}

// mean is the mean score of a model to compare with.
func (o *options) mean(set task.Set, s *store, method string, epsilon float64) string {
	var values []float64
	for seed := range o.seeds {
		if m, ok := s.scores[key{set.Name, o.rows, method, epsilon, seed + 1}]; ok {
			values = append(values, m.Value)
		}
	}
	if len(values) == 0 {
		return "–"
	}
	mean, _ := metrics.Summary(values)
	return metrics.Metric{Value: mean}.String()
}
