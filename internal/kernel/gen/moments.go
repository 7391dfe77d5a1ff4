package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moments generates the blocks of second moments. A block fills the registers: sums
// beside the numbers of one row.
func moments() {
	for _, vectors := range []int{3, 2, 1} {
		block(avx512.name, 8, vectors, 64, func() reg.VecVirtual { return ZMM() })
	}
	for _, vectors := range []int{3, 2} {
		block(avx2.name, 4, vectors, 32, func() reg.VecVirtual { return YMM() })
	}
}

// block generates a function that keeps height × vectors sums in registers and adds
// to them row by row.
func block(set string, height, vectors, bytes int, vector func() reg.VecVirtual) {
	width := vectors * bytes / 8
	name := fmt.Sprintf("moments%dx%d%s", height, width, set)
	TEXT(name, NOSPLIT, "func(c, x, y *float64, stride, rows int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds Σ xᵣ[i]·yᵣ[j] to c for %d i and %d j, rows of all three lying stride bytes apart.", name, height, width))
	c, x, y := Load(Param("c"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	stride, rows := Load(Param("stride"), GP64()), Load(Param("rows"), GP64())

	sums, at := make([][]reg.VecVirtual, height), GP64()
	MOVQ(c, at)
	for i := range sums {
		for v := range vectors {
			sums[i] = append(sums[i], vector())
			VMOVUPD(Mem{Base: at, Disp: v * bytes}, sums[i][v])
		}
		ADDQ(stride, at)
	}
	row := make([]reg.VecVirtual, vectors)
	for v := range row {
		row[v] = vector()
	}
	Label("rows")
	for v := range row {
		VMOVUPD(Mem{Base: y, Disp: v * bytes}, row[v])
	}
	for i := range sums {
		factor := vector()
		VBROADCASTSD(Mem{Base: x, Disp: 8 * i}, factor)
		for v := range row {
			VFMADD231PD(row[v], factor, sums[i][v])
		}
	}
	ADDQ(stride, x)
	ADDQ(stride, y)
	DECQ(rows)
	JNE(LabelRef("rows"))
	for i := range sums {
		for v := range row {
			VMOVUPD(sums[i][v], Mem{Base: c, Disp: v * bytes})
		}
		ADDQ(stride, c)
	}
	VZEROUPPER()
	RET()
}
