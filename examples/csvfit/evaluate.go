package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

// withEvaluation is the ledger of a fit, and of an evaluation with it if there is one.
func (r *report) withEvaluation(fit *dpglm.Ledger) (*dpglm.Ledger, error) {
	if r.held == nil {
		return fit, nil
	}
	evaluation, err := r.evaluationLedger(r.source, r.held.Shape())
	if err != nil {
		return nil, fmt.Errorf("-evaluate: %w", err)
	}
	return r.together(r.split(), fit, evaluation)
}

// evaluated is the part of the rows that a flag asks to evaluate on.
func evaluated(f *flag.FlagSet) *float64 {
	return f.Float64("evaluate", 0, "`share` of the rows, or persons, rounded up, to hold out and evaluate on privately: figures to publish (default: none)")
}

// canEvaluate refuses shares that are none, where one was given.
func canEvaluate(given map[string]bool, share float64) error {
	if given["evaluate"] && !(share > 0 && share < 1) {
		return task.Usage("-evaluate %g must lie strictly between 0 and 1: leave it out to evaluate on none", share)
	}
	return nil
}

// evaluationLedger is what an evaluation on rows of a shape will spend.
func (b *budget) evaluationLedger(source *task.Source, held dpglm.Shape) (*dpglm.Ledger, error) {
	return dpglm.EvaluateConfig{}.Ledger(held, b.problem(source), b.total())
}

// split says of which rows a fit and an evaluation are.
func (r *report) split() parts { return parts{fmt.Sprintf("split by seed %d", r.seed), r.rows()} }

// parts are how rows are divided, and how many there are.
type parts struct {
	by   string
	rows int
}

// together composes a fit and an evaluation. Their rows are disjoint, so that each may
// spend the whole budget; but a group may have rows in both, so that theirs is checked.
func (b *budget) together(of parts, fit, evaluation *dpglm.Ledger) (*dpglm.Ledger, error) {
	both, err := mechanisms.Parallel("fit and evaluation, "+of.by, fit, evaluation)
	if err != nil {
		return nil, err
	}
	if b.group > 1 && !both.GroupWithin(b.group, b.epsilon, b.delta) {
		return nil, fmt.Errorf("-group %d: a group with rows in the fit and in the evaluation would spend more than -epsilon %g; with -method auto it doesn't, nor without -evaluate", b.group, b.epsilon)
	}
	claim, _ := fit.Claim() // whose budget it is, too
	claim.Rows, claim.Epsilon, claim.Delta = of.rows, b.epsilon, b.delta
	return both.WithClaim(claim), nil
}

// evaluate releases how good the model is on the rows that -evaluate held out.
func (r *report) evaluate(ctx context.Context) (err error) {
	if r.held == nil {
		return nil
	}
	progress.Doing(ctx, "evaluating")
	env := r.charge.keep(r.env, "evaluation")
	if r.evaluation, err = dpglm.Evaluate(ctx, r.held, r.model, r.total(), dpglm.EvaluateConfig{}, env); err != nil {
		return fmt.Errorf("-evaluate: %w", err)
	}
	r.ledger, err = r.together(r.split(), r.ledger, r.evaluation.Ledger)
	return err
}

// figures are those of the evaluation, as they are printed; the ledger is above them.
func (r *report) figures() string {
	if r.evaluation == nil {
		return ""
	}
	return strings.TrimSuffix(r.evaluation.String(), r.evaluation.Ledger.String())
}

// checkCohort refuses, of times at risk, what has persons count alike, of whose rows there are the fewer the sooner the event is.
func (b *budget) checkCohort(source *task.Source, evaluated float64) error {
	of := source.FileFacts()
	if of == nil || of.Followup == nil {
		return nil
	}
	if evaluated > 0 {
		return task.Usage("-evaluate is for tables without \"followup\": its figures are means over persons, whose numbers of rows there depend on the outcome")
	}
	if b.method == "objpert" {
		return task.Usage("-method objpert is for tables without \"followup\": it takes one row of each person, and how many there are depends on the outcome; -method infer finds hazard ratios")
	}
	return nil
}
