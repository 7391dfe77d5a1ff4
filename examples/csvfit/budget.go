package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// budget is what flags say about how to train, and how privately.
type budget struct {
	method                 string
	learner                dpglm.Learner
	epsilon, delta, radius float64
	group                  int  // rows that are protected together
	addRemove              bool // whether neighbours have one more or less: see the schema's at_most
	labelsOnly             bool // whether they differ in a label alone: see the schema's private
	prior                  *dpglm.Model
}

// addTo adds the flags.
func (b *budget) addTo(f *flag.FlagSet) {
	f.StringVar(&b.method, "method", "auto", "`name` of the method: "+strings.Join(methods(), ", ")+"; for a label of several levels, auto is softmax, and oneagainstrest has a model of each against the rest")
	b.addNumbersTo(f)
}

// addNumbersTo adds all flags but the method's.
func (b *budget) addNumbersTo(f *flag.FlagSet) {
	f.Float64Var(&b.epsilon, "epsilon", 0, "the privacy parameter `ε`; there is no default")
	f.Float64Var(&b.delta, "delta", 0, "the privacy parameter `δ` (default: the number of rows that are trained on, or of persons, where the schema names them, to the power -1.5)")
	f.IntVar(&b.group, "group", 1, "protect any `k` rows together, such as those of a household; or persons, where the schema names them")
	f.Float64Var(&b.radius, "radius", 0, "`bound` on the norm of the weights (default: the library's); auto, standardised and infer have none")
}

// check finds what is missing among the flags that were given.
func (b *budget) check(given map[string]bool) error {
	if !given["epsilon"] {
		return task.Usage("-epsilon is missing: how much privacy to spend is for you to say")
	}
	return b.checkAll(given)
}

// checkAll is check where an ε may be missing, too.
func (b *budget) checkAll(given map[string]bool) error {
	if given["epsilon"] && !(b.epsilon > 0) || given["epsilon"] && math.IsInf(b.epsilon, 1) {
		return task.Usage("-epsilon %g must be a number above 0; usual are 0.1 to 10, of which the smaller protect more", b.epsilon)
	}
	if given["delta"] && b.delta == 0 {
		return task.Usage("-delta 0 must be above 0: leave it out for the default")
	}
	if given["delta"] && !(b.delta > 0 && b.delta < 1) {
		return task.Usage("-delta %g must lie strictly between 0 and 1: leave it out for the default", b.delta)
	}
	if b.group < 1 {
		return task.Usage("-group %d must be at least 1: the most rows that belong together", b.group)
	}
	return b.find()
}

// units are what a guarantee is for.
func units(s dpglm.Shape) string {
	if s.PersonRows > 0 {
		return "persons"
	}
	return "rows"
}

// groups says whose budget it is, if not one row's or one person's.
func (b *budget) groups(s dpglm.Shape) string {
	if b.group == 1 {
		return ""
	}
	return fmt.Sprintf(" for any %d %s", b.group, units(s))
}

// settle takes the default δ of so many rows, or persons, where none was given. One row has none.
func (b *budget) settle(rows int) error {
	if b.delta != 0 {
		return nil
	}
	if rows == 1 {
		return task.Usage("-delta is missing: the default, n to the power -1.5, is 1 where n is 1, and a δ lies strictly between 0 and 1")
	}
	b.delta = task.DefaultDelta(rows)
	return nil
}

