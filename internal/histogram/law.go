package histogram

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpglm/dpglm/internal/tuning"
)

// Law is a law of large numbers of rows: Rows·exp(−Depth·(t/From)^Power) of them exceed t.
type Law struct{ Rows, From, Depth, Power float64 }

// Above is how many rows exceed t.
func (l Law) Above(t float64) float64 {
	return l.Rows * math.Exp(-l.Depth*math.Pow(t/l.From, l.Power))
}

// Excess is by how much numbers exceed t, all together: the integral of Above.
func (l Law) Excess(t float64) float64 {
	scale := l.From * math.Pow(l.Depth, -1/l.Power)
	return l.Rows * scale * math.Gamma(1+1/l.Power) * mathext.GammaIncRegComp(1/l.Power, math.Pow(t/scale, l.Power))
}

// How finely integrals and minima are looked for.
const (
	clipStep = 1.04
	points   = 40
	widest   = 64 // end over beginning
)

// fourth is that of 4u(u² − t²), the derivative of (u² − t²)².
const fourth = 4

// Balanced returns the clip c from low/2 to top at which (noise·c)² and the square of
// fraction times the excess over c are smallest together.
func (l Law) Balanced(low, top, noise, fraction float64) (clip float64) {
	best := math.Inf(1)
	for c := low / 2; c < top && math.Pow(noise*c, 2) < best; c *= clipStep {
		if total := math.Pow(noise*c, 2) + math.Pow(fraction*l.Excess(c), 2); total < best {
			best, clip = total, c
		}
	}
	return clip
}

// Slower is a law that falls as fast at From, but farther out by a smaller power, the more so
// the smaller the one that is seen: this falls towards the end of heavy tails. Seen between a
// few parts of a hundred and half of the rows normal laws have powers about 1.35, nearly the
// slower ones, and exponential laws have 1, which become ½.
func (l Law) Slower() Law {
	power := math.Min(math.Max(tuning.SlowerLeast, 2*(l.Power-tuning.SlowerFrom)), l.Power)
	depth := l.Depth * l.Power / power
	return Law{l.Rows * math.Exp(depth-l.Depth), l.From, depth, power}
}

// Hidden is what rows beyond the cells of a grid add to the mean and to the mean square, whose
// place isn't seen: it is counted at the last of the cells.
type Hidden struct {
	Mean, Square float64
	Spread       float64 // of the square, from one sample of rows to the next
}

// beyond is what lies from a distance to an end.
func (l Law) beyond(t, end float64) (h Hidden) {
	step := math.Log(math.Min(end/t, widest)) / points
	u := t * math.Exp(step/2)
	further, depth := math.Exp(step), l.Depth*math.Pow(u/l.From, l.Power)
	deeper := math.Pow(further, l.Power)
	for range points {
		width := l.Rows * math.Exp(-depth) * u * step
		h.Mean += width
		h.Square += 2 * float64(u*width)
		h.Spread += fourth * float64(u*width*(u*u-t*t))
		u, depth = u*further, depth*deeper
	}
	h.Spread = math.Sqrt(h.Spread)
	return h
}
