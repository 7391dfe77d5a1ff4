// Package release is the one door out: raw answers leave only through it, with
// noise. An [Answer] carries its sensitivity and can't be read. A [Schedule] is the
// list of planned releases, of which both the ledger and the [Allowance], the right
// to make them, are made; so nothing is released that the ledger doesn't count.
//
// In come plans ([Gaussian], [Laplace], [Objective] and others, composed by [Sequential], [Parallel],
// [Woven]), which become a Schedule, and answers that package curator made of rows. Out come numbers
// that went through a mechanism of package mechanisms, each of them once, and the ledger of all.
//
// Read schedule.go first, then answer.go, the value that can't be read, and allowance.go, which
// releases it. rows.go says of which rows an answer is, and journal.go keeps releases for a run that
// goes on after an interruption.
package release
