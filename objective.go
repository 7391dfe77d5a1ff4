package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// objective is a planned objective perturbation.
type objective struct {
	trained    losses.Loss
	shape      Shape
	typical    typical
	clip       float64 // bound on a row's gradient norm
	smoothness float64 // of a row's loss in its weights, HX²
	lambda     float64
	law        mechanisms.ObjectivePerturbation
}

// clipped is the default clip over what most rows' gradients at w = 0 measure.
const clipped = 0.8

// newObjective plans for rows of which only bounds are known. The clip 0 stands
// for its default.
func newObjective(s Shape, p Problem, clip float64) *objective {
	z := s.FeatureBound * p.Radius
	t := typicalOf(p.Loss, typicalRow*s.FeatureBound, typicalLabel*s.LabelBound)
	o := &objective{trained: everywhereSmooth(p.Loss, z, s.LabelBound), shape: s, typical: t, clip: clip}
	if clip == 0 {
		o.clip = clipped * t.row * p.Loss.Constants(0, t.label).Slope
		if p.Loss.Labels() == losses.Binary {
			// What is shortened of one class more than of the other moves the mean.
			o.clip = s.FeatureBound * p.Loss.Constants(0, 0).Slope
		}
	}
	k := o.trained.Constants(everywhere, s.LabelBound)
	if o.clip >= NoClip && math.IsInf(k.Lipschitz, 1) {
		o.trained = losses.Extended{Inner: o.trained, Limit: z}
		k = o.trained.Constants(everywhere, s.LabelBound)
	}
	o.clip = math.Min(o.clip, s.FeatureBound*k.Lipschitz*o.room())
	o.smoothness = k.Smoothness * s.FeatureBound * s.FeatureBound * o.room() * o.room()
	return o
}

// letGo lets the default clip grow as data and a budget of about μ-GDP drown the noise,
// which then still falls as the root of n·μ.
func (o *objective) letGo(mu float64) {
	s := o.shape
	o.clip *= math.Max(1, lettingGo(s, mu))
	k := o.trained.Constants(everywhere, s.LabelBound)
	o.clip = math.Min(o.clip, s.FeatureBound*k.Lipschitz*o.room())
}

// room is by how much rounding may lengthen a row or a clipped gradient: the slack
// of package rows.
func (o *objective) room() float64 {
	return 1 + math.Ldexp(float64(o.shape.Dim)+16, -50)*curator.MaxOffset
}

// outputShare is the part of the budget's μ that the output noise has. As squares
// add, it costs half a percent of the other noise.
const outputShare = 0.1

// calibrate sets λ, where none is given, and the law of the minimiser.
func (o *objective) calibrate(lambda float64, b Budget) error {
	if b.pure {
		return check.Fail(ErrBudget, "delta", 0, "must be positive, as the noise is Gaussian; use ApproxDP or GDP")
	}
	for _, v := range []float64{o.clip, o.smoothness} {
		if !(v > 0 && v <= check.MaxScale/2) {
			return check.Fail(ErrBound, "feature bound", o.shape.FeatureBound, fmt.Sprintf("must be so small that the clip, %g, and the curvature of a row's loss, %g, are positive and at most %g", o.clip, o.smoothness, check.MaxScale/2))
		}
	}
	mu, err := b.gdp()
	if err != nil {
		return err
	}
	o.law.OutputMu = outputShare * mu
	law := o.law
	law.LogDet = math.Log1p(o.smoothness/lambda) * (1 + 1e-15)
	if lambda == 0 {
		law.LogDet = o.predict(b, mu, law.OutputMu)
	}
	for range 5 {
		law.Ratio, err = b.objectiveRatio(law, o.shape.Dim)
		if err == nil || lambda != 0 {
			break
		}
		law.LogDet /= 4 // the prediction was too bold for this budget
	}
	if err != nil {
		return err
	}
	if o.lambda = lambda; lambda == 0 {
		o.lambda = o.lambdaOf(law.LogDet)
	}
	o.law.Ratio, o.law.LogDet = law.Ratio, law.LogDet
	_, err = mechanisms.Gaussian{Mu: law.Ratio}.Sigma(o.clip*o.room(), o.shape.Dim)
	return err
}

