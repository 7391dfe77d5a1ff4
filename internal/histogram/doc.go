// Package histogram reads released histograms.
//
// What comes in are public or released numbers only: edges, noisy counts between them, and the
// standard deviation of their noise. What goes out are numbers to go on with: an edge that few
// rows exceed, a law of those that lie beyond all edges, edges of the next histogram, moments,
// areas. Nothing here draws noise, asks for an answer, or knows of rows, models or budgets, so
// that nothing here can cost privacy.
//
// There are two kinds. Lengths, such as norms of rows and gradients, have edges that fall by a
// factor, and are read by how many rows exceed each: see [Tails], in tails.go, where to begin.
// Scores, errors and labels are counted twice: first between edges that are fixed (edges.go), to
// find the range that stands out from noise, then in cells over that range: of equal counts and
// widths by [Cuts], or in several equal grids that are moved against each other by a [Grid]
// (grid.go).
//
// Both kinds end somewhere, and rows may lie beyond: by a [Law] (law.go), which is fitted to the
// cells that are seen, in fit.go for lengths and in grid.go for errors and labels.
package histogram
