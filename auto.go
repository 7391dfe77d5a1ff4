package dpglm

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = AutoConfig{}

// AutoConfig has no parameters; it is the Learner of Auto.
type AutoConfig struct{}

// Auto trains with the method and the parameters that public numbers recommend. It
// is the one to begin with, and in trials the most accurate: the bounds that a
// user can state are often several times larger than the data, and noise grows
// with them.
//
// Under an ApproxDP or GDP budget it is PreconditionedGD, with two exceptions that are
// ObjectivePerturbation: more than 1000 weights, where second moments cost too much; and
// classes, if the loss is smooth, the budget ApproxDP and n·μ ≥ 300√d, where it is as
// accurate and quicker. Either runs at scales that are measured first, privately, with
// a small part of the budget:
//
//   - two histograms are released, of the norms of the rows and of the magnitudes
//     of the labels (the first alone where labels are binary), in steps of a
//     quarter octave below their bounds;
//   - rows are held to 1.2 times the norm R that four in five don't exceed, and
//     the intercept's constant becomes a power of two near R/5;
//   - real labels are held to four times the magnitude s that three in five don't
//     exceed; counts to 1.2 times what 97 in 100 don't, s being what four in five
//     don't;
//   - the clip is 0.8·R·sup_{|y|≤s}|φ'_y(0)|, so that most rows' gradients at w = 0
//     are just clipped, until PreconditionedGD measures gradients and chooses its
//     own; the λ of ObjectivePerturbation follows from the share of ε that the
//     log-determinant takes.
//
// Where the rows are too few to measure anything, the bounds stay, R is three
// quarters and s a quarter of them.
//
// Under a PureDP budget it is OutputPerturbation.
//
// # Privacy
//
// Replace-one. The histograms' L2 sensitivity is √2, or 2 for two of them; they
// are released by mechanisms.Gaussian with between a tenth and 35 % of the
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
// wants the plain loss uses ObjectivePerturbation with NoClip and pays for it.
func Auto(ctx context.Context, d *Dataset, p Problem, b Budget, env *Env) (*Model, error) {
	return fit(ctx, AutoConfig{}, d, p, b, env)
}

// Plan chooses the method and calibrates it.
func (c AutoConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	resolved, err := p.withDefault(s, 10).resolve(s)
	if err != nil {
		return nil, err
	}
	mu, err := b.gdp()
	if err != nil {
		return nil, err
	}
	m := planScales(s, p.Loss.Labels(), mu)
	if b.pure {
		return OutputPerturbationConfig{}.Plan(s, p, b)
	}
	a := &auto{scales: m, asked: p, planned: newObjective(s, resolved, 0)}
	if err := solvable(a.planned.trained, s, resolved, 0); err != nil {
		return nil, err
	}
	ledger, err := a.calibrate(b, mu, resolved)
	if err != nil {
		return nil, err
	}
	if err := b.covers(ledger); err != nil { // at a denormal δ
		return nil, err
	}
	return &Plan{Learner: c, Problem: resolved, Ledger: ledger, shape: s, run: a.run, reach: a.reach(resolved)}, nil
}

// auto is a planned Auto that measures scales.
type auto struct {
	scales  scales
	asked   Problem
	planned *objective
	descent *preconditioned // nil where planned is run
}

// calibrate fits the training into what the release of the scales leaves of a budget
// of μ, and returns the ledger of both.
func (a *auto) calibrate(b Budget, mu float64, p Problem) (*Ledger, error) {
	training, err := a.calibrateTraining(b, mu, p)
	if err != nil || a.scales.mu == 0 {
		return training, err
	}
	histograms, err := mechanisms.Gaussian{Mu: a.scales.mu}.Ledger("histograms of norms and labels", 1, a.scales.cells())
	if err != nil {
		return nil, err
	}
	return mechanisms.Sequential("auto", histograms, training)
}

func (a *auto) calibrateTraining(b Budget, mu float64, p Problem) (*Ledger, error) {
	if descends(a.planned.shape, p.Loss, b, mu) {
		a.descent = newPreconditioned(a.planned.shape, p)
		rest := math.Sqrt((mu-a.scales.mu)*(mu+a.scales.mu)) * (1 - 1e-9) // room for the grids' slack
		return a.descent.calibrate(&PreconditionedGDConfig{}, GDP(rest))
	}
	if err := a.planned.calibrate(0, b, a.scales); err != nil {
		return nil, err
	}
	return a.planned.law.Ledger("minimiser", a.planned.shape.Dim)
}

// descends reports where PreconditionedGD is, in trials, the better one.
func descends(s Shape, l losses.Loss, b Budget, mu float64) bool {
	objective := smoothClasses(l) && quiet(s, mu) && !b.inMu()
	return s.Dim <= preconditionedDim && !objective
}

func (a *auto) reach(p Problem) float64 {
	if a.descent != nil {
		return preconditionedReach * p.Radius
	}
	return p.Radius
}

// run measures, and trains on the rows held to what was measured.
func (a *auto) run(ctx context.Context, d *Dataset, env *Env) ([]float64, error) {
	s, src := a.planned.shape, env.noise()
	m, err := a.measure(d, src)
	if err != nil {
		return nil, err
	}
	_, exponent := math.Frexp(m.typical.row / 4)
	constant := math.Ldexp(1, exponent-1)
	table := d.table.Rebound(m.bound, constant)
	o, p, err := a.at(m, table.Encoding())
	if err != nil {
		return nil, err
	}
	sums, err := rows.NewSums(table, d.labels, m.labelBound, o.trained)
	if err != nil {
		return nil, err
	}
	var w []float64
	if a.descent != nil {
		w, err = a.descent.at(o.shape, p, o.clip).descend(ctx, sums, src, env)
	} else {
		w, err = o.run(ctx, sums, src)
	}
	if err == nil && s.Intercept {
		w[s.Dim-1] *= constant
	}
	return w, err
}

// measure returns the released scales, or what can be guessed without.
func (a *auto) measure(d *Dataset, src mechanisms.Source) (measured, error) {
	s, bound := a.planned.shape, d.table.Encoding().Bound
	if a.scales.mu == 0 {
		return measured{bound, s.LabelBound, typicalOf(a.asked.Loss.Labels(), typicalRow*bound, typicalLabel*s.LabelBound)}, nil
	}
	sums, err := d.sums(a.asked.Loss)
	if err != nil {
		return measured{}, err
	}
	return a.scales.release(d.table, sums, s, src)
}

// at is the planned objective for rows of the measured scales: the same law.
func (a *auto) at(m measured, enc *rows.Encoding) (*objective, Problem, error) {
	s := a.planned.shape
	s.FeatureBound, s.LabelBound = enc.FeatureBound(), m.labelBound
	p := a.asked.withDefault(s, 10).withRadius(s) // of any size: only scores matter
	if err := losses.Usable(p.Loss, s.FeatureBound*p.Radius, s.LabelBound); err != nil {
		return nil, p, err
	}
	m.typical.row = math.Hypot(m.typical.row, enc.Constant)
	o := objectiveFor(s, p, 0, m.typical, enc.Offset())
	if err := solvable(o.trained, s, p, 0); err != nil {
		return nil, p, err
	}
	if a.descent == nil {
		o.law = a.planned.law
		o.lambda = o.lambdaOf(o.law.LogDet)
	}
	return o, p, nil
}
