package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sum adds the n numbers at x, a multiple of 32, to 32 partial sums, and fetches
// what lies two pages ahead.
func sum() {
	const ahead = 8192
	for _, s := range []isa{avx2, avx512} {
		TEXT("sum"+s.name, NOSPLIT, "func(sums *float64, x *float64, n int)")
		Pragma("noescape")
		sums, x := Load(Param("sums"), GP64()), Load(Param("x"), GP64())
		n := Load(Param("n"), GP64()).(reg.GPVirtual)
		parts := make([]vector, 4)
		for i := range parts {
			parts[i] = s.vector()
			parts[i].load(Mem{Base: sums}.Offset(64 * i))
		}
		Label("loop")
		TESTQ(n, n)
		JZ(LabelRef("done"))
		for i, p := range parts {
			p.update(VADDPD, p, inMemory(Mem{Base: x}.Offset(64*i)))
			PREFETCHT0(Mem{Base: x}.Offset(ahead + 64*i))
		}
		ADDQ(I32(256), x)
		SUBQ(U8(32), n)
		JMP(LabelRef("loop"))
		Label("done")
		for i, p := range parts {
			p.store(Mem{Base: sums}.Offset(64 * i))
		}
		VZEROUPPER()
		RET()
	}
}
