package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// scaleResiduals releases histograms of labels less a constant, for losses of real labels whose slopes have a bound, so that
// gradients don't tell how much labels vary: the constant model is the histogram's, and how curved the loss is there, and over what
// width its kink is smoothed, go by how near to it half of the rows are. A second one is about the first one's constant. Where noise
// hides them all stays as public facts have it.
func (x *Run) scaleResiduals(l *Labels) error {
	p := &x.Problem
	if !p.kinked() || x.Hopeless() || x.Pool.Spent() {
		return nil
	}
	var deviation float64
	for range 2 {
		h, noise, err := x.residuals(l.Bias)
		if err != nil {
			return err
		}
		if h == nil {
			break
		}
		best := l.Bias
		if p.Facts.Intercept {
			best = h.minimiser(p.Asked, p.Facts.LabelBound, l.Shifted)
		}
		deviation = h.middle(best) / middleOfNormal
		noise *= deviation * math.Sqrt(2*math.Pi) // over a normal law's density
		off := best - l.Bias
		l.Bias += off * JamesStein(noise*noise, off*off)
	}
	if !(deviation > 0) {
		return nil
	}
	var err error
	if e, ok := losses.Envelope(p.Asked, deviation/tuning.KinkWidthReal); ok {
		p.Loss = e
	}
	x.Sums, err = x.Task.Under(p.Loss)
	l.vary(p.Loss.Constants(check.Everywhere, p.Facts.LabelBound), deviation)
	l.Biases = []float64{l.Bias}
	return err
}

// residuals releases labels, less rows' offsets, in cells about a constant score that stand out from noise, nil where none does; and the noise
// in the part of the rows that all cells have.
func (x *Run) residuals(constant float64) (h spots, noise float64, err error) {
	sums, err := x.Task.Under(losses.Squared{})
	if err != nil {
		return nil, 0, err
	}
	in, err := sums.Frame(x.Task.Ctx, curator.Frame{Each: x.each})
	if err != nil {
		return nil, 0, err
	}
	edges := histogram.RangeEdges(2 * x.Problem.Facts.LabelBound)
	answer, err := in.Slopes(x.Task.Ctx, edges, make([]float64, in.Dim()), constant, curator.Ends{}) // scores less labels
	counts, err := x.Pool.Draw(tuning.CountsShare, answer, err)
	if err != nil {
		return nil, 0, err
	}
	spread := x.Problem.Facts.Positive() / (x.Problem.Mu * math.Sqrt(tuning.CountsShare))
	low, high := histogram.StandOut(counts, spread)
	if low > high || floats.Sum(counts[low:high+1]) < half*x.N {
		return nil, 0, nil
	}
	clear(counts[:low])
	clear(counts[high+1:])
	noise = spread * math.Sqrt(float64(high-low+1)) / x.N
	return spotted(constant, edges, histogram.Nonnegative(counts, x.N)), noise, nil
}

// middleOfNormal is what half of a standard normal law is within, on either side of 0.
const middleOfNormal = 0.6745

// spots are places of labels, with how many rows lie there.
type spots []spot

type spot struct{ at, rows float64 }

// cellParts are parts of a cell that rows are spread over.
const cellParts = 16

// spotted spreads rows over cells of a constant less the label, between falling edges; those beyond lie at the ends.
func spotted(constant float64, edges, counts []float64) spots {
	list := spots{{constant - edges[0], counts[0]}, {constant - edges[len(edges)-1], counts[len(edges)]}}
	for k, rows := range counts[1:len(edges)] {
		for i := range cellParts {
			list = append(list, spot{constant - edges[k] + float64((edges[k]-edges[k+1])*(float64(i)+half)/cellParts), rows / cellParts})
		}
	}
	return list
}

// minimiser is the constant score with the least loss, for labels within a bound and offsets with a mean.
func (h spots) minimiser(l losses.Loss, bound, shifted float64) float64 {
	return crossing(-bound, bound, func(b float64) bool {
		slope := 0.0
		for _, s := range h {
			slope += float64(s.rows * l.Deriv(b, math.Min(math.Max(s.at+shifted, -bound), bound)))
		}
		return slope < 0
	}) - shifted
}

// middle is how near to a place half of the rows are.
func (h spots) middle(place float64) float64 {
	far, order, left := make([]float64, len(h)), make([]int, len(h)), 0.0
	for i, s := range h {
		far[i] = math.Abs(s.at - place)
		left += half * s.rows
	}
	floats.Argsort(far, order)
	for i, k := range order {
		if left -= h[k].rows; left <= 0 {
			return far[i]
		}
	}
	return far[len(far)-1]
}
