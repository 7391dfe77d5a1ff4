package dpglm

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// hidden is what rows beyond the cells of a grid add to the mean and to the mean square, whose
// place isn't seen: it is counted at the last of the cells.
type hidden struct {
	mean, square float64
	spread       float64 // of the square, from one sample of rows to the next
}

// far is the law of the part of the rows whose distance from a centre exceeds t, on one side:
// part·exp(−depth·(t/from)^power), which is part·e^(−depth) at from.
type far struct{ part, from, depth, power float64 }

// above is the part of the rows that exceeds a distance.
func (l far) above(t float64) float64 {
	return l.part * math.Exp(-l.depth*math.Pow(t/l.from, l.power))
}

// slower is a law that falls as fast where it was seen, but farther out by a smaller power, the
// more so the smaller the one that is seen: this falls towards the end of heavy tails. Seen
// between a few parts of a hundred and half of the rows normal laws have powers about 1.35, nearly
// the slower ones, and exponential laws have 1, which become ½.
func (l far) slower() far {
	power := math.Min(math.Max(0.05, 2*(l.power-0.75)), l.power)
	depth := l.depth * l.power / power
	return far{l.part * math.Exp(depth-l.depth), l.from, depth, power}
}

// beyond is what lies from a distance to an end.
func (l far) beyond(t, end float64) (h hidden) {
	const points, widest = 40, 64
	step := math.Log(math.Min(end/t, widest)) / points
	for k := range points {
		u := t * math.Exp((float64(k)+0.5)*step)
		width := float64(l.above(u) * u * step)
		h.mean += width
		h.square += 2 * float64(u*width)
		h.spread += 4 * float64(u*width*(u*u-t*t))
	}
	h.spread = math.Sqrt(h.spread)
	return h
}

// tails are what lies beyond a grid on either side of a centre, as parts of n rows.
func (g grid) tails(counts []float64, spread, centre float64, slow bool) (h hidden) {
	narrow := g.step / float64(g.shifts)
	top := g.high + narrow/2 // where rows beyond are counted, in the mean of all shifts
	bottom := top - float64(float64(g.cells+1)*g.step)
	n := floats.Sum(counts)
	for _, side := range []struct{ sign, near, end float64 }{{1, top - centre, g.most - centre}, {-1, centre - bottom, centre - g.least}} {
		if !(side.near > 0 && side.end > side.near) {
			continue
		}
		l, seen := g.far(counts, spread, centre, side.sign, side.near)
		if !seen {
			continue
		}
		if slow {
			l = l.slower()
		}
		of := l.beyond(side.near, side.end)
		h.mean += side.sign * of.mean / n
		h.square += of.square / n
		h.spread = math.Hypot(h.spread, of.spread/n)
	}
	return h
}

// far finds the law of distances on a side of a centre from how many rows are there, exceed a
// distance or half of it, which is the largest of some up to the grid's end at which rows
// stand out from noise.
func (g grid) far(counts []float64, spread, centre, sign, near float64) (l far, seen bool) {
	all, _ := g.exceed(counts, centre, sign, 0)
	whole := near - g.step + g.step/float64(2*g.shifts) // what is beyond lies above, in all shifts
	for from := whole; from > near/5; from /= math.Sqrt2 {
		rows, cells := g.exceed(counts, centre, sign, from)
		half, _ := g.exceed(counts, centre, sign, from/2)
		if !(rows > outstanding*spread*math.Sqrt(cells)/float64(g.shifts)) || !(half > 1.02*rows) || !(all > 1.02*half) {
			continue
		}
		l = far{part: all, from: from, depth: math.Log(all / rows)}
		l.power = math.Log2(l.depth / math.Log(all/half))
		l.power = math.Max(0.3, math.Min(l.power, 3))
		return l, true
	}
	return l, false
}

// exceed is how many rows lie farther from a centre than a distance, on a side, and in how
// many narrow cells.
func (g grid) exceed(counts []float64, centre, sign, distance float64) (rows, cells float64) {
	narrow := g.step / float64(g.shifts)
	for k, c := range counts {
		v := g.high + g.step - float64((float64(k)+0.5)*narrow)
		part := math.Max(0, math.Min(1, (sign*(v-centre)-distance)/narrow+0.5))
		rows += float64(part * c)
		cells += part
	}
	return rows, cells
}
