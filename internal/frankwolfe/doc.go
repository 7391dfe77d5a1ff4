// Package frankwolfe walks along the vertices of an ℓ1 ball, each chosen privately by how much a step
// towards it lowers the loss, and may fit the selected columns at last.
//
// In come a plan ([Walk]) and what an estimate works with; out come the weights of encoded rows. Rows come in
// only as what answers questions: nothing here sees one.
package frankwolfe
