// Package learners holds each learner to its contract by the public API alone: budgets, ledgers,
// defaults, refusals, progress, labels' ranges and units.
package learners
