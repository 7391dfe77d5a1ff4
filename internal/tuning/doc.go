// Package tuning has the numbers of the estimators that were chosen by trying, each with what it is,
// in which unit, and where it is from. docs/tuning.md has a row for each, with what else was tried and
// what it is worth, as far as that was recorded. Numbers that follow from something are constants
// beside their use.
//
// Outside of the two the estimators have no numbers but 0, ½, 1 and 2, to which a test holds them.
package tuning
