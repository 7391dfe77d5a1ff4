package infer

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// clipping is how gradients are bounded by a clip C, and what that costs. Before it is clipped a row's gradient is
// shortened by a factor that depends on its features and the point alone, so that a likely label's is no longer
// than C. Where labels have the mean that the model says such a factor favours no direction, whatever C is: rows that
// are long count less, and the directions that they are long in are known less well. Of two classes and levels the
// likely label is the one with the largest slope, and nothing is left to clip. Of others it is two deviations off.
type clipping struct {
	in   *space
	cut  float64 // by how much gradients exceed the clip, per row, in each coordinate
	gap  float64 // what may be missing along the intercept, where it may all lie to one side: rows whom noise hides among it, and what labels' mean tells
	lost float64 // part of the curvature that rows which count less take from a direction at most, if the longest fill one after the other
	unit float64 // of scores: a standard deviation of real labels about their predictions, 1 for others
	// unresolved tells that the histogram told nothing of the clip.
	unresolved bool
}

// choose chooses the clip, and the bound on rows' curvature; and it releases the Hessian where that doesn't depend
// on the point.
func (v *clipping) choose() error {
	covered, err := v.cover()
	if err != nil {
		return err
	}
	if !covered {
		if err := v.bound(); err != nil {
			return err
		}
	}
	if v.in.normBound, err = v.in.rowBound(); err != nil || v.in.varies() {
		return err
	}
	return v.in.curveAt(v.in.pilot, v.in.curveShare())
}

// cover bounds gradients by an edge that none exceeds, so that no row is shortened: where single rows are seen, and
// noise of such a clip is a tenth of what sampling makes gradients vary by. Where all are shorter than the least edge, as
// those of labels that are nearly told by the model, of which the loss knows no scale, a second histogram has edges below.
func (v *clipping) cover() (covered bool, err error) {
	share, dim := v.histogramShare(), float64(len(v.in.pilot))
	if tuning.Surely*math.Sqrt(2*tuning.WideClipEdges/share) > v.in.run.Problem.Mu {
		return false, nil
	}
	top := gradientsTop * v.in.run.Problem.LargestSlope() * math.Sqrt(dim)
	var h histogram.Tails
	var edge float64
	for range coverings {
		edges := histogram.Geometric(top, math.Sqrt2, tuning.WideClipEdges)
		if h, err = v.norms(edges, share); err != nil {
			return false, err
		}
		if edge = h.Covering(); edge > edges[len(edges)-1] {
			break
		}
		top = edge // which all gradients are shorter than: how long they are lies below
	}
	noise := 2 * edge / (v.in.run.Problem.Mu * math.Sqrt(v.in.steps()))
	if !(noise <= coveringNoise*math.Sqrt(math.Max(0, h.MeanSquare())/dim*v.in.run.N)) {
		return false, nil
	}
	v.in.held.Clip = edge
	return true, nil
}

// norms is a histogram of how long gradients are, or likely to be.
func (v *clipping) norms(edges []float64, share float64) (histogram.Tails, error) {
	u, b := v.in.split(v.in.pilot)
	slope := v.in.held
	slope.Clip = 1
	answer, err := v.in.frame.In.GradientNorms(v.in.run.Task.Ctx, edges, u, b, slope)
	return v.in.run.Read(share, edges, answer, err)
}

// bound chooses the clip where noise matters.
func (v *clipping) bound() error {
	loss := v.in.run.Problem.Loss
	if v.in.run.Problem.Facts.EachRow {
		return v.cutOff()
	}
	if _, levels := loss.(losses.Ordinal); levels || loss.Labels() == losses.Binary {
		return v.balance()
	}
	return v.cutOff()
}

// cutOff chooses the clip, by a law of how long gradients are, for the variance of noise and the square of what is cut
// off to be small together. What is likely are two of the deviations that their lengths tell.
func (v *clipping) cutOff() error {
	p, dim := v.in.run.Problem, float64(len(v.in.pilot))
	edges := histogram.Geometric(cutOffTop*p.LargestSlope()*math.Sqrt(dim), math.Sqrt2, tuning.WideClipEdges)
	h, err := v.norms(edges, v.histogramShare())
	if err != nil {
		return err
	}
	law, low := h.FromSeen().Upper(v.eventFraction(), tuning.TailPower)
	noise := 2 * math.Sqrt(dim) / (p.Mu * math.Sqrt(v.in.steps()))
	clip := law.Balanced(low, edges[0], noise, v.part())
	square := math.Max(0, h.MeanSquare()) // but for noise; where it is 0 nothing is known to be likely
	deviation := math.Sqrt(square / (dim * v.in.typical))
	v.in.held.Clip = clip
	if p.Loss.Labels() == losses.Real {
		v.unit = deviation
	}
	v.unresolved = clip < tuning.Unresolved*edges[len(edges)-1]
	v.cut = law.Excess(clip) / v.in.run.N / math.Sqrt(dim)
	v.gap = math.Max(1, v.part()) * (law.Excess(clip) + h.MayExceed(clip, law)) / v.in.run.N / math.Sqrt(dim)
	if p.Facts.EachRow { // persons' sums are clipped, and no row is shortened
		return nil
	}
	v.in.held.Likely = tuning.LikelyDeviations * deviation
	lengthsOf(h, dim).directions(clip, func(kept, _ float64) { v.lost = math.Max(v.lost, 1-kept) })
	return nil
}

