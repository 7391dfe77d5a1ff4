package histogram

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/tuning"
)

// Grid is equal cells between two ends, with a cell of what lies beyond on either side. All
// are counted so many times, each time lower by an equal part of a cell.
type Grid struct {
	High, Step    float64
	Least, Most   float64 // what the number can be
	Cells, Shifts int
	Lattice       float64 // the distance between numbers that occur, 0 for any
	Apart         float64 // that of rows beyond a grid's ends from its centre, at least
}

// Numbers are what a number of each row can be.
type Numbers struct {
	Low, High float64
	Whole     bool    // whether it is a whole number
	Origin    float64 // what it is whole numbers apart from, where others are whole
	Apart     float64 // how far apart rows are that don't lie in the same cells, at least
}

// Shifts is how often cells are counted, each time with a part of μ²: the mean of all
// has the noise of one grid, and cells as narrow as all edges together make them.
const Shifts = 4

// rounding is what a number of cells may be off by.
const rounding = 1e-9

// sheppard is 1 over the variance of a uniform law on a cell of width 1.
const sheppard = 12

// Grid is so many cells, or fewer, and those beyond. Whole numbers are in the middle of a narrow
// cell, of those that all edges make, where these aren't wider than 1; where they are wider
// no edge is on one, if all are whole, and else the origin is in the middle.
func (of Numbers) Grid(low, high float64, cells int) Grid {
	g := Grid{Step: (high - low) / float64(cells), Least: of.Low, Most: of.High, Shifts: Shifts, Apart: of.Apart}
	switch narrow := g.Step / Shifts; {
	case of.Whole && g.Step <= Shifts:
		g.Step = math.Max(1, math.Ceil(g.Step))
		g.Shifts, g.Lattice = int(g.Step), 1
	case of.Whole:
		g.Step, g.Lattice = Shifts*math.Ceil(narrow), 1
	case narrow < 1:
		g.Step = Shifts / math.Floor(1/narrow)
	}
	// The grids' ends lie about those of the range, and what the number can be is in their
	// cells or in those beyond.
	narrow, part := g.Step/float64(g.Shifts), 1/float64(g.Shifts)
	about := (g.Step - narrow) / 2
	apart := narrow
	if of.Whole {
		apart = 1
	}
	g.High = of.Origin + float64(apart*(math.Round((math.Min(high+about, of.High-narrow)-of.Origin)/apart)+0.5))
	within, all := (g.High-low-about)/g.Step-part, (g.High-of.Low)/g.Step-1+float64(part/2)
	g.Cells = max(1, int(math.Ceil(math.Min(within, all)-rounding)))
	return g
}

// Span is the range that stands out from noise and a part of it on both sides, for the tail
// that doesn't.
func (of Numbers) Span(edges, counts []float64, spread float64) (low, high float64) {
	const stretch = tuning.SpanStretch
	first, last := StandOut(counts, spread)
	high, low = edges[min(max(first-1, 0), len(edges)-1)], edges[min(last, len(edges)-1)]
	width := high - low
	high = math.Min(high+float64(stretch*math.Min(math.Abs(high), width)), of.High)
	low = math.Max(low-float64(stretch*math.Min(math.Abs(low), width)), of.Low)
	if !(low < high) {
		return of.Low, of.High
	}
	return low, high
}

// Edges are those of the cells when they are counted for the k-th time.
func (g Grid) Edges(k int) []float64 {
	edges := make([]float64, g.Cells+1)
	for j := range edges {
		edges[j] = g.High - float64((float64(j)+float64(k)/float64(g.Shifts))*g.Step)
	}
	return edges
}

// Overlay are the counts of the narrow cells that grids make together, each lower by one of
// these than that before: the mean of the grids, in which rows are spread evenly over a
// cell.
func Overlay(lists [][]float64) []float64 {
	shifts := len(lists)
	out := make([]float64, shifts*(len(lists[0])+1)-1)
	for k, counts := range lists {
		for j, c := range counts {
			for i := range shifts {
				out[k+j*shifts+i] += c / float64(shifts*shifts)
			}
		}
	}
	return out
}

