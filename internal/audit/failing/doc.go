// Package failing lets one thing fail, once, in a run: a look whether the context has ended, or a record of a journal. Whichever it is,
// the run has to return that error. A run that goes on has dropped it, and would release what is left of a sum. It also asks
// what is told of rows that are wrong, and whether files that are refused or closed stay open.
package failing
