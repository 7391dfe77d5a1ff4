// Package kernel holds the inner loops of a pass over the data, in assembly for
// AVX-512 and for AVX2 with FMA, and in pure Go. Each operation has one
// definition, an order of correctly rounded operations in which every
// multiply-add is fused, and its three implementations return the same bits.
//
// The build tag purego leaves the assembly out. Without FMA instructions, pure
// Go computes math.FMA in software: right, and slow.
package kernel

//go:generate sh -c "cd gen && go run . -op dense -pkg kernel -out ../dense_amd64.s -stubs ../dense_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op exp -pkg kernel -out ../exp_amd64.s -stubs ../exp_asm_amd64.go"
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
