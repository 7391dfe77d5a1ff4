package dpglm

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

var _ Learner = AutoConfig{}

// AutoConfig has no parameters; it is the Learner of [Auto].
type AutoConfig struct{}

// Auto trains with the method and the parameters that public numbers recommend. It
// is the one to begin with, and in trials the most accurate: the bounds that a
// user can state are often several times larger than the data, and noise grows
// with them.
//
// Under an [ApproxDP] or [GDP] budget it is [PreconditionedGD], with two exceptions that are
// [ObjectivePerturbation]: more than 1000 weights, where second moments cost too much; and
// classes, if the loss is smooth, the budget ApproxDP and n·μ ≥ 300√d, where it is as
// accurate and quicker. Either runs at scales that are measured first, privately, with
// a small part of the budget:
//
//   - two histograms are released, of the norms of the rows and of the magnitudes
//     of the labels (the first alone where labels are binary), in steps of a
//     quarter octave below their bounds;
//   - with R the 0.8 quantile of the rows' norms, rows are held to 1.2·R and the
//     intercept's constant becomes a power of two near R/5;
//   - real labels are held to 4s, s the 0.6 quantile of their magnitudes; counts to
//     1.2 times their 0.97 quantile, and s is their 0.8 quantile;
//   - the clip is 0.8·R·sup_{|y|≤s}|φ'_y(0)|, so that most rows' gradients at w = 0
//     are just clipped, until PreconditionedGD measures gradients and chooses its
//     own; the λ of ObjectivePerturbation follows from the share of ε that the
//     log-determinant takes.
//
// Where the rows are too few to measure anything, the bounds stay, R is three
// quarters and s a quarter of them.
//
// Under a [PureDP] budget it is [OutputPerturbation].
//
// # Privacy
//
// Replace-one. The histograms' L2 sensitivity is √2, or 2 for two of them; they
// are released by [mechanisms.Gaussian] with between a tenth and 35 % of the
// budget's μ. All that is set from them is post-processing. The law of objective
// perturbation's minimiser depends on the ratio of clip to noise and on the
// log-determinant only, and that of preconditioned descent on the μ of each of its
// releases; the plan has fixed them: so either composes with the histograms as if
// nothing were adaptive. Guarantee and proof of the second step are
// ObjectivePerturbation's or PreconditionedGD's.
//
// # Limits
//
// A factor of 360 between a bound and the data is too much for the histograms. A
// few rows that are much longer than the others count for less than in the plain
// loss, as do labels far from the others: that is Huber's loss in place of the
// squared one, and for counts a mean that the largest counts don't reach. Who
// wants the plain loss uses ObjectivePerturbation with [NoClip] and pays for it.
func Auto(ctx context.Context, d *Dataset, p Problem, b Budget, env *Env) (*Model, error) {
	return fit(ctx, AutoConfig{}, d, p, b, env)
}

// Plan chooses the method and calibrates it.
func (c AutoConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	resolved, err := p.resolve(s, nearScore)
	if err != nil {
		return nil, err
	}
	mu, err := b.gdp()
	if err != nil {
		return nil, err
	}
	if b.pure {
		return OutputPerturbationConfig{}.Plan(s, p, b)
	}
	a := &auto{scales: planScales(s, p.Loss.Labels(), mu), asked: p, planned: newObjective(s, resolved, 0)}
	if err := solvable(a.planned.trained, s, resolved, 0); err != nil {
		return nil, err
	}
	schedule, err := a.calibrate(b, mu, resolved)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(c, s, resolved, b, schedule, a.train)
	if err == nil && a.descent != nil {
		plan.weightBound = preconditionedBound * resolved.Radius
	}
	return plan, err
}

// auto is a planned Auto that measures scales.
type auto struct {
	scales  scales
	asked   Problem
	planned *objective
	descent *preconditioned // nil where planned is run
}

