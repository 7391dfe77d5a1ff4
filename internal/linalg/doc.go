// Package linalg holds what inference does with matrices of released numbers.
//
// In come symmetric matrices that were released, so with noise in them, and
// perhaps not positive; out come spectra, changes of coordinates and products. Nothing here sees
// a row.
//
// Read linalg.go first: a matrix by its eigenvalues. change.go changes coordinates, and
// triangle.go lists a matrix's upper triangle.
package linalg
