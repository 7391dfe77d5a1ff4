package kernel

import "math"

// Coefficients of a polynomial that interpolates (e^r − 1 − r)/r² at Chebyshev
// points of |r| ≤ ½·log 2: with them e^r is off by less than 0.08 units in the
// last place.
const (
	exp0 = 0x1.0000000000001p-1
	exp1 = 0x1.5555555555556p-3
	exp2 = 0x1.5555555553d63p-5
	exp3 = 0x1.11111111109b3p-7
	exp4 = 0x1.6c16c1788bd90p-10
	exp5 = 0x1.a01a01a7c41d5p-13
	exp6 = 0x1.a019b90d2ae7ap-16
	exp7 = 0x1.71de0dae63bb3p-19
	exp8 = 0x1.289185613a3d6p-22
	exp9 = 0x1.af38a9b0ec855p-26
)

const (
	expLimit = 1000 // beyond it e^x is +Inf or 0
	log2e    = 0x1.71547652b82fep+0
	ln2High  = 0x1.62e42feep-1 // 32 bits, so that its product with n is exact
	ln2Low   = 0x1.a39ef35793c76p-33
	magic    = 0x1.8p52 // added to a small number, rounds it to an integer in the low bits
)

// Exp is e^x, less than 1.2 units in the last place off where the result is
// normal and 1.7 where it is not; 1 or less for x ≤ 0.
//
// With n the integer next to x/log 2 and r = x − n·log 2, e^x is 2^n·e^r, and e^r
// is 1 + t with t = r + r²q(r). Below 1, where the units are finest and |t| and |r|
// are below 0.35, the last addition costs ½ unit, t's rounding ¼, r's ¼ and q's
// and the polynomial's 0.1 each at most. 2^n is applied in two factors, as it may
// not be a float64 itself: the first product is exact, and the second too where
// the result is normal.
//
// For x ≤ 0: with n = 0, t is r(1 + r·q) ≤ 0 before its last rounding, so that 1 + t
// is at most 1; with n < 0, e^r ≤ 1.42 is at least halved.
func Exp(x float64) float64 {
	if x > expLimit {
		x = expLimit
	}
	if x < -expLimit {
		x = -expLimit
	}
	n := math.FMA(x, log2e, magic) - magic
	r := math.FMA(-n, ln2High, x)
	r = math.FMA(-n, ln2Low, r)

	p := math.FMA(exp9, r, exp8)
	p = math.FMA(p, r, exp7)
	p = math.FMA(p, r, exp6)
	p = math.FMA(p, r, exp5)
	p = math.FMA(p, r, exp4)
	p = math.FMA(p, r, exp3)
	p = math.FMA(p, r, exp2)
	p = math.FMA(p, r, exp1)
	p = math.FMA(p, r, exp0)
	p = 1 + math.FMA(float64(r*r), p, r)

	m := math.FMA(n, 0.5, magic)
	return float64(float64(p*power(m)) * power(n-(m-magic)+magic))
}

// power is 2^n for the integer n = m − magic.
func power(m float64) float64 { return math.Float64frombits((math.Float64bits(m) + 1023) << 52) }

// Sigmoid is 1/(1 + e^(−t)), less than 4 units in the last place off where it is
// normal, and in [0, 1].
func Sigmoid(t float64) float64 {
	e := Exp(-math.Abs(t))
	if t >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}

// Exps sets x_k to Exp(x_k).
func Exps(x []float64) {
	if len(x) > 0 {
		exps(x)
	}
}

// LogisticSlopes sets z_k to LogisticSlope(z_k, y_k).
func LogisticSlopes(z, y []float64) {
	if len(z) > 0 {
		logisticSlopes(z, y[:len(z)])
	}
}

// LogisticSlope is −y·Sigmoid(−y·z), the derivative in z of log(1 + e^(−yz)).
func LogisticSlope(z, y float64) float64 { return -y * Sigmoid(-y*z) }

// Clip holds c_k in [−limit/norm_k, limit/norm_k]. Where the quotient is 0/0 it
// changes nothing.
func Clip(c, norm []float64, limit float64) {
	if len(c) > 0 {
		clip(c, norm[:len(c)], limit)
	}
}

func expsGo(x []float64) {
	for k, v := range x {
		x[k] = Exp(v)
	}
}

func logisticSlopesGo(z, y []float64) {
	for k, v := range z {
		z[k] = LogisticSlope(v, y[k])
	}
}

func clipGo(c, norm []float64, limit float64) {
	for k, v := range c {
		most := limit / norm[k]
		if v > most {
			v = most
		}
		if v < -most {
			v = -most
		}
		c[k] = v
	}
}
