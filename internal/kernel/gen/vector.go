package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set. Its unit is a vector of 8 numbers: one register of
// AVX-512, or two of AVX2.
type isa struct {
	name string
	wide bool // AVX-512
}

var (
	avx2   = isa{name: "AVX2"}
	avx512 = isa{name: "AVX512", wide: true}
)

// vector is 8 numbers.
type vector []reg.VecVirtual

func (s isa) vector() vector {
	if s.wide {
		return vector{ZMM()}
	}
	return vector{YMM(), YMM()}
}

// half is the first register of an AVX2 vector: 4 numbers.
func (s isa) half() vector { return vector{YMM()} }

// bytes is the size of a vector's registers.
func (v vector) bytes() int { return 64 / len(v) }

func (v vector) zero() {
	for _, r := range v {
		VXORPD(r, r, r)
	}
}

func (v vector) load(m Mem) {
	for i, r := range v {
		VMOVUPD(m.Offset(i*v.bytes()), r)
	}
}

func (v vector) store(m Mem) {
	for i, r := range v {
		VMOVUPD(r, m.Offset(i*v.bytes()))
	}
}

// fuse adds a·b to v, where b lies in memory.
func (v vector) fuse(a vector, b Mem) {
	for i, r := range v {
		VFMADD231PD(b.Offset(i*v.bytes()), a[i], r)
	}
}

// fuseVector adds a·b to v.
func (v vector) fuseVector(a, b vector) {
	for i, r := range v {
		VFMADD231PD(b[i], a[i], r)
	}
}

// mask selects the first numbers of a vector.
type mask struct {
	k     reg.Virtual // AVX-512
	lanes vector      // AVX2: all bits of the selected numbers
}

// firstMasks is a table whose 8 words from word 8-n on select the first n numbers.
func firstMasks() Mem {
	table := GLOBL("masks", RODATA|NOPTR)
	for i := range 16 {
		word := U64(0)
		if i < 8 {
			word = ^word
		}
		DATA(8*i, word)
	}
	return table
}

// first returns the mask of the first n ≤ 8 numbers.
func (s isa) first(n reg.GPVirtual, table Mem) mask {
	if s.wide {
		bits := GP64()
		MOVQ(I32(-1), bits)
		SHLXQ(n, bits, bits)
		NOTQ(bits)
		k := K()
		KMOVW(bits.As32(), k)
		return mask{k: k}
	}
	m := mask{lanes: s.vector()}
	at := GP64()
	LEAQ(table.Offset(64), at)
	back := GP64()
	MOVQ(n, back)
	NEGQ(back)
	m.lanes.load(Mem{Base: at, Index: back, Scale: 8})
	return m
}

// loadMasked loads the numbers that the mask selects, and zeros.
func (v vector) loadMasked(m Mem, k mask) {
	if k.k != nil {
		VMOVUPD_Z(m, k.k, v[0])
		return
	}
	for i, r := range v {
		VMASKMOVPD(m.Offset(i*v.bytes()), k.lanes[i], r)
	}
}

// fuseMasked adds a·b to v, where b lies in memory and zeros stand for numbers that the mask
// doesn't select.
func (v vector) fuseMasked(a vector, b Mem, k mask) {
	if k.k != nil {
		VFMADD231PD(b, a[0], k.k, v[0])
		return
	}
	for i, r := range v {
		x := YMM()
		VMASKMOVPD(b.Offset(i*v.bytes()), k.lanes[i], x)
		VFMADD231PD(x, a[i], r)
	}
}

// storeMasked stores the numbers that the mask selects.
func (v vector) storeMasked(m Mem, k mask) {
	if k.k != nil {
		VMOVUPD(v[0], k.k, m)
		return
	}
	for i, r := range v {
		VMASKMOVPD(r, k.lanes[i], m.Offset(i*v.bytes()))
	}
}

// fold adds the upper half of v to the lower one.
func (v vector) fold() reg.VecVirtual {
	low := YMM()
	if len(v) == 1 {
		VEXTRACTF64X4(U8(1), v[0], low)
		VADDPD(v[0].AsY(), low, low)
	} else {
		VADDPD(v[0], v[1], low)
	}
	return low
}
