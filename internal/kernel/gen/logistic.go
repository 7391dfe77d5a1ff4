package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// soon is how many bytes before its use a row is fetched: about as much as memory delivers
// in the time that it takes to answer, and so near that it stays in the first cache level.
const soon = 2048

// logistic generates the pass of the logistic loss over rows of up to 16 numbers. Groups of
// 8 rows go through all of it, one after the other, so that the processor works on some
// while memory delivers others: each row is read from memory once, at a steady pace.
func logistic() {
	g := logisticPass{isa: avx512, table: firstMasks(), constants: newConstants()}
	TEXT("addLogistic"+g.name, NOSPLIT, "func(sum *float64, cols int, data *float64, stride, n, tile int, w, signed, shrink, e *float64, limit, offset, intercept float64)")
	Pragma("noescape")
	g.cols = load("cols")
	for _, width := range []int{0, 2, 4} {
		wider := fmt.Sprintf("wider%d", width)
		CMPQ(g.cols, U8(8+width))
		JG(LabelRef(wider))
		g.pass(width)
		Label(wider)
	}
	g.pass(8)
}

// logisticPass is what the forms for rows of different lengths have in common.
type logisticPass struct {
	isa
	table     Mem
	constants *constants
	cols      reg.GPVirtual

	width  int // of what is beyond a row's first vector
	masks  []mask
	rest   vector // of a row, beyond its first vector
	rows   rows
	n      reg.GPVirtual
	beside []reg.GPVirtual // signed norms and factors of the next rows
}

// load returns a parameter.
func load(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }

// number addresses a parameter.
func number(param string) Mem {
	at, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	return at.Addr
}

// label tells the places of forms apart.
func (g *logisticPass) label(at string) string { return fmt.Sprintf("%s%d", at, g.width) }

// pass is the form for rows of 8 numbers or less, if width is 0, or of up to so many more.
// The shorter a vector, the fewer lines of the cache it straddles.
func (g *logisticPass) pass(width int) {
	g.width = width
	g.masks = g.maskRow(g.cols, 1+min(width, 1), g.table)
	ws, sums, w := make([]vector, len(g.masks)), make([][]vector, 8), load("w")
	for v, k := range g.masks {
		ws[v] = g.vector()
		ws[v].loadMasked(Mem{Base: w}.Offset(64*v), k)
		for i := range sums {
			sums[i] = append(sums[i], vector{g.part(v, g.vector()[0])})
		}
	}
	g.rest = g.vector()
	g.rest.zero()
	stride := load("stride")
	SHLQ(U8(3), stride)
	g.rows, g.n = newRows(load("data"), stride, 8), load("n")
	g.beside = []reg.GPVirtual{load("signed"), load("shrink")}
	total, slopes, factors := load("sum"), YMM(), YMM()

	Label(g.label("tiles"))
	left := load("tile")
	CMPQ(g.n, left)
	CMOVQLT(g.n, left)
	SUBQ(left, g.n)
	for _, row := range append(sums, []vector{{slopes, factors}}) {
		for _, v := range row {
			v.zero()
		}
	}
	Label(g.label("groups"))
	g.coefficients(g.scores(ws), slopes, factors)
	e, factor := load("e"), g.vector()
	for i, row := range sums {
		VBROADCASTSD(Mem{Base: e}.Offset(8*i), factor[0])
		for v, sum := range row {
			sum.fuseMasked(vector{g.part(v, factor[0])}, g.rows.at(i).Offset(64*v), g.masks[v])
		}
	}
	g.next()
	SUBQ(U8(8), left)
	JNZ(LabelRef(g.label("groups")))
	addTotals(sums, total, g.masks)
	behind := Mem{Base: total, Index: g.cols, Scale: 8}
	addQuarters(factors, behind)
	addQuarters(slopes, behind.Offset(8))
	TESTQ(g.n, g.n)
	JNZ(LabelRef(g.label("tiles")))
	VZEROUPPER()
	RET()
}

// part is the part of r that numbers of vector v of a row need.
func (g *logisticPass) part(v int, r reg.VecVirtual) reg.VecVirtual {
	switch {
	case v > 0 && g.width == 2:
		return r.AsX().(reg.VecVirtual)
	case v > 0 && g.width == 4:
		return r.AsY().(reg.VecVirtual)
	}
	return r
}

// scores fetches rows for later and returns the dot products of the next 8 with w.
func (g *logisticPass) scores(ws []vector) vector {
	dots := make([]vector, 8)
	for i := range dots {
		dots[i] = g.vector()
		dots[i].zero()
		for v, w := range ws {
			at := g.rows.at(i).Offset(64 * v)
			if v == 0 || i%2 == 1 || g.width == 8 {
				PREFETCHT0(at.Offset(soon))
			}
			if v == 0 {
				dots[i].fuseMasked(w, at, g.masks[v])
				continue
			}
			vector{g.part(v, g.rest[0])}.loadMasked(at, g.masks[v])
			dots[i].fuseVector(w, g.rest)
		}
	}
	return vector{totals(dots)}
}

// coefficients turns dot products into slopes, and these into what the raw rows are
// multiplied by, which it leaves at e, and adds both up in four partial sums.
func (g *logisticPass) coefficients(score vector, slopes, factors reg.VecVirtual) {
	signed, shrink, e := g.beside[0], g.beside[1], load("e")
	// shrunk multiplies by the rows' factors, if there are any.
	shrunk := func(v vector, at string) {
		TESTQ(shrink, shrink)
		JZ(LabelRef(g.label(at)))
		VMULPD(Mem{Base: shrink}, v[0], v[0])
		Label(g.label(at))
	}
	addUp := func(v vector, sums reg.VecVirtual) {
		v.store(Mem{Base: e})
		VADDPD(Mem{Base: e}, sums, sums)
		VADDPD(Mem{Base: e}.Offset(32), sums, sums)
	}
	VADDPD_BCST(number("offset"), score[0], score[0])
	shrunk(score, "score")
	VADDPD_BCST(number("intercept"), score[0], score[0])
	norms, limit, sign := g.vector(), g.vector(), g.constants.bits(signBit)
	norms.load(Mem{Base: signed})
	labels := g.apply(VORPD, g.apply(VANDPD, norms, sign), g.constants.number(1))
	norms = g.apply(VANDPD, norms, g.constants.bits(^uint64(signBit)))
	VBROADCASTSD(number("limit"), limit[0])
	c := g.held(g.slopes(score, labels, g.constants), limit, norms, g.constants)
	addUp(c, slopes)
	shrunk(c, "slope")
	addUp(c, factors)
}

// next goes on to the next 8 rows.
func (g *logisticPass) next() {
	LEAQ(Mem{Base: g.rows.p, Index: g.rows.strides[1], Scale: 8}, g.rows.p)
	ADDQ(U8(64), g.beside[0])
	shrink := g.beside[1]
	TESTQ(shrink, shrink)
	JZ(LabelRef(g.label("next")))
	ADDQ(U8(64), shrink)
	Label(g.label("next"))
}

// addQuarters adds the four numbers of v to the one at m.
func addQuarters(v reg.VecVirtual, m Mem) {
	low, high, odd := v.AsX(), XMM(), XMM()
	VEXTRACTF64X2(U8(1), v, high)
	VUNPCKHPD(high, low, odd)
	VUNPCKLPD(high, low, high)
	VADDPD(high, odd, high)
	VPERMILPD(U8(1), high, odd)
	VADDPD(high, odd, high)
	VADDSD(m, high, high)
	VMOVSD(high, m)
}
