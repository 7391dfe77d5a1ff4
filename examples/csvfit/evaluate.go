package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// spend enters what a fit, and an evaluation with it, will release into the budget's file,
// if there is one.
func (r *report) spend(planned *dpglm.Ledger) error {
	if r.held != nil {
		evaluation, err := r.evaluationLedger()
		if err != nil {
			return fmt.Errorf("-evaluate: %w", err)
		}
		if planned, err = r.together(planned, evaluation); err != nil {
			return err
		}
	}
	if r.file == "" {
		return nil
	}
	b, err := budgetfile.Open(r.file)
	if err != nil {
		return err
	}
	return b.Spend("fit of "+r.source.Path+" to "+r.output, planned)
}

// evaluationLedger is what the evaluation will spend.
func (r *report) evaluationLedger() (*dpglm.Ledger, error) {
	if r.source.Softmax {
		return dpglm.EvaluateClassesConfig{}.Ledger(r.held.Shape(), len(r.source.Levels()), r.total())
	}
	return dpglm.EvaluateConfig{}.Ledger(r.held.Shape(), r.source.Loss, r.total())
}

// together composes a fit and an evaluation. Their rows are disjoint, so that each may
// spend the whole budget; but a group may have rows in both, so that theirs is checked.
func (r *report) together(fit, evaluation *dpglm.Ledger) (*dpglm.Ledger, error) {
	both, err := mechanisms.Parallel(fmt.Sprintf("fit and evaluation, split by seed %d", r.seed), fit, evaluation)
	if err != nil {
		return nil, err
	}
	if r.group > 1 && !both.GroupWithin(r.group, r.epsilon, r.delta) {
		return nil, fmt.Errorf("-group %d: a group with rows in the fit and in the evaluation would spend more than -epsilon %g; with -method auto it doesn't, nor without -evaluate", r.group, r.epsilon)
	}
	claim, _ := fit.Claim() // whose budget it is, too
	claim.Rows, claim.Epsilon, claim.Delta = r.rows(), r.epsilon, r.delta
	return both.WithClaim(claim), nil
}

// evaluate releases how good the model is on the rows that -evaluate held out.
func (r *report) evaluate(ctx context.Context) (err error) {
	if r.held == nil {
		return nil
	}
	var ledger *dpglm.Ledger
	if m, ok := r.model.(*dpglm.ClassModel); ok {
		if r.classEvaluation, err = dpglm.EvaluateClasses(ctx, r.held, m, r.total(), dpglm.EvaluateClassesConfig{}, r.env); err == nil {
			ledger = r.classEvaluation.Ledger
		}
	} else if r.evaluation, err = dpglm.Evaluate(ctx, r.held, r.model.(*dpglm.Model), r.total(), dpglm.EvaluateConfig{}, r.env); err == nil {
		ledger = r.evaluation.Ledger
	}
	if err != nil {
		return fmt.Errorf("-evaluate: %w", err)
	}
	r.ledger, err = r.together(r.ledger, ledger)
	return err
}

// figures are those of the evaluation, as they are printed; the ledger is above them.
func (r *report) figures() string {
	switch {
	case r.evaluation != nil:
		return strings.TrimSuffix(r.evaluation.String(), r.evaluation.Ledger.String())
	case r.classEvaluation != nil:
		return strings.TrimSuffix(r.classEvaluation.String(), r.classEvaluation.Ledger.String())
	}
	return ""
}
