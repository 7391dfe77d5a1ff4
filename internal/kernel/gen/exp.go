package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// expTaylor are the coefficients of (e^r − 1 − r)/r², as in exp.go of the package.
var expTaylor = []float64{
	0x1.0000000000001p-1,
	0x1.5555555555556p-3,
	0x1.5555555553d63p-5,
	0x1.11111111109b3p-7,
	0x1.6c16c1788bd90p-10,
	0x1.a01a01a7c41d5p-13,
	0x1.a019b90d2ae7ap-16,
	0x1.71de0dae63bb3p-19,
	0x1.289185613a3d6p-22,
	0x1.af38a9b0ec855p-26,
}

// The other constants of exp.go.
const (
	expLimit = 1000
	log2e    = 0x1.71547652b82fep+0
	ln2High  = 0x1.62e42feep-1
	ln2Low   = 0x1.a39ef35793c76p-33
	magic    = 0x1.8p52

	signBit      = 1 << 63
	exponentBias = 1023
)

func exp() {
	table, c := firstMasks(), newConstants()
	for _, s := range []isa{avx2, avx512} {
		s.exps(table, c)
		s.logisticSlopes(table, c)
		s.clip(table, c)
	}
}

// constants are numbers in memory, each repeated for a whole vector. AVX-512 has
// the registers to hold those that exp needs.
type constants struct {
	table Mem
	at    map[uint64]int
	held  map[uint64]vector
}

func newConstants() *constants {
	return &constants{table: GLOBL("constants", RODATA|NOPTR), at: map[uint64]int{}}
}

// hold loads the constants of exp into registers for the rest of a function, if
// there are so many.
func (c *constants) hold(s isa) {
	c.held = map[uint64]vector{}
	if !s.wide {
		return
	}
	bits := []uint64{signBit, exponentBias}
	for _, v := range append([]float64{expLimit, -expLimit, log2e, ln2High, ln2Low, magic, 0.5, 1}, expTaylor...) {
		bits = append(bits, math.Float64bits(v))
	}
	for _, b := range bits {
		c.held[b] = s.copy(c.bits(b))
	}
}

// register is a constant in a register, which must not be changed.
func (c *constants) register(s isa, v float64) vector {
	if r, ok := c.number(v).(vector); ok {
		return r
	}
	return s.copy(c.number(v))
}

func (c *constants) bits(b uint64) operand {
	if v := c.held[b]; v != nil {
		return v
	}
	at, ok := c.at[b]
	if !ok {
		at = 64 * len(c.at)
		c.at[b] = at
		for i := range 8 {
			DATA(at+8*i, U64(b))
		}
	}
	return inMemory(c.table.Offset(at))
}

func (c *constants) number(v float64) operand { return c.bits(math.Float64bits(v)) }

// The operations on whole vectors; a second operand may lie in memory.
type operand interface{ part(i, parts int) Op }

func (v vector) part(i, _ int) Op { return v[i] }

type inMemory Mem

func (m inMemory) part(i, parts int) Op { return Mem(m).Offset(i * 64 / parts) }

type instruction func(ops ...Op)

// apply returns a ∘ b.
func (s isa) apply(f instruction, a vector, b operand) vector {
	out := s.vector()
	for i := range out {
		f(b.part(i, len(out)), a[i], out[i])
	}
	return out
}

// update sets v to f's three-operand form of a and b.
func (v vector) update(f instruction, a vector, b operand) {
	for i := range v {
		f(b.part(i, len(v)), a[i], v[i])
	}
}

func (s isa) copy(m operand) vector {
	out := s.vector()
	for i := range out {
		VMOVUPD(m.part(i, len(out)), out[i])
	}
	return out
}

// exp returns e^x as the package's Exp defines it.
func (s isa) exp(x vector, c *constants) vector {
	number := c.number
	x = s.apply(VMINPD, c.register(s, expLimit), x)
	x = s.apply(VMAXPD, c.register(s, -expLimit), x)
	m := s.copy(number(magic))
	m.update(VFMADD231PD, x, number(log2e))
	n := s.apply(VSUBPD, m, number(magic))
	x.update(VFNMADD231PD, n, number(ln2High))
	x.update(VFNMADD231PD, n, number(ln2Low))

	last := len(expTaylor) - 1
	p := s.copy(number(expTaylor[last]))
	for i := last - 1; i >= 0; i-- {
		p.update(VFMADD213PD, x, number(expTaylor[i]))
	}
	square := s.apply(VMULPD, x, x)
	p.update(VFMADD213PD, square, x)
	p = s.apply(VADDPD, p, number(1))

	if s.wide { // the same: p·2^n, rounded once
		return s.apply(VSCALEFPD, p, n)
	}
	m = s.copy(number(magic))
	m.update(VFMADD231PD, n, number(0.5))
	p = s.apply(VMULPD, p, s.power(m, c))
	n = s.apply(VSUBPD, n, s.apply(VSUBPD, m, number(magic)))
	return s.apply(VMULPD, p, s.power(s.apply(VADDPD, n, number(magic)), c))
}

