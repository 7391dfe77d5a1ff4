package main

import (
	"context"
	"fmt"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// spend enters what a fit, and an evaluation with it, will release into the budget's file,
// if there is one.
func (r *report) spend(planned *dpglm.Ledger) error {
	if r.held != nil {
		evaluation, err := dpglm.EvaluateConfig{}.Ledger(r.held.Shape(), r.source.Loss, r.total())
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

// together composes a fit and an evaluation. Their rows are disjoint, so that each may
// spend the whole budget.
func (r *report) together(fit, evaluation *dpglm.Ledger) (*dpglm.Ledger, error) {
	both, err := mechanisms.Parallel(fmt.Sprintf("fit and evaluation, split by seed %d", r.seed), fit, evaluation)
	if err != nil {
		return nil, err
	}
	return both.WithClaim(mechanisms.Claim{Rows: r.shape.Rows + r.held.Shape().Rows, Epsilon: r.epsilon, Delta: r.delta}), nil
}

// evaluate releases how good the model is on the rows that -evaluate held out.
func (r *report) evaluate(ctx context.Context) (err error) {
	if r.held == nil {
		return nil
	}
	if r.evaluation, err = dpglm.Evaluate(ctx, r.held, r.model, r.total(), dpglm.EvaluateConfig{}, r.env); err != nil {
		return fmt.Errorf("-evaluate: %w", err)
	}
	r.ledger, err = r.together(r.ledger, r.evaluation.Ledger)
	return err
}
