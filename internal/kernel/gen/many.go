package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockSide is how many rows, and how many vectors of weights or of sums, a block has.
const blockSide = 4

// many generates the blocks of several dot products, and several sums, of the same rows:
// what is loaded of a row serves several. AVX2 has too few registers to gain by it.
func many() {
	table := firstMasks()
	avx512.dotsBlock(table)
	avx512.addBlock(table)
}

// dotsBlock writes the products of n rows, a multiple of blockSide, with blockSide vectors
// of weights, those of a vector zStride apart.
func (s isa) dotsBlock(table Mem) {
	TEXT("dotsBlock"+s.name, NOSPLIT, "func(z *float64, zStride int, n int, data *float64, stride int, w *float64, cols int)")
	Pragma("noescape")
	z, zStride := Load(Param("z"), GP64()).(reg.GPVirtual), Load(Param("zStride"), GP64()).(reg.GPVirtual)
	n, data := Load(Param("n"), GP64()).(reg.GPVirtual), Load(Param("data"), GP64()).(reg.GPVirtual)
	stride, w := Load(Param("stride"), GP64()).(reg.GPVirtual), Load(Param("w"), GP64()).(reg.GPVirtual)
	cols := Load(Param("cols"), GP64()).(reg.GPVirtual)
	rest, whole, k := s.split(cols, table)
	for _, v := range []reg.GPVirtual{zStride, stride, cols} {
		SHLQ(U8(3), v)
	}
	p, at, left := GP64(), GP64(), GP64()
	x, ws := newRows(p, stride, blockSide), newRows(at, cols, blockSide)

	Label("rows")
	MOVQ(data, p)
	MOVQ(w, at)
	MOVQ(whole, left)
	sums := make([][]vector, blockSide)
	for i := range sums {
		for range blockSide {
			v := s.vector()
			v.zero()
			sums[i] = append(sums[i], v)
		}
	}
	fuse := func(load func(v vector, m Mem)) {
		row := make([]vector, blockSide)
		for r := range row {
			row[r] = s.vector()
			load(row[r], x.at(r))
		}
		weights := s.vector()
		for i := range sums {
			load(weights, ws.at(i))
			for r, v := range row {
				sums[i][r].fuseVector(v, weights)
			}
		}
	}
	Label("cols")
	fuse(vector.load)
	ADDQ(U8(64), p)
	ADDQ(U8(64), at)
	DECQ(left)
	JNZ(LabelRef("cols"))
	TESTQ(rest, rest)
	JZ(LabelRef("store"))
	fuse(func(v vector, m Mem) { v.loadMasked(m, k) })
	Label("store")
	MOVQ(z, at)
	for i := 0; i < blockSide; i += 2 {
		both, second := totals(append(sums[i], sums[i+1]...)), YMM()
		VMOVUPD(both.AsY(), Mem{Base: at})
		VEXTRACTF64X4(U8(1), both, second)
		VMOVUPD(second, Mem{Base: at, Index: zStride, Scale: 1})
		LEAQ(Mem{Base: at, Index: zStride, Scale: 2}, at)
	}
	LEAQ(Mem{Base: data, Index: stride, Scale: blockSide}, data)
	ADDQ(U8(8*blockSide), z)
	SUBQ(U8(blockSide), n)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// addBlock adds Σ c_k·x_k for n rows, a multiple of blockSide, to blockSide vectors of sums
// that are gStride apart, with factors of their own that are cStride apart.
func (s isa) addBlock(table Mem) {
	TEXT("addBlock"+s.name, NOSPLIT, "func(sums *float64, sumStride int, cols int, data *float64, stride int, c *float64, cStride int, n int)")
	Pragma("noescape")
	g, gStride := Load(Param("sums"), GP64()).(reg.GPVirtual), Load(Param("sumStride"), GP64()).(reg.GPVirtual)
	data, stride := Load(Param("data"), GP64()).(reg.GPVirtual), Load(Param("stride"), GP64()).(reg.GPVirtual)
	c, cStride := Load(Param("c"), GP64()).(reg.GPVirtual), Load(Param("cStride"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	rest, whole, k := s.split(Load(Param("cols"), GP64()).(reg.GPVirtual), table)
	for _, v := range []reg.GPVirtual{gStride, stride, cStride} {
		SHLQ(U8(3), v)
	}
	p, at, left := GP64(), GP64(), GP64()
	x, sums := newRows(p, stride, blockSide), newRows(at, gStride, blockSide)

	Label("rows")
	factors := make([][]vector, blockSide)
	MOVQ(c, at)
	for i := range factors {
		if i > 0 {
			ADDQ(cStride, at)
		}
		for r := range blockSide {
			f := s.broadcast()
			VBROADCASTSD(Mem{Base: at}.Offset(8*r), f[0])
			factors[i] = append(factors[i], f)
		}
	}
	MOVQ(data, p)
	MOVQ(g, at)
	MOVQ(whole, left)
	fuse := func(load, store func(v vector, m Mem)) {
		sum, row := make([]vector, blockSide), s.vector()
		for i := range sum {
			sum[i] = s.vector()
			load(sum[i], sums.at(i))
		}
		for r := range blockSide {
			load(row, x.at(r))
			for i, v := range sum {
				v.fuseVector(factors[i][r], row)
			}
		}
		for i, v := range sum {
			store(v, sums.at(i))
		}
	}
	Label("cols")
	fuse(vector.load, vector.store)
	ADDQ(U8(64), p)
	ADDQ(U8(64), at)
	DECQ(left)
	JNZ(LabelRef("cols"))
	TESTQ(rest, rest)
	JZ(LabelRef("done"))
	fuse(func(v vector, m Mem) { v.loadMasked(m, k) }, func(v vector, m Mem) { v.storeMasked(m, k) })
	Label("done")
	LEAQ(Mem{Base: data, Index: stride, Scale: blockSide}, data)
	ADDQ(U8(8*blockSide), c)
	SUBQ(U8(blockSide), n)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}