// power returns 2^n of the integers n = m − 1.5·2^52.
func (s isa) power(m vector, c *constants) vector {
	out := s.apply(VPADDQ, m, c.bits(exponentBias))
	for _, r := range out {
		VPSLLQ(U8(52), r, r)
	}
	return out
}

// elements generates a function that maps the n numbers at x, of which f returns
// the new ones; load reads the same elements of another parameter.
func (s isa) elements(name, signature string, table Mem, prepare func(), f func(x vector, load func(param string) vector) vector, others ...string) {
	TEXT(name+s.name, NOSPLIT, signature)
	Pragma("noescape")
	x, n := Load(Param("x"), GP64()).(reg.GPVirtual), Load(Param("n"), GP64()).(reg.GPVirtual)
	at := map[string]reg.GPVirtual{}
	for _, param := range others {
		at[param] = Load(Param(param), GP64()).(reg.GPVirtual)
	}
	prepare()
	Label("loop")
	CMPQ(n, U8(8))
	JL(LabelRef("tail"))
	v := s.vector()
	v.load(Mem{Base: x})
	f(v, func(param string) vector {
		y := s.vector()
		y.load(Mem{Base: at[param]})
		ADDQ(U8(64), at[param])
		return y
	}).store(Mem{Base: x})
	ADDQ(U8(64), x)
	SUBQ(U8(8), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	k := s.first(n, table)
	v = s.vector()
	v.loadMasked(Mem{Base: x}, k)
	f(v, func(param string) vector {
		y := s.vector()
		y.loadMasked(Mem{Base: at[param]}, k)
		return y
	}).storeMasked(Mem{Base: x}, k)
	Label("done")
	VZEROUPPER()
	RET()
}

func (s isa) exps(table Mem, c *constants) {
	s.elements("exps", "func(x *float64, n int)", table, func() { c.hold(s) }, func(x vector, _ func(string) vector) vector {
		return s.exp(x, c)
	})
}

func (s isa) logisticSlopes(table Mem, c *constants) {
	s.elements("logisticSlopes", "func(x *float64, n int, y *float64)", table, func() { c.hold(s) }, func(x vector, load func(string) vector) vector {
		return s.slopes(x, load("y"), c)
	}, "y")
}

// slopes returns the logistic loss's derivatives at scores x and labels y.
func (s isa) slopes(x, y vector, c *constants) vector {
	sign, one := c.bits(signBit), c.number(1)
	y = s.apply(VXORPD, y, sign)
	t := s.apply(VMULPD, x, y)
	e := s.exp(s.apply(VORPD, t, sign), c)
	p := s.apply(VDIVPD, s.chooseBySign(t, e, c.register(s, 1)), s.apply(VADDPD, e, one))
	return s.apply(VMULPD, p, y)
}

// chooseBySign returns a where the sign of t is set and b elsewhere.
func (s isa) chooseBySign(t, a, b vector) vector {
	out := s.vector()
	for i := range out {
		if s.wide {
			k := K()
			VPMOVQ2M(t[i], k)
			VBLENDMPD(a[i], b[i], k, out[i])
		} else {
			VBLENDVPD(t[i], a[i], b[i], out[i])
		}
	}
	return out
}

func (s isa) clip(table Mem, c *constants) {
	limit := s.vector()
	broadcast := func() {
		c.held = nil
		at, err := Param("limit").Resolve()
		if err != nil {
			panic(err)
		}
		for _, r := range limit {
			VBROADCASTSD(at.Addr, r)
		}
	}
	s.elements("clip", "func(x *float64, n int, norm *float64, limit float64)", table, broadcast, func(x vector, load func(string) vector) vector {
		return s.held(x, limit, load("norm"), c)
	}, "norm")
}

// held returns x held to at most limit/norm in magnitude.
func (s isa) held(x, limit, norm vector, c *constants) vector {
	most := s.apply(VDIVPD, limit, norm)
	x = s.apply(VMINPD, most, x)
	return s.apply(VMAXPD, s.apply(VXORPD, most, c.bits(signBit)), x)
}