// Moments are the mean and the mean square of what was counted, each in the middle of its
// narrow cell, where what lies beyond is taken to be within a cell. Sheppard's correction
// takes away what the square gains by grouping, (step² − lattice²)/12 for numbers that are
// spread evenly, and what it gains by overlaying the grids.
func (g Grid) Moments(counts []float64) (mean, square float64) {
	var n float64
	narrow := g.Step / float64(g.Shifts)
	for k, c := range counts {
		v := g.High + g.Step - float64((float64(k)+0.5)*narrow)
		n += c
		mean += float64(c * v)
		square += float64(c * v * v)
	}
	gained := 2*float64(g.Step*g.Step) - float64(narrow*narrow) - float64(g.Lattice*g.Lattice)
	return mean / n, square/n - gained/sheppard
}

// Ends are numbers beyond each of which lies no more than a part of the rows that a sample is of, by so many standard
// deviations of noise and of sampling, or what the number can be where the cells don't tell. They are looked for from
// outside, and counts of one are spread over a cell, so that they lie out rather than in.
func (g Grid) Ends(counts []float64, spread, part, sds float64) (low, high float64) {
	n, narrow := floats.Sum(counts), g.Step/float64(g.Shifts)
	end := func(at func(m int) float64) (within int) {
		first, above := 2*g.Shifts-1, 0.0 // cells that rows beyond the grid are counted in
		for m := 1; m <= len(counts); m++ {
			above += at(m)
			off := math.Hypot(spread*math.Sqrt(float64(m))/float64(g.Shifts), math.Sqrt(n*part))
			if m >= first && above+sds*off > part*n {
				return max(m-1, first-1)
			}
		}
		return first - 1 // nothing stands out from noise
	}
	low, high = g.Least, g.Most
	if m := end(func(m int) float64 { return counts[m-1] }); m >= 2*g.Shifts-1 {
		high = math.Min(high, g.High+g.Step-float64(float64(m)*narrow))
	}
	if m := end(func(m int) float64 { return counts[len(counts)-m] }); m >= 2*g.Shifts-1 {
		low = math.Max(low, g.High+g.Step-float64(float64(len(counts)-m)*narrow))
	}
	return low, high
}

// Beyond is what lies beyond a grid on either side of a centre, as parts of n rows, by the law that is seen or by a
// slower one.
func (g Grid) Beyond(counts []float64, spread, centre float64, slow bool) (h Hidden) {
	n := floats.Sum(counts)
	sides, _ := g.sides(counts, spread, centre)
	for _, s := range sides {
		l, seen := s.far()
		if !seen || s.near >= s.end {
			continue
		}
		if slow {
			l = l.Slower()
		}
		of := l.beyond(s.near, s.end)
		h.Mean += s.sign * of.Mean / n
		h.Square += of.Square / n
		h.Spread = math.Hypot(h.Spread, of.Spread/n)
	}
	return h
}

// side is what lies on one side of a centre, and beyond cells: from a distance, which is below 0 where the centre lies
// beyond them too, to an end. Rows farther than beyond are counted beyond the cells.
type side struct {
	sign, near, end, beyond float64
	// exceed is how many rows lie farther from the centre than a distance, those of a cell spread evenly over it, and the standard deviation of their noise.
	exceed func(distance float64) (rows, noise float64)
}

