// Package sketch holds data-oblivious random maps Φ: R^d → R^k with
// E‖Φx‖² = ‖x‖², whose inner products concentrate (Johnson and Lindenstrauss).
// A map is public: a seed makes it.
//
// In come a dimension, a number of coordinates and a seed; out comes a [Map], which takes a row, or
// the entries of a sparse one, to k coordinates. Two processes with the same [Spec] have the same map,
// bit by bit.
//
// Read sketch.go first: the interface, and the maps of random matrices. hadamard.go has the fast one,
// columns.go a map that drops coordinates, and spec.go what is sent.
package sketch
