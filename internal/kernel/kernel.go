// Package kernel holds the inner loops of a pass over the data, in assembly for
// AVX-512 and for AVX2 with FMA, and in pure Go. Each operation has one
// definition, an order of correctly rounded operations in which every
// multiply-add is fused, and its three implementations return the same bits. AddLogistic does
// several of them at once where AVX-512 has the registers for it, with their bits.
//
// The build tag purego leaves the assembly out. Without FMA instructions, pure
// Go computes math.FMA in software: right, and slow.
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

//go:generate sh -c "cd gen && go run . -op dense -pkg kernel -out ../dense_amd64.s -stubs ../dense_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op exp -pkg kernel -out ../exp_amd64.s -stubs ../exp_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op logistic -pkg kernel -out ../logistic_amd64.s -stubs ../logistic_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op many -pkg kernel -out ../many_amd64.s -stubs ../many_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op moments -pkg kernel -out ../moments_amd64.s -stubs ../moments_asm_amd64.go"

// level is an instruction set.
type level int

const (
	portable level = iota
	avx2
	avx512
)

// active is the level that operations run at. Only tests change it.
var active = detect()
