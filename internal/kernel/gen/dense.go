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
		s.addNarrow(table)
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

// ahead is what lies as far behind x as x's tile is long: the next tile, mostly. While this
// one is worked on that one is fetched into the second cache level, all of it by dots, in the
// order of memory, and by addNarrow once more, or of wider rows the odd ones by addScaled, so
// that memory never idles: measured, this is faster than either fetching a part. Fetching
// can't fault.
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

// dots writes z_k = ⟨x_k, w⟩, several rows at a time, which share the loads of w.
func (s isa) dots(table Mem) {
	TEXT("dots"+s.name, NOSPLIT, "func(z *float64, n int, data *float64, stride int, w *float64, cols int)")
	Pragma("noescape")
	z, n := Load(Param("z"), GP64()).(reg.GPVirtual), Load(Param("n"), GP64()).(reg.GPVirtual)
	data, stride := Load(Param("data"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual)
	w, cols := Load(Param("w"), GP64()).(reg.GPVirtual), Load(Param("cols"), GP64()).(reg.GPVirtual)
	if s.wide {
		for vectors := 1; vectors <= 2; vectors++ {
			past := fmt.Sprintf("past%d", vectors)
			CMPQ(cols, U8(8*vectors))
			JG(LabelRef(past))
			s.dotsNarrow(z, n, data, stride, w, cols, vectors, table)
			Label(past)
		}
	}
	SHLQ(U8(3), stride)
	rest, whole, k := s.split(cols, table)
	tile := GP64()
	MOVQ(n, tile)
	IMULQ(stride, tile)

	p := GP64()
	x := newRows(p, stride, s.together())
	inGroups(s.together(), n, data, stride, z, "", func(size int) {
		MOVQ(data, p)
		s.storeTotals(s.products(x, x.ahead(tile), w, whole, rest, k, size), z)
	})
	VZEROUPPER()
	RET()
}

// together is how many rows dots works on at a time.
func (s isa) together() int {
	if s.wide {
		return 8
	}
	return 4
}

// dotsNarrow is dots for rows of one or two vectors, with w in registers.
func (s isa) dotsNarrow(z, n, data, stride, w, cols reg.GPVirtual, vectors int, table Mem) {
	masks, ws := s.maskRow(cols, vectors, table), make([]vector, vectors)
	for v := range ws {
		ws[v] = s.vector()
		ws[v].loadMasked(Mem{Base: w}.Offset(64*v), masks[v])
	}
	SHLQ(U8(3), stride)
	tile := GP64()
	MOVQ(n, tile)
	IMULQ(stride, tile)
	x := newRows(data, stride, 8)
	ahead := x.ahead(tile)
	inGroups(8, n, data, stride, z, fmt.Sprintf("narrow%d", vectors), func(size int) {
		sums := make([]vector, size)
		for i := range sums {
			sums[i] = s.vector()
			sums[i].zero()
			for v := range ws {
				sums[i].fuseMasked(ws[v], x.at(i).Offset(64*v), masks[v])
				if size > 1 {
					PREFETCHT1(ahead.at(i).Offset(64 * v))
				}
			}
		}
		if size > 1 {
			LEAQ(Mem{Base: ahead.p, Index: stride, Scale: 8}, ahead.p)
		}
		s.storeTotals(sums, z)
	})
	VZEROUPPER()
	RET()
}

// maskRow returns the masks of a row's vectors.
func (s isa) maskRow(cols reg.GPVirtual, vectors int, table Mem) []mask {
	masks, left := make([]mask, vectors), GP64()
	MOVQ(cols, left)
	for v := range masks {
		if v > 0 {
			SUBQ(U8(8), left)
		}
		here, end := GP64(), GP64()
		MOVQ(left, here)
		MOVQ(U32(8), end)
		CMPQ(here, end)
		CMOVQGT(end, here)
		XORQ(end, end)
		CMPQ(here, end)
		CMOVQLT(end, here)
		masks[v] = s.first(here, table)
	}
	return masks
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
// an array with one number a row. The name tells labels apart.
func inGroups(group int, n, data, stride, beside reg.GPVirtual, name string, body func(size int)) {
	for _, size := range []int{group, 1} {
		loop, done := fmt.Sprintf("%srows%d", name, size), fmt.Sprintf("%srows%ddone", name, size)
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
		if size > 1 {
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
		if size > 1 {
			PREFETCHT1(ahead.at(i))
		}
	}
	Label(done)
	return sums
}

// storeTotals writes the totals of one vector, or of as many as dots has together.
func (s isa) storeTotals(sums []vector, z reg.GPVirtual) {
	switch len(sums) {
	case 1:
		storeSum(sums[0], z)
	case 4:
		storeFour(sums, z)
	default:
		VMOVUPD(totals(sums), Mem{Base: z})
	}
}

// storeFour writes the totals of four vectors.
func storeFour(sums []vector, z reg.GPVirtual) {
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

// totals returns those of eight vectors of AVX-512: two become one three times.
func totals(sums []vector) reg.VecVirtual {
	// add adds the quarters of a and b that two selections name.
	add := func(a, b reg.VecVirtual, first, second uint8) reg.VecVirtual {
		f, g := ZMM(), ZMM()
		VSHUFF64X2(U8(first), b, a, f)
		VSHUFF64X2(U8(second), b, a, g)
		VADDPD(f, g, f)
		return f
	}
	halves := func(i, j int) reg.VecVirtual { return add(sums[i][0], sums[j][0], 0x44, 0xEE) }
	quarters := func(a, b reg.VecVirtual) reg.VecVirtual { return add(a, b, 0x88, 0xDD) }
	even, odd := quarters(halves(0, 2), halves(4, 6)), quarters(halves(1, 3), halves(5, 7))
	low, high := ZMM(), ZMM()
	VUNPCKLPD(odd, even, low)
	VUNPCKHPD(odd, even, high)
	VADDPD(low, high, low)
	return low
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
	rest, whole, k := s.split(cols, table)

	group := 4
	if s.wide {
		group = 8
	}
	p := GP64()
	x := newRows(p, stride, group)
	inGroups(group, n, data, stride, c, "", func(size int) {
		MOVQ(data, p)
		s.accumulate(x, x.ahead(tile), g, c, whole, rest, k, size)
	})
	VZEROUPPER()
	RET()
}

// addNarrow adds c_k·x_k to g, which has 16 numbers or less, and 4 for AVX2, in partial
// sums that stay in registers: row k goes to that of k mod 8.
func (s isa) addNarrow(table Mem) {
	TEXT("addNarrow"+s.name, NOSPLIT, "func(sum *float64, cols int, data *float64, stride int, c *float64, n int)")
	Pragma("noescape")
	g, cols := Load(Param("sum"), GP64()).(reg.GPVirtual), Load(Param("cols"), GP64()).(reg.GPVirtual)
	data, stride := Load(Param("data"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual)
	c, n := Load(Param("c"), GP64()).(reg.GPVirtual), Load(Param("n"), GP64()).(reg.GPVirtual)
	vectors, part := 1, s.half
	if s.wide {
		vectors, part = 2, s.vector
	}
	masks := s.maskRow(cols, vectors, table)
	sums := make([][]vector, 8)
	for i := range sums {
		for range vectors {
			v := part()
			v.zero()
			sums[i] = append(sums[i], v)
		}
	}
	SHLQ(U8(3), stride)
	tile := GP64()
	MOVQ(n, tile)
	IMULQ(stride, tile)
	x, factor := newRows(data, stride, len(sums)), s.broadcast()
	ahead := x.ahead(tile)
	add := func(row int) {
		VBROADCASTSD(Mem{Base: c}.Offset(8*row), factor[0])
		for v, sum := range sums[row] {
			sum.fuseMasked(factor, x.at(row).Offset(64*v), masks[v])
		}
	}
	Label("all")
	CMPQ(n, U8(len(sums)))
	JL(LabelRef("rest"))
	for row := range sums {
		add(row)
		for v := range vectors {
			if row >= 0 {
				PREFETCHT1(ahead.at(row).Offset(64 * v))
			}
		}
	}
	LEAQ(Mem{Base: data, Index: stride, Scale: 8}, data)
	LEAQ(Mem{Base: ahead.p, Index: stride, Scale: 8}, ahead.p)
	ADDQ(U8(64), c)
	SUBQ(U8(len(sums)), n)
	JMP(LabelRef("all"))
	Label("rest")
	for row := range len(sums) - 1 {
		CMPQ(n, U8(row+1))
		JL(LabelRef("done"))
		add(row)
	}
	Label("done")
	addTotals(sums, g, masks)
	VZEROUPPER()
	RET()
}

// addTotals adds the partial sums, each of as many vectors as there are masks, to g.
func addTotals(sums [][]vector, g reg.GPVirtual, masks []mask) {
	for v, k := range masks {
		for step := 1; step < len(sums); step *= 2 {
			for i := 0; i < len(sums); i += 2 * step {
				a := sums[i][v]
				a.update(VADDPD, a, sums[i+step][v])
			}
		}
		sum := sums[1][v] // which is in sums[0] now
		sum.loadMasked(Mem{Base: g}.Offset(64*v), k)
		sum.update(VADDPD, sum, sums[0][v])
		sum.storeMasked(Mem{Base: g}.Offset(64*v), k)
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
