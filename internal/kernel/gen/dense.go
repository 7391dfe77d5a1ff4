package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func dense() {
	table := firstMasks()
	for _, s := range []isa{avx2, avx512} {
		s.dots(table)
		s.addScaled(table)
	}
}

// rows addresses consecutive rows, of which p points to the first.
type rows struct {
	p       reg.GPVirtual
	strides map[int]reg.GPVirtual // odd multiples of the stride, in bytes
}

func newRows(p, stride reg.GPVirtual, n int) rows {
	r := rows{p, map[int]reg.GPVirtual{1: stride}}
	for k := 3; k < n; k += 2 {
		r.strides[k] = GP64()
		LEAQ(Mem{Base: r.strides[k-2], Index: stride, Scale: 2}, r.strides[k])
	}
	return r
}

// ahead is what lies as far behind x as x's tile is long: the next tile, mostly.
// While this one is worked on that one is fetched, its even rows by dots and its
// odd ones by addScaled, into the second cache level, so that memory never idles.
// Fetching can't fault.
func (r rows) ahead(tile reg.GPVirtual) rows {
	p := GP64()
	LEAQ(Mem{Base: r.p, Index: tile, Scale: 1}, p)
	return rows{p, r.strides}
}

// at addresses what p points to in row k of p's.
func (r rows) at(k int) Mem {
	scale := 1
	for k > 0 && k%2 == 0 {
		k, scale = k/2, 2*scale
	}
	if k == 0 {
		return Mem{Base: r.p}
	}
	return Mem{Base: r.p, Index: r.strides[k], Scale: uint8(scale)}
}

// dots writes z_k = ⟨x_k, w⟩, four rows at a time, which share the loads of w.
func (s isa) dots(table Mem) {
	TEXT("dots"+s.name, NOSPLIT, "func(z *float64, n int, data *float64, stride int, w *float64, cols int)")
	Pragma("noescape")
	z, n := Load(Param("z"), GP64()).(reg.GPVirtual), Load(Param("n"), GP64()).(reg.GPVirtual)
	data, stride := Load(Param("data"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual)
	w, cols := Load(Param("w"), GP64()).(reg.GPVirtual), Load(Param("cols"), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), stride)
	rest, whole, k := s.split(cols, table)
	tile := GP64()
	MOVQ(n, tile)
	IMULQ(stride, tile)

	const group = 4
	p := GP64()
	x := newRows(p, stride, group)
	inGroups(group, n, data, stride, z, func(size int) {
		MOVQ(data, p)
		sums := s.products(x, x.ahead(tile), w, whole, rest, k, size)
		if size == group {
			storeSums(sums, z)
		} else {
			storeSum(sums[0], z)
		}
	})
	VZEROUPPER()
	RET()
}

// split returns how many numbers of a row are beyond its whole vectors, how many
// vectors that are, and the mask of the rest.
func (s isa) split(cols reg.GPVirtual, table Mem) (rest, whole reg.GPVirtual, k mask) {
	rest, whole = GP64(), GP64()
	MOVQ(cols, rest)
	ANDQ(U8(7), rest)
	MOVQ(cols, whole)
	SHRQ(U8(3), whole)
	return rest, whole, s.first(rest, table)
}

// inGroups does n rows in groups of the given size and the last ones singly; beside is
// an array with one number a row.
func inGroups(group int, n, data, stride, beside reg.GPVirtual, body func(size int)) {
	for _, size := range []int{group, 1} {
		loop, done := fmt.Sprintf("rows%d", size), fmt.Sprintf("rows%ddone", size)
		Label(loop)
		CMPQ(n, U8(size))
		JL(LabelRef(done))
		body(size)
		if size == group {
			LEAQ(Mem{Base: data, Index: stride, Scale: uint8(group)}, data)
		} else {
			ADDQ(stride, data)
		}
		ADDQ(U8(8*size), beside)
		SUBQ(U8(size), n)
		JMP(LabelRef(loop))
		Label(done)
	}
}

// products returns the partial sums of the given number of rows.
func (s isa) products(x, ahead rows, w, whole, rest reg.GPVirtual, k mask, size int) []vector {
	sums := make([]vector, size)
	for i := range sums {
		sums[i] = s.vector()
		sums[i].zero()
	}
	loop, tail, done := fmt.Sprintf("cols%d", size), fmt.Sprintf("tail%d", size), fmt.Sprintf("cols%ddone", size)
	at, left, wv := GP64(), GP64(), s.vector()
	MOVQ(w, at)
	MOVQ(whole, left)
	TESTQ(left, left)
	JZ(LabelRef(tail))
	Label(loop)
	wv.load(Mem{Base: at})
	for i, sum := range sums {
		sum.fuse(wv, x.at(i))
		if size > 1 && i%2 == 0 {
			PREFETCHT1(ahead.at(i))
		}
	}
	if size > 1 {
		ADDQ(U8(64), ahead.p)
	}
	ADDQ(U8(64), at)
	ADDQ(U8(64), x.p)
	DECQ(left)
	JNZ(LabelRef(loop))
	Label(tail)
	TESTQ(rest, rest)
	JZ(LabelRef(done))
	wv.loadMasked(Mem{Base: at}, k)
	xv := s.vector()
	for i, sum := range sums {
		xv.loadMasked(x.at(i), k)
		sum.fuseVector(wv, xv)
	}
	Label(done)
	return sums
}

