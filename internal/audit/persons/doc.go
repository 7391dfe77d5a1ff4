// Package persons holds what is promised where neighbours differ in all rows of one person: the
// order of rows and the names of persons mean nothing, and a replaced person moves each answer by
// no more than its declared sensitivity.
//
// Read crowd_test.go first: it draws the persons and has the runs; replay_test.go replaces them.
package persons
