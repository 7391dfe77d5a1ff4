// Package attacks runs whole fits, evaluations and predictors on two data sets that differ in one canary, a row or a person, and measures
// how well two adversaries tell which it was: one who sees all that is released, as the guarantee has it, and one who sees only what is
// published. Both know all other rows. docs/MEASURED.md has the table that the long form prints.
//
// The first adversary's number is the log-likelihood ratio of the whole transcript, by record and replay (Cebere et al. 2026), which for
// Gaussian releases that follow from one another is the best there is. The second one's is the linear function of what is published that
// tells shadow runs apart best (Shokri, Stronati, Song and Shmatikov 2017, by Fisher's discriminant). Package evidence turns either into a
// lower bound on μ that holds whenever one stops.
//
// Read transcript_test.go first, then cases_test.go, which has what is attacked and by which canaries.
package attacks
