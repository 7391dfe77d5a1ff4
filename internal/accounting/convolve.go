package accounting

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// maxWork limits the compositions of a query times the cells of their grid, which is some
// tenths of a second; it is a logarithm to base 2.
const maxWork = 18

// convolve composes two distributions on the same grid.
func convolve(a, b *pld) *pld {
	n := len(a.mass) + len(b.mass) - 1
	if n > maxLength {
		return atInfinity(a.exponent)
	}
	c := &pld{exponent: a.exponent, low: a.low + b.low}
	sumA, sumB := total(a.mass), total(b.mass)
	// 1e-300 is more than all products that underflow together.
	c.top = (a.top*(sumB+b.top)+sumA*b.top)*up + 1e-300
	if atoms(a.mass)*atoms(b.mass) <= 32*n {
		c.mass = direct(a.mass, b.mass)
	} else {
		c.mass = tilted(a.mass, b.mass)
	}
	c.trim()
	return c
}

// total returns an upper bound on a sum of masses.
func total(mass []float64) float64 {
	var s float64
	for _, m := range mass {
		s += m
	}
	return s * (1 + 2e-16*float64(len(mass)+1))
}

func atoms(mass []float64) int {
	n := 0
	for _, m := range mass {
		if m > 0 {
			n++
		}
	}
	return n
}

// direct convolves term by term. All terms are positive: each sum's relative
// error is below the number of its terms and products times 2^-53.
func direct(a, b []float64) []float64 {
	c := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		if x == 0 {
			continue
		}
		for j, y := range b {
			c[i+j] += x * y
		}
	}
	round := 1 + 2e-16*float64(min(len(a), len(b))+2)
	for i := range c {
		c[i] *= round
	}
	return c
}

// tilted convolves by fast Fourier transform: padded, so that nothing wraps
// around, and three times, since a transform's error is the same for all entries
// and would bury the tails. With masses tilted by e^{θl} the error goes like
// e^{−θl}. Each result plus its error bound is an upper bound entry by entry; so
// is their minimum.
func tilted(a, b []float64) []float64 {
	n := len(a) + len(b) - 1
	f := fourier.NewFFT(1 << bits.Len(uint(n-1)))
	c := make([]float64, n)
	for i := range c {
		c[i] = math.Inf(1)
	}
	logA, logB := logs(a), logs(b)
	tail := tailTilt(logA, logB)
	same := &a[0] == &b[0]
	for _, theta := range [3]float64{0, tail, -tail} {
		x := transform(f, a, logA, theta)
		y := x
		if !same {
			y = transform(f, b, logB, theta)
		}
		lowerTo(c, f, x, y, theta)
	}
	return c
}

func logs(mass []float64) []float64 {
	l := make([]float64, len(mass))
	for i, m := range mass {
		l[i] = math.Log(m)
	}
	return l
}

// peak returns the index and the value of the largest log m_i + θi.
func peak(logs []float64, theta float64) (ref int, best float64) {
	best = math.Inf(-1)
	for i, l := range logs {
		if v := l + theta*float64(i); v > best {
			ref, best = i, v
		}
	}
	return ref, best
}

// weighted is a sequence divided by its largest entry, scale, at index ref,
// after multiplication by e^{θ(i−ref)}: its transform and its Euclidean norm.
type weighted struct {
	transform   []complex128
	ref         int
	scale, norm float64
}

func transform(f *fourier.FFT, mass, logs []float64, theta float64) weighted {
	ref, _ := peak(logs, theta)
	scale, seq := mass[ref], make([]float64, f.Len())
	for i, m := range mass {
		if m > 0 {
			seq[i] = m / scale * math.Exp(theta*float64(i-ref))
		}
	}
	return weighted{f.Coefficients(nil, seq), ref, scale, norm2(seq)}
}

// lowerTo lowers each entry of c to an upper bound on the convolution.
//
// With η bounding the relative error of one transform in the Euclidean norm,
// the forward ones and the products add at most (2η + 4u)·‖a‖₂‖b‖₂ to any entry
// and the backward one η·‖c‖₂ (Parseval; an entry of the convolution of two
// sequences of norms x and y is at most xy). A pass of radix r ≤ 4 computes sums
// of r terms, each with a few roundings and a factor whose argument, at most
// 2π, carries 4 roundings: its error is below 40u·√r of its result's norm, that
// is below 57u per factor 2 of the length; 64u is taken. Terms that underflow
// are far below that.
//
// Weights e^{θ(i−ref)} that matter have exponents up to 745 in size, so they and
// their inverse are right to 745·3u; the last factor covers them.
func lowerTo(c []float64, f *fourier.FFT, a, b weighted, theta float64) {
	const u = 0x1p-53
	size := f.Len()
	eta := 64 * u * float64(bits.Len(uint(size-1)))
	product := make([]complex128, len(a.transform))
	for i, v := range a.transform {
		product[i] = v * b.transform[i]
	}
	seq := f.Sequence(nil, product)
	for i := range seq {
		seq[i] /= float64(size)
	}
	e := ((2*eta+4*u)*a.norm*b.norm + eta*norm2(seq)) * (1 + 1e-9)
	for i := range c {
		v := (math.Max(0, seq[i]) + e) * a.scale * (math.Exp(-theta*float64(i-a.ref-b.ref)) * b.scale) * (1 + 2e-12)
		if v < c[i] {
			c[i] = v
		}
	}
}

func norm2(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// power composes the given number of copies by repeated squaring. Four times
// the copies have twice the spread, so the grid's step is doubled with every
// second squaring, up to 2^exponent: each squaring then adds the same small
// share to the variance and costs the same. Where that fails, since all the mass lies
// in few cells and the others fill with bounds on the transforms' errors, it gives up.
func power(curve func(int) func(float64) float64, copies int64, exponent int) *pld {
	squarings := bits.Len64(uint64(copies)) - 1
	at := func(j int) int { return exponent - (squarings-j)/2 }
	square := discretise(curve(at(0)), at(0))
	var product *pld
	for j := 0; ; j++ {
		if len(square.mass)*squarings > 1<<(maxWork+1) {
			return atInfinity(exponent)
		}
		if copies>>j&1 == 1 {
			if product == nil {
				product = square
			} else {
				product = convolve(product.coarsen(square.exponent), square)
			}
		}
		if j == squarings {
			return product.coarsen(exponent)
		}
		square = convolve(square, square).coarsen(at(j + 1))
	}
}