// of plans for a shape, with the default δ where none was given, and warns of budgets that
// are most likely mistakes.
func (b *budget) of(s dpglm.Shape, source *task.Source, stderr io.Writer) (*dpglm.Plan, []string, error) {
	if err := b.settle(s.Rows); err != nil {
		return nil, nil, err
	}
	b.addRemove = s.AddRemove
	if facts := source.Facts(); facts != nil {
		b.labelsOnly = facts.Private != nil
	}
	problem := b.problem(source)
	problem.Prior = b.prior
	plan, err := b.learner.Plan(s, problem, b.total())
	if err != nil {
		return nil, nil, b.asTyped(err)
	}
	var warnings []string
	for _, line := range strings.Split(plan.Ledger.String(), "\n") {
		if text, ok := strings.CutPrefix(line, "NOTE: "); ok {
			warnings = append(warnings, text)
			fmt.Fprintf(stderr, "csvfit: WARNING: %s\n", text)
		}
	}
	for _, text := range []string{b.all(s), b.coarse(s, source), b.unreached(s, source, plan.Problem.Radius)} {
		if text != "" {
			warnings = append(warnings, text)
			fmt.Fprintf(stderr, "csvfit: WARNING: %s\n", text)
		}
	}
	return plan, warnings, nil
}

// asTyped names the flag that a budget's μ was computed from.
func (b *budget) asTyped(err error) error {
	var bad dpglm.ArgumentError
	if errors.As(err, &bad) && errors.Is(err, dpglm.ErrBudget) && strings.HasSuffix(bad.Param(), "mu") {
		return fmt.Errorf("-epsilon %g: %w", b.epsilon, err)
	}
	return err
}

// holds reports whether the method holds the weights to a radius.
func (b *budget) holds() bool {
	switch b.learner.(type) {
	case dpglm.InferConfig, dpglm.StandardisedGDConfig, dpglm.SoftmaxConfig, dpglm.OneAgainstRestConfig, dpglm.AutoConfig: // which is one of the others
		return false
	}
	return true
}

// bound is the radius that holds the weights, 0 where none does.
func (b *budget) bound(p *dpglm.Plan) float64 {
	if b.holds() {
		return p.Problem.Radius
	}
	return 0
}

// checkRadius refuses a radius that the method won't hold the weights to.
func (b *budget) checkRadius() error {
	if b.radius == 0 || b.holds() {
		return nil
	}
	return task.Usage("-radius %g is for methods that hold the weights to it, and -method %s doesn't: leave it out", b.radius, b.method)
}

// all warns of a group that is the whole data set.
func (b *budget) all(s dpglm.Shape) string {
	if b.group == 1 || b.group < s.Rows {
		return ""
	}
	return fmt.Sprintf("-group %d protects all %d %s together: there can be nothing of them in the model", b.group, s.Rows, units(s))
}

// coarse warns where noise, which grows with the labels' range, may hide what they differ by:
// where their mean alone, with the whole budget, would be known no better than that calls for.
func (b *budget) coarse(s dpglm.Shape, source *task.Source) string {
	mu, err := mechanisms.GaussianMu(b.epsilon, b.delta)
	if source.Levels() != nil || source.Loss.Labels() == losses.Binary || err != nil {
		return ""
	}
	low, high := s.LabelCentre-s.LabelBound, s.LabelCentre+s.LabelBound
	noise := (high - low) * float64(b.group) / (float64(s.Rows) * mu)
	if noise < enough(low, high, source.Loss.Labels()) {
		return ""
	}
	return fmt.Sprintf("labels lie in [%.4g, %.4g] by the schema, and noise grows with that range: even their mean alone is known up to a standard deviation of %.2g only; "+
		"if nearly all of them lie in a small part of it, a range of that part, from public knowledge, may gain more than it clamps", low, high, noise)
}

// enough is how well a mean should be known: to a hundredth of the range, and to a thousandth of
// that of amounts, which mostly lie near 0. Counts fill a range up to 1 and lie near 0 in one of
// hundreds; between, they differ by about the root of the cap.
func enough(low, high float64, labels losses.Labels) float64 {
	switch labels {
	case losses.Amount:
		return (high - low) / 1000
	case losses.Count:
		return math.Max(math.Sqrt(high)/100, high/1000)
	}
	return (high - low) / 100
}

// total is the library's budget.
func (b *budget) total() dpglm.Budget {
	total := dpglm.ApproxDP(b.epsilon, b.delta).ForGroups(b.group)
	if b.labelsOnly {
		total = total.LabelsOnly()
	}
	if b.addRemove {
		total = total.AddRemove()
	}
	return total
}
