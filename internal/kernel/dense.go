package kernel

import "math"

// lanes is the number of partial sums of a dot product.
const lanes = 8

// Dots sets z_k to ⟨x_k, w⟩ for the rows x_k = data[k·stride : k·stride+len(w)].
//
// Partial sum l takes the elements l, l+8, l+16, … in order, one fused
// multiply-add each, as if the row were padded with zeros to a multiple of 8. With
// s_l the partial sums and t_l = s_l + s_(l+4), the result is
// (t_0+t_2) + (t_1+t_3). An element passes through at most len(w)/8 + 4
// roundings, so that the error is at most (len(w)/8 + 4)·u·Σ|x_i·w_i| to first
// order, and underflow. It depends on the row and w only, not on other rows.
func Dots(z, data []float64, stride int, w []float64) {
	fits(len(z), len(data), stride, len(w))
	if len(z) == 0 || len(w) == 0 {
		clear(z)
		return
	}
	dots(z, data, stride, w)
}

// narrow is the largest number of columns for which AddScaled has partial sums.
const narrow = 16

// AddScaled adds Σ_k c_k·x_k to g for the rows x_k = data[k·stride :
// k·stride+len(g)]: each element of g takes one fused multiply-add a row, in the
// order of the rows. For up to 16 columns, where additions would wait for each other, the
// rows go to eight partial sums s_0 to s_7 that begin at zero, row k to s_(k mod 8), and g
// gets ((s_0+s_1) + (s_2+s_3)) + ((s_4+s_5) + (s_6+s_7)).
//
// Where g is a sum over m rows, of which all calls but the last add 8 or more, an element
// passes through at most m roundings: in the last call of k rows through ⌈k/8⌉, one for
// each time that k is doubled from 1 up to 8, and one if others came before; in those
// before through fewer than they have rows.
func AddScaled(g, data []float64, stride int, c []float64) {
	fits(len(c), len(data), stride, len(g))
	switch {
	case len(c) == 0 || len(g) == 0:
	case len(g) <= narrow:
		addNarrow(g, data, stride, c)
	default:
		addScaled(g, data, stride, c)
	}
}

// fits panics unless n numbers hold the given rows: the assembly checks nothing.
func fits(rows, n, stride, cols int) {
	if rows > 0 && (stride < cols || n < cols || stride > 0 && (n-cols)/stride < rows-1) {
		panic("kernel: rows beyond the data")
	}
}

func dotsGo(z, data []float64, stride int, w []float64) {
	whole := len(w) &^ (lanes - 1)
	var tail [lanes]float64
	copy(tail[:], w[whole:])
	for k := range z {
		x := data[k*stride : k*stride+len(w)]
		var s [lanes]float64
		for j := 0; j < whole; j += lanes {
			fuse(&s, (*[lanes]float64)(x[j:]), (*[lanes]float64)(w[j:]))
		}
		if whole < len(w) {
			var rest [lanes]float64
			copy(rest[:], x[whole:])
			fuse(&s, &rest, &tail)
		}
		z[k] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	}
}

// fuse adds x·w to s, lane by lane.
func fuse(s, x, w *[lanes]float64) {
	s[0] = math.FMA(x[0], w[0], s[0])
	s[1] = math.FMA(x[1], w[1], s[1])
	s[2] = math.FMA(x[2], w[2], s[2])
	s[3] = math.FMA(x[3], w[3], s[3])
	s[4] = math.FMA(x[4], w[4], s[4])
	s[5] = math.FMA(x[5], w[5], s[5])
	s[6] = math.FMA(x[6], w[6], s[6])
	s[7] = math.FMA(x[7], w[7], s[7])
}

func addScaledGo(g, data []float64, stride int, c []float64) {
	for k, v := range c {
		x := data[k*stride : k*stride+len(g)]
		for j := range g {
			g[j] = math.FMA(v, x[j], g[j])
		}
	}
}

func addNarrowGo(g, data []float64, stride int, c []float64) {
	var s [8][narrow]float64
	for k, v := range c {
		x, sum := data[k*stride:k*stride+len(g)], s[k%8][:len(g)]
		for j := range sum {
			sum[j] = math.FMA(v, x[j], sum[j])
		}
	}
	for j := range g {
		g[j] += ((s[0][j] + s[1][j]) + (s[2][j] + s[3][j])) + ((s[4][j] + s[5][j]) + (s[6][j] + s[7][j]))
	}
}
