package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// preciseExp is e^x with 200 bits: the series at x/2^16, squared 16 times.
func preciseExp(x float64) *big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(240).SetFloat64(v) }
	r := number(math.Ldexp(x, -16))
	sum, term := number(1), number(1)
	for k := 1; k < 30; k++ {
		term.Mul(term, r).Quo(term, number(float64(k)))
		sum.Add(sum, term)
	}
	for range 16 {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps is the distance of v from the exact value in units of its last place,
// which is 2^-1074 or more.
func ulps(v float64, exact *big.Float) float64 {
	near, _ := exact.Float64()
	unit := math.Ldexp(1, max(math.Ilogb(near)-52, -1074))
	d := new(big.Float).SetPrec(240).SetFloat64(v)
	distance, _ := d.Sub(d, exact).Float64()
	return math.Abs(distance / unit)
}

func TestExpError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := map[string]float64{}
	measure := func(what string, x, allowed float64) {
		e := ulps(Exp(x), preciseExp(x))
		worst[what] = max(worst[what], e)
		if e > allowed {
			t.Errorf("e^%b is %g units in the last place off", x, e)
		}
	}
	for range 1500 {
		measure("normal", -708+1417*r.Float64(), 1.2)
		measure("near 0", 2*r.Float64()-1, 1.2)
		measure("tiny", math.Ldexp(r.Float64()-0.5, -r.IntN(300)), 1.2)
		measure("denormal", -745+36*r.Float64(), 1.7)
	}
	for n := -1021; n < 1024; n += 3 { // the ends of the reduced range
		for _, x := range []float64{(float64(n) - 0.5) * math.Ln2, (float64(n) + 0.5) * math.Ln2} {
			measure("ends", math.Nextafter(x, 0), 1.2)
			measure("ends", math.Nextafter(x, 1e9), 1.2)
		}
	}
	t.Log(worst)
}

func TestSpecialExps(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ x, want float64 }{
		{0, 1}, {math.Copysign(0, -1), 1}, {5e-324, 1}, {-5e-324, 1},
		{709.8, inf}, {1000, inf}, {1e300, inf}, {inf, inf},
		{-745.2, 0}, {-1000, 0}, {-1e300, 0}, {-inf, 0}, {math.NaN(), math.NaN()},
	} {
		if got := Exp(c.x); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("e^%g = %g, want %g", c.x, got, c.want)
		}
	}
}

// The two bounds that losses rest on: e^x ≤ 1 for x ≤ 0, and sigmoids in [0, 1],
// in [0, ½] for t < 0.
func TestExpAndSigmoidStayInRange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		x := -math.Ldexp(r.Float64(), r.IntN(1080)-1070)
		if e := Exp(x); !(e >= 0 && e <= 1) {
			t.Fatalf("e^%b = %b", x, e)
		}
		if s := Sigmoid(x); !(s >= 0 && s <= 0.5) {
			t.Fatalf("sigmoid of %b is %b", x, s)
		}
		if s := Sigmoid(-x); !(s >= 0.5 && s <= 1) {
			t.Fatalf("sigmoid of %b is %b", -x, s)
		}
	}
}

func TestSigmoidError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	one := big.NewFloat(1)
	for range 1500 {
		x := 1400 * (r.Float64() - 0.5)
		if r.IntN(2) == 0 {
			x /= 100
		}
		e := preciseExp(x)
		exact := new(big.Float).SetPrec(240).Quo(e, new(big.Float).SetPrec(240).Add(e, one))
		if off := ulps(Sigmoid(x), exact); off > 4 {
			t.Errorf("sigmoid of %b is %g units in the last place off", x, off)
		}
	}
}

// numbers for elementwise operations: of all magnitudes, and special ones.
func elements(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 710, -746, 1e308}
	for i := range x {
		switch r.IntN(6) {
		case 0:
			x[i] = special[r.IntN(len(special))]
		case 1:
			x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000)
		case 2:
			x[i] = 1500 * (r.Float64() - 0.5)
		default:
			x[i] = 20 * (r.Float64() - 0.5)
		}
	}
	return x
}

// The operations on vectors equal the scalar ones, bit for bit, for all lengths,
// and write nothing beyond.
func TestElementwise(t *testing.T) {
	for _, c := range []struct {
		name   string
		vector func(x, y []float64)
		scalar func(x, y float64) float64
	}{
		{"Exps", func(x, _ []float64) { Exps(x) }, func(x, _ float64) float64 { return Exp(x) }},
		{"LogisticSlopes", LogisticSlopes, LogisticSlope},
		{"Clip", func(x, y []float64) { Clip(x, y, 0.5) }, func(x, y float64) float64 {
			if most := 0.5 / y; x > most {
				x = most
			} else if x < -most {
				x = -most
			}
			return x
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, 8))
				for n := range 300 {
					x, y := elements(r, n+9), elements(r, n)
					for i := range y {
						if c.name == "Clip" {
							y[i] = math.Abs(y[i])
						} else if r.IntN(4) > 0 {
							y[i] = math.Copysign(1, y[i])
						}
					}
					want := append([]float64{}, x...)
					for i, v := range y {
						want[i] = c.scalar(x[i], v)
					}
					c.vector(x[:n], y)
					sameBits(t, fmt.Sprintf("%d numbers", n), x, want)
				}
			})
		})
	}
}

// The assembly has the numbers of exp.go, of which the last bits of some hardly
// ever show in a result.
func TestAssemblyHasTheConstants(t *testing.T) {
	source, err := os.ReadFile("exp_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{
		exp0, exp1, exp2, exp3, exp4, exp5, exp6, exp7, exp8, exp9,
		expLimit, -expLimit, log2e, ln2High, ln2Low, magic,
	} {
		if word := fmt.Sprintf("/8, $0x%016x\n", math.Float64bits(v)); strings.Count(string(source), word) != 8 {
			t.Errorf("%b is not among the constants of the assembly", v)
		}
	}
}

func BenchmarkElementwise(b *testing.B) {
	x, y, norm := make([]float64, 256), make([]float64, 256), make([]float64, 256)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range y {
		y[i], norm[i] = math.Copysign(1, r.Float64()-0.5), r.Float64()
	}
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"exp", func() { Exps(x) }},
		{"logistic", func() { LogisticSlopes(x, y) }},
		{"clip", func() { Clip(x, norm, 0.5) }},
	} {
		for l := portable; l <= detect(); l++ {
			b.Run(fmt.Sprintf("%s/level=%d", c.name, l), func(b *testing.B) {
				at(b, l)
				b.SetBytes(8 * 256)
				for b.Loop() {
					copy(x, norm)
					c.f()
				}
			})
		}
	}
}

// What is a little beyond the limit is held to it, on both sides, and what is on it stays.
func TestClipAtTheLimit(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		for _, excess := range []float64{-1e-6, 0, 0x1p-52, 1e-9, 1e-5} {
			for n := 1; n <= 17; n++ {
				c, portable, norm := make([]float64, n), make([]float64, n), make([]float64, n)
				for k := range c {
					norm[k] = 1 + float64(k)/8
					c[k] = sign * 0.5 / norm[k] * (1 + excess)
				}
				copy(portable, c)
				Clip(c, norm, 0.5)
				clipGo(portable, norm, 0.5)
				for k, v := range c {
					most := 0.5 / norm[k]
					if want := sign * most * min(1, 1+excess); v != portable[k] || math.Abs(v) > most || math.Abs(v-want) > 1e-15 {
						t.Errorf("%g beyond %g: %.17g, and %.17g without assembly", excess, sign*most, v, portable[k])
					}
				}
			}
		}
	}
}
