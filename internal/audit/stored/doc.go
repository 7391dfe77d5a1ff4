// Package stored holds rows in files and with workers against the same rows in memory: the same
// bits, in as many passes as planned, with no copy of the rows.
//
// Read rows_test.go first; engine_test.go has the workers.
package stored