// lambdaOf is the λ at which the log-determinant is at most the given one.
func (o *objective) lambdaOf(logDet float64) float64 {
	return o.smoothness / math.Expm1(logDet) * (1 + 1e-12)
}

// predict returns the log-determinant with the lowest predicted risk, for a budget
// that as a whole is about μ-GDP and is for other Gaussian releases, too.
func (o *objective) predict(b Budget, mu, gaussian float64) float64 {
	whole := b.epsilon / (float64(b.parts) * float64(b.group))
	if b.inMu() {
		whole = mu
	}
	least, best := math.Inf(1), math.Ln2
	for logDet := 0.01 * math.Min(whole, 1); logDet < math.Min(0.95*whole, 10); logDet *= 1.1 {
		ratio, err := o.ratioBeside(logDet, b, mu, gaussian)
		if err != nil { // nothing is left
			break
		}
		if risk := o.risk(o.lambdaOf(logDet), o.clip/ratio); risk < least {
			least, best = risk, logDet
		}
	}
	return best
}

// ratioBeside is about the ratio that is left beside a log-determinant. In μ it is
// exact, and quickly found; in (ε, δ) log-determinants add, Gaussians compose, and half
// of δ is for each half of a normal law (see mechanisms.ObjectivePerturbation).
func (o *objective) ratioBeside(logDet float64, b Budget, mu, gaussian float64) (float64, error) {
	if b.inMu() {
		return accounting.Objective{LogDet: logDet, OutputMu: gaussian, Dim: o.shape.Dim, Releases: 1}.RatioForGDP(mu)
	}
	parts, group := float64(b.parts), float64(b.group)
	both, err := mechanisms.GaussianMu(b.epsilon-logDet*parts*group, b.delta/2)
	return both / 2 / math.Sqrt(parts) / group, err
}

// risk is the sum in the comment of ObjectivePerturbation.
func (o *objective) risk(lambda, sigma float64) float64 {
	d, r, x := float64(o.shape.Dim), o.typical.row, o.shape.FeatureBound
	trace := o.smoothness * (r / x) * (r / x) * float64(o.shape.Rows)
	if o.trained.Labels() == losses.Binary {
		trace *= 0.6 // the largest curvature is at score 0
	}
	first := trace / (math.Log(d) + 0.58) // over the sum of 1/j
	spread := lambda*lambda*o.typical.variance/(r*r) + sigma*sigma
	out := o.outputNoise(lambda, sigma)
	risk := trace * out * out
	for j := 1.0; j <= d; {
		h, terms := first/j, math.Max(1, math.Floor(j/1000)) // beyond 2000 several that differ little
		risk += math.Min(terms, d-j+1) * h * spread / ((h + lambda) * (h + lambda))
		j += terms
	}
	return risk
}

// outputNoise predicts the output noise's standard deviation from the rounding error
// of a gradient at the largest ‖θ‖, raw terms being four times as large as the rows.
func (o *objective) outputNoise(lambda, sigma float64) float64 {
	n, d := float64(o.shape.Rows), float64(o.shape.Dim)
	rounding := 4 * n * o.smoothness * 0x1p-53 * (d + 8) * o.weightBound(lambda, o.normBound(sigma))
	return 8 * math.Max(rounding, 1e-9*o.clip) / lambda / o.law.OutputMu
}

// normBound is the norm that b is held to.
func (o *objective) normBound(sigma float64) float64 {
	return sigma * (math.Sqrt(float64(o.shape.Dim)) + 64 + 2*o.law.Ratio)
}

// weightBound bounds the norm of the minimiser.
func (o *objective) weightBound(lambda, normBound float64) float64 {
	return curator.WeightBound(o.trained, o.shape.LabelBound, o.shape.largestOffset(), o.shape.Rows, o.shape.FeatureBound, o.clip, lambda, normBound)
}

// train releases the minimiser.
func (o *objective) train(r *run, d *curator.Data, allow *release.Allowance) ([]float64, error) {
	sums, err := d.Under(o.trained)
	if err != nil {
		return nil, err
	}
	minimand, err := sums.Objective(o.clip, o.lambda)
	if err != nil {
		return nil, err
	}
	return allow.Minimise(r.ctx, minimand)
}