// calibrate fits the training into what the release of the scales leaves of a budget
// of μ, and returns the schedule of both: the last part is the training.
func (a *auto) calibrate(b Budget, mu float64, p Problem) (*release.Schedule, error) {
	training, err := a.calibrateTraining(b, mu, p)
	if err != nil {
		return nil, err
	}
	if a.scales.mu == 0 {
		return release.Sequential("auto", training)
	}
	histograms, err := a.scales.schedule()
	if err != nil {
		return nil, err
	}
	return release.Sequential("auto", histograms, training)
}

func (a *auto) calibrateTraining(b Budget, mu float64, p Problem) (*release.Schedule, error) {
	if descends(a.planned.shape, p.Loss, b, mu) {
		a.descent = newPreconditioned(a.planned.shape, p)
		rest := math.Sqrt((mu-a.scales.mu)*(mu+a.scales.mu)) * (1 - 1e-9) // room for the grids' slack
		return a.descent.calibrate(&PreconditionedGDConfig{}, GDP(rest))
	}
	if err := a.planned.calibrate(0, b, a.scales); err != nil {
		return nil, err
	}
	return release.Objective("minimiser", a.planned.law, a.planned.shape.Dim)
}

// descends reports where PreconditionedGD is, in trials, the better one.
func descends(s Shape, l losses.Loss, b Budget, mu float64) bool {
	objective := smoothClasses(l) && quiet(s, mu) && !b.inMu()
	return s.Dim <= preconditionedDim && !objective
}

// train measures, and trains on the rows held to what was measured.
func (a *auto) train(r *run) ([]float64, error) {
	m, training, err := a.measure(r)
	if err != nil {
		return nil, err
	}
	_, exponent := math.Frexp(m.typical.row / 4)
	constant := math.Ldexp(1, exponent-1)
	d := r.data.Rebound(m.bound, constant, m.labelBound)
	o, p, err := a.at(m, d.Facts())
	if err != nil {
		return nil, err
	}
	var w []float64
	if a.descent != nil {
		w, err = a.descent.at(o.shape, p, o.clip).descend(r, d, training)
	} else {
		w, err = o.train(r, d, training)
	}
	if err == nil && o.shape.Intercept {
		w[o.shape.Dim-1] *= constant
	}
	return w, err
}

// measure returns the released scales, or what can be guessed without, and the
// allowance of the training.
func (a *auto) measure(r *run) (measured, *release.Allowance, error) {
	s, bound := a.planned.shape, r.data.Facts().Bound
	if a.scales.mu == 0 {
		training, err := r.allow.Part(0)
		return measured{bound, s.LabelBound, typicalOf(a.asked.Loss.Labels(), typicalRow*bound, typicalLabel*s.LabelBound)}, training, err
	}
	histograms, err := r.allow.Part(0)
	if err != nil {
		return measured{}, nil, err
	}
	m, err := a.scales.measure(r.data, s, a.asked.Loss, histograms)
	if err != nil {
		return m, nil, err
	}
	training, err := r.allow.Part(1)
	return m, training, err
}

// at is the planned objective for rows of the measured scales: the same law.
func (a *auto) at(m measured, facts curator.Facts) (*objective, Problem, error) {
	s := a.planned.shape
	s.FeatureBound, s.LabelBound = facts.FeatureBound, m.labelBound
	p := a.asked.withRadius(s, nearScore) // of any size: only scores matter
	if err := losses.Validate(p.Loss, s.FeatureBound*p.Radius, s.LabelBound); err != nil {
		return nil, p, err
	}
	m.typical.row = math.Hypot(m.typical.row, facts.Constant)
	o := objectiveFor(s, p, 0, m.typical, facts.Offset)
	if err := solvable(o.trained, s, p, 0); err != nil {
		return nil, p, err
	}
	if a.descent == nil {
		o.law = a.planned.law
		o.lambda = o.lambdaOf(o.law.LogDet)
	}
	return o, p, nil
}