// histogramShare is that of each histogram.
func (v *clipping) histogramShare() float64 {
	return tuning.WideClipShare * math.Min(math.Max(tuning.WideClipMore/v.in.run.NMu(), 1), tuning.WideClipMost)
}

// eventFraction is the fraction of rows among which the longest gradients are: those with events
// where counts have few, and else all.
func (v *clipping) eventFraction() float64 {
	if losses.LinkOf(v.in.run.Problem.Loss) == losses.Log {
		return v.in.labels.Minority
	}
	return 1
}

// balance chooses the clip, by a histogram of how long rows' gradients are with likely labels, for the product of
// the variances along all directions to be least, as D-optimal designs do: noise grows with the clip, and rows
// that are shortened tell less. Of what they tell the longest rows are taken to fill one direction after the
// other.
func (v *clipping) balance() error {
	v.in.held.Likely = 1 // of the largest slope
	dim := float64(len(v.in.pilot))
	edges := histogram.Geometric(rowsTop*math.Sqrt(dim*math.Min(1, v.in.typical)), math.Sqrt2, tuning.WideClipEdges)
	h, err := v.norms(edges, v.histogramShare())
	if err != nil {
		return err
	}
	rows := lengthsOf(h, dim)
	one := v.in.typical * v.in.run.N // what gradients vary by along a direction, all together
	noise := math.Pow(2/v.in.run.Problem.Mu, 2) / (one * v.in.steps())
	misfit := tuning.Misfit * tuning.Misfit * one
	best := math.Inf(1)
	for c := rows.largest(); c >= rows.largest()/largestOver; c /= clipStep {
		var product float64 // its logarithm
		var worst float64
		rows.directions(c, func(kept, squares float64) {
			variance := (squares + noise*c*c) / (kept * kept) * (1 + math.Pow(tuning.CurveNoise*kept, -2))
			product += math.Log(variance + misfit*(1-kept)*(1-kept))
			worst = math.Max(worst, 1-kept)
		})
		if product < best {
			best, v.in.held.Clip, v.lost = product, c, worst
		}
	}
	return nil
}

// Highest edges are far beyond what tables have.
const (
	gradientsTop = 64  // of gradients' norms, over the largest slope times √dim
	cutOffTop    = 4   // the same where noise hides single rows
	rowsTop      = 512 // of rows' lengths, over what round coordinates have
)

// coverings is how many histograms cover reads at most.
const coverings = 2

// coveringNoise is the noise of a clip that costs nothing, over what sampling makes gradients vary by: it adds half a
// hundredth to standard errors.
const coveringNoise = 0.1

// How finely, and how far, a clip is looked for.
const (
	clipStep    = 1.05
	largestOver = 1024
)

// lengths are those of groups of rows, the longest first, and what part of the directions each fills.
type lengths struct{ long, part []float64 }

// lengthsOf reads a histogram, as far as its counts are seen: rows count by their squares, and are as long as the
// middle of their cell, which is half an octave wide.
func lengthsOf(h histogram.Tails, dim float64) (l lengths) {
	above, last, middle := 0.0, len(h.Edges), math.Sqrt(math.Sqrt2)
	for j := range last + 1 {
		rows := math.Max(0, h.Rows-above) // noise may have more above the last edge than there are
		if j < last {
			if rows = h.Above[j] - above; rows <= 0 || h.Above[j] < tuning.RowSurely*h.SD(j) {
				continue
			}
		}
		above += rows
		long := h.Edges[max(j-1, 0)] / middle
		l.long, l.part = append(l.long, long), append(l.part, rows*long*long)
	}
	floats.Scale(dim/floats.Sum(l.part), l.part)
	return l
}

func (l lengths) largest() float64 { return l.long[0] }

// directions tells of each direction what part of its curvature a clip keeps, and the part of what gradients
// vary by.
func (l lengths) directions(clip float64, tell func(kept, squares float64)) {
	var filled, kept, squares float64
	for k, long := range l.long {
		w := math.Min(1, clip/long)
		for left := l.part[k]; left > full; {
			take := math.Min(left, 1-filled)
			filled, kept, squares, left = filled+take, kept+take*w, squares+take*w*w, left-take
			if filled > 1-full {
				tell(kept, squares)
				filled, kept, squares = 0, 0, 0
			}
		}
	}
}

// full is the part of a direction that rounding may leave.
const full = 1e-9

// part is that of what is cut off of gradients that may lie along a direction, over what does where it lies along all
// alike. Where persons' are cut, whose rows err alike, and the more alike the more there are, all of it may lie along
// one.
func (v *clipping) part() float64 {
	if v.in.run.Problem.Facts.EachRow {
		return math.Sqrt(float64(len(v.in.pilot)))
	}
	return tuning.CutPart
}

// missing is the square of what the clip may have cut off of a mean gradient: a part of it along any direction, all
// of it along the intercept, or as much as labels' mean tells.
func (v *clipping) missing() *mat.SymDense {
	dim := len(v.in.pilot)
	m := mat.NewSymDense(dim, nil)
	for j := range dim {
		missing := v.part() * v.cut
		if j == v.in.run.D {
			missing = max(missing, v.cut, v.gap)
		}
		m.SetSym(j, j, missing*missing)
	}
	return m
}
