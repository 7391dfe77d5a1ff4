package replay_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// coupling is the proof of objective perturbation, carried out: where θ minimises
// the one table's objective with the linear term b, it minimises the neighbour's with
//
//	b' = b + ∇ℓ(θ) − ∇ℓ'(θ),
//
// ℓ and ℓ' being the losses of the row and of its replacement. So b is overwritten
// by b', which must be no further from b than two declared slopes, and the
// neighbour's solver must find θ again, within the declared distance. The gradients
// are this file's own. Where the neighbour found θ with b itself (plain is that run's
// record), the row is not among those of the objective, and b stays.
//
// θ is counted from a centre, which the second run finds again from the same releases.
func (c *trial) coupling(t *testing.T, ran given.Ran, plain []given.Heard, first, second table, ratios map[string]float64) func(int, *release.Event) {
	t.Helper()
	record := ran.Tape.Heard
	after := given.Replay(record)
	return func(k int, e *release.Event) {
		if e.Mechanism != "linear term" {
			after(k, e)
			return
		}
		if k+1 >= min(len(record), len(plain)) || len(record[k+1].Values) != len(e.Values) {
			return
		}
		b, theta := record[k].Values, slices.Clone(record[k+1].Values)
		if record[k].Centre != nil {
			floats.Add(theta, record[k].Centre)
		}
		if !slices.Equal(e.Values, b) {
			t.Errorf("%s: release %d, %v, is another linear term on the neighbour, before any overwriting: it depends on a row", c.name, k, record[k])
		}
		copy(e.Values, b)
		if record[k+1].Moved(plain[k+1]) <= 1 {
			return
		}
		moved := make([]float64, len(b))
		floats.AddScaled(moved, 1, c.gradient(first.replaced(), theta))
		floats.AddScaled(moved, -1, c.gradient(second.replaced(), theta))
		far := floats.Norm(moved, 2) / (2 * e.L2)
		if far > 1 {
			t.Errorf("%s: release %d, %v: gradients on neighbours are %.17g times two declared slopes of %g apart: %v and %v", c.name, k, record[k], far, e.L2, first, second)
		}
		ratios[record[k].String()] = math.Max(ratios[record[k].String()], far)
		floats.Add(e.Values, moved)
	}
}

// gradient is that of a raw row's loss at theta, in plain code.
func (c *trial) gradient(r given.Row, theta []float64) []float64 {
	if r.None {
		return make([]float64, len(theta))
	}
	u := encoded(c.design.facts, r.X)
	if c.features != nil {
		u = c.features(u)
	}
	score, share := floats.Dot(u, theta), 1.0
	if c.design.form == "detailed" {
		score += math.Max(-given.OffsetEnd, math.Min(r.Offset, given.OffsetEnd))
		share = math.Floor(math.Min(r.Weight/given.Heavy, 1)*(1<<20)) / (1 << 20)
	}
	slope := c.slope(score, encodedLabel(c.design, r.Y))
	if length := floats.Norm(u, 2); math.Abs(slope)*length > c.clip {
		slope = math.Copysign(c.clip/length, slope)
	}
	floats.Scale(slope*share, u)
	return u
}

// encoded are a raw row's bounded features, in plain code, the intercept's 1 last.
func encoded(f dpglm.Facts, x []float64) []float64 {
	var u []float64
	bound, intercept := 0.0, false
	switch f := f.(type) {
	case dpglm.Bounds:
		u, bound, intercept = slices.Clone(x), f.Feature, f.Intercept
	case dpglm.Schema:
		for j, name := range f.Columns {
			if limits, ok := f.Numeric[name]; ok {
				v := math.Max(limits[0], math.Min(limits[1], x[j]))
				u = append(u, 2*(v-limits[0])/(limits[1]-limits[0])-1)
			} else {
				u = append(u, math.Max(0, math.Min(1, x[j])))
			}
		}
		bound, intercept = math.Sqrt(float64(len(f.Numeric)+len(f.OneHot))), f.Intercept
	}
	if r := floats.Norm(u, 2); r > bound {
		floats.Scale(bound/r, u)
	}
	if intercept {
		u = append(u, 1)
	}
	return u
}

// encodedLabel is a label as losses take it.
func encodedLabel(d design, y float64) float64 {
	centre, bound := d.labelRange()
	switch d.labels {
	case losses.Binary:
		return math.Copysign(1, y-0.5)
	case losses.Count, losses.Amount:
		return math.Min(y, bound)
	}
	return math.Max(-bound, math.Min(bound, y-centre))
}

// The derivatives of losses in the score, and of the envelopes of width h by which
// those with kinks are replaced.
func logisticSlope(z, y float64) float64 { return -y / (1 + math.Exp(y*z)) }
func squaredSlope(z, y float64) float64  { return z - y }
func poissonSlope(_, most float64) func(z, y float64) float64 { // of labels up to most
	return func(z, y float64) float64 { return math.Min(math.Exp(z), most) - y }
}
func gammaSlope(_, _ float64) func(z, y float64) float64 { // of amounts from 0.1 on
	return func(z, y float64) float64 { return 1 - math.Min(math.Max(0.1, y)*math.Exp(-z), 30) }
}
func hingeSlope(h float64) func(z, y float64) float64 {
	return func(z, y float64) float64 { return y * math.Max(-1, math.Min(0, (y*z-1)/h)) }
}
func absoluteSlope(h float64) func(z, y float64) float64 {
	return func(z, y float64) float64 { return math.Max(-1, math.Min(1, (z-y)/h)) }
}

// TestObjectiveDeclaresItsHessian holds the planned log-determinant against the largest
// curvature of a row's loss, H·X², worked out by hand: at least log(1 + HX²/λ), and no
// more than rounding above it.
func TestObjectiveDeclaresItsHessian(t *testing.T) {
	for _, c := range []struct {
		loss       losses.Loss
		smoothness func(z, y float64) float64 // for scores of at most z and labels of at most y
	}{
		{losses.Logistic{}, func(_, _ float64) float64 { return 0.25 }},
		{losses.Squared{}, func(_, _ float64) float64 { return 1 }},
		{losses.Poisson{}, func(_, y float64) float64 { return y }},
		{losses.Hinge{}, func(z, _ float64) float64 { return 100 / z }},
		{losses.Absolute{}, func(z, _ float64) float64 { return 100 / z }},
	} {
		for form, d := range designs(24, c.loss.Labels()) {
			s := d.shape(t)
			for i, lambda := range []float64{0, 500} {
				if !sample.Nth(2, i, c.loss.Name(), form) {
					continue
				}
				plan, err := dpglm.ObjectivePerturbationConfig{Lambda: lambda}.Plan(s, dpglm.Problem{Loss: c.loss}, d.budget(dpglm.GDP(3)))
				if err != nil {
					t.Fatal(err)
				}
				x := s.FeatureBound
				least := math.Log1p(c.smoothness(x*plan.Problem.Radius, s.LabelBound) * x * x / plan.Learner.(dpglm.ObjectivePerturbationConfig).Lambda)
				law := written(t, map[string]any{"ledger": plan.Ledger})
				law.leaves(1, func(leaf *node, _ int) {
					if leaf.Kind == mechanisms.KindObjective {
						law = leaf
					}
				})
				if !(law.LogDet >= least && law.LogDet <= least*(1+1e-6)) {
					t.Errorf("%s, %s: the plan counts a log-determinant of %.17g, and a row can reach %.17g", c.loss.Name(), form, law.LogDet, least)
				}
			}
		}
	}
}
