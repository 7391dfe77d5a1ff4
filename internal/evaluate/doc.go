// Package evaluate makes figures with intervals of released histograms.
//
// What comes in: a [Task], which is the right to release with a μ² and the level of the
// intervals; a released model, as a [Score] of a row or as one of each class; and questions to
// the curator about the rows that it is evaluated on. What goes out is one [Result]: figures by
// name, each with an interval, and what else is made of the same counts, curves and a table of
// classes. All of it is computed from released counts and public numbers, with public randomness.
//
// There are four kinds of models, one flow, and a file for each kind: [Binary], [Numbers],
// [Levels] and [Classes].
//
//  1. A histogram between fixed edges is released with a small share of μ² (task.go); it finds
//     the range that stands out from noise (package histogram).
//  2. Histograms over that range are released with the rest.
//  3. Figures are computed of the counts, each as a [reading] that carries its name, its unit and
//     what it can be.
//  4. The same figures of simulated counts, with sampling and noise, are their intervals
//     (simulate.go, where to begin).
//
// # Privacy
//
// Replace-one. Where a row is counted depends on that row and on public or released edges, so
// replacing it takes 1 from one count and adds 1 to another in each histogram that it is in: √2
// in L2 for one of them, √(2m) for m. The curator declares that with each answer, and an answer
// can't be read: counts leave by the task's allowance only, whose schedule the ledger counts. The
// model's weights are public here.
package evaluate
