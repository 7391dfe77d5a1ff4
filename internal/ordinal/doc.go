// Package ordinal estimates thresholds of labels that are levels: from how many rows have each level and
// a score in each of some cells, by the largest likelihood of thresholds and the scale of scores.
//
// In come a problem whose thresholds are unknown, and who releases such counts ([Ordered]); out come weights,
// thresholds, and what estimating these adds to the variance of a fit ([Doubt]).
package ordinal