// storeSums writes the totals of four vectors.
func storeSums(sums []vector, z reg.GPVirtual) {
	half := make([]reg.VecVirtual, 4)
	for i, v := range sums {
		half[i] = v.fold()
	}
	pair := func(a, b reg.VecVirtual) reg.VecVirtual { // quarters of a, then of b
		low, high := YMM(), YMM()
		VPERM2F128(U8(0x20), b, a, low)
		VPERM2F128(U8(0x31), b, a, high)
		VADDPD(low, high, low)
		return low
	}
	even, odd := pair(half[0], half[2]), pair(half[1], half[3])
	VHADDPD(odd, even, even)
	VMOVUPD(even, Mem{Base: z})
}

// storeSum writes the total of one vector.
func storeSum(sum vector, z reg.GPVirtual) {
	half, high := sum.fold(), XMM()
	VEXTRACTF128(U8(1), half, high)
	VADDPD(half.AsX(), high, high)
	VHADDPD(high, high, high)
	VMOVSD(high, Mem{Base: z})
}

// addScaled adds c_k·x_k to g, several rows at a time, which share the loads and
// stores of g.
func (s isa) addScaled(table Mem) {
	TEXT("addScaled"+s.name, NOSPLIT, "func(sum *float64, cols int, data *float64, stride int, c *float64, n int)")
	Pragma("noescape")
	g, cols := Load(Param("sum"), GP64()).(reg.GPVirtual), Load(Param("cols"), GP64()).(reg.GPVirtual)
	data, stride := Load(Param("data"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual)
	c, n := Load(Param("c"), GP64()).(reg.GPVirtual), Load(Param("n"), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), stride)
	tile := GP64()
	MOVQ(n, tile)
	IMULQ(stride, tile)
	CMPQ(cols, U8(16))
	JL(LabelRef("narrow"))
	rest, whole, k := s.split(cols, table)

	group := 4
	if s.wide {
		group = 8
	}
	p := GP64()
	x := newRows(p, stride, group)
	inGroups(group, n, data, stride, c, func(size int) {
		MOVQ(data, p)
		s.accumulate(x, x.ahead(tile), g, c, whole, rest, k, size)
	})
	VZEROUPPER()
	RET()
	Label("narrow")
	s.addNarrow(g, cols, data, stride, c, n, tile, table)
	VZEROUPPER()
	RET()
}

// addNarrow adds rows of less than 16 numbers, with g in registers.
func (s isa) addNarrow(g, cols, data, stride, c, n, tile reg.GPVirtual, table Mem) {
	low, high := GP64(), GP64() // of the columns
	MOVQ(U32(8), low)
	CMPQ(cols, low)
	CMOVQLT(cols, low)
	MOVQ(cols, high)
	SUBQ(low, high)
	x := rows{p: data}
	ahead := x.ahead(tile)
	masks := []mask{s.first(low, table), s.first(high, table)}
	sums := []vector{s.vector(), s.vector()}
	for i, sum := range sums {
		sum.loadMasked(Mem{Base: g}.Offset(64*i), masks[i])
	}
	factor, xv := s.broadcast(), s.vector()
	Label("narrowloop")
	VBROADCASTSD(Mem{Base: c}, factor[0])
	for i, sum := range sums {
		xv.loadMasked(x.at(0).Offset(64*i), masks[i])
		sum.fuseVector(factor, xv)
	}
	PREFETCHT1(ahead.at(0))
	ADDQ(stride, data)
	ADDQ(stride, ahead.p)
	ADDQ(U8(8), c)
	DECQ(n)
	JNZ(LabelRef("narrowloop"))
	for i, sum := range sums {
		sum.storeMasked(Mem{Base: g}.Offset(64*i), masks[i])
	}
}

// broadcast returns registers for a vector of equal numbers, one in fact.
func (s isa) broadcast() vector {
	if s.wide {
		return vector{ZMM()}
	}
	r := YMM()
	return vector{r, r}
}

// accumulate adds the given number of rows to g.
func (s isa) accumulate(x, ahead rows, g, c, whole, rest reg.GPVirtual, k mask, size int) {
	factors := make([]vector, size)
	for i := range factors {
		factors[i] = s.broadcast()
		VBROADCASTSD(Mem{Base: c}.Offset(8*i), factors[i][0])
	}
	loop, tail, done := fmt.Sprintf("cols%d", size), fmt.Sprintf("tail%d", size), fmt.Sprintf("cols%ddone", size)
	at, left, sum := GP64(), GP64(), s.vector()
	MOVQ(g, at)
	MOVQ(whole, left)
	TESTQ(left, left)
	JZ(LabelRef(tail))
	Label(loop)
	sum.load(Mem{Base: at})
	for i, f := range factors {
		sum.fuse(f, x.at(i))
		if size > 1 && i%2 == 1 {
			PREFETCHT1(ahead.at(i))
		}
	}
	if size > 1 {
		ADDQ(U8(64), ahead.p)
	}
	sum.store(Mem{Base: at})
	ADDQ(U8(64), at)
	ADDQ(U8(64), x.p)
	DECQ(left)
	JNZ(LabelRef(loop))
	Label(tail)
	TESTQ(rest, rest)
	JZ(LabelRef(done))
	sum.loadMasked(Mem{Base: at}, k)
	xv := s.vector()
	for i, f := range factors {
		xv.loadMasked(x.at(i), k)
		sum.fuseVector(f, xv)
	}
	sum.storeMasked(Mem{Base: at}, k)
	Label(done)
}
