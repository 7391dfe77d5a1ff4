package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/losses"
)

// start releases the labels' mean: with all there is, where nothing else can be had.
func (x *standardising) start() error {
	low, high := x.labelEnds()
	scale := 1.0
	switch x.loss.Labels() {
	case losses.Count:
		scale = x.shape.LabelBound
	case losses.Amount:
		scale = 30 // of the range over usual amounts, which have no unit
	}
	if err := x.total(); err != nil {
		return err
	}
	least := 0.005
	if x.pilot { // which has but a part of μ²
		least = 0.1
		if x.loss.Labels() == losses.Binary {
			least = 0.03
		}
	}
	share := math.Min(math.Max(math.Pow(25*scale/x.nmu(), 2), least), 0.2)
	if x.hopeless() {
		share = x.pool.left
	}
	if err := x.level(share, low, high); err != nil || x.constant {
		return err
	}
	if x.hidden() { // all that will be known of the intercept
		if err := x.level(againShare, low, high); err != nil {
			return err
		}
	}
	rare := 3.0
	if x.loss.Labels() == losses.Count {
		rare = 20
		if x.pilot { // whose intercept isn't released apart
			rare = 5
		}
	}
	if x.d <= standardisedDim && x.facts.minority*x.nmu() < rare*math.Sqrt(float64(x.d)) {
		return x.level(x.pool.left, low, high) // so few of the rarer class
	}
	return nil
}

// labelEnds are the ends of the labels' range.
func (x *standardising) labelEnds() (low, high float64) {
	switch y := x.shape.LabelBound; x.loss.Labels() {
	case losses.Binary:
		return 0, 1
	case losses.Count, losses.Amount:
		return 0, y
	default:
		return -y, y
	}
}

// totalShare is what the rows' weights and offsets are summed with.
const totalShare = 0.01

// total releases how many rows of the largest weight all come to, and the mean offset, where
// these aren't known: that of the mean exposure for counts and amounts, as a constant
// rate has it.
func (x *standardising) total() error {
	if !x.shape.Weighted && x.shape.largestOffset() == 0 {
		return nil
	}
	answer, err := x.sums.Totals(x.ctx)
	sums, err := x.pool.draw(totalShare, answer, err)
	if err != nil {
		return err
	}
	x.readTotals(sums, 2/(x.mu*math.Sqrt(totalShare)))
	return nil
}

// readTotals reads noisy totals, each with noise of the given standard deviation.
func (x *standardising) readTotals(sums []float64, noise float64) {
	if x.shape.Weighted {
		x.n = math.Min(x.n, math.Max(sums[0], math.Max(1, noise)))
	}
	low, high := x.shape.OffsetRange[0], x.shape.OffsetRange[1]
	if x.shifted = x.shape.largestOffset() * sums[1] / x.n; x.loss.Labels().FromZero() {
		x.shifted = high + math.Log(math.Max(sums[1], noise)/x.n)
	}
	x.shifted = math.Min(math.Max(x.shifted, low), high)
}

// level draws the labels' mean with a share, and takes what was drawn before into account.
func (x *standardising) level(share, low, high float64) error {
	answer, err := x.sums.Labels(x.ctx)
	sum, err := x.pool.draw(share, answer, err)
	if err != nil {
		return err
	}
	x.constant = x.pool.left <= 0
	x.told, x.toldWith = x.told+float64(share*sum[0]), x.toldWith+share
	x.facts, x.bias = x.labels(x.told/(x.toldWith*x.n), (high-low)/(x.nmu()*math.Sqrt(x.toldWith)), low, high)
	x.bias -= x.shifted
	if !x.shape.Intercept {
		x.bias, x.facts.apart = 0, 0
	}
	return nil
}

// labels reads the labels' noisy mean, of the given standard error. A pilot's clip holds counts'
// intercept with the rest: steps that follow mend what it cuts off, and noise would cost more.
func (x *standardising) labels(mean, noise, low, high float64) (labelFacts, float64) {
	k := x.loss.Constants(everywhere, x.shape.LabelBound)
	f := labelFacts{steepest: k.Smoothness, minority: 1, noise: noise}
	kind := x.loss.Labels()
	if (kind == losses.Binary || kind == losses.Count && !x.pilot) && !math.IsInf(k.Lipschitz, 1) {
		f.apart = k.Lipschitz
	}
	switch kind {
	case losses.Binary:
		floor := math.Min(0.5, math.Max(noise, 2/x.n))
		q := math.Min(math.Max(mean, floor), 1-floor)
		f.mean, f.minority, f.typical = q, math.Min(q, 1-q), 0.5
		bias := f.constant(x.loss)
		f.residual = f.curvature
		return f, bias
	case losses.Count, losses.Amount:
		f.mean = math.Max(math.Min(math.Max(mean, math.Min(noise, high/2)), high), 1e-9)
		f.minority = math.Min(1, f.mean)
		bias := f.constant(x.loss)
		f.residual = f.curvature
		return f, bias
	}
	width := high - low
	f.mean = math.Min(math.Max(mean, low), high)
	f.curvature, f.typical = f.steepest, 0.15*width
	f.residual = math.Pow(width/20*f.steepest, 2)
	if !math.IsInf(k.Lipschitz, 1) {
		f.curvature = math.Min(f.steepest, 10*k.Lipschitz/width)
		f.typical, f.residual = math.Min(f.typical, k.Lipschitz), math.Min(f.residual, k.Lipschitz*k.Lipschitz)
	}
	return f, f.mean
}
