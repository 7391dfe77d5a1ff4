// Package replay runs every learner twice on neighbouring rows, with the same noise, the second
// run's raw answers overwritten by the first one's: each must have moved by no more than its
// declared sensitivity, and nothing else may differ.
//
// Read replay_test.go first, then cases_test.go for what is replayed; search_test.go looks for the
// worst neighbours, and noise_test.go holds the noise against the ledger.
package replay