// sides are both, and half of what the grid is wide.
func (g Grid) sides(counts []float64, spread, centre float64) (list [2]side, half float64) {
	narrow := g.Step / float64(g.Shifts)
	top := g.High + narrow/2 // where rows beyond are counted, in the mean of all shifts
	bottom := top - float64(float64(g.Cells+1)*g.Step)
	highest := g.High + g.Step
	lowest := highest - float64(float64(len(counts))*narrow)
	above, below := make([]float64, len(counts)+1), make([]float64, len(counts)+1)
	for k := range counts {
		above[k+1] = above[k] + counts[k]
		below[k+1] = below[k] + counts[len(counts)-1-k]
	}
	one := func(sign, near, end, outer float64, rows []float64) side {
		return side{sign, near, end, near - g.Step + narrow/2, func(distance float64) (float64, float64) {
			cells := min((outer-distance)/narrow, float64(len(rows)-1))
			if !(cells > 0) { // nor where a centre isn't known
				return 0, 0
			}
			k := min(int(cells), len(rows)-2)
			return rows[k] + float64((cells-float64(k))*(rows[k+1]-rows[k])), spread * math.Sqrt(cells) / float64(g.Shifts)
		}}
	}
	return [2]side{one(1, top-centre, g.Most-centre, highest-centre, above), one(-1, centre-bottom, centre-g.Least, centre-lowest, below)}, (top - bottom) / 2
}

// Added is what rows that noise hides may add to a mean: by the law that is seen, and at most, where all lie as far out as
// numbers can.
type Added struct{ ByLaw, AtMost float64 }

// Within is what they add by the law where that is no more than a limit, and at most where it is: then nothing that is seen says where
// they lie.
func (a Added) Within(limit float64) float64 {
	if a.ByLaw > limit {
		return a.AtMost
	}
	return a.ByLaw
}

// MayHide is what rows may add to the mean on either side, and to the mean square, that noise hides beyond a grid's
// ends: as many as a standard deviation more than are counted there, of a law whose tail falls as it is seen to fall,
// though no slower than 1/t, by which the mean is just infinite, and no faster than 1/t², by which the variance is. They
// begin at the grid's end, or half its width from the centre where that is farther and numbers are.
func (g Grid) MayHide(counts []float64, spread, centre float64) (below, above Added, square float64) {
	n := floats.Sum(counts)
	sides, half := g.sides(counts, spread, centre)
	for _, s := range sides {
		if s.near >= s.end {
			continue
		}
		near := min(max(s.near, half, g.Apart), s.end)
		rows, noise := s.exceed(s.beyond)
		may := (math.Max(0, rows) + float64(tuning.MayHide*noise)) / n
		falls := math.Max(1, math.Min(s.falls(), 2))
		added := Added{may * (near - s.near + float64(near*integral(s.end/near, 1-falls))), may * (s.end - s.near)}
		least := math.Max(0, s.near)
		if square += may * (float64(near*near) - float64(least*least) + 2*float64(near*near)*integral(s.end/near, 2-falls)); s.sign > 0 {
			above = added
		} else {
			below = added
		}
	}
	return below, above, square
}

// integral is that of u^(power−1) from 1 to an end.
func integral(end, power float64) float64 {
	if power == 0 {
		return math.Log(end)
	}
	return (math.Pow(end, power) - 1) / power
}

// falls is the power of 1/t by which the number of rows beyond t falls as far out as it is seen, and 0 where it isn't.
func (s side) falls() float64 {
	for from := s.beyond; from > s.near/tuning.FarLeast; from /= math.Sqrt2 {
		if rows, noise := s.exceed(from); rows > tuning.Outstanding*noise {
			half, _ := s.exceed(from / 2)
			return math.Log2(max(half, rows) / rows)
		}
	}
	return 0
}

// far finds the law of distances on a side of a centre from how many rows are there, exceed a
// distance or half of it, which is the largest of some up to the grid's end at which rows
// stand out from noise, as do those that lie nearer.
func (s side) far() (l Law, seen bool) {
	all, _ := s.exceed(0)
	for from := s.beyond; from > s.near/tuning.FarLeast; from /= math.Sqrt2 {
		rows, noise := s.exceed(from)
		half, _ := s.exceed(from / 2)
		if !(min(rows, half-rows, all-half) > tuning.Outstanding*noise) {
			continue
		}
		l = Law{Rows: all, From: from, Depth: math.Log(all / rows)}
		l.Power = math.Log2(l.Depth / math.Log(all/half))
		l.Power = math.Max(tuning.PowerLeast, math.Min(l.Power, tuning.PowerMost))
		return l, true
	}
	return l, false
}
