// Package classes tries labels of several classes and of ordered levels from end to end: softmax,
// one model against the rest, estimated thresholds, and what an evaluation says of them.
package classes
