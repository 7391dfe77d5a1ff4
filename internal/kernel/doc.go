// Package kernel holds the inner loops of a pass over the data, in assembly for
// AVX-512 and for AVX2 with FMA, and in pure Go. Each operation has one
// definition, an order of correctly rounded operations in which every
// multiply-add is fused, and its three implementations return the same bits. AddLogistic does
// several of them at once where AVX-512 has the registers for it, with their bits.
//
// The build tag purego leaves the assembly out. Without FMA instructions, pure
// Go computes math.FMA in software: right, and slow.
//
// In come rows, as they lie in memory, and weights or coefficients; out come products, sums
// and slopes in the memory that the caller brings.
//
// Read kernel.go first: levels of instruction sets and how one is chosen. For an operation, such
// as dense.go, the definition in Go comes before dense_amd64.go, which calls the assembly that
// gen writes.
//
// # Which builds give a seeded fit the same bits
//
// Passes over dense and sparse rows, projections of rows, norms and steps of descent
// are the same operations on every processor: sums that fuse say so with math.FMA,
// all other products are converted to float64 before they are added, which keeps a
// compiler from fusing them (from GOAMD64=v3 on, on arm64, s390x, ppc64le and others),
// and TestProductsAreRounded looks for fused instructions in the compiler's listing.
// The number of goroutines changes nothing. So a seeded fit has the same bits in one
// build on any processor that runs it, with and without the tag purego.
//
// Other builds, for another value of GOAMD64 or another architecture, may differ in
// three things that are not this module's: eigenvectors (preconditioned descent, and
// Auto where it uses that) and factors of a Hessian (objective and output perturbation,
// predictors) are gonum's, which fuses where the compiler does, and adds dot products in
// another order in its assembly for amd64; and calibrations, like some losses, call
// package math, of which functions are assembly on some processors. In practice the
// last makes no difference: the fits of TestSeededFits that need no eigenvectors are
// the same for GOAMD64=v1 and v3, which .ci/run checks, and those that factor no
// Hessian either on arm64 and s390x.
//
// No guarantee rests on any of this: sensitivities bound the rounding of every build.
package kernel
