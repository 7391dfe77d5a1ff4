package dpglm

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// The shares of μ² that standardising takes.
const (
	lengthsShare = 0.01 // each histogram of norms
	centreShare  = 0.04
	momentsShare = 0.10
	againShare   = 0.07 // the second round of moments
	hessianShare = 0.06 // the Hessian, where it will be released
)

// standardise releases the frame. It reports where the features are many and no direction stands
// out of the noise: of classes, as scores of other labels have units, and steps by columns don't.
func (x *standardising) standardise() (few bool, err error) {
	d, nmu := float64(x.d), x.nmu()
	bound := x.data.Facts().Bound
	plain, err := x.sums.Frame(x.ctx, curator.Frame{})
	if err != nil {
		return false, err
	}
	top := bound
	if x.shape.Intercept {
		if err := x.centre(plain, bound); err != nil {
			return false, err
		}
		top += vector.Norm(x.frame.Centre)
		if plain, err = x.sums.Frame(x.ctx, x.frame); err != nil {
			return false, err
		}
	}
	if x.drowned() {
		return false, x.scaleAlike(plain, top)
	}
	edges := histogram.Geometric(top, math.Sqrt2, 20)
	h, err := x.lengths(lengthsShare, edges, plain)
	if err != nil {
		return false, err
	}
	longest := x.long(h, x.fading(200), top)
	if x.big() {
		longest = math.Min(top, longest*math.Max(1, math.Sqrt(0.01*nmu*math.Sqrt(momentsShare)/(2*math.Pow(d, 1.5)))))
	}
	top, err = x.whitenBy(plain, longest, momentsShare)
	if err != nil {
		return false, err
	}
	if x.d > whitenedDim && top < 0.1 && x.loss.Labels() == losses.Binary {
		return true, nil
	}
	return false, x.again()
}

// long is what rows are shortened to that may be as long as top: a fraction of them, unless
// these carry most of the second moments, as rows with a rare level do where all others are
// alike. Where too few rows are private enough to tell, the bound on them must do: to take
// such rows for short makes their scores huge.
func (x *standardising) long(h histogram.Tails, fraction, top float64) float64 {
	hidden := top / math.Max(24, x.nmu()/50)
	return max(hidden, h.Carrying(), h.Smallest(fraction*x.n, 2))
}

// fading is the fraction of rows that may be longer than the bound on them: from a fifth
// to a fivehundredth, as more data drown the noise.
func (x *standardising) fading(factor float64) float64 {
	return math.Min(0.2, math.Max(factor*math.Sqrt(float64(x.d))/x.nmu(), 0.002))
}

// big is where noise can't matter and bounds let go.
func (x *standardising) big() bool { return x.nmu() > 10_000*math.Pow(float64(x.d), 1.5) }

// centre releases the features' mean.
func (x *standardising) centre(plain *curator.Framed, bound float64) error {
	edges := histogram.Geometric(bound, math.Sqrt2, 20)
	h, err := x.lengths(lengthsShare, edges, plain)
	if err != nil {
		return err
	}
	longest := x.long(h, 0.1, bound)
	answer, err := plain.Sum(x.ctx, longest)
	sum, err := x.pool.draw(centreShare, answer, err)
	if err != nil {
		return err
	}
	for j := range sum {
		sum[j] /= x.n
	}
	x.spread = 2 * longest / (x.nmu() * math.Sqrt(centreShare))
	factor := shrunk(sum, x.spread*x.spread)
	for j := range sum {
		sum[j] *= factor
	}
	x.spread *= factor
	x.frame.Centre = sum
	return nil
}

// scaleAlike scales all features so that a quarter of the rows are longer than 2, unless
// these carry most of the second moments.
func (x *standardising) scaleAlike(plain *curator.Framed, top float64) error {
	share := math.Min(math.Max(4/x.nmu(), lengthsShare), 0.05)
	h, err := x.lengths(share, histogram.Geometric(top, math.Sqrt2, 9), plain)
	if err != nil {
		return err
	}
	return x.roundFrame(2 / math.Max(h.Carrying(), h.Smallest(x.n/4, 1)))
}

// roundFrame scales all features alike.
func (x *standardising) roundFrame(scale float64) (err error) {
	x.frame.Scale = make([]float64, x.d)
	for j := range x.frame.Scale {
		x.frame.Scale[j] = scale
	}
	x.effective = 3
	x.framed, err = x.sums.Frame(x.ctx, x.frame)
	return err
}

// whitenBy releases second moments in a frame and moves to the one in which they are
// round. It returns the fraction of the moments in directions that stand out of the
// noise.
func (x *standardising) whitenBy(in *curator.Framed, longest, share float64) (float64, error) {
	answer, err := in.Moments(x.ctx, longest)
	packed, err := x.pool.draw(share, answer, err)
	if err != nil {
		return 0, err
	}
	rho := math.Sqrt(2*float64(x.d)) * math.Sqrt2 * longest * longest / (x.mu * math.Sqrt(share))
	w, ok := whiten(packed, x.d, x.n, rho)
	if !ok {
		return 0, errEigen
	}
	if x.frame.Matrix != nil {
		var both mat.Dense
		both.Mul(x.frame.Matrix, w.axes)
		w.axes = &both
	}
	x.frame.Matrix, x.known, x.effective, x.round = w.axes, w.known, 1, x.round || w.round
	var out, all float64
	for k, v := range w.values {
		x.effective += w.known[k]
		all += v
		if v > 1.5*rho {
			out += v
		}
	}
	x.framed, err = x.sums.Frame(x.ctx, x.frame)
	return out / math.Max(all, 1e-300), err
}

// again releases a second round of moments where it promises something, and settles
// whether the Hessian will be released.
func (x *standardising) again() error {
	d, nmu := float64(x.d), x.nmu()
	edges := histogram.Geometric(32*math.Sqrt(d), math.Sqrt2, 20)
	h, err := x.lengths(lengthsShare, edges, x.framed)
	if err != nil {
		return err
	}
	typical := math.Sqrt(x.effective-1) / 2 // half of rows' root mean square, as far as that is known
	longest := max(typical, math.Min(h.Carrying(), 2*math.Sqrt(d)), h.Smallest(x.n*x.fading(100), 2))
	if x.big() {
		longest = math.Min(edges[0], longest*math.Max(1, math.Sqrt(0.01*nmu*math.Sqrt(againShare)/(2*math.Pow(d, 1.5)))))
	}
	drowned := 2 * math.Sqrt(d) * longest * longest / (nmu * math.Sqrt(againShare))
	if drowned <= 0.3 && (x.effective-1 < d/2 || x.big() || x.pilot) {
		if _, err := x.whitenBy(x.framed, longest, againShare); err != nil {
			return err
		}
	}
	if x.pilot {
		return nil
	}
	if x.hessian = nmu >= 50*math.Pow(d, 1.5) && x.sums.Curved() && !x.kinked(); !x.hessian {
		return nil
	}
	edges = histogram.Geometric(8*math.Sqrt(d), math.Sqrt2, 16)
	if h, err = x.lengths(lengthsShare, edges, x.framed); err != nil {
		return err
	}
	long := h.Smallest(0.01*x.n, 3)
	x.hessian = math.Sqrt(2*(d+1))*math.Sqrt2*(long*long+1)/(nmu*math.Sqrt(hessianShare)) <= 0.05
	return nil
}
