// Package curator holds the private rows and answers questions about them. It is
// the waist between the data and the learners: every answer is a sum over bounded
// rows, or the minimiser of one, and comes with a bound on how far it moves when a
// row is replaced (release.Answer), so that only package release can read it.
//
// The tables with their raw sums, and the solver, lie in curator/internal, where
// no other package reaches them. What this package exports is answers, public
// facts, and the errors of intake.
//
// In come a matrix or a file of rows (Open, OpenFile, OpenParties, with an [Encoding] and owners),
// which are bounded once, and then public numbers only: weights, clips, planned questions. Out go
// answers and minimands of package release, and public facts ([Data.Facts]).
//
// Read data.go first: how rows come in, are split and are bound to a loss. sums.go has the
// questions of descent and objective.go that of a perturbed minimiser; planning.go what may be
// known before any noise; internal/rows the tables, internal/solve the solver. The worker's and the
// parties' side lies in curator/worker.
package curator
